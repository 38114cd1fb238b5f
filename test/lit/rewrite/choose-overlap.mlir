// Where a machine file says what travelling and computing take, the faster program stays.
// RUN: cgx-opt %s --cgx-choose-overlap=machine=%S/Inputs/slow-link.json 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: cgx-opt %s --cgx-choose-overlap=machine=%S/Inputs/fast-link.json 2>&1 | FileCheck %s --check-prefix=FAST
// Whoever says what is wanted gets it.
// RUN: sed 's/ 1.25e+08/ 2.5e+07/g' %S/Inputs/slow-link.json > %t.slower.json
// RUN: cgx-opt %s --cgx-compress=machine=%t.slower.json 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: cgx-opt %s '--cgx-compress=machine=%t.slower.json overlap=false' 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: cgx-opt %s '--cgx-compress=machine=%S/Inputs/fast-link.json overlap' 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: cgx-opt %s '--cgx-compress=machine=%t.slower.json decompose' 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: cgx-opt %s '--cgx-compress=machine=%t.slower.json scope=entire-model' 2>&1 | FileCheck %s --check-prefix=FAST
// Where encoding takes the time, and not the link, a core to spare decides. Files of before do not say that.
// RUN: sed 's/ 5e9/ 5e8/; s/"decode_bytes_per_second": 1e10/"decode_bytes_per_second": 5e8/' %S/Inputs/slow-link.json > %t.busy.json
// RUN: sed 's/"cores_per_rank": 1/"cores_per_rank": 2/' %t.busy.json > %t.spare.json
// RUN: cgx-opt %s --cgx-compress=machine=%t.spare.json 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: cgx-opt %s --cgx-compress=machine=%t.busy.json 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: sed '/cores_per_rank/d' %S/Inputs/slow-link.json > %t.old.json
// RUN: cgx-opt %s --cgx-choose-overlap=machine=%t.old.json 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not cgx-opt %s --cgx-choose-overlap=machine=%t.none.json 2>&1 | FileCheck %s --check-prefix=NONE

// SLOW: remark: collectives travel while ranks compute: {{[0-9.]+}} ms a step by the cost model, {{[0-9.]+}} ms one after the other
// SLOW: cgx.start all_reduce
// FAST-NOT: remark
// FAST-NOT: cgx.start
// SAID-NOT: remark
// SAID: cgx.start all_reduce
// OLD: warning: machine '{{.*}}old.json' says nothing of cores and computing, so collectives do not overlap with it
// OLD-NOT: cgx.start
// NONE: error: machine '{{.*}}none.json': cannot read it
module attributes {cgx.num_ranks = 4 : i64} {
func.func public @main(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %g2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r2 = cgx.all_reduce mean(%g2) groups([[0, 1, 2, 3]]) id(0) layer("w2", gradient, [1024, 1024]) : tensor<1024x1024xf32>
  %g1 = stablehlo.dot_general %g2, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r1 = cgx.all_reduce mean(%g1) groups([[0, 1, 2, 3]]) id(1) layer("w1", gradient, [1024, 1024]) : tensor<1024x1024xf32>
  return %r1, %r2 : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
}
