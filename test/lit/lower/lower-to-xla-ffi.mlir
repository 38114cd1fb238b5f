// Collectives become calls of XLA, in the order of the program, each with the token of the one before.
// RUN: cgx-opt %s --split-input-file --cgx-lower-to-xla=per-rank | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-lower-to-xla="per-rank program=mine" | FileCheck %s --check-prefix=NAMED

// CHECK-LABEL: module @group
// CHECK-SAME: \22hash\22:\22[[HASH:[0-9a-f]+]]\22
// NAMED-LABEL: module @group
module @group attributes {cgx.num_ranks = 4 : i64, mhlo.num_partitions = 4 : i32} {
  func.func public @main(%g: tensor<64x128xf32>, %b: tensor<128xf32>, %w: tensor<8xf32>)
      -> (tensor<64x128xf32>, tensor<128xf32>, tensor<32xf32>) {
    // CHECK: %[[RANK:.*]] = stablehlo.partition_id : tensor<ui32>
    // CHECK: %[[T0:.*]] = stablehlo.custom_call @cgx_begin_step(%[[RANK]])
    // CHECK-SAME: api_version = 4 : i32, backend_config = {program = "[[HASH]]"}, has_side_effect = true
    // CHECK: %[[C0:.*]]:3 = stablehlo.custom_call @cgx_collective(%[[T0]], %arg0, %arg1)
    // CHECK-SAME: backend_config = {collective = 0 : i64, kept = array<i64>, operands = 2 : i64, program = "[[HASH]]"}
    // CHECK-SAME: operand_layouts = [dense<> : tensor<0xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]
    // CHECK: %[[C1:.*]]:2 = stablehlo.custom_call @cgx_collective(%[[C0]]#0, %arg2)
    // CHECK-SAME: collective = 1 : i64
    // CHECK: stablehlo.custom_call @cgx_end_step(%[[C1]]#0)
    // CHECK: return %[[C0]]#1, %[[C0]]#2, %[[C1]]#1
    // NAMED: @cgx_end_step
    // NAMED-SAME: program = "mine"
    %0:2 = cgx.all_reduce sum(%g, %b) codec(quantize<bits = 4, bucket = 128>, identity) groups([[0, 1, 2, 3]]) id(0)
        layer("w", gradient, [64, 128]) layer("b", gradient, [128]) : tensor<64x128xf32>, tensor<128xf32>
    %1 = cgx.all_gather(%w) dim(0) groups([[0, 1, 2, 3]]) id(1) : (tensor<8xf32>) -> tensor<32xf32>
    return %0#0, %0#1, %1 : tensor<64x128xf32>, tensor<128xf32>, tensor<32xf32>
  }
}

// -----

// A start and its wait are one call, where the start was.

