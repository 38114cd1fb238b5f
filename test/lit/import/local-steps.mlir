// RUN: cgx-opt %s --split-input-file --cgx-local-steps="every=50 outer=nesterov<lr=0.5 momentum=0.25>" | FileCheck %s
// RUN: cgx-opt %s --split-input-file --cgx-local-steps="every=1 outer=sgd" | FileCheck %s --check-prefix=EVERY
// RUN: cgx-opt %s --split-input-file --cgx-local-steps="every=50" | FileCheck %s --check-prefix=DEFAULT
// RUN: cgx-opt %s --split-input-file --cgx-local-steps="every=50 outer=nesterov lr=0.5 momentum=0.25" --cgx-compress="bits=4 min-elements=1" --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: cgx-opt %s --split-input-file --cgx-local-steps="every=50" --cgx-compress="bits=4 min-elements=1 decompose" --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not cgx-opt %s --cgx-local-steps="outer=nestrov" 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not cgx-opt %s --cgx-local-steps="every=0" 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not cgx-opt %s --cgx-local-steps="outer=sgd momentum=0.9" 2>&1 | FileCheck %s --check-prefix=SGD
// RUN: not cgx-opt %s --cgx-local-steps="outer=nesterov<rate=0.9>" 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not cgx-opt %s --cgx-local-steps="outer=nesterov<lr=-1>" 2>&1 | FileCheck %s --check-prefix=RATE
// RUN: not cgx-opt %s --cgx-local-steps="outer=nesterov<lr=1" 2>&1 | FileCheck %s --check-prefix=BRACKET

// RULE: error: local steps: expected outer to be sgd, momentum or nesterov, got 'nestrov' (did you mean 'nesterov'?)
// STEPS: error: local steps: expected every to be a number of steps from 1 to 1000000, got 0
// SGD: error: local steps: outer sgd: expected no momentum, got 0.9; momentum and nesterov have one
// KEY: error: local steps: outer nesterov: expected its parameters to be lr and momentum, got 'rate'
// RATE: error: local steps: outer nesterov: expected lr to be a number above 0, got '-1'
// BRACKET: error: local steps: expected outer to be one rule, with its parameters in one pair of angle brackets, got nesterov<lr=1

// The momentum of the inner optimizer is each rank's own, the metric is averaged as before, and a norm of the gradient is
// again.

