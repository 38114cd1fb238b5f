// Outer steps that travel while the inner step computes.
// RUN: cgx-opt %s --cgx-local-steps="every=50 fragments=2 overlap" | FileCheck %s
// RUN: cgx-opt %s --cgx-local-steps="every=50 fragments=2 overlap" --cgx-compress="bits=4 min-elements=1 overlap" | FileCheck %s --check-prefix=COMPRESSED
// RUN: cgx-opt %s --cgx-local-steps="every=50 fragments=2 overlap=true" --cgx-compress="codec=identity" --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: cgx-opt %s --cgx-local-steps="every=50 fragments=2 overlap=true" --cgx-compress="codec=identity" --cgx-report=format=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: not cgx-opt %s --cgx-local-steps="every=1 overlap" 2>&1 | FileCheck %s --check-prefix=EACH

// EACH: error: local steps: expected every to be 2 or more with overlap, got 1

// Both fragments start as the step begins; their layers travel together.
// CHECK-LABEL: func.func public @main
// CHECK: %[[DONE:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<i32>
// CHECK: %[[LAST:.*]] = stablehlo.compare GE, %[[DONE]]
// CHECK: %[[NOW:.*]] = stablehlo.compare EQ, %[[DONE]]
// CHECK: stablehlo.subtract
// CHECK: %[[FIRST:.*]] = cgx.start when(%[[NOW]]) {cgx.every = 50 : i64, cgx.turn = 25 : i64} all_reduce mean(
// CHECK-SAME: layer("large", outer_gradient, [16, 4])
// CHECK: %[[SECOND:.*]] = cgx.start when(%[[LAST]]) {cgx.every = 50 : i64} all_reduce mean(
// CHECK-SAME: layer("first", outer_gradient, [8, 4]) layer("small", outer_gradient, [4])
// The inner step.
// CHECK: %[[NEXT:.*]] = stablehlo.subtract %[[OWN:.*]], %{{.*}} : tensor<16x4xf32>
// CHECK: stablehlo.subtract {{.*}} : tensor<4xf32>
// Metrics run after the pending outer gradient: nothing computes after them.
// CHECK: cgx.all_reduce sum({{.*}} layer("loss", other)
// CHECK-NEXT: stablehlo.multiply
// CHECK-NEXT: %[[MEAN:.*]] = cgx.wait %[[FIRST]]
// CHECK-NEXT: %[[ANCHOR:.*]] = stablehlo.subtract %[[BEFORE:.*]], %[[MEAN]]
// CHECK-NEXT: %[[MEANWHILE:.*]] = stablehlo.subtract %[[NEXT]], %[[OWN]]
// CHECK-NEXT: %[[LOCAL:.*]] = stablehlo.add %[[ANCHOR]], %[[MEANWHILE]]
// CHECK-NEXT: stablehlo.select %[[NOW]], %[[ANCHOR]], %[[BEFORE]]
// CHECK-NEXT: stablehlo.select %[[NOW]], %[[LOCAL]], %[[NEXT]]
// CHECK: cgx.wait %[[SECOND]]
// CHECK-NOT: stablehlo.if

// The outer gradient is neither grouped with the reductions of all steps nor moved after computing.
// COMPRESSED-COUNT-2: cgx.start when({{.*}}codec(quantize
// COMPRESSED: stablehlo.subtract
// COMPRESSED-COUNT-2: cgx.wait

// The fragments have 256 bytes, and 128 and 16, beside 4 of the loss.
// REPORT: large {{.*}} 16x4xf32 /50
// REPORT: /N: sent every Nth step; bytes are the mean of N steps, and at most 260 in one
// JSON: "turn": 25
// JSON: "turn": 50

#g = #cgx.groups<[[0, 1]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = 2]>, cgx.num_ranks = 2 : i64} {
  func.func public @main(%a: tensor<8x4xf32> {cgx.name = "first"}, %b: tensor<16x4xf32> {cgx.name = "large"}, %c: tensor<4xf32> {cgx.name = "small"},
                         %x: tensor<8x4xf32> {cgx.name = "x"}, %y: tensor<16x4xf32> {cgx.name = "y"}, %z: tensor<4xf32> {cgx.name = "z"}, %l: tensor<f32> {cgx.name = "l"})
      -> (tensor<8x4xf32> {cgx.name = "result[0]", cgx.feeds = 0 : i64}, tensor<16x4xf32> {cgx.name = "result[1]", cgx.feeds = 1 : i64},
          tensor<4xf32> {cgx.name = "result[2]", cgx.feeds = 2 : i64}, tensor<f32> {cgx.name = "result[3]['loss']"}) {
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %m = cgx.all_reduce sum(%l) groups(#g) id(3) layer("loss", other) : tensor<f32>
    %loss = stablehlo.multiply %m, %half : tensor<f32>
    %g = cgx.all_reduce mean(%x) groups(#g) id(0) layer("first", gradient, [8, 4]) : tensor<8x4xf32>
    %h = cgx.all_reduce mean(%y) groups(#g) id(1) layer("large", gradient, [16, 4]) : tensor<16x4xf32>
    %i = cgx.all_reduce mean(%z) groups(#g) id(2) layer("small", gradient, [4]) : tensor<4xf32>
    %a1 = stablehlo.subtract %a, %g : tensor<8x4xf32>
    %b1 = stablehlo.subtract %b, %h : tensor<16x4xf32>
    %c1 = stablehlo.subtract %c, %i : tensor<4xf32>
    return %a1, %b1, %c1, %loss : tensor<8x4xf32>, tensor<16x4xf32>, tensor<4xf32>, tensor<f32>
  }
}
