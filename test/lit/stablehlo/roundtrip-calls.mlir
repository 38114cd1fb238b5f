// Random numbers, and calls of other code.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s
// CHECK: "stablehlo.custom_call"(%{{.*}}) <{api_version = 4 : i32, backend_config = {bits = 4 : i64}, call_target_name = "cgx_all_reduce", has_side_effect = true}>
module {
  func.func @random(%arg0: tensor<2xui64>, %arg1: tensor<f32>, %arg2: tensor<1xi64>) {
    %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %0 = stablehlo.rng %arg1, %arg1, %arg2, distribution =  NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    return
  }
  func.func @custom_call(%arg0: tensor<8x8xf32>) {
    %0 = stablehlo.custom_call @cgx_all_reduce(%arg0) {api_version = 4 : i32, backend_config = {bits = 4 : i64}, has_side_effect = true} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.custom_call @lapack_strsm_ffi(%0, %0) {backend_config = "", operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=8, j=8, k=8, l=8, m=8, n=8}, custom>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.custom_call @"any name"(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.custom_call @nothing() : () -> ()
    return
  }
  func.func private @double(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @composite(%arg0: tensor<4xf32>) {
    %0 = stablehlo.composite "jax.double" %arg0 {composite_attributes = {factor = 2 : i64}, decomposition = @double, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
