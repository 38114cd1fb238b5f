// Quantized types are read and checked, and have no native code; nor have random numbers of a hidden state.
// RUN: cgx-opt %s --verify-roundtrip -o /dev/null
// RUN: not cgx-opt %s --cgx-stablehlo-to-linalg 2>&1 | FileCheck %s
// RUN: sed 's/%x: tensor<4xf32>/%y: tensor<4x!quant.uniform<i8:f32, 0.5>>, %x: tensor<4xf32>/' %s > %t.mlir
// RUN: not cgx-opt %t.mlir --cgx-emit-manifest 2>&1 | FileCheck %s --check-prefix=SIGNATURE

// CHECK: model.py:3:5: error: native code is missing for stablehlo.uniform_quantize (1), stablehlo.add (1), stablehlo.uniform_dequantize (1), stablehlo.rng (1)
// CHECK: note: stablehlo.uniform_quantize, {{.*}}: quantized types have no native code: export the step in floats, or with scales and integers of its own
// CHECK: note: stablehlo.add, {{.*}}: quantized types have no native code
// CHECK: note: stablehlo.uniform_dequantize, {{.*}}: quantized types have no native code
// CHECK: note: stablehlo.rng, {{.*}}: its random numbers depend on hidden state: use jax.random
// CHECK-NOT: error:
// SIGNATURE: error: expected tensors of static shape, of numbers or booleans, in the signature of @main, got 'tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>': quantized types have no native code
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> loc("jit(step)"("model.py":3:5))
  %a = stablehlo.add %q, %q : tensor<4x!quant.uniform<i8:f32, 0.5>>
  %r = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32>
  %n = stablehlo.rng %zero, %zero, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %s = stablehlo.add %r, %n : tensor<4xf32>
  return %s : tensor<4xf32>
}
