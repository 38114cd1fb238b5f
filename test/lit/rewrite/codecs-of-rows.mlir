// The residual of a row would correct another one: rows that go to other places in each step have no error
// feedback, and stay uncompressed where it was asked for.
// RUN: cgx-opt %s --cgx-assign-codecs="codec=quantize bits=4 error-feedback=bf16" | FileCheck %s --check-prefix=KEPT
// RUN: cgx-opt %s --cgx-assign-codecs="codec=quantize bits=4" | FileCheck %s

// KEPT: cgx.all_gather(%{{.*}}) exact_reasons("rows of a table change places") codec(identity)
// KEPT: cgx.all_gather(%{{.*}}) {{.*}}codec(error_feedback<
// CHECK: cgx.all_gather(%{{.*}}) {{.*}}codec(quantize<bits = 4
// CHECK: cgx.all_gather(%{{.*}}) {{.*}}codec(quantize<bits = 4
module attributes {cgx.num_ranks = 2 : i64} {
  func.func @main(%table: tensor<64x16xf32>, %a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %at: tensor<16x1xi32>)
      -> (tensor<64x16xf32> {cgx.feeds = 0 : i64}) {
    %own = stablehlo.constant dense<3> : tensor<16x1xi32>
    %x = cgx.all_gather(%a) dim(0) groups([[0, 1]]) id(0) layer("table", gradient, [64, 16]) : (tensor<8x16xf32>) -> tensor<16x16xf32>
    %y = cgx.all_gather(%b) dim(0) groups([[0, 1]]) id(1) layer("table", gradient, [64, 16]) : (tensor<8x16xf32>) -> tensor<16x16xf32>
    %0 = "stablehlo.scatter"(%table, %at, %x) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x16xf32>, tensor<16x1xi32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    %1 = "stablehlo.scatter"(%0, %own, %y) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x16xf32>, tensor<16x1xi32>, tensor<16x16xf32>) -> tensor<64x16xf32>
    return %1 : tensor<64x16xf32>
  }
}
