// One error names all operations that have no real form.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics --cgx-expand-complex

func.func @main(%z: tensor<2x2xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) {
  // expected-error@+2 {{native code is missing for complex numbers in stablehlo.custom_call @unknown (1), stablehlo.custom_call @other (1)}}
  // expected-note@+1 {{first stablehlo.custom_call @unknown of complex numbers}}
  %0 = stablehlo.custom_call @unknown(%z) : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  // expected-note@+1 {{first stablehlo.custom_call @other of complex numbers}}
  %1 = stablehlo.custom_call @other(%z) : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %0, %1 : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>
}
