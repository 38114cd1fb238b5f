// Layers of a stack as operands of their own.
// RUN: cgx-opt %s "--cgx-split-stacked-layers=layers=blocks/*" | FileCheck %s
// RUN: cgx-opt %s "--cgx-split-stacked-layers=plan=%S/Inputs/stacked-plan.json" | FileCheck %s
// RUN: cgx-opt %s "--cgx-compress=plan=%S/Inputs/stacked-plan.json" | FileCheck %s --check-prefix=PLAN
// RUN: cgx-opt %s "--cgx-split-stacked-layers=layers=block/*" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cgx-opt %s "--cgx-split-stacked-layers=layers=[" 2>&1 | FileCheck %s --check-prefix=GLOB
// NONE: warning: split-layers=block/* matches the name of no stack of layers
// NONE-NOT: blocks/w[0]
// GLOB: error: expected split-layers to be a glob, got [

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {

// CHECK-LABEL: @stacks
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<2x32x64xf32>, %[[H:[a-z0-9]+]]: tensor<64x32xf32>
// PLAN-LABEL: @stacks
func.func @stacks(%w: tensor<2x32x64xf32>, %h: tensor<64x32xf32>) -> (tensor<2x32x64xf32>, tensor<64x32xf32>) {
  // CHECK: %[[S0:.*]] = stablehlo.slice %[[W]] [0:1, 0:32, 0:64]
  // CHECK: %[[W0:.*]] = stablehlo.reshape %[[S0]] : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
  // CHECK: %[[S1:.*]] = stablehlo.slice %[[W]] [1:2, 0:32, 0:64]
  // CHECK: %[[W1:.*]] = stablehlo.reshape %[[S1]] : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
  // CHECK: %[[R:.*]]:3 = cgx.all_reduce mean(%[[W0]], %[[W1]], %[[H]])
  // CHECK-SAME: layer("blocks/w[0]", gradient, [32, 64]) layer("blocks/w[1]", gradient, [32, 64]) layer("head", gradient, [64, 32])
  // CHECK-SAME: : tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x32xf32>
  // CHECK: %[[R0:.*]] = stablehlo.reshape %[[R]]#0
  // CHECK: %[[R1:.*]] = stablehlo.reshape %[[R]]#1
  // CHECK: %[[STACK:.*]] = stablehlo.concatenate %[[R0]], %[[R1]], dim = 0
  // CHECK: return %[[STACK]], %[[R]]#2
  // PLAN: codec(quantize<bits = 2, {{.*}}>, quantize<bits = 6, {{.*}}>, quantize<bits = 4, {{.*}}>)
  %0:2 = cgx.all_reduce mean(%w, %h) groups(#g) id(0) layer("blocks/w", gradient, [2, 32, 64])
      layer("head", gradient, [64, 32]) : tensor<2x32x64xf32>, tensor<64x32xf32>
  return %0#0, %0#1 : tensor<2x32x64xf32>, tensor<64x32xf32>
}
}
