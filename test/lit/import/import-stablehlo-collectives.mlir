// RUN: cgx-opt %s --split-input-file --cgx-import-stablehlo-collectives --verify-diagnostics | FileCheck %s

// Eight processes: 2 replicas of 4 partitions. Rank = replica * 4 + partition.

// CHECK-LABEL: module @modes
module @modes attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 4 : i32} {
  // CHECK-LABEL: func.func @all_reduce_modes
  func.func @all_reduce_modes(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    // Across replicas: a group for each partition.
    // CHECK: cgx.all_reduce sum(%arg0) codec(identity) groups({{\[\[0, 4\], \[1, 5\], \[2, 6\], \[3, 7\]\]}}) id(0) layer("", other) : tensor<8xf32>
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    // Across replicas and partitions: all partitions of the replicas of a row.
    // CHECK: cgx.all_reduce max(%arg0) {{.*}}groups({{\[\[0, 1, 2, 3\], \[4, 5, 6, 7\]\]}}) id(1)
    %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %b, %a : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    // Flattened ids.
    // CHECK: cgx.all_reduce min(%arg0) {{.*}}groups({{\[\[0, 7\], \[1\], \[2, 3, 4\]\]}}) id(2)
    %2 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 7, -1], [1, -1, -1], [2, 3, 4]]> : tensor<3x3xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.minimum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    // No groups: everybody.
    // CHECK: cgx.all_reduce product(%arg0) {{.*}}groups({{\[\[0, 1, 2, 3, 4, 5, 6, 7\]\]}}) id(3)
    %3 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<> : tensor<0x0xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }

  // CHECK-LABEL: func.func @other_collectives
  func.func @other_collectives(%x: tensor<8x4xf32>) {
    // CHECK: cgx.all_gather(%arg0) codec(identity) dim(1) groups({{\[\[0, 1, 2, 3\], \[4, 5, 6, 7\]\]}}) id(4) layer("", other) : (tensor<8x4xf32>) -> tensor<8x16xf32>
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8x4xf32>) -> tensor<8x16xf32>
    // CHECK: cgx.reduce_scatter sum(%arg0) codec(identity) dim(0) groups({{\[\[0, 1, 2, 3\], \[4, 5, 6, 7\]\]}}) id(5){{.*}} : (tensor<8x4xf32>) -> tensor<2x4xf32>
    %1 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<2x4xf32>
    // Across partitions: a group for each replica.
    // CHECK: cgx.all_to_all(%arg0) codec(identity) concat_dim(1) groups({{\[\[0, 2\], \[4, 6\], \[1, 3\], \[5, 7\]\]}}) id(6){{.*}}split_dim(0) : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
    // CHECK: cgx.broadcast(%arg0) codec(identity) groups({{\[\[1, 0\], \[5, 4\]\]}}) id(7){{.*}}root(0) : tensor<8x4xf32>
    %3 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // A rank in no group has zeros.
    // CHECK: %[[RANK:.+]] = stablehlo.add
    // CHECK: %[[MEMBERS:.+]] = stablehlo.constant dense<[true, true, false, false, true, true, false, false]> : tensor<8xi1>
    // CHECK: stablehlo.dynamic_slice %[[MEMBERS]], %[[RANK]], sizes = [1]
    // CHECK: stablehlo.select
    // CHECK: cgx.permute(%arg0) codec(identity) groups({{\[\[0, 1, 2, 3, 4, 5, 6, 7\]\]}}) id(8){{.*}}source_target_pairs({{\[\[0, 1\], \[4, 5\], \[3, 0\], \[7, 4\]\]}}) : tensor<8x4xf32>
    %4 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [3, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return
  }

  // Across replicas and partitions: partitions are major in a group.
  // CHECK-LABEL: func.func @replicas_and_partitions
  func.func @replicas_and_partitions(%x: tensor<8x4xf32>) {
    // CHECK: cgx.all_gather(%arg0) {{.*}}groups({{\[\[0, 4, 1, 5, 2, 6, 3, 7\]\]}}){{.*}} : (tensor<8x4xf32>) -> tensor<64x4xf32>
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<8x4xf32>) -> tensor<64x4xf32>
    // CHECK: cgx.reduce_scatter sum(%arg0) {{.*}}groups({{\[\[0, 4, 1, 5, 2, 6, 3, 7\]\]}}){{.*}} : (tensor<8x4xf32>) -> tensor<1x4xf32>
    %1 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<1x4xf32>
    return
  }

  // Several operands; booleans; a loop.
  // CHECK-LABEL: func.func @forms
  func.func @forms(%x: tensor<8xf32>, %y: tensor<f32>, %p: tensor<i1>) -> tensor<8xf32> {
    // CHECK: %{{.*}}:2 = cgx.all_reduce sum(%arg0, %arg1) codec(identity, identity){{.*}}id({{[0-9]+}}) layer("", other) layer("", other) : tensor<8xf32>, tensor<f32>
    %0:2 = "stablehlo.all_reduce"(%x, %y) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
    // CHECK: cgx.all_reduce min(%arg2) {{.*}} : tensor<i1>
    %1 = "stablehlo.all_reduce"(%p) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<i1>, %b: tensor<i1>):
      %s = stablehlo.and %a, %b : tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) : (tensor<i1>) -> tensor<i1>
    // CHECK: stablehlo.while
    // CHECK: do
    // CHECK: cgx.all_reduce sum
    %2:2 = stablehlo.while(%i = %1, %c = %0#0) : tensor<i1>, tensor<8xf32>
    cond {
      stablehlo.return %i : tensor<i1>
    } do {
      %3 = "stablehlo.all_reduce"(%c) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      stablehlo.return %i, %3 : tensor<i1>, tensor<8xf32>
    }
    return %2#1 : tensor<8xf32>
  }

  // A reduction that cgx does not have stays.
  // CHECK-LABEL: func.func @unknown_reduction
  func.func @unknown_reduction(%x: tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: "stablehlo.all_reduce"
    // expected-remark@+1 {{'stablehlo.all_reduce' stays as it is: its reduction is not one add, maximum, minimum or multiply}}
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.subtract %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// Groups by mesh axes, as JAX 0.11 writes them.
module attributes {mhlo.num_partitions = 8 : i32, cgx.num_ranks = 8 : i64} {
  // The mesh is of no use any more.
  // CHECK-NOT: sdy.mesh
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  // CHECK-LABEL: func.func @mesh_axes
  func.func @mesh_axes(%x: tensor<8xf32>) {
    // CHECK: groups({{\[\[0, 4\], \[1, 5\], \[2, 6\], \[3, 7\]\]}})
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    // An inline mesh, and two axes, the first major.
    // CHECK: groups({{\[\[0, 2, 1, 3\]\]}})
    %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>, #stablehlo.mesh_axis<name = "b", size = 2>]>, axes = [#stablehlo.axis_ref<name = "b">, #stablehlo.axis_ref<name = "a">]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<32xf32>
    // The devices of the mesh are not in order.
    // CHECK: groups({{\[\[3, 2\], \[1, 0\]\]}})
    %2 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>, #stablehlo.mesh_axis<name = "b", size = 2>], device_ids = dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "b">]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    // The major and the minor half of y, read as 2 x 2.
    // CHECK: groups({{\[\[0, 2\], \[1, 3\], \[4, 6\], \[5, 7\]\]}})
    %3 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    // CHECK: groups({{\[\[0, 1\], \[2, 3\], \[4, 5\], \[6, 7\]\]}})
    %4 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (2)2>]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    return
  }
}

