module {
  func.func @main(%q: tensor<1x4x3221225472x32xbf16>, %k: tensor<1x4x32x32xbf16>, %v: tensor<1x4x32x32xbf16>, %m: tensor<1x1x1x32xbf16>) -> tensor<1x4x3221225472x32xbf16> {
    %0 = "ttir.matmul"(%q, %k) <{transpose_a = false, transpose_b = true}> : (tensor<1x4x3221225472x32xbf16>, tensor<1x4x32x32xbf16>) -> tensor<1x4x3221225472x32xbf16>
    %1 = "ttir.constant"() <{value = dense<5.65685415> : tensor<1x4x3221225472x32xbf16>}> : () -> tensor<1x4x3221225472x32xbf16>
    %2 = "ttir.div"(%0, %1) : (tensor<1x4x3221225472x32xbf16>, tensor<1x4x3221225472x32xbf16>) -> tensor<1x4x3221225472x32xbf16>
    %3 = "ttir.broadcast"(%m) <{broadcast_dimensions = array<i64: 1, 4, 3221225472, 1>}> : (tensor<1x1x1x32xbf16>) -> tensor<1x4x3221225472x32xbf16>
    %4 = "ttir.add"(%2, %3) : (tensor<1x4x3221225472x32xbf16>, tensor<1x4x3221225472x32xbf16>) -> tensor<1x4x3221225472x32xbf16>
    %5 = "ttir.softmax"(%4) <{dimension = 3 : si32, numericStable = true}> : (tensor<1x4x3221225472x32xbf16>) -> tensor<1x4x3221225472x32xbf16>
    %6 = "ttir.matmul"(%5, %v) <{transpose_a = false, transpose_b = false}> : (tensor<1x4x3221225472x32xbf16>, tensor<1x4x32x32xbf16>) -> tensor<1x4x3221225472x32xbf16>
    return %6 : tensor<1x4x3221225472x32xbf16>
  }
}
