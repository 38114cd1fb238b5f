// A binding reads back as it prints, in both forms, and nothing erases or moves it.
// RUN: cgx-opt %s --verify-roundtrip --canonicalize --cse --loop-invariant-code-motion | FileCheck %s
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt | FileCheck %s

// CHECK-LABEL: func @provide
// CHECK-SAME: (%[[W:.*]]: tensor<4x8xf32>, %[[M:.*]]: tensor<4x8xbf16>, %[[V:.*]]: tensor<32xf16>, %[[ETA:.*]]: tensor<f32>)
func.func @provide(%w: tensor<4x8xf32>, %m: tensor<4x8xbf16>, %v: tensor<32xf16>, %eta: tensor<f32>) {
  // CHECK: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) id(0) operand_number(0)
  cgx.bind_optimizer_state parameter(%w : tensor<4x8xf32>) id(0) operand_number(0)
  // CHECK: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) first_moment(%[[M]] : tensor<4x8xbf16>) id(0) operand_number(1)
  cgx.bind_optimizer_state parameter(%w : tensor<4x8xf32>) first_moment(%m : tensor<4x8xbf16>) id(0) operand_number(1)
  // CHECK: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) second_moment(%[[V]] : tensor<32xf16>) id(1) operand_number(0)
  cgx.bind_optimizer_state parameter(%w : tensor<4x8xf32>) second_moment(%v : tensor<32xf16>) id(1) operand_number(0)
  // CHECK: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) first_moment(%[[M]] : tensor<4x8xbf16>) second_moment(%[[V]] : tensor<32xf16>) id(1) operand_number(1)
  cgx.bind_optimizer_state parameter(%w : tensor<4x8xf32>) first_moment(%m : tensor<4x8xbf16>) second_moment(%v : tensor<32xf16>)
      id(1) operand_number(1)
  // CHECK: cgx.bind_optimizer_state parameter(%[[W]] : tensor<4x8xf32>) first_moment(%[[M]] : tensor<4x8xbf16>) learning_rate(%[[ETA]] : tensor<f32>) id(2) operand_number(0)
  cgx.bind_optimizer_state parameter(%w : tensor<4x8xf32>) first_moment(%m : tensor<4x8xbf16>) learning_rate(%eta : tensor<f32>)
      id(2) operand_number(0)
  return
}
