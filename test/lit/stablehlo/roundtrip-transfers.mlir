// Infeeds, messages, tuples, and older forms of ops.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @transfers(%arg0: !stablehlo.token, %arg1: tensor<2xf32>) {
    %0:2 = "stablehlo.infeed"(%arg0) <{infeed_config = "a", layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %1 = "stablehlo.outfeed"(%arg1, %arg0) <{outfeed_config = "b"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %2 = "stablehlo.send"(%arg1, %1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %3:2 = "stablehlo.recv"(%2) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    return
  }
  func.func @tuples(%arg0: tensor<2xf32>, %arg1: tensor<i32>, %arg2: !stablehlo.token) {
    %0 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<2xf32>, tensor<i32>>
    %1 = stablehlo.tuple %0, %arg2 : tuple<tuple<tensor<2xf32>, tensor<i32>>, !stablehlo.token>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<tuple<tensor<2xf32>, tensor<i32>>, !stablehlo.token>) -> tuple<tensor<2xf32>, tensor<i32>>
    %3 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
    return
  }
  func.func @older(%arg0: tensor<4x8xf32>, %arg1: tensor<8x2xf32>, %arg2: tensor<3xi32>) {
    %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.dot %arg0, %arg1, precision = [DEFAULT, HIGHEST] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %2 = stablehlo.einsum %arg0, %arg1, config = "ab,bc->ac" : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %3 = stablehlo.unary_einsum %arg0, config = "ab->a" : (tensor<4x8xf32>) -> tensor<4xf32>
    %4 = "stablehlo.torch_index_select"(%arg0, %arg2) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<4x3xf32>
    %5 = "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return
  }
  func.func @newer(%arg0: tensor<4xf32>, %arg1: tensor<1xi32>) {
    %0 = "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.collective_broadcast"(%arg0, %arg1) <{has_dynamic_root, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
    %2 = mhlo.copy %1 : tensor<4xf32>
    return
  }
}
