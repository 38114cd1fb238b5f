// The number of the rank comes as the last argument, and the program is one for one device.
// RUN: cgx-opt %s --split-input-file --cgx-take-rank --verify-diagnostics | FileCheck %s

// CHECK: module @partitions {
module @partitions attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  // CHECK: @main(%arg0: tensor<4xf32>, %[[RANK:.*]]: tensor<ui32>)
  // CHECK-NOT: partition_id
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<ui32>
  // CHECK: return %[[RANK]], %[[ZERO]]
  func.func public @main(%x: tensor<4xf32>) -> (tensor<ui32>, tensor<ui32>) {
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.replica_id : tensor<ui32>
    return %0, %1 : tensor<ui32>, tensor<ui32>
  }
}

// -----

// Ranks count through the partitions of a replica first.
// CHECK: module @both {
module @both attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 3 : i32} {
  // CHECK: @main(%[[RANK:.*]]: tensor<ui32>)
  // CHECK: %[[SIZE:.*]] = stablehlo.constant dense<2> : tensor<ui32>
  // CHECK: %[[REPLICA:.*]] = stablehlo.divide %[[RANK]], %[[SIZE]]
  // CHECK: %[[PARTITION:.*]] = stablehlo.remainder %[[RANK]], %[[SIZE]]
  // CHECK: return %[[PARTITION]], %[[REPLICA]]
  func.func public @main() -> (tensor<ui32>, tensor<ui32>) {
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.replica_id : tensor<ui32>
    return %0, %1 : tensor<ui32>, tensor<ui32>
  }
}

// -----

// CHECK: module @replicas {
module @replicas attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 3 : i32} {
  // CHECK: @main(%[[RANK:.*]]: tensor<ui32>)
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<ui32>
  // CHECK: return %[[ZERO]], %[[RANK]]
  func.func public @main() -> (tensor<ui32>, tensor<ui32>) {
    %0 = stablehlo.partition_id : tensor<ui32>
    %1 = stablehlo.replica_id : tensor<ui32>
    return %0, %1 : tensor<ui32>, tensor<ui32>
  }
}

// -----

// What does not ask takes it all the same: who calls the program need not look.
// CHECK: module @nobody {
module @nobody {
  // CHECK: @main(%arg0: tensor<4xf32>, %arg1: tensor<ui32>) -> tensor<4xf32>
  // CHECK-NEXT: return %arg0
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{expected a function @main with a body}}
module @empty {
}
