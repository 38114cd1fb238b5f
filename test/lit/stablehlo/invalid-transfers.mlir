// Checks what transfers, tuples and calls reject.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @infeed_c1(%t: !stablehlo.token) {
  // expected-error@+1 {{expected at least one result}}
  "stablehlo.infeed"(%t) : (!stablehlo.token) -> ()
  return
}

// -----

func.func @infeed_c3(%t: !stablehlo.token) {
  // expected-error@+1 {{expected a token as the last result, got 'tensor<i32>'}}
  %0 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> tensor<i32>
  return
}

// -----

func.func @recv_c1(%t: !stablehlo.token) {
  // expected-error@+1 {{expected a channel of type 3 as is_host_transfer is true, got 1}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}

// -----

func.func @recv_c3(%t: !stablehlo.token) {
  // expected-error@+1 {{expected tensors before the last result, got '!stablehlo.token'}}
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @send_c1(%a: tensor<f32>, %t: !stablehlo.token) {
  // expected-error@+1 {{expected a channel of type 1 as is_host_transfer is false, got 2}}
  %0 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>}> : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return
}

// -----

func.func @tuple_c1(%a: tensor<f32>) {
  // expected-error@+1 {{expected a tuple of the operands' types, 'tensor<f32>', got 'tuple<tensor<i32>>'}}
  %0 = stablehlo.tuple %a : (tensor<f32>) -> tuple<tensor<i32>>
  return
}

// -----

func.func @get_tuple_element_c1(%a: tuple<tensor<f32>, tensor<i32>>) {
  // expected-error@+1 {{expected index in range [0, 2), got 2}}
  %0 = stablehlo.get_tuple_element %a[2] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
  return
}

// -----

func.func @get_tuple_element_c2(%a: tuple<tensor<f32>, tensor<i32>>) {
  // expected-error@+1 {{expected a result of type 'tensor<i32>', got 'tensor<f32>'}}
  %0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
  return
}

// -----

func.func @custom_call_layouts(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{expected layouts of both operands and results, or of neither}}
  %0 = stablehlo.custom_call @foo(%a) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @custom_call_permutation(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{expected a permutation of the dimensions of 'tensor<2x3xf32>', got dense<[0, 2]> : tensor<2xindex>}}
  %0 = stablehlo.custom_call @foo(%a) {operand_layouts = [dense<[0, 2]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @custom_call_alias(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{expected operand_index in range [0, 1), got 1}}
  %0 = stablehlo.custom_call @foo(%a) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @custom_call_config(%a: tensor<f32>) {
  // expected-error@+1 {{expected backend_config to be a dictionary with api_version 4, got "a"}}
  %0 = stablehlo.custom_call @foo(%a) {api_version = 4 : i32, backend_config = "a"} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @composite_c1(%a: tensor<f32>) {
  // expected-error@+1 {{expected a name such as 'my_library.my_op', got 'foo'}}
  %0 = stablehlo.composite "foo" %a {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @composite_c1_letters(%a: tensor<f32>) {
  // expected-error@+1 {{expected a name such as 'my_library.my_op', got 'my_library.my-op'}}
  %0 = stablehlo.composite "my_library.my-op" %a {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @composite_c2(%a: tensor<f32>) {
  // expected-error@+1 {{expected decomposition to be a function, got @f}}
  %0 = stablehlo.composite "a.b" %a {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f64>) -> tensor<f32>
func.func @composite_c3(%a: tensor<f32>) {
  // expected-error@+1 {{expected operands of the types of @f, 'tensor<f64>', got 'tensor<f32>'}}
  %0 = stablehlo.composite "a.b" %a {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func private @f(tensor<f32>) -> tensor<f64>
func.func @composite_c4(%a: tensor<f32>) {
  // expected-error@+1 {{expected results of the types of @f, 'tensor<f64>', got 'tensor<f32>'}}
  %0 = stablehlo.composite "a.b" %a {decomposition = @f} : (tensor<f32>) -> tensor<f32>
  return
}
