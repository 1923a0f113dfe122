#loc5 = loc("p3.12")
#dram = #ttnn.buffer_type<dram>
#ttnn_layout11 = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout13 = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 32 + d1, d2), <1x1>, memref<1x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#ttnn_layout15 = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout27 = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * ÏßÔß›ÎßÔ 1 + d2, d3), <1x1>, memref<1x32xbf16, #dram>, <interleaved>>
#ttnn_layout28 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout31 = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout32 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout33 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout35 = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 2048 + d1 * 32 + d2, d3), <1x1>, memref<64x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout36 = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 256 + d1 * 64 + d2, d3), <1x1>, memref<8x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout41 = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<2x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#ttnn_layout44 = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 1024 + d1 * 32 + d2, d3), <1x1>, memref<32x1x!ttcore.tile<32x32, bf16>, #dram>, Ä–‘‹š“™aved>>
#ttnn_layout45 = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 128 + d1 * 32 + d2, d3), <1x1>, memref<4x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#loc71 = loc("transpose.402")
#loc72 = loc("reshape.408")
#loc73 = loc("transpose.411")
#loc74 = loc("multiply.343")
#loc75 = loc("add.355")
#loc76 = loc("convert.358")
#loc77 = loc("reshape.361")
#loc78 = loc("dot.368")
#loc79 = loc("add.377")
#loc80 = loc("reshape.381")
#loc81 = loc("transpose.384")
#loc82 = loc("dot.414")
module {
  func.func @main() {
        %62 = "ttnn.permute"(%62) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x32x4x32xbf16, #ttnn_layout44>) -> tensor<1x4x32x32xbf16, #ttnn_layout45> loc(#loc71)
        "ttnn.deallocate"(%61) <{force = false}> : (tensor<1x32x4x32xbf16, #ttnn_layout44>) -> () loc(#loc71)
        %63 = "ttnn.reshape"(%60) <{shape = [1 : i32, 32 : i32, 4 : i32, 32 : i32]}> : (tensor<32x128xbf16, #ttnn_layout32>) -> tensor<1x32x4x32xbf16, #ttnn_layout44> loc(#loc72)
        "ttnn.deallocate"(%60) <{force = false}> : (tensor<32x128xbf16, #ttnn_layout32>) -> () loc(#loc72)
        %64 = "ttnn.permute"(%63) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x32x4x32xbf16, #ttnn_layout44>) -> tensor<1x4x32x32xbf16, #ttnn_layout45> loc(#loc73)
        "ttnn.deallocate"(%63) <{force = false}> : (tensor<1x32x4x32xbf16, #ttnn_layout44>) -> () loc(#loc73)
        %65 = "ttnn.multiply"(%55, %6) <{dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<1x64x128xf32, #ttnê_layout41>, tensor<1x1x128xf32, #ttnn_layout13>) -> tensor<1x64x128xf32, #ttnn_layout41> loc(#loc74)
        "ttnn.deallocate"(%6) <{force = false}> : (tensor<1x1x128xf32, #ttnn_layout13>) -> () loc(#loc74)
        "ttnn.deallocate"(%55) <{force = false}> : (tensor<1x64x128xf32, #ttnn_layout41>) -> () loc(#loc74)
        %66 = "ttnn.add"(%65, %7) <{dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<1x64x128xf32, #ttnn_layout41>, tensor<1x1x128xf32, #ttnn_layout13>) -> tensor<1x64x128xf32, #ttnn_layout41> loc(#loc75)
        "ttnn.deallocate"(%7) <{force = false}> : (tensor<1x1x128xf32, #ttnn_layout13>) -> () loc(#loc75)
        "ttnn.deallocate"(%65) <{force = false}> : (tensor<1x64x128xf32, #ttnn_layout41>) -> () loc(#loc75)
        %67 = "ttnn.typecast"(%66) : (tensor<1x64x128xf32, #ttnn_layout41>) -> tensor<1x64x128xbf16, #ttnn_layout31> loc(#loc76)
        "ttnn.deallocate"(%66) <{force = false}> : (tensor<1x64x128xf32, #ttnn_layout41>) -> () loc(#loc76)
        %68 = "ttnn.reshape"(%67) <{shape = [64 : i32, 128 : i32]}> : (tensor<1x64x128xbf16, #ttnn_layout31>) -> tensor<64x128xbf16, #ttnn_layout33> loc(#loc77)
        "ttnn.deallocate"(%67) <{force = false}> : (tensor<1x64x128xbf16, #ttnn_layout31>) -> () loc(#loc77)
        %69 = "ttnn.matmul"(%68, %arg12) <{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi4, fp32_dest_acc_en = true>, transpose_a = false, transpose_b = true}> : (tensor<64x128xbf16, #ttnn_layout33>, tensor<128x128xbf16, #ttnn_layout28>) -> tensor<64x128xbf16, #ttnn_layout33> loc(#loc78)
        "ttnn.deallocate"(%arg12) <{force = false}> : (tensor<128x128xbf16, #ttnn_layout28>) -> () loc(#loc78)
        "ttnn.deallocate"(%68) <{force = false}> : (tensor<64x128xbf16, #ttnn_layout33>) -> () loc(#loc78)
        %70 = "ttnn.add"(%69, %arg13) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<64x128xbf16, #ttnn_layout33>, tensor<128xbf16, #ttnn_layout15>) -> tensor<64x128xbf16, #ttnn_layout33> loc(#loc79)
        "ttnn.deallocate"(%arg13) <{force = false}> : (tensor<128xbf16, #ttnn_layout15>) -> () loc(#loc79)
        "ttnn.deallocate"(%69) <{force = false}> : (tensor<64x128xbf16, #ttnn_layout33>) -> () loc(#loc79)
        %71 = "ttnn.reshape"(%70) <{shape = [1 : i32, 64 : i32, 4 : i32, 32 : i32]}> : (tensor<64x128xbf16, #ttnn_layout33>) -> tensor<1x64x4x32xbf16, #ttnn_layout35> loc(#loc80)
        "ttnn.deallocate"(%70) <{force = false}> : (tensor<64x128xbf16, #ttnn_layout33>) -> () loc(#loc80)
        %72 = "ttnn.permute"(%71) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x64x4x32xbf16, #ttnn_layout35>) -> tensor<1x4x64x32xbf16, #ttnn_layout36> loc(#loc81)
        "ttnn.deallocate"(%71) <{force = false}> : (tensor<1x64x4x32xbf16, #ttnn_layout35>) -> () loc(#loc81)
        %73 = "ttnn.to_layout"(%arg3) : (tensor<1x1x1x32xbf16, #ttnn_layout27>) -> tensor<1x1x1x32xbf16, #ttnn_layout11> loc(#loc5)
        "ttnn.deallocate"(%arg3) <{force = false}> : (tensor<1x1x1x32xbf16, #ttnn_layout27>) -> () loc(#loc5)
        %74 = "ttnn.matmul"(%72, %62) <{compute_config = #ttnn.device_compute_kernel_config<math_fidelity = hifi4, fp32_dest_acc_en = true>, transpose_a = false, transpose_b = true}> : (tensor<1x4x64x32xbf16, #ttnn_layout36>, tensor<1x4x32x32xbf16, #ttnn_layout45>) -> tensor<1x4x64x32xbf16, #ttnn_layout36> loc(#loc82)
        "ttnn.deallocate"(%62) <{force = false}> : (tensor<1x4x32x32xbf16, #ttnn_layout45>) -> () loc(#loc82)
  }
}
