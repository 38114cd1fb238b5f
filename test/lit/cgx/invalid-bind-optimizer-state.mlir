// Checks the constraints of bound optimizer state: functions are named by the constraint that they break.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @c1(%w: tensor<4xf32>) {
  // expected-error@below {{expected id and operand_number to be at least 0, got 0 and -1}}
  cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) id(0) operand_number(-1)
  return
}

// -----

func.func @c2_elements(%w: tensor<4xf32>, %m: tensor<5xf32>) {
  // expected-error@below {{expected as many elements as the parameter, of type 'tensor<4xf32>', has, got 'tensor<5xf32>'}}
  cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) first_moment(%m : tensor<5xf32>) id(0) operand_number(0)
  return
}

// -----

func.func @c2_type(%w: tensor<4xf64>) {
  // expected-error@below {{expected tensors of static shape, of f16, bf16 or f32, got 'tensor<4xf64>'}}
  cgx.bind_optimizer_state parameter(%w : tensor<4xf64>) id(0) operand_number(0)
  return
}

// -----

func.func @c3_computed(%w: tensor<4xf32>) {
  %0 = arith.addf %w, %w : tensor<4xf32>
  // expected-error@below {{expected arguments of the step, which stay as they are until it ends, got a value that it computes, of type 'tensor<4xf32>'}}
  cgx.bind_optimizer_state parameter(%0 : tensor<4xf32>) id(0) operand_number(0)
  return
}

// -----

func.func @c3_carried(%w: tensor<4xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %n step %one iter_args(%carried = %w) -> tensor<4xf32> {
    // expected-error@below {{expected arguments of the step}}
    cgx.bind_optimizer_state parameter(%carried : tensor<4xf32>) id(0) operand_number(0)
    scf.yield %carried : tensor<4xf32>
  }
  return
}

// -----

func.func @c4(%w: tensor<4xf32>, %eta: tensor<f16>) {
  // expected-error@below {{expected one f32 as learning_rate, got 'tensor<f16>'}}
  cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) learning_rate(%eta : tensor<f16>) id(0) operand_number(0)
  return
}

// -----

func.func @c4_elements(%w: tensor<4xf32>) {
  // expected-error@below {{expected one f32 as learning_rate, got 'tensor<4xf32>'}}
  cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) learning_rate(%w : tensor<4xf32>) id(0) operand_number(0)
  return
}

// -----

func.func @c3_learning_rate(%w: tensor<4xf32>, %eta: tensor<f32>) {
  %0 = arith.addf %eta, %eta : tensor<f32>
  // expected-error@below {{expected arguments of the step, which stay as they are until it ends, got a value that it computes, of type 'tensor<f32>'}}
  cgx.bind_optimizer_state parameter(%w : tensor<4xf32>) learning_rate(%0 : tensor<f32>) id(0) operand_number(0)
  return
}
