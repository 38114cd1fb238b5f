// Memory that a step keeps for the next one is freed on request, and when the library is unloaded.
// RUN: cgx-compile %s -o %t.so
// RUN: %python %S/Inputs/run-step.py %t.so --memory | FileCheck %s

// A table of 64 MiB is a temporary of the step.
// CHECK: {{^}}4096{{$}}
// CHECK: after a step: 64 MiB
// CHECK-NEXT: after cgx_program_release: 0 MiB
// CHECK-NEXT: after a step: 64 MiB
// CHECK-NEXT: unloaded: 0 MiB
func.func public @main() -> tensor<f32> {
  %table = stablehlo.iota dim = 0 : tensor<4096x4096xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<4096xf32>
  %sums = stablehlo.dot_general %table, %ones, contracting_dims = [1] x [0] : (tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %second = stablehlo.slice %sums [1:2] : (tensor<4096xf32>) -> tensor<1xf32>
  %result = stablehlo.reshape %second : (tensor<1xf32>) -> tensor<f32>
  return %result : tensor<f32>
}
