// Checks the rest of mhlo: instructions of HLO, attributes of modules, and ops that cgx does not know.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
module attributes {mhlo.foo = #mhlo.foo<bar = [1, 2]>, mhlo.num_partitions = 2 : i32} {
  func.func @main(%arg0: tensor<4xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = mhlo.copy %arg0 {mhlo.frontend_attributes = {a = "b"}} : tensor<4xf32>
    %1 = "mhlo.foo"(%0) <{kind = #mhlo<foo_kind BAR>}> : (tensor<4xf32>) -> tensor<4xf32>
    %values, %indices = mhlo.topk(%0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %values_0, %indices_1 = mhlo.topk(%0, k = 2, largest = false) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %2 = mhlo.erf %0 : tensor<4xf32>
    %3 = mhlo.bitcast %2 {result_layout = dense<[0, 1]> : tensor<2xindex>, source_layout = dense<0> : tensor<1xindex>} : (tensor<4xf32>) -> tensor<2x2xf32>
    %4 = "mhlo.fusion"(%0) <{fusion_kind = #mhlo<fusion_kind kLoop>}> ({
    ^bb0(%arg1: tensor<4xf32>):
      mhlo.return %arg1 : tensor<4xf32>
    }) {output_operand_aliasing = []} : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
