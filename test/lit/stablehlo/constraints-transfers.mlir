// Constraints of the specification on transfers and asynchronous ops, by their labels.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @infeed_c2(%arg0: !stablehlo.token) {
  // expected-error@+1 {{expected tensors before the last result, got '!stablehlo.token'}}
  %r:2 = "stablehlo.infeed"(%arg0) {infeed_config = ""} : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}

// -----

func.func @recv_c2(%arg0: !stablehlo.token) {
  // expected-error@+1 {{expected at least one result}}
  "stablehlo.recv"(%arg0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> ()
  return
}

// -----

func.func @recv_c4(%arg0: !stablehlo.token) {
  // expected-error@+1 {{expected a token as the last result, got 'tensor<2xf32>'}}
  %r = "stablehlo.recv"(%arg0) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> tensor<2xf32>
  return
}

// -----

func.func @set_dimension_size_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>) {
  // expected-error@+1 {{expected dimension in range [0, 2), got 2}}
  %r = "stablehlo.set_dimension_size"(%arg0, %arg1) {dimension = 2 : i64} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @real_dynamic_slice_c1(%arg0: tensor<2x3xf32>, %arg1: tensor<2xi32>, %arg2: tensor<2xi32>, %arg3: tensor<2xi32>) {
  // expected-error@+1 {{expected a result of rank 2, got 'tensor<?xf32>'}}
  %r = "stablehlo.real_dynamic_slice"(%arg0, %arg1, %arg2, %arg3) : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

func.func @async_start_c3(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected the body to take 'tensor<2xf32>', got 'tensor<3xf32>'}}
  %r = "stablehlo.async_start"(%arg0) ({ ^bb0(%x: tensor<3xf32>): %s = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3xf32>) -> tensor<6xf32> "stablehlo.return"(%s) : (tensor<6xf32>) -> () }) : (tensor<2xf32>) -> !stablehlo.future<tensor<6xf32>>
  return
}

// -----

func.func @async_start_c1(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected one op and stablehlo.return in the body, got 1 ops}}
  %r = "stablehlo.async_start"(%arg0) ({ ^bb0(%x: tensor<2xf32>): "stablehlo.return"(%x) : (tensor<2xf32>) -> () }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

func.func @async_start_c4(%arg0: tensor<2xf32>) {
  // expected-error@+1 {{expected a future of what the body returns, 'tensor<4xf32>', got '!stablehlo.future<tensor<2xf32>>'}}
  %r = "stablehlo.async_start"(%arg0) ({ ^bb0(%x: tensor<2xf32>): %s = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32> "stablehlo.return"(%s) : (tensor<4xf32>) -> () }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}
