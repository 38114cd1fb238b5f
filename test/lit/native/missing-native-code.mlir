// One error names all that native code lacks: each kind once, with the target of custom calls, where the first
// is, and what to do without it.
// RUN: not cgx-opt %s --allow-unregistered-dialect --cgx-stablehlo-to-linalg 2>&1 | FileCheck %s

// CHECK: model.py:12:3: error: native code is missing for stablehlo.rng_bit_generator (2), stablehlo.custom_call @elsewhere (1), stablehlo.custom_call @python_callback (1), other.op (1)
// CHECK: model.py:12:3: note: stablehlo.rng_bit_generator, the first, from 'tensor<3xui32>' to 'tensor<3xui32>', 'tensor<4xui32>': use threefry2x32 or rbg keys
// CHECK: model.py:30:5: note: stablehlo.custom_call @elsewhere, from 'tensor<4xui32>' to 'tensor<4xui32>': no library of XLA is there
// CHECK: missing-native-code.mlir:[[#@LINE+7]]:{{.*}}note: stablehlo.custom_call @python_callback, from {{.*}}: the step uses what Python returns
// CHECK: note: other.op, from {{.*}}: its dialect is unknown
// CHECK-NOT: error:
func.func @main(%state: tensor<3xui32>) -> tensor<4xui32> {
  %0, %bits = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<3xui32>) -> (tensor<3xui32>, tensor<4xui32>) loc("jit(step)/bits"("model.py":12:3))
  %1, %more = stablehlo.rng_bit_generator %0, algorithm = DEFAULT : (tensor<3xui32>) -> (tensor<3xui32>, tensor<4xui32>)
  %2 = stablehlo.custom_call @elsewhere(%more) : (tensor<4xui32>) -> tensor<4xui32> loc(callsite("model.py":30:5 at "model.py":40:7))
  %3 = stablehlo.custom_call @python_callback(%2) : (tensor<4xui32>) -> tensor<4xui32>
  %4 = "other.op"(%3) : (tensor<4xui32>) -> tensor<4xui32>
  return %4 : tensor<4xui32>
}
