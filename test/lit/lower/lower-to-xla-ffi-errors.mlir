// RUN: cgx-opt %s --split-input-file --verify-diagnostics --cgx-lower-to-xla-ffi

module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{'cgx.compress' op is a part of collective 0 in explicit form, which XLA cannot call; leave out `decompose`}}
    %p = cgx.compress %x phase(contribution) id(0) layer("", other) operand_number(0)
        : tensor<4xf32> -> !cgx.payload<4xf32, #cgx.identity, chunks = 2>
    return %x : tensor<4xf32>
  }
}

// -----

module {
  func.func public @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
    // expected-error @+1 {{'stablehlo.reduce' op has a collective inside, expected stablehlo.while, if or case around it}}
    %0 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = cgx.all_reduce sum(%a) groups([[0, 1]]) id(0) : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
