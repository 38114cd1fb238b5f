// Where positions of the batch do not map to themselves, and where ids are missing, the error names op and cure.
// RUN: cgx-opt %s --cgx-carry-sample-ids --split-input-file --verify-diagnostics
// Each of them ends the compilation, the last one by itself, too.
// RUN: sed -n '/^[/][/] A reduction of changes/,$p' %s | not cgx-opt --cgx-carry-sample-ids -o /dev/null 2>&1 \
// RUN:   | FileCheck %s
// CHECK: error: {{.*}}expected changes (delta) of the one operand of a permute

#g = #cgx.groups<[[0, 1]]>
#d = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>
#a = #cgx.layer<"", activation>
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%x: tensor<8x4xf32> {cgx.name = "batch['x']"}, %ids: tensor<8xi32> {cgx.name = "batch['ids']"}) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  // expected-error @+1 {{expected each position of the batch to map to itself, but it reduces dimension 0, which counts samples}}
  %mean = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %all = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %y = stablehlo.subtract %x, %all : tensor<8x4xf32>
  // expected-remark @+1 {{the activation is sent here}}
  %0 = cgx.permute(%y) codec(#d) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1]]) : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

#g = #cgx.groups<[[0, 1]]>
#d = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>
#a = #cgx.layer<"", activation>
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%x: tensor<8x4xf32> {cgx.name = "batch['x']"}, %ids: tensor<8xi32> {cgx.name = "batch['ids']"},
    %turns: tensor<i1> {cgx.name = "turns"}) -> tensor<8x4xf32> {
  // expected-error @+1 {{it combines different samples}}
  %y = "stablehlo.if"(%turns) ({
    %back = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
    stablehlo.return %back : tensor<8x4xf32>
  }, {
    stablehlo.return %x : tensor<8x4xf32>
  }) : (tensor<i1>) -> tensor<8x4xf32>
  // expected-remark @+1 {{the activation is sent here}}
  %0 = cgx.permute(%y) codec(#d) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1]]) : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

#g = #cgx.groups<[[0, 1]]>
#d = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>
#a = #cgx.layer<"", activation>
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%x: tensor<8x4xf32> {cgx.name = "batch['x']"}, %ids: tensor<8xi32> {cgx.name = "batch['ids']"},
    %turns: tensor<i1> {cgx.name = "turns"}) -> tensor<8x4xf32> {
  // expected-error @+1 {{one of its branches moves samples}}
  %y = "stablehlo.if"(%turns) ({
    %back = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
    stablehlo.return %back : tensor<8x4xf32>
  }, {
    %back = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
    stablehlo.return %back : tensor<8x4xf32>
  }) : (tensor<i1>) -> tensor<8x4xf32>
  // expected-remark @+1 {{the activation is sent here}}
  %0 = cgx.permute(%y) codec(#d) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1]]) : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

#g = #cgx.groups<[[0, 1]]>
#d = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>
#a = #cgx.layer<"", activation>
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%x: tensor<8x4xf32> {cgx.name = "batch['x']"}, %ids: tensor<8xi32> {cgx.name = "batch['ids']"}) -> tensor<8x4xf32> {
  %back = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
  // expected-error @+1 {{it combines different samples}}
  %y = stablehlo.add %x, %back : tensor<8x4xf32>
  // expected-remark @+1 {{the activation is sent here}}
  %0 = cgx.permute(%y) codec(#d) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1]]) : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

#g = #cgx.groups<[[0, 1]]>
#d = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>
#a = #cgx.layer<"", activation>
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%x: tensor<8x4xf32> {cgx.name = "batch['x']"}, %y: tensor<8xi32> {cgx.name = "batch['y']"}) -> tensor<8x4xf32> {
  // expected-error @+1 {{expected one argument of the step, called ids or sample_ids, with the number of each sample of the batch in i32, found none; i32 vectors are y. Add batch['ids'] to the data}}
  %0 = cgx.permute(%x) codec(#d) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1]]) : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}

// -----

#g = #cgx.groups<[[0, 1]]>
#d = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>
#a = #cgx.layer<"", activation>
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%x: tensor<8x4xf32> {cgx.name = "batch['x']"}, %ids: tensor<8xi32> {cgx.name = "batch['ids']"}) -> tensor<4x8xf32> {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  // expected-error @+1 {{expected the first dimension, and no other, to count samples of the batch, got others in 'tensor<4x8xf32>'}}
  %0 = cgx.permute(%t) codec(#d) groups(#g) id(0) layer(#a) source_target_pairs([[0, 1]]) : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
}

// -----

// A reduction of changes.
#g = #cgx.groups<[[0, 1]]>
#d = #cgx.delta<#cgx.quantize<bits = 3>, samples = 64>
#a = #cgx.layer<"", activation>
module attributes {cgx.num_ranks = 2 : i64} {
func.func public @main(%x: tensor<8x4xf32> {cgx.name = "batch['x']"}, %ids: tensor<8xi32> {cgx.name = "batch['ids']"}) -> tensor<8x4xf32> {
  // expected-error @+1 {{expected changes (delta) of the one operand of a permute}}
  %0 = cgx.all_reduce sum(%x) codec(#d) groups(#g) id(0) layer(#a) : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
}
