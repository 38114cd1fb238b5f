// What is left of mhlo: copies, attributes of modules, and ops that cgx has never heard of.
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
    return
  }
}
