// RUN: cgx-opt %s --split-input-file --verify-diagnostics

func.func @fusion_c1(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected block arguments of the operands' types 'tensor<4xf32>', got 'tensor<2xf32>'}}
  %0 = "mhlo.fusion"(%arg0) ({
  ^bb0(%a: tensor<2xf32>):
    mhlo.return %arg0 : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @fusion_c2(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected an 'mhlo.return' of the results' types 'tensor<4xf32>'}}
  %0 = "mhlo.fusion"(%arg0) ({
  ^bb0(%a: tensor<4xf32>):
    mhlo.return %a, %a : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
