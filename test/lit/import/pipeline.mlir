// RUN: cgx-opt %s --cgx-import | FileCheck %s

// A step as JAX 0.10 exports it: two layers' parameters, momentum, clipping by the
// global norm, check_vma=True, so that every gradient is summed twice.

// CHECK: module @jit_step attributes {cgx.mesh = #cgx.mesh<["data" = 4]>, cgx.num_ranks = 4 : i64
// CHECK-NOT: sdy.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %arg3: tensor<6x5xf32> {{{.*}}cgx.name = "state['params']['w']"
// CHECK-SAME: %arg4: tensor<4x6xf32> {cgx.global_type = tensor<16x6xf32>, cgx.name = "batch['x']"
// CHECK-SAME: tensor<6x5xf32> {cgx.feeds = 3 : i64{{.*}}cgx.name = "result[0]['params']['w']"
// CHECK: stablehlo.maximum
// CHECK: cgx.all_reduce sum({{.*}}id(0) layer("params/b", gradient, [5]) : tensor<1x5xf32>
// CHECK: cgx.all_reduce sum({{.*}}id(1) layer("params/w", gradient, [6, 5]) :
// CHECK: cgx.all_reduce sum({{.*}}id(2) layer("params/b", gradient, [5]) : tensor<5xf32>
// CHECK: cgx.all_reduce sum({{.*}}id(3) layer("params/w", gradient, [6, 5]) :
// CHECK: cgx.all_reduce sum({{.*}}id(4) layer("loss", other) : tensor<f32>
// CHECK-NOT: @relu

