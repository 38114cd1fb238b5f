// Numbers of less than eight bits, and f8, travel as types that codecs and transports know.
// RUN: cgx-opt %s --split-input-file --verify-diagnostics --cgx-expand-narrow-collectives | FileCheck %s

// Numbers that only move keep their bits.
// CHECK-LABEL: @all_gather
// CHECK: %[[BITS:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<4xf8E4M3FN>) -> tensor<4xui8>
// CHECK: %[[ALL:.*]] = "stablehlo.all_gather"(%[[BITS]]) {{.*}} : (tensor<4xui8>) -> tensor<8xui8>
// CHECK: %[[R:.*]] = stablehlo.bitcast_convert %[[ALL]] : (tensor<8xui8>) -> tensor<8xf8E4M3FN>
// CHECK: return %[[R]]
func.func @all_gather(%x: tensor<4xf8E4M3FN>) -> tensor<8xf8E4M3FN> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf8E4M3FN>) -> tensor<8xf8E4M3FN>
  return %0 : tensor<8xf8E4M3FN>
}

// Sums have the digits of f16, as in XLA.
// CHECK-LABEL: @all_reduce
// CHECK: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<4xf8E5M2>) -> tensor<4xf16>
// CHECK: %[[SUM:.*]] = "stablehlo.all_reduce"(%[[WIDE]])
// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<f16>
// CHECK: %[[R:.*]] = stablehlo.convert %[[SUM]] : (tensor<4xf16>) -> tensor<4xf8E5M2>
// CHECK: return %[[R]]
func.func @all_reduce(%x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f8E5M2>, %b: tensor<f8E5M2>):
    %s = stablehlo.add %a, %b : tensor<f8E5M2>
    stablehlo.return %s : tensor<f8E5M2>
  }) : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// Powers of two from 2^-127 to 2^127.
// CHECK-LABEL: @exponents
// CHECK: stablehlo.convert %arg0 : (tensor<4xf8E8M0FNU>) -> tensor<4xbf16>
func.func @exponents(%x: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f8E8M0FNU>, %b: tensor<f8E8M0FNU>):
    %s = stablehlo.maximum %a, %b : tensor<f8E8M0FNU>
    stablehlo.return %s : tensor<f8E8M0FNU>
  }) : (tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU>
  return %0 : tensor<4xf8E8M0FNU>
}

// Integers keep their values and their sign; wider operands stay.
// CHECK-LABEL: @integers
// CHECK: stablehlo.convert %arg0 : (tensor<4xi4>) -> tensor<4xi8>
// CHECK: (tensor<4xi8>) -> tensor<4xi8>
// CHECK: stablehlo.convert %arg1 : (tensor<4xui2>) -> tensor<4xui8>
// CHECK: "stablehlo.collective_permute"(%{{.*}}) {{.*}} : (tensor<4xui8>) -> tensor<4xui8>
// CHECK: "stablehlo.collective_permute"(%arg2) {{.*}} : (tensor<4xi8>) -> tensor<4xi8>
func.func @integers(%x: tensor<4xi4>, %y: tensor<4xui2>, %z: tensor<4xi8>) -> (tensor<4xi4>, tensor<4xui2>, tensor<4xi8>) {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i4>, %b: tensor<i4>):
    %s = stablehlo.maximum %a, %b : tensor<i4>
    stablehlo.return %s : tensor<i4>
  }) : (tensor<4xi4>) -> tensor<4xi4>
  %1 = "stablehlo.collective_permute"(%y) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xui2>) -> tensor<4xui2>
  %2 = "stablehlo.collective_permute"(%z) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xi8>) -> tensor<4xi8>
  return %0, %1, %2 : tensor<4xi4>, tensor<4xui2>, tensor<4xi8>
}

// -----

func.func @bits(%x: tensor<4xi4>) -> tensor<4xi4> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i4>, %b: tensor<i4>):
    // expected-error@+1 {{expected narrow numbers to be reduced by their sum, product, maximum or minimum: convert them to f32 before the collective}}
    %s = stablehlo.subtract %a, %b : tensor<i4>
    stablehlo.return %s : tensor<i4>
  }) : (tensor<4xi4>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}
