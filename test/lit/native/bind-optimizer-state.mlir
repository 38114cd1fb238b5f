// A binding becomes one call for each tensor, before the collective that reads it, with the argument's address.
// RUN: cgx-opt %s --cgx-lower-collectives | FileCheck %s
// RUN: cgx-opt %s --cgx-lower-to-llvm | FileCheck %s --check-prefix=CALLS

module attributes {cgx.num_ranks = 2 : i64} {
  // CHECK: func.func public @main(%[[W:.*]]: tensor<4x8xf32>, %[[M:.*]]: tensor<4x8xbf16>, %{{.*}}: tensor<4x8xf32>, %[[ETA:.*]]: tensor<f32>)
  func.func public @main(%w: tensor<4x8xf32>, %m: tensor<4x8xbf16>, %x: tensor<4x8xf32>, %eta: tensor<f32>) -> tensor<4x8xf32> {
    // CHECK: cgx_rt.bind_optimizer_state 3, 0 [0, 1, 3](%[[W]], %[[M]], %[[ETA]] : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<f32>)
    // CHECK: cgx_rt.run 3
    // CALLS-COUNT-3: llvm.call @cgx_rt_provide
    // CALLS-NOT: llvm.call @cgx_rt_provide
    // CALLS: llvm.call @cgx_rt_run
    cgx.bind_optimizer_state parameter(%w : tensor<4x8xf32>) first_moment(%m : tensor<4x8xbf16>) learning_rate(%eta : tensor<f32>)
        id(3) operand_number(0)
    %0 = cgx.all_reduce mean(%x) codec(gcomp<optimizer = momentum>) groups([[0, 1]]) id(3) layer("w", gradient)
        : tensor<4x8xf32>
    %1 = stablehlo.subtract %w, %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