module @jit_step attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<5xf32> {jax.buffer_donor = true} loc("state['mom']['b']"), %arg1: tensor<6x5xf32> {jax.buffer_donor = true} loc("state['mom']['w']"), %arg2: tensor<5xf32> {jax.buffer_donor = true} loc("state['params']['b']"), %arg3: tensor<6x5xf32> {jax.buffer_donor = true} loc("state['params']['w']"), %arg4: tensor<16x6xf32> loc("batch['x']"), %arg5: tensor<16x5xf32> loc("batch['y']")) -> (tensor<5xf32> {jax.result_info = "result[0]['mom']['b']"}, tensor<6x5xf32> {jax.result_info = "result[0]['mom']['w']"}, tensor<5xf32> {jax.result_info = "result[0]['params']['b']"}, tensor<6x5xf32> {jax.result_info = "result[0]['params']['w']"}, tensor<f32> {jax.result_info = "result[1]['loss']"}) {
    %0:5 = sdy.manual_computation(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) in_shardings=[<@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{"data"}, {}]>, <@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>, <@mesh, [{}, {}]>, <@mesh, []>] manual_axes={"data"} (%arg6: tensor<5xf32>, %arg7: tensor<6x5xf32>, %arg8: tensor<5xf32>, %arg9: tensor<6x5xf32>, %arg10: tensor<4x6xf32>, %arg11: tensor<4x5xf32>) {
      %1 = stablehlo.dot_general %arg10, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
      %2 = stablehlo.broadcast_in_dim %arg8, dims = [1] : (tensor<5xf32>) -> tensor<1x5xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x5xf32>) -> tensor<4x5xf32>
      %4 = stablehlo.add %1, %3 : tensor<4x5xf32>
      %5 = func.call @relu(%4) : (tensor<4x5xf32>) -> tensor<4x5xf32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
      %7 = stablehlo.compare GT, %4, %6, FLOAT : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xi1>
      %8 = stablehlo.subtract %5, %arg11 : tensor<4x5xf32>
      %9 = stablehlo.multiply %8, %8 : tensor<4x5xf32>
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
      %11 = stablehlo.multiply %10, %8 : tensor<4x5xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %12 = stablehlo.reduce(%9 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<f32>
      %cst_2 = stablehlo.constant dense<2.000000e+01> : tensor<f32>
      %13 = stablehlo.divide %12, %cst_2 : tensor<f32>
      %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %14 = stablehlo.divide %cst_3, %cst_2 : tensor<f32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
      %16 = stablehlo.multiply %15, %11 : tensor<4x5xf32>
      %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
      %18 = stablehlo.select %7, %16, %17 : tensor<4x5xi1>, tensor<4x5xf32>
      %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %19 = stablehlo.reduce(%18 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
      %20 = stablehlo.reshape %19 : (tensor<5xf32>) -> tensor<1x5xf32>
      %21 = "stablehlo.all_reduce"(%20) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %61 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %61 : tensor<f32>
      }) : (tensor<1x5xf32>) -> tensor<1x5xf32>
      %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %22 = stablehlo.reduce(%21 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<1x5xf32>, tensor<f32>) -> tensor<5xf32>
      %23 = stablehlo.dot_general %18, %arg10, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
      %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<5x6xf32>) -> tensor<6x5xf32>
      %25 = "stablehlo.all_reduce"(%24) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %61 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %61 : tensor<f32>
      }) : (tensor<6x5xf32>) -> tensor<6x5xf32>
      %26 = "stablehlo.all_reduce"(%22) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %61 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %61 : tensor<f32>
      }) : (tensor<5xf32>) -> tensor<5xf32>
      %27 = "stablehlo.all_reduce"(%25) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %61 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %61 : tensor<f32>
      }) : (tensor<6x5xf32>) -> tensor<6x5xf32>
      %cst_7 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %28 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %29 = stablehlo.divide %26, %28 : tensor<5xf32>
      %cst_8 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %30 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
      %31 = stablehlo.divide %27, %30 : tensor<6x5xf32>
      %32 = stablehlo.multiply %29, %29 : tensor<5xf32>
      %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %33 = stablehlo.reduce(%32 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
      %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %34 = stablehlo.add %cst_10, %33 : tensor<f32>
      %35 = stablehlo.multiply %31, %31 : tensor<6x5xf32>
      %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %36 = stablehlo.reduce(%35 init: %cst_11) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x5xf32>, tensor<f32>) -> tensor<f32>
      %37 = stablehlo.add %34, %36 : tensor<f32>
      %38 = stablehlo.sqrt %37 : tensor<f32>
      %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %39 = stablehlo.divide %cst_12, %38 : tensor<f32>
      %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %40 = stablehlo.minimum %cst_13, %39 : tensor<f32>
      %41 = stablehlo.broadcast_in_dim %40, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %42 = stablehlo.multiply %29, %41 : tensor<5xf32>
      %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %43 = stablehlo.divide %cst_14, %38 : tensor<f32>
      %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %44 = stablehlo.minimum %cst_15, %43 : tensor<f32>
      %45 = stablehlo.broadcast_in_dim %44, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
      %46 = stablehlo.multiply %31, %45 : tensor<6x5xf32>
      %cst_16 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %47 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %48 = stablehlo.multiply %47, %arg6 : tensor<5xf32>
      %49 = stablehlo.add %48, %42 : tensor<5xf32>
      %cst_17 = stablehlo.constant dense<0.899999976> : tensor<f32>
      %50 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
      %51 = stablehlo.multiply %50, %arg7 : tensor<6x5xf32>
      %52 = stablehlo.add %51, %46 : tensor<6x5xf32>
      %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %53 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<5xf32>
      %54 = stablehlo.multiply %53, %49 : tensor<5xf32>
      %55 = stablehlo.subtract %arg8, %54 : tensor<5xf32>
      %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
      %56 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<6x5xf32>
      %57 = stablehlo.multiply %56, %52 : tensor<6x5xf32>
      %58 = stablehlo.subtract %arg9, %57 : tensor<6x5xf32>
      %59 = "stablehlo.all_reduce"(%13) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
        %61 = stablehlo.add %arg12, %arg13 : tensor<f32>
        stablehlo.return %61 : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      %cst_20 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
      %60 = stablehlo.divide %59, %cst_20 : tensor<f32>
      sdy.return %49, %52, %55, %58, %60 : tensor<5xf32>, tensor<6x5xf32>, tensor<5xf32>, tensor<6x5xf32>, tensor<f32>
    } : (tensor<5xf32>, tensor<6x5xf32>, tensor<5xf32>, tensor<6x5xf32>, tensor<16x6xf32>, tensor<16x5xf32>) -> (tensor<5xf32>, tensor<6x5xf32>, tensor<5xf32>, tensor<6x5xf32>, tensor<f32>)
    return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<5xf32>, tensor<6x5xf32>, tensor<5xf32>, tensor<6x5xf32>, tensor<f32>
  }
  func.func private @relu(%arg0: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x5xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
}
