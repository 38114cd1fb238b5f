// An op of a known dialect that cgx does not define passes through the rewrite untouched, with its
// attributes, and is taken for one that may do anything. Native code names it.
// RUN: cgx-opt %s --cgx-compress="codec=quantize bits=4 min-elements=1" | FileCheck %s
// RUN: %if native %{ not cgx-opt %s --cgx-compress --cgx-stablehlo-to-linalg -o /dev/null 2>&1 | FileCheck %s --check-prefix=NATIVE %}

// CHECK: "stablehlo.foo"(%{{.*}}) <{kind = #stablehlo<foo_kind BAR>, numbers = #stablehlo.foo<dims = [1, 2]>}> {note = "kept"} : (tensor<64x128xf32>) -> tensor<64x128xf32>
// CHECK: cgx.all_reduce
// CHECK-SAME: codec(quantize
// CHECK: "chlo.foo"(%{{.*}}) : (tensor<64x128xf32>) -> tensor<64x128xf32>

// NATIVE: native code is missing for stablehlo.foo (1), chlo.foo (1)
module attributes {mhlo.num_replicas = 4 : i32} {
  func.func public @main(%w: tensor<64x128xf32> {tf.aliasing_output = 0 : i32}, %x: tensor<64x128xf32>) -> (tensor<64x128xf32> {jax.result_info = "result.w"}) {
    %0 = "stablehlo.foo"(%x) <{kind = #stablehlo<foo_kind BAR>, numbers = #stablehlo.foo<dims = [1, 2]>}> {note = "kept"} : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %2 = "chlo.foo"(%1) : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %3 = stablehlo.subtract %w, %2 : tensor<64x128xf32>
    return %3 : tensor<64x128xf32>
  }
}
