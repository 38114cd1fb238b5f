// Gathers of weights start ahead of their use, as far as the memory bound allows.
// RUN: cgx-opt %s --cgx-overlap-collectives | FileCheck %s --check-prefix=ALL
// RUN: cgx-opt %s --cgx-overlap-collectives=prefetch=64KiB | FileCheck %s --check-prefix=ONE
// RUN: cgx-opt %s --cgx-overlap-collectives=prefetch=128KiB | FileCheck %s --check-prefix=TWO
// RUN: cgx-opt %s --cgx-overlap-collectives=prefetch=1 | FileCheck %s --check-prefix=ONE
// RUN: not cgx-opt %s --cgx-overlap-collectives=prefetch=some 2>&1 | FileCheck %s --check-prefix=SIZE

// SIZE: error: expected prefetch to be a size such as 64MiB, or all, got some

#g = #cgx.groups<[[0, 1]]>
#w = #cgx.layer<"w", weight, [128, 128]>
module attributes {cgx.num_ranks = 2 : i64} {
// ALL-LABEL: func @layers
// ALL-COUNT-3: cgx.start all_gather
// ALL: stablehlo.tanh
// ONE-LABEL: func @layers
// The first has nothing to overlap with but what is before its use.
// ONE: cgx.start all_gather(%arg1)
// ONE: stablehlo.tanh
// ONE: cgx.wait
// ONE-NEXT: cgx.start all_gather(%arg2)
// ONE-NEXT: stablehlo.dot_general
// ONE: cgx.wait
// ONE-NEXT: cgx.start all_gather(%arg3)
// ONE-NEXT: stablehlo.dot_general
// TWO-LABEL: func @layers
// TWO: cgx.start all_gather(%arg1)
// TWO: cgx.start all_gather(%arg2)
// TWO: stablehlo.tanh
// TWO: cgx.wait
// TWO-NEXT: cgx.start all_gather(%arg3)
// TWO-NEXT: stablehlo.dot_general
func.func @layers(%x: tensor<8x128xf32>, %w1: tensor<64x128xf32>, %w2: tensor<64x128xf32>, %w3: tensor<64x128xf32>)
    -> tensor<8x128xf32> {
  %0 = stablehlo.tanh %x : tensor<8x128xf32>
  %g1 = cgx.all_gather(%w1) dim(0) groups(#g) id(0) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %1 = stablehlo.dot_general %0, %g1, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
  %t1 = stablehlo.tanh %1 : tensor<8x128xf32>
  %g2 = cgx.all_gather(%w2) dim(0) groups(#g) id(1) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %2 = stablehlo.dot_general %t1, %g2, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
  %t2 = stablehlo.tanh %2 : tensor<8x128xf32>
  %g3 = cgx.all_gather(%w3) dim(0) groups(#g) id(2) layer(#w) : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %3 = stablehlo.dot_general %t2, %g3, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
  return %3 : tensor<8x128xf32>
}

// A gather that decodes payloads again is not started, and the one that keeps them is waited for before.
// ALL-LABEL: func @decoded_again
// ALL: cgx.start all_gather(%arg1) {{.*}}keeps_payloads
// ALL: stablehlo.tanh
// ALL: cgx.wait
// ALL-NEXT: cgx.all_gather(%arg1) {{.*}}decodes_again(3)
// ALL: stablehlo.dot_general
func.func @decoded_again(%x: tensor<8x128xf32>, %w: tensor<64x128xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x128xf32>
  %g = cgx.all_gather(%w) codec(quantize<bits = 4>) dim(0) groups(#g) id(3) keeps_payloads layer(#w)
      : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %1 = stablehlo.tanh %0 : tensor<8x128xf32>
  %h = cgx.all_gather(%w) decodes_again(3) dim(0) groups(#g) id(4) layer(#w)
      : (tensor<64x128xf32>) -> tensor<128x128xf32>
  %2 = stablehlo.dot_general %1, %h, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
  %3 = stablehlo.dot_general %2, %g, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
  return %2, %3 : tensor<8x128xf32>, tensor<8x128xf32>
}
}
