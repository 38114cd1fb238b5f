// What may not be lent: functions are named by the constraint that they break.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @c1(%w: tensor<4xf32>) {
  // expected-error@below {{expected id and operand_number to be at least 0, got 0 and -1}}
  cgx.provide parameter(%w : tensor<4xf32>) {id = 0 : i64, operand_number = -1 : i64}
  return
}

// -----

func.func @c2_elements(%w: tensor<4xf32>, %m: tensor<5xf32>) {
  // expected-error@below {{expected as many elements as the parameter, of type 'tensor<4xf32>', has, got 'tensor<5xf32>'}}
  cgx.provide parameter(%w : tensor<4xf32>) first_moment(%m : tensor<5xf32>) {id = 0 : i64, operand_number = 0 : i64}
  return
}

// -----

func.func @c2_type(%w: tensor<4xf64>) {
  // expected-error@below {{expected tensors of static shape, of f16, bf16 or f32, got 'tensor<4xf64>'}}
  cgx.provide parameter(%w : tensor<4xf64>) {id = 0 : i64, operand_number = 0 : i64}
  return
}
