// All-reduces get the algorithm of the options, or the one that is fastest by the cost model.
// RUN: cgx-opt %s --cgx-choose-algorithms=algorithm=ring | FileCheck %s --check-prefix=RING
// RUN: cgx-opt %s --cgx-choose-algorithms=algorithm=halving_doubling | FileCheck %s --check-prefix=HALVES
// RUN: cgx-opt %s --cgx-choose-algorithms="algorithm=hierarchical local=2 inside=quantize<bits=8>" | FileCheck %s --check-prefix=HOSTS
// RUN: cgx-opt %s --cgx-choose-algorithms | FileCheck %s --check-prefix=AUTO
// RUN: cgx-opt %s --cgx-choose-algorithms=machine=%S/Inputs/slow-link.json | FileCheck %s --check-prefix=SLOW
// RUN: cgx-opt %s --cgx-choose-algorithms=machine=%S/Inputs/fast-link.json | FileCheck %s --check-prefix=FAST
// RUN: cgx-opt %s --cgx-choose-algorithms=machine=%S/Inputs/fast-link.json --cgx-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not cgx-opt %s --cgx-choose-algorithms=algorithm=rings 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not cgx-opt %s --cgx-choose-algorithms=algorithm=hierarchical 2>&1 | FileCheck %s --check-prefix=LOCAL
// RUN: not cgx-opt %s --cgx-choose-algorithms="algorithm=hierarchical local=3" 2>&1 | FileCheck %s --check-prefix=GROUP
// RUN: not cgx-opt %s --cgx-choose-algorithms=machine=%s 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not cgx-opt %s --cgx-choose-algorithms=machine=%S/Inputs/plan.json 2>&1 | FileCheck %s --check-prefix=KIND

// NAME: expected algorithm to be one of auto, scatter_reduce_allgather, ring, tree, hierarchical, one_shot, halving_doubling, got rings
// LOCAL: expected local, the ranks of a host, with the algorithm hierarchical
// GROUP: expected groups of hosts of 3 ranks, got a group of 4
// FILE: machine '{{.*}}': expected JSON
// KIND: machine '{{.*}}plan.json': expected 'cgx_machine' of version 1, as cgx-bench calibrate writes it

#g = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.num_ranks = 4 : i64} {

// 64 MiB over a slow link are compressed, four bytes go to everybody at once, and who asked for a tree gets it. Without a
// machine only what is short, and stays exact, is decided: a plan may give @main's fourth a codec, and its fifth is long.
// RING-LABEL: @main
// RING: algorithm(ring){{.*}}id(0)
// RING: algorithm(ring){{.*}}id(1)
// RING: algorithm(tree){{.*}}id(2)
// RING: algorithm(ring){{.*}}id(3)
// HALVES: algorithm(halving_doubling){{.*}}id(0)
// HOSTS: algorithm(hierarchical)
// HOSTS-SAME: hierarchy(local = 2, inside = #cgx.quantize<bits = 8, {{.*}}>, leaders = all)
// AUTO: mean(%{{[^,)]*}}) exact_reasons("") codec
// AUTO: mean(%{{[^,)]*}}) algorithm(one_shot) exact_reasons("kind other") codec
// AUTO: mean(%{{[^,)]*}}) algorithm(tree) codec
// AUTO: mean(%{{[^,)]*}}) exact_reasons("") codec
// AUTO: mean(%{{[^,)]*}}) exact_reasons("kind other") codec
// SLOW: algorithm(scatter_reduce_allgather){{.*}}codec(quantize
// SLOW: algorithm(one_shot){{.*}}id(1)
// FAST: exact_reasons("{{.*}} ms exact, {{.*}} ms compressed, by the cost model")
// FAST-SAME: codec(identity)
// REPORT: 1.00x [1]{{$}}
// REPORT: [1] {{.*}} ms exact, {{.*}} ms compressed, by the cost model
func.func public @main(%w: tensor<4096x4096xf32>, %b: tensor<f32>, %long: tensor<1025xf32>)
    -> (tensor<4096x4096xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<1025xf32>) {
  %0 = cgx.all_reduce mean(%w) exact_reasons("") codec(quantize) groups(#g) id(0) layer("w", gradient)
      : tensor<4096x4096xf32>
  %1 = cgx.all_reduce mean(%b) exact_reasons("kind other") groups(#g) id(1) layer("loss", other) : tensor<f32>
  %2 = cgx.all_reduce mean(%b) algorithm(tree) groups(#g) id(2) layer("loss", other) : tensor<f32>
  %3 = cgx.all_reduce mean(%b) exact_reasons("") groups(#g) id(3) layer("b", gradient) : tensor<f32>
  %4 = cgx.all_reduce mean(%long) exact_reasons("kind other") groups(#g) id(4) layer("long", other) : tensor<1025xf32>
  return %0, %1, %2, %3, %4 : tensor<4096x4096xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<1025xf32>
}
}
