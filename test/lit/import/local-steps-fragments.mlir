// Fragments of about equal bytes take turns: the largest parameter alone, the others together.
// RUN: cgx-opt %s --cgx-local-steps="every=50 fragments=2" | FileCheck %s
// RUN: cgx-opt %s --cgx-local-steps="every=50 fragments=2" --cgx-compress="codec=identity" --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: cgx-opt %s --cgx-local-steps="every=50 fragments=2" --cgx-compress="codec=identity" --cgx-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: not cgx-opt %s --cgx-local-steps="every=50 fragments=4" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not cgx-opt %s --cgx-local-steps="every=2 fragments=3" 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not cgx-opt %s --cgx-local-steps="every=1 fragments=2" 2>&1 | FileCheck %s --check-prefix=SHORT1

// MANY: error: local steps: expected fragments to be at most 3, the parameters that the ranks average, got 4
// SHORT: error: local steps: expected fragments to be a number from 1 to every=2, so that each has a step of its own, got 3
// SHORT1: error: local steps: expected fragments to be a number from 1 to every=1

// One counter for all, which begins anew after the last turn.
// CHECK: %[[DONE:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<i32>
// CHECK: %[[LAST:.*]] = stablehlo.compare GE, %[[DONE]]
// CHECK: stablehlo.select %[[LAST]]
// CHECK: %[[NOW:.*]] = stablehlo.compare EQ, %[[DONE]]
// CHECK: "stablehlo.if"(%[[NOW]])
// CHECK-NOT: stablehlo.if
// CHECK: layer("large", outer_gradient, [16, 4])
// CHECK: {cgx.every = 50 : i64, cgx.turn = 25 : i64}
// CHECK: "stablehlo.if"(%[[LAST]])
// CHECK: layer("first", outer_gradient, [8, 4])
// CHECK: layer("small", outer_gradient, [4])
// CHECK: {cgx.every = 50 : i64}

// The fragments have 256 bytes, and 128 and 16.
// REPORT: large {{.*}} 16x4xf32 /50
// REPORT: /N: sent every Nth step; bytes are the mean of N steps, and at most 256 in one
// JSON: "turn": 25
// JSON: "turn": 50
// JSON: "most_wire_bytes_in_a_step_by_rank": [
// JSON-NEXT: 256

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%a: tensor<8x4xf32> {cgx.name = "first"}, %b: tensor<16x4xf32> {cgx.name = "large"}, %c: tensor<4xf32> {cgx.name = "small"},
                         %x: tensor<8x4xf32> {cgx.name = "x"}, %y: tensor<16x4xf32> {cgx.name = "y"}, %z: tensor<4xf32> {cgx.name = "z"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]", cgx.feeds = 0 : i64}, tensor<16x4xf32> {cgx.name = "result[1]", cgx.feeds = 1 : i64},
          tensor<4xf32> {cgx.name = "result[2]", cgx.feeds = 2 : i64}) {
    %g = cgx.all_reduce mean(%x) groups(#g) id(0) layer("first", gradient, [8, 4]) : tensor<8x4xf32>
    %h = cgx.all_reduce mean(%y) groups(#g) id(1) layer("large", gradient, [16, 4]) : tensor<16x4xf32>
    %i = cgx.all_reduce mean(%z) groups(#g) id(2) layer("small", gradient, [4]) : tensor<4xf32>
    %a1 = stablehlo.subtract %a, %g : tensor<8x4xf32>
    %b1 = stablehlo.subtract %b, %h : tensor<16x4xf32>
    %c1 = stablehlo.subtract %c, %i : tensor<4xf32>
    return %a1, %b1, %c1 : tensor<8x4xf32>, tensor<16x4xf32>, tensor<4xf32>
  }
}
