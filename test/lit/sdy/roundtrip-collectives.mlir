// Shardy's collectives, also of what axes split that are not manual (@inside), and what its propagation leaves.
// RUN: cgx-opt %s -o %t.printed
// RUN: grep . %t.printed > %t.pretty
// RUN: grep -v '^//' %s > %t.source
// RUN: diff -w %t.source %t.pretty
// RUN: cgx-opt %s --mlir-print-op-generic | cgx-opt -o %t.generic
// RUN: diff %t.printed %t.generic
// RUN: cgx-opt %s --verify-roundtrip -o %t.roundtrip
module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @collectives(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = sdy.all_gather [{}, {"x"}] %arg0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<16x8xf32>
    %1 = sdy.all_gather [{}, {"x":(2)2}] %arg0 out_sharding=<@mesh, [{"y"}, {"x":(1)2}]> : tensor<16x8xf32>
    %2 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
    %3 = sdy.all_to_all [{"y"}: 0->1] %2 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<16x8xf32>
    %4 = sdy.collective_permute %3 out_sharding=<@mesh, [{}, {"y", "x"}]> : tensor<16x8xf32>
    %5 = sdy.replicated_to_unreduced {"x"} %arg1 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<16x8xf32>
    %6 = sdy.all_reduce {"x"} %5 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
    %7 = sdy.reduce_scatter max [{}, {"y"}] %6 out_sharding=<@mesh, [{}, {"y"}]> : tensor<16x8xf32>
    %8 = sdy.sharded_to_unreduced [{}, {"y"}] %7 out_sharding=<@mesh, [{}, {}], unreduced={"y"}> : tensor<16x8xf32>
    return
  }
  func.func @maximum(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) {
    %0 = sdy.all_reduce max {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
    return
  }
  func.func @unsharded(%arg0: tensor<16x8xf32>) {
    %0 = sdy.all_reduce {"x"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
    return
  }
  func.func @inside(%arg0: tensor<16x8xf32>) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
      %2 = sdy.all_gather [{}, {"y"}] %arg1 out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>
      sdy.return %2 : tensor<4x8xf32>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    %1 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={} (%arg1: tensor<16x8xf32>) {
      %2 = sdy.all_reduce {"x"} %arg1 out_sharding=<@mesh, [{}, {"y"}]> : tensor<16x8xf32>
      sdy.return %2 : tensor<16x8xf32>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return
  }
  func.func @propagation(%arg0: tensor<16x8xf32>, %arg1: tensor<8xf32>) {
    %0 = sdy.constant dense<1.000000e+00> : tensor<16x8xf32>
    %1 = stablehlo.tanh %arg0 : tensor<16x8xf32>
    %2 = sdy.data_flow_edge %1 sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
    %3 = sdy.propagation_barrier %2 allowed_direction=BACKWARD : tensor<16x8xf32>
    %4 = sdy.func_data_flow_edge %arg1 : tensor<8xf32>
    %5 = sdy.named_computation<"foo">(%3) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {"y"}]>] (%arg2: tensor<16x8xf32>) {
      sdy.return %arg2 : tensor<16x8xf32>
    } : (tensor<16x8xf32>) -> tensor<16x8xf32>
    return
  }
}
