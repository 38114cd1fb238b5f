// An op that is not defined here keeps its generic form and its attributes; the module may
// hold it anywhere.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
module {
  func.func @foo(%arg0: tensor<4xf32>) {
    %0 = "stablehlo.foo"(%arg0) <{kind = #stablehlo<foo_kind BAR>, numbers = #stablehlo.foo<dims = [1, 2]>}> {sdy.rule = #sdy.rule<([i]) -> ([i])>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "chlo.foo"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "sdy.foo"(%1) ({
      stablehlo.return
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
