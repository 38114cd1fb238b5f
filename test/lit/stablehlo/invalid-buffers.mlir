// Checks what calls that own buffers reject.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @if_of_buffers(%arg0: tensor<i1>, %arg1: memref<2xf32>) {
  // expected-error@+1 {{expected tensors, tokens or tuples as results, got 'memref<2xf32>'}}
  %r = "stablehlo.if"(%arg0) ({ "stablehlo.return"(%arg1) : (memref<2xf32>) -> () }, { "stablehlo.return"(%arg1) : (memref<2xf32>) -> () }) : (tensor<i1>) -> memref<2xf32>
  return
}

// -----

func.func @custom_call_create_buffer(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected CreateBuffer of no operand and one result, got 1 and 1}}
  %r = "stablehlo.custom_call"(%arg0) {call_target_name = "CreateBuffer", api_version = 4 : i32} : (tensor<2xf32>) -> memref<2xf32>
  return
}

// -----

func.func @custom_call_pin(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected Pin to give a memref, got 'tensor<2xf32>'}}
  %r = "stablehlo.custom_call"(%arg0) {call_target_name = "Pin", api_version = 4 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @custom_call_unpin(%arg0: memref<2xf32>) {
  // expected-error@+1 {{expected a result of the operand's shape and element type, 'memref<2xf32>', got 'tensor<2xi32>'}}
  %r = "stablehlo.custom_call"(%arg0) {call_target_name = "Unpin", api_version = 4 : i32} : (memref<2xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @custom_call_buffer_of_two_results(%arg0: memref<2xf32>) {
  // expected-error@+1 {{expected each buffer in one alias, got #stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []> and #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>}}
  %r:2 = "stablehlo.custom_call"(%arg0) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> (memref<2xf32>, memref<2xf32>)
  return
}

// -----

func.func @custom_call_buffer_of_no_operand(%arg0: memref<2xf32>) {
  // expected-error@+1 {{expected an alias of each buffer that is a result, got none of [1]}}
  %r:2 = "stablehlo.custom_call"(%arg0) {call_target_name = "f", api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (memref<2xf32>) -> (memref<2xf32>, memref<2xf32>)
  return
}