// -----

// Asynchronous forms.
module attributes {mhlo.num_partitions = 2 : i32} {
  // CHECK-LABEL: func.func @async
  func.func @async(%x: tensor<8xf32>) -> tensor<16xf32> {
    // CHECK-NEXT: %[[R:.*]] = cgx.all_gather(%arg0)
    // CHECK-NEXT: return %[[R]]
    %0 = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<8xf32>):
      %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
      stablehlo.return %2 : tensor<16xf32>
    }) : (tensor<8xf32>) -> !stablehlo.future<tensor<16xf32>>
    %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<16xf32>>) -> tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}

// -----

// Ids go on where those of the module end.
module attributes {cgx.num_ranks = 2 : i64} {
  // CHECK-LABEL: func.func @ids
  func.func @ids(%x: tensor<8xf32>) {
    // CHECK: id(3)
    %0 = cgx.all_gather(%x) dim(0) groups([[0, 1]]) id(3) : (tensor<8xf32>) -> tensor<16xf32>
    // CHECK: id(4)
    %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<16xf32>
    return
  }
}

// -----

func.func @unknown_id(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected ids below 1, got 1; mhlo.num_replicas and mhlo.num_partitions say how many processes there are}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<16xf32>
  return
}

// -----

module attributes {mhlo.num_replicas = 3 : i32} {
  func.func @overlap(%x: tensor<8xf32>) {
    // expected-error@+1 {{expected each process in one group, got 1 twice}}
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<8xf32>) -> tensor<16xf32>
    return
  }
}

// -----

// Checks cross-replica-sum, the all_reduce before it had a region.
// CHECK-LABEL: func.func @cross_replica_sum
// CHECK: cgx.all_reduce sum(%arg0) {{.*}}groups({{\[\[}}0, 1], [2, 3]])
module attributes {mhlo.num_replicas = 4 : i32, mhlo.num_partitions = 1 : i32} {
  func.func @cross_replica_sum(%x: tensor<8xf32>) -> tensor<8xf32> {
    %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @sub_axis_beyond_64_bits(%x: tensor<8xf32>) {
    // expected-error@+1 {{sub-axis (9223372036854775807)2 of "y" does not divide its size 4}}
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (9223372036854775807)2>]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @mesh_of_too_many(%x: tensor<8xf32>) {
    // expected-error@+1 {{expected a mesh of at most 1048576 devices, got 4 along axis "b" beside other axes}}
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 1048576>, #stablehlo.mesh_axis<name = "b", size = 4>]>, axes = [#stablehlo.axis_ref<name = "a">]>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8xf32>) -> tensor<16xf32>
    return
  }
}
