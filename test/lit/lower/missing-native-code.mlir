// One error names all that native code lacks.
// RUN: not cgx-opt %s --cgx-stablehlo-to-linalg 2>&1 | FileCheck %s

// CHECK: native code is missing for stablehlo.rng_bit_generator (2), stablehlo.custom_call (1)
func.func @main(%state: tensor<2xui64>) -> tensor<4xui32> {
  %0, %bits = stablehlo.rng_bit_generator %state, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %1, %more = stablehlo.rng_bit_generator %0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %2 = stablehlo.custom_call @elsewhere(%more) : (tensor<4xui32>) -> tensor<4xui32>
  return %2 : tensor<4xui32>
}
