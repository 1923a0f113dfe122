// RUN: mlir-pdll -x=mlir -I %S %S/{name}.pdll -o %t && ttmlir-opt --load-pass-plugin=%fusions --split-input-file --pass-pipeline='builtin.module(fuse-pdll{patterns=%t})' %s | FileCheck %s
{examples}
