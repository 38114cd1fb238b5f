// Compares the results of functions whose IR would show little with those of their definitions.
// RUN: cgx-compile %s -o %t.so
// RUN: %python %S/Inputs/run-step.py %t.so | FileCheck %s

// Logarithms of the gamma function: positive and negative arguments, on both sides of the reflection.
// CHECK: {{^}}0.57236 -0.12078 0.86005 12.802 359.13{{$}}
// Roots of complex numbers, as their two parts.
// CHECK-NEXT: {{^}}2 0 2{{$}}
// CHECK-NEXT: {{^}}1 2 -3{{$}}
// The known answers of Threefry, as its authors publish them.
// CHECK-NEXT: {{^}}1797259609 481924860 3297917596{{$}}
// CHECK-NEXT: {{^}}2579123966 3137350631 1212020640{{$}}
// Bits of blocks of Threefry, whose counter goes on from one that is about to leave its lower half.
// CHECK-NEXT: {{^}}140400789 1503491073 2409396990 3837719252 4071633866 3255063309{{$}}
// Two columns of rows 1 and 9 of a table whose last row is row 2.
// CHECK-NEXT: {{^}}5 6 9 10{{$}}
// Pairs are added to rows 2 and 0; a pair that does not fit is dropped whole.
// CHECK-NEXT: {{^}}103 204 0 0 11 22{{$}}
// The first row meets the first group, the other two the second one.
// CHECK-NEXT: {{^}}50 400 600{{$}}
// A trace, and a product whose result names the dimensions of the left operand the other way round.
// CHECK-NEXT: {{^}}5{{$}}
// CHECK-NEXT: {{^}}5 18 10 24{{$}}
func.func public @main() -> (tensor<5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<6xui32>,
                             tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x1xf32>, tensor<f32>, tensor<2x2xf32>) {
  %x = stablehlo.constant dense<[0.5, 1.5, -1.5, 10.0, 100.0]> : tensor<5xf32>
  %gamma = chlo.lgamma %x : tensor<5xf32> -> tensor<5xf32>

  %re = stablehlo.constant dense<[3.0, -4.0, -5.0]> : tensor<3xf32>
  %im = stablehlo.constant dense<[4.0, 0.0, -12.0]> : tensor<3xf32>
  %z = stablehlo.complex %re, %im : tensor<3xcomplex<f32>>
  %root = stablehlo.sqrt %z : tensor<3xcomplex<f32>>
  %root_re = stablehlo.real %root : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %root_im = stablehlo.imag %root : (tensor<3xcomplex<f32>>) -> tensor<3xf32>

  %k0 = stablehlo.constant dense<[0, 4294967295, 320440878]> : tensor<3xui32>
  %k1 = stablehlo.constant dense<[0, 4294967295, 57701188]> : tensor<3xui32>
  %c0 = stablehlo.constant dense<[0, 4294967295, 608135816]> : tensor<3xui32>
  %c1 = stablehlo.constant dense<[0, 4294967295, 2242054355]> : tensor<3xui32>
  %t:2 = stablehlo.custom_call @cu_threefry2x32_ffi(%k0, %k1, %c0, %c1) : (tensor<3xui32>, tensor<3xui32>, tensor<3xui32>, tensor<3xui32>) -> (tensor<3xui32>, tensor<3xui32>)

  %state = stablehlo.constant dense<[30064771077, 4294967294]> : tensor<2xui64>
  %next, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)

  %table = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]> : tensor<3x4xf32>
  %at = stablehlo.constant dense<[[1, 1], [9, 1]]> : tensor<2x2xi32>
  %rows = "stablehlo.gather"(%table, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x4xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>

  %sums0 = stablehlo.constant dense<[[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]> : tensor<3x2xf32>
  %into = stablehlo.constant dense<[[2], [0], [3]]> : tensor<3x1xi32>
  %pairs = stablehlo.constant dense<[[10.0, 20.0], [100.0, 200.0], [1000.0, 2000.0]]> : tensor<3x2xf32>
  %sums = "stablehlo.scatter"(%sums0, %into, %pairs) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>

  %left = stablehlo.constant dense<[[1.0, 2.0], [1.0, 3.0], [3.0, 3.0]]> : tensor<3x2xf32>
  %groups = stablehlo.constant dense<[[[10.0], [20.0]], [[100.0], [100.0]]]> : tensor<2x2x1xf32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %ragged = "chlo.ragged_dot"(%left, %groups, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<3x2xf32>, tensor<2x2x1xf32>, tensor<2xi64>) -> tensor<3x1xf32>

  %m = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %v = stablehlo.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %trace = stablehlo.unary_einsum %m, config = "ii->" : (tensor<2x2xf32>) -> tensor<f32>
  %turned = stablehlo.einsum %m, %v, config = "ij,i->ji" : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %gamma, %root_re, %root_im, %t#0, %t#1, %bits, %rows, %sums, %ragged, %trace, %turned
    : tensor<5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xui32>, tensor<3xui32>, tensor<6xui32>, tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x1xf32>, tensor<f32>, tensor<2x2xf32>
}
