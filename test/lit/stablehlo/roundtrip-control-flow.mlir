// Loops and branches.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s
// CHECK: "stablehlo.while"(%{{.*}}, %{{.*}}) ({
module {
  func.func @loop(%arg0: tensor<i32>, %arg1: tensor<8xf32>) {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<8xf32> attributes {mhlo.frontend_attributes = {a = "b"}}
     cond {
      %1 = stablehlo.compare  LT, %iterArg, %arg0,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg, %iterArg : tensor<i32>
      stablehlo.return %1, %iterArg_0 : tensor<i32>, tensor<8xf32>
    }
    return
  }
  func.func @loop_without_state(%arg0: tensor<i1>) {
    stablehlo.while()
     cond {
      stablehlo.return %arg0 : tensor<i1>
    } do {
      stablehlo.return
    }
    return
  }
  func.func @branches(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<8xf32>) {
    %0 = "stablehlo.if"(%arg0) ({
      stablehlo.return %arg2 : tensor<8xf32>
    }, {
      %2 = stablehlo.negate %arg2 : tensor<8xf32>
      stablehlo.return %2 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %1 = "stablehlo.case"(%arg1) ({
      stablehlo.return %arg2 : tensor<8xf32>
    }, {
      stablehlo.return %0 : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    return
  }
  func.func @tokens() {
    %0 = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.after_all %0, %0 : !stablehlo.token
    return
  }
}
