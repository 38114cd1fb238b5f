// Ops of other dialects that are left are named with the rest, and not by later passes.
// RUN: not cgx-opt %s --cgx-stablehlo-to-linalg 2>&1 | FileCheck %s

// CHECK: error: native code is missing for mhlo.foo (1), stablehlo.custom_call @__cudnn$fmhaSoftmax (1), stablehlo.custom_call @xla.sdy.FuncResultSharding (1), stablehlo.all_reduce (1)
// CHECK: note: mhlo.foo, from 'tensor<4xf32>' to 'tensor<4xf32>': compute it by other operations
// CHECK: note: stablehlo.custom_call @__cudnn$fmhaSoftmax, of 'tensor<4xf32>': it is a call of an accelerator's library: export the step with JAX_PLATFORMS=cpu
// CHECK: note: stablehlo.custom_call @xla.sdy.FuncResultSharding, from 'tensor<4xf32>' to 'tensor<4xf32>': it is how XLA keeps Shardy's shardings in HLO: give the step as JAX prints it
// CHECK: note: stablehlo.all_reduce, from 'tensor<4xf32>' to 'tensor<4xf32>': ranks reduce by the sum, product, maximum, minimum, and, or, xor of its two arguments only
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "mhlo.foo"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @__cudnn$fmhaSoftmax() : () -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %kept = stablehlo.custom_call @xla.sdy.FuncResultSharding(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.all_reduce"(%kept) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