#g = #cgx.groups<[[0, 1], [2, 3]]>
// CHECK-LABEL: @trained
// CHECK: func.func public @main(%[[ANCHOR:[a-z0-9]+]]: tensor<8x4xf32> {cgx.name = "state['params']['w']"},
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<1x8x4xf32> {cgx.global_type = tensor<2x8x4xf32>, cgx.initial = "state['m']['w']", cgx.name = "local['state']['m']['w']", cgx.sharding = #cgx.sharding<[{{\["data"\], \[\], \[\]}}]>},
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<16x8xf32>
// CHECK-SAME: %[[LOCAL:[a-z0-9]+]]: tensor<1x8x4xf32> {{.*}}cgx.initial = "state['params']['w']", cgx.name = "local['state']['params']['w']"
// CHECK-SAME: %[[OUTER:[a-z0-9]+]]: tensor<8x4xf32> {cgx.initial = 0 : i64, cgx.name = "outer_momentum['state']['params']['w']"}
// CHECK-SAME: %[[COUNT:[a-z0-9]+]]: tensor<i32> {{.*}}cgx.initial = 0 : i64, cgx.name = "local_steps"
// CHECK-SAME: cgx.feeds = 3 : i64
// CHECK-SAME: cgx.feeds = 4 : i64
// CHECK-SAME: cgx.feeds = 5 : i64
// CHECK: %[[OWN:.*]] = stablehlo.reshape %[[LOCAL]]
// CHECK: %[[OWNM:.*]] = stablehlo.reshape %[[M]]
// CHECK: stablehlo.dot_general %{{.*}}, %[[OWN]]
// CHECK-NOT: gradient
// A sum of as many equal gradients as there are ranks.
// CHECK: %[[TWO:.*]] = stablehlo.constant dense<2.0
// CHECK: %[[G:.*]] = stablehlo.multiply %{{.*}}, %[[TWO]]
// CHECK: %[[NEXT:.*]] = stablehlo.subtract %[[OWN]]
// CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("loss", other) :
// CHECK: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("norm", other) :
// CHECK: cgx.all_reduce min({{.*}}id({{[0-9]+}}) layer("finite", other) :
// CHECK: %[[DONE:.*]] = stablehlo.add %[[COUNT]]
// CHECK: %[[IS:.*]] = stablehlo.compare GE, %[[DONE]]
// CHECK: "stablehlo.if"(%[[IS]])
// CHECK: %[[D:.*]] = stablehlo.subtract %[[ANCHOR]], %[[NEXT]]
// CHECK: %[[R:.*]] = cgx.all_reduce mean(%[[D]]) {{.*}}id({{[0-9]+}}) layer("params/w", outer_gradient, [8, 4]) :
// CHECK: %[[OM:.*]] = stablehlo.add %{{.*}}, %[[R]]
// CHECK: %[[LOOK:.*]] = stablehlo.add %{{.*}}, %[[R]]
// CHECK: %[[MOVED:.*]] = stablehlo.subtract %[[ANCHOR]]
// CHECK: stablehlo.return %[[MOVED]], %[[MOVED]], %[[OM]]
// CHECK: stablehlo.return %[[ANCHOR]], %[[NEXT]], %[[OUTER]]
// CHECK: cgx.every = 50 : i64

// Without a branch, without a counter.
// EVERY-LABEL: @trained
// EVERY-NOT: local_steps
// EVERY-NOT: stablehlo.if
// EVERY: cgx.all_reduce mean({{.*}}id({{[0-9]+}}) layer("params/w", outer_gradient, [8, 4]) :

// Plain averaging, without a momentum, unless another optimizer is asked for.
// DEFAULT-LABEL: @trained
// DEFAULT-NOT: outer_momentum
// DEFAULT: "stablehlo.if"
// DEFAULT: %[[D:.*]] = stablehlo.subtract %{{.*}}, %{{.*}} : tensor<8x4xf32>
// DEFAULT-NEXT: %[[R:.*]] = cgx.all_reduce mean(%[[D]]) {{.*}}outer_gradient
// DEFAULT-NEXT: %[[MOVED:.*]] = stablehlo.subtract %{{.*}}, %[[R]]
// DEFAULT-NEXT: stablehlo.return %[[MOVED]], %[[MOVED]]

// REPORT: params/w  outer_gradient  8x4xf32 /50
// REPORT: /N: sent every Nth step; bytes are the mean of N steps, and at most {{[0-9]+}} in one
module @trained attributes {cgx.mesh = #cgx.mesh<["model" = 2, "data" = 2]>, cgx.num_ranks = 4 : i64} {
  func.func public @main(%w: tensor<8x4xf32> {cgx.name = "state['params']['w']"}, %m: tensor<8x4xf32> {cgx.name = "state['m']['w']"},
                         %x: tensor<16x8xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<32x8xf32>})
      -> (tensor<8x4xf32> {cgx.name = "result[0]['params']['w']", cgx.feeds = 0 : i64}, tensor<8x4xf32> {cgx.name = "result[0]['m']['w']", cgx.feeds = 1 : i64},
          tensor<f32> {cgx.name = "result[1]['loss']"}, tensor<f32> {cgx.name = "result[1]['norm']"},
          tensor<i1> {cgx.name = "result[1]['finite']"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %loss0 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x4xf32>, tensor<f32>) -> tensor<f32>
    %g0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %g = cgx.all_reduce sum(%g0) groups(#g) id(0) layer("params/w", gradient, [8, 4]) : tensor<8x4xf32>
    %m1 = stablehlo.add %m, %g : tensor<8x4xf32>
    %w1 = stablehlo.subtract %w, %m1 : tensor<8x4xf32>
    %loss = cgx.all_reduce mean(%loss0) groups(#g) id(1) layer("loss", other) : tensor<f32>
    %norm = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %finite = stablehlo.is_finite %norm : (tensor<f32>) -> tensor<i1>
    return %w1, %m1, %loss, %norm, %finite : tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>, tensor<i1>
  }
}