// CHECK-LABEL: module @started
// NAMED-LABEL: module @started
module @started attributes {cgx.num_ranks = 2 : i64, mhlo.num_replicas = 2 : i32} {
  func.func public @main(%g: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    // CHECK: %[[RANK:.*]] = stablehlo.replica_id : tensor<ui32>
    // CHECK: %[[T0:.*]] = stablehlo.custom_call @cgx_begin_step(%[[RANK]])
    // CHECK: %[[C:.*]]:2 = stablehlo.custom_call @cgx_collective(%[[T0]], %arg0)
    // CHECK: %[[N:.*]] = stablehlo.negate %arg0
    // CHECK: stablehlo.custom_call @cgx_end_step(%[[C]]#0)
    // CHECK: return %[[C]]#1, %[[N]]
    %h = cgx.start all_reduce sum(%g) groups([[0, 1]]) id(0) layer("w", gradient, [64])
        : tensor<64xf32>
    %n = stablehlo.negate %g : tensor<64xf32>
    %r = cgx.wait %h : !cgx.handle<tensor<64xf32>>
    return %r, %n : tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// Loops carry the token, branches return it, and a condition only reads it.

// CHECK-LABEL: module @nested
// NAMED-LABEL: module @nested
module @nested attributes {cgx.num_ranks = 2 : i64, mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
    // CHECK: %[[T0:.*]] = stablehlo.custom_call @cgx_begin_step
    // CHECK: %[[L:.*]]:2 = stablehlo.while(%[[A:.*]] = %arg0, %[[T:.*]] = %[[T0]]) : tensor<4xf32>, tensor<ui32>
    // CHECK: cond
    // CHECK: %[[C:.*]]:2 = stablehlo.custom_call @cgx_collective(%[[T]], %{{.*}})
    // CHECK: stablehlo.return %{{.*}} : tensor<i1>
    // CHECK: do
    // CHECK: %[[D:.*]]:2 = stablehlo.custom_call @cgx_collective(%[[T]], %[[A]])
    // CHECK: stablehlo.return %[[D]]#1, %[[D]]#0 : tensor<4xf32>, tensor<ui32>
    // CHECK: %[[I:.*]]:2 = "stablehlo.if"(%arg1) ({
    // CHECK: %[[E:.*]]:2 = stablehlo.custom_call @cgx_collective(%[[L]]#1, %[[L]]#0)
    // CHECK: stablehlo.return %[[E]]#1, %[[E]]#0
    // CHECK: }, {
    // CHECK: stablehlo.return %[[L]]#0, %[[L]]#1
    // CHECK: stablehlo.custom_call @cgx_end_step(%[[I]]#1)
    // CHECK: return %[[I]]#0
    %0 = stablehlo.while(%a = %x) : tensor<4xf32>
     cond {
      %s = stablehlo.slice %a [0:1] : (tensor<4xf32>) -> tensor<1xf32>
      %m = cgx.all_reduce max(%s) groups([[0, 1]]) id(0) : tensor<1xf32>
      %v = stablehlo.reshape %m : (tensor<1xf32>) -> tensor<f32>
      %o = stablehlo.constant dense<1.0> : tensor<f32>
      %c = stablehlo.compare LT, %v, %o : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = cgx.permute(%a) groups([[0, 1]]) id(1) layer("", activation) source_target_pairs([[0, 1], [1, 0]])
          : tensor<4xf32>
      stablehlo.return %n : tensor<4xf32>
    }
    %1 = "stablehlo.if"(%p) ({
      %n = cgx.all_reduce sum(%0) groups([[0, 1]]) id(2) : tensor<4xf32>
      stablehlo.return %n : tensor<4xf32>
    }, {
      stablehlo.return %0 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// Bound state is passed along; without collectives nothing is called; many booleans are bytes.

// CHECK-LABEL: module @lent
// NAMED-LABEL: module @lent
module @lent attributes {cgx.num_ranks = 2 : i64, mhlo.num_partitions = 2 : i32} {
  func.func public @main(%w: tensor<64xf32>, %g: tensor<64xf32>, %lr: tensor<f32>) -> tensor<64xf32> {
    // CHECK-NOT: cgx.bind_optimizer_state
    // CHECK: @cgx_collective(%{{.*}}, %arg1, %arg0, %arg2)
    // CHECK-SAME: kept = array<i64: 0, 0, 0, 3>, operands = 1 : i64
    cgx.bind_optimizer_state parameter(%w : tensor<64xf32>) learning_rate(%lr : tensor<f32>) id(0) operand_number(0)
    %r = cgx.all_reduce sum(%g) codec(gcomp<optimizer = sgd>) groups([[0, 1]]) id(0) layer("w", gradient, [64])
        : tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

// CHECK-LABEL: module @silent
// NAMED-LABEL: module @silent
module @silent attributes {cgx.num_ranks = 2 : i64, mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<80xi1>) -> tensor<80xi1> {
    // CHECK-NOT: custom_call
    // CHECK: %[[B:.*]] = stablehlo.constant dense<{{.*}}> : tensor<80xui8>
    // CHECK: %[[C:.*]] = stablehlo.convert %[[B]] : (tensor<80xui8>) -> tensor<80xi1>
    // Up to 64 are written one by one.
    // CHECK: stablehlo.constant dense<[true, false, {{.*}}]> : tensor<64xi1>
    // CHECK: stablehlo.constant dense<{{.*}}> : tensor<65xui8>
    // CHECK: dense<[true, false]> : tensor<2xi1>
    // CHECK: stablehlo.and %arg0, %[[C]]
    %c = stablehlo.constant dense<"0x01020304050607080910"> : tensor<80xi1>
    %most = stablehlo.constant dense<"0x0102030405060708"> : tensor<64xi1>
    %more = stablehlo.constant dense<"0x010203040506070801"> : tensor<65xi1>
    %few = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %r = stablehlo.and %x, %c : tensor<80xi1>
    return %r : tensor<80xi1>
  }
}
