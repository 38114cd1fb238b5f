// How often a collective runs in a step, and every how many steps, where that is not once in each. What the step
// decides while it runs is not known.
// RUN: cgx-opt %s --cgx-emit-manifest | FileCheck %s

// CHECK: cgx_rt.manifest = "{{.*}}\22collectives\22:[
// CHECK-SAME: \22groups\22:{{[^}]*}}\22id\22:0,\22kind\22:\22permute\22
// CHECK-SAME: \22runs\22:5,\22sends\22:[\2211100\22,\2201110\22]
// CHECK-SAME: {\22algorithm\22:\22auto\22,\22every\22:50,\22groups\22:{{[^}]*}}\22id\22:1,
// CHECK-SAME: \22reduction\22:\22mean\22}
// CHECK-SAME: {\22algorithm\22:\22auto\22,\22groups\22:{{[^}]*}}\22id\22:2,
// CHECK-SAME: \22reduction\22:\22mean\22}
#g = #cgx.groups<[[0, 1, 2]]>
module attributes {cgx.num_ranks = 3 : i64} {
  func.func @main(%x: tensor<4xf32>, %due: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ticks = stablehlo.constant dense<5> : tensor<i32>
    %f:2 = stablehlo.while(%t = %zero, %arrived = %x) : tensor<i32>, tensor<4xf32>
     cond {
      %c = stablehlo.compare LT, %t, %ticks, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = cgx.permute(%arrived) groups(#g) id(0) layer("edge", activation) sends("11100", "01110")
          source_target_pairs([[0, 1], [1, 2]]) : tensor<4xf32>
      %n = stablehlo.add %t, %one : tensor<i32>
      stablehlo.return %n, %next : tensor<i32>, tensor<4xf32>
    }
    %outer = "stablehlo.if"(%due) ({
      %mean = cgx.all_reduce mean(%x) groups(#g) id(1) layer("w", outer_gradient, [4]) : tensor<4xf32>
      stablehlo.return %mean : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) {cgx.every = 50 : i64} : (tensor<i1>) -> tensor<4xf32>
    %sometimes = "stablehlo.if"(%due) ({
      %mean = cgx.all_reduce mean(%outer) groups(#g) id(2) layer("v", other, [4]) : tensor<4xf32>
      stablehlo.return %mean : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %f#1, %sometimes : tensor<4xf32>, tensor<4xf32>
  }
}
