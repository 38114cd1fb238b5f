// RUN: cgx-opt %s --split-input-file --allow-unregistered-dialect --cgx-inline-functions --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A function that is called twice, one that calls another, from inside a region.
// CHECK-LABEL: func.func public @main
func.func public @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  // CHECK-NOT: call @
  // CHECK: stablehlo.negate %{{.*}} loc(callsite("negation" at "first call"))
  %0 = func.call @negate(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("first call")
  // CHECK: stablehlo.negate %{{.*}} loc(callsite("negation" at "second call"))
  %1 = func.call @negate(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("second call")
  // CHECK: stablehlo.case
  %2 = "stablehlo.case"(%n) ({
    // CHECK: stablehlo.negate %{{.*}} loc(callsite(callsite("negation" at "inner call") at "third call"))
    // CHECK-NEXT: stablehlo.abs
    %3 = func.call @negate_abs(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("third call")
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  // CHECK-NOT: stablehlo.composite
  // CHECK: stablehlo.negate %{{.*}} loc(callsite("negation" at "composite"))
  %4 = stablehlo.composite "user.negate" %2 {decomposition = @negate} : (tensor<4xf32>) -> tensor<4xf32> loc("composite")
  return %4 : tensor<4xf32>
}
// CHECK-NOT: @negate
func.func private @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32> loc("negation")
  return %0 : tensor<4xf32>
}
func.func private @negate_abs(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @negate(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("inner call")
  %1 = stablehlo.abs %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Without a @main, what is public stays; what is external or recursive always does.
// CHECK-LABEL: func.func public @stays
func.func public @stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: call @public
  %0 = func.call @public(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @external
  %1 = func.call @external(%0) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @recursive
  %2 = func.call @recursive(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
// CHECK: func.func @public
func.func @public(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK: func.func private @external
func.func private @external(tensor<4xf32>) -> tensor<4xf32>
// CHECK: func.func private @recursive
func.func private @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Beside @main, functions are public because nothing was said of them, as in text written by hand. Those that it
// does not call stay; an operation that nobody knows does not hide what is called.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: stablehlo.negate
// CHECK: "vendor.region"
// CHECK: call @recursive
// CHECK-NOT: @negate
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @negate(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "vendor.region"(%0) ({ }) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @recursive(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func @negate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func private @recursive
func.func private @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK: func.func @other
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
