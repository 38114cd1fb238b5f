// The caller's shardings stand beside the others, without a symbol; private functions have no caller. The
// state is the caller's to keep.
// RUN: cgx-opt %s --cgx-keep-shardings | FileCheck %s

// CHECK: module attributes {cgx.caller_keeps_state}
sdy.mesh @mesh = <["data"=4]>
// CHECK: @main(%arg0: tensor<8x4xf32> {cgx.caller_sharding = #sdy.sharding<mesh<["data"=4]>, [{"data"}, {}]>, sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}
// CHECK-SAME: %arg1: tensor<4xf32> {cgx.caller_sharding = "{replicated}", mhlo.sharding = "{replicated}"}
// CHECK-SAME: %arg2: tensor<4xf32>)
// CHECK-SAME: -> (tensor<4xf32> {cgx.caller_sharding = #sdy.sharding<mesh<["data"=4]>, [{}]>
func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %arg1: tensor<4xf32> {mhlo.sharding = "{replicated}"}, %arg2: tensor<4xf32>)
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  return %arg1 : tensor<4xf32>
}

// CHECK: @inner(%arg0: tensor<4xf32> {mhlo.sharding = "{replicated}"})
func.func private @inner(%arg0: tensor<4xf32> {mhlo.sharding = "{replicated}"}) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
