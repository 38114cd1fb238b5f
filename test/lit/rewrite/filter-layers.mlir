// Which operands must stay exact, and the reasons that are written down.
// RUN: cgx-opt %s --cgx-filter-layers | FileCheck %s
// RUN: cgx-opt %s --cgx-filter-layers="exclude=params/l?/w,*norm* kinds=gradient,weight min-elements=100 min-rank=1" | FileCheck %s --check-prefix=OPTIONS
// RUN: cgx-opt %s --cgx-filter-layers="exclude=*/bias,small,parms/*,params/*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not cgx-opt %s --cgx-filter-layers="kinds=grad" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not cgx-opt %s --cgx-filter-layers="exclude=[a" 2>&1 | FileCheck %s --check-prefix=GLOB

// UNUSED-NOT: params/*
// UNUSED: warning: exclude=*/bias matches the name of no layer of the program{{$}}
// UNUSED: warning: exclude=small matches the name of no layer of the program; *small* would match params/small
// UNUSED: warning: exclude=parms/* matches the name of no layer of the program (did you mean 'params'?)
// UNUSED-NOT: params/*
// KIND: error: expected kinds to be gradient, weight, activation, other, outer_gradient, activation_gradient, dispatch, dispatch_gradient, combine or combine_gradient, got grad
// GLOB: error: expected exclude to be a glob, got [a: {{.*}}

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.num_ranks = 2 : i64} {

// How far a rank has come is compressed as a gradient is.
// CHECK-LABEL: func @outer
// OPTIONS-LABEL: func @outer
func.func @outer(%w: tensor<64x128xf32>) {
  // CHECK: exact_reasons("")
  // OPTIONS: exact_reasons("kind outer_gradient")
  %0 = cgx.all_reduce mean(%w) groups(#g) id(9) layer("params/outer", outer_gradient, [64, 128]) : tensor<64x128xf32>
  return
}

// CHECK-LABEL: func @defaults
// OPTIONS-LABEL: func @defaults
func.func @defaults(%w: tensor<64x128xf32>, %b: tensor<1x128xf32>, %u: tensor<1x2000xf32>, %s: tensor<8x8xf32>,
                    %l: tensor<f32>) {
  // The bias is a vector, although JAX reduces it as a matrix; the unnamed operand has one dimension that counts.
  // CHECK: exact_reasons("", "1-D parameter", "1-D operand", "fewer than 1024 elements", "kind other")
  // OPTIONS: exact_reasons("excluded by 'exclude=params/l?/w'", "", "", "fewer than 100 elements", "kind other")
  %0:5 = cgx.all_reduce mean(%w, %b, %u, %s, %l) groups(#g) id(0) layer("params/l1/w", gradient, [64, 128])
      layer("params/l1/b", gradient, [128]) layer("", gradient) layer("params/small", gradient, [8, 8]) layer("", other)
      : tensor<64x128xf32>, tensor<1x128xf32>, tensor<1x2000xf32>, tensor<8x8xf32>, tensor<f32>
  return
}

// A vector with dimensions of one element is a vector; a matrix of one column is none.
// CHECK-LABEL: func @vectors
// OPTIONS-LABEL: func @vectors
func.func @vectors(%b: tensor<2048x1x1xf32>, %s: tensor<1x1x1x2048xf32>, %c: tensor<2048x1xf32>, %k: tensor<1x1x64x32xf32>) {
  // CHECK: exact_reasons("1-D parameter", "1-D parameter", "", "")
  // OPTIONS: exact_reasons("", "", "", "")
  %0:4 = cgx.all_reduce mean(%b, %s, %c, %k) groups(#g) id(8) layer("conv/b", gradient, [2048, 1, 1])
      layer("bn/scale", gradient, [1, 1, 1, 2048]) layer("head/w", gradient, [2048, 1])
      layer("conv/w", gradient, [1, 1, 64, 32])
      : tensor<2048x1x1xf32>, tensor<1x1x1x2048xf32>, tensor<2048x1xf32>, tensor<1x1x64x32xf32>
  return
}

// CHECK-LABEL: func @kinds
// OPTIONS-LABEL: func @kinds
func.func @kinds(%a: tensor<64x128xf32>) {
  // CHECK: cgx.all_gather{{.*}}exact_reasons("kind weight")
  // OPTIONS: cgx.all_gather{{.*}}exact_reasons("")
  %0 = cgx.all_gather(%a) dim(0) groups(#g) id(1) layer("params/l3/kernel", weight, [128, 128])
      : (tensor<64x128xf32>) -> tensor<128x128xf32>
  // CHECK: cgx.permute{{.*}}exact_reasons("kind activation")
  // OPTIONS: cgx.permute{{.*}}exact_reasons("kind activation")
  %1 = cgx.permute(%a) groups(#g) id(2) layer("", activation) source_target_pairs([[0, 1]]) : tensor<64x128xf32>
  // An exclusion matches across '/'.
  // CHECK: cgx.reduce_scatter{{.*}}exact_reasons("")
  // OPTIONS: cgx.reduce_scatter{{.*}}exact_reasons("excluded by 'exclude=*norm*'")
  %2 = cgx.reduce_scatter sum(%a) dim(0) groups(#g) id(3) layer("params/layer_norm/scale", gradient, [64, 128])
      : (tensor<64x128xf32>) -> tensor<32x128xf32>
  return
}
// CHECK-LABEL: func @stacks
// OPTIONS-LABEL: func @stacks
func.func @stacks(%s: tensor<12x768xf32>, %w: tensor<12x16x64xf32>, %u: tensor<12x31x33xf32>, %v: tensor<2x6x32x32xf32>) {
  // Rank and size of each layer of a stack count, at the limits, too: 1024 elements are not fewer than 1024.
  // CHECK: exact_reasons("1-D parameter, each of 12 stacked layers", "", "", "fewer than 1024 elements, each of 12 stacked layers", "")
  // OPTIONS: exact_reasons("", "", "", "", "")
  %0:5 = cgx.all_reduce mean(%s, %w, %v, %u, %s) groups(#g) id(4) layer("scale", gradient, [12, 768], stacked = 1)
      layer("w", gradient, [12, 16, 64], stacked = 1) layer("v", gradient, [2, 6, 32, 32], stacked = 2)
      layer("u", gradient, [12, 31, 33], stacked = 1) layer("t", gradient, [12, 768])
      : tensor<12x768xf32>, tensor<12x16x64xf32>, tensor<2x6x32x32xf32>, tensor<12x31x33xf32>, tensor<12x768xf32>
  return
}

// A stack that the step keeps is no vector of matrices.
// CHECK-LABEL: func @stacked_state
func.func @stacked_state(%s: tensor<12x768xf32> {cgx.name = "params['scale']"}) -> (tensor<12x768xf32> {cgx.feeds = 0 : i64}) {
  // CHECK: exact_reasons("1-D parameter, each of 12 stacked layers")
  %0 = cgx.all_reduce mean(%s) groups(#g) id(8) layer("scale", gradient, [12, 768], stacked = 1) : tensor<12x768xf32>
  return %0 : tensor<12x768xf32>
}

// Nor is the vector of one of its layers, which autodiff reduces in the loop over them.
// CHECK-LABEL: func @layer_of_stacked_state
func.func @layer_of_stacked_state(%s: tensor<12x2048xf32> {cgx.name = "params['scale']"}, %g: tensor<1x2048xf32>) -> (tensor<12x2048xf32> {cgx.feeds = 0 : i64}) {
  // CHECK: exact_reasons("1-D parameter")
  %0 = cgx.all_reduce mean(%g) groups(#g) id(8) layer("scale", gradient, [2048]) : tensor<1x2048xf32>
  return %s : tensor<12x2048xf32>
}

// CHECK-LABEL: func @buffers
func.func @buffers(%w: tensor<32x64xf32> {cgx.name = "params['w']"}, %b: tensor<64xf32> {cgx.name = "params['b']"},
                   %s: tensor<2048xf32> {cgx.name = "norms['scale']"}, %o: tensor<2048xf32> {cgx.name = "norms['offset']"},
                   %m: tensor<2112xf32> {cgx.name = "momentum"}, %n: tensor<4096xf32> {cgx.name = "vector"})
    -> (tensor<32x64xf32> {cgx.feeds = 0 : i64}, tensor<64xf32> {cgx.feeds = 1 : i64}, tensor<2048xf32> {cgx.feeds = 2 : i64},
        tensor<2048xf32> {cgx.feeds = 3 : i64}, tensor<2112xf32> {cgx.feeds = 4 : i64}, tensor<4096xf32> {cgx.feeds = 5 : i64}) {
  // A vector of several parameters is of their elements: most of the first are a matrix's, the second are all
  // vectors'. The third is no name of the step. Where the bias goes into a vector with others, it remains one.
  %ravel = stablehlo.reshape %w : (tensor<32x64xf32>) -> tensor<2048xf32>
  %all = stablehlo.concatenate %b, %ravel, dim = 0 : (tensor<64xf32>, tensor<2048xf32>) -> tensor<2112xf32>
  // CHECK: exact_reasons("", "1-D operand", "1-D operand", "1-D parameter")
  %0:4 = cgx.all_reduce mean(%m, %n, %n, %n) groups(#g) id(5) layer("params", gradient) layer("norms", gradient)
      layer("elsewhere", gradient) layer("vector", gradient, [4096])
      : tensor<2112xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>
  return %w, %b, %s, %o, %m, %n : tensor<32x64xf32>, tensor<64xf32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2112xf32>, tensor<4096xf32>
}

// CHECK-LABEL: func @raveled
func.func @raveled(%flat: tensor<2112xf32> {cgx.name = "flat"}, %vector: tensor<2112xf32> {cgx.name = "vector"})
    -> (tensor<2112xf32> {cgx.feeds = 0 : i64}, tensor<2112xf32> {cgx.feeds = 1 : i64}, tensor<32x64xf32>, tensor<64x64xf32>) {
  %0 = cgx.all_gather(%flat) dim(0) groups(#g) id(6) layer("flat", weight, [2112])
      : (tensor<2112xf32>) -> tensor<4224xf32>
  %1 = stablehlo.slice %0 [64:2112] : (tensor<4224xf32>) -> tensor<2048xf32>
  %2 = stablehlo.reshape %1 : (tensor<2048xf32>) -> tensor<32x64xf32>
  %3 = stablehlo.slice %0 [2112:4160] : (tensor<4224xf32>) -> tensor<2048xf32>
  %4 = stablehlo.reshape %3 : (tensor<2048xf32>) -> tensor<64x32xf32>
  %5 = stablehlo.slice %vector [0:64] : (tensor<2112xf32>) -> tensor<64xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  // The step makes matrices of the first vector, and none of the second.
  // CHECK: cgx.reduce_scatter{{.*}}exact_reasons("", "1-D parameter")
  %7:2 = cgx.reduce_scatter sum(%0, %0) dim(0) groups(#g) id(7) layer("flat", gradient, [2112])
      layer("vector", gradient, [2112]) : (tensor<4224xf32>, tensor<4224xf32>) -> (tensor<2112xf32>, tensor<2112xf32>)
  return %7#0, %7#1, %2, %6 : tensor<2112xf32>, tensor<2112xf32>, tensor<32x64xf32>, tensor<64x64xf32>
}
}
