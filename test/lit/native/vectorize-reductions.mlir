// Rows of neighbours are reduced in 16 lanes, whatever comes before the sum along with them.
// RUN: cgx-opt %s --cgx-vectorize-reductions --split-input-file | FileCheck %s

#element = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: @sum_of_exponentials
// CHECK-SAME: %[[X:[^:]*]]: memref<4x70xf32>, %[[MAX:[^:]*]]: memref<4xf32>, %[[SUM:[^:]*]]: memref<4xf32>
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK-DAG: %[[WHOLE:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[NEUTRAL:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[LANES:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[WHOLE]] step %{{.*}} iter_args(%[[ACC:.*]] = %[[NEUTRAL]])
// CHECK: %[[IN:.*]] = vector.load %[[X]][%[[ROW]], %[[K]]]
// CHECK: %[[ONE:.*]] = memref.load %[[MAX]][%[[ROW]]]
// CHECK: %[[ALL:.*]] = vector.broadcast %[[ONE]] : f32 to vector<16xf32>
// CHECK: %[[D:.*]] = arith.subf %[[IN]], %[[ALL]] : vector<16xf32>
// CHECK: %[[E:.*]] = math.exp %[[D]] : vector<16xf32>
// CHECK: arith.addf %[[ACC]], %[[E]] : vector<16xf32>
// CHECK: memref.load %[[SUM]]
// CHECK-COUNT-8: vector.shuffle
// CHECK: %[[TREE:.*]] = vector.extract
// The six elements that fill no vector.
// CHECK: scf.for {{.*}} -> (f32)
// CHECK: math.exp %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %[[SUM]][%[[ROW]]]
func.func @sum_of_exponentials(%x: memref<4x70xf32>, %max: memref<4xf32>, %sum: memref<4xf32>) {
  linalg.generic {indexing_maps = [#element, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : memref<4x70xf32>, memref<4xf32>) outs(%sum : memref<4xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %d = arith.subf %in, %m : f32
    %e = math.exp %d : f32
    %s = arith.addf %e, %out : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>

// The columns are parallel, and the last input is not read in order: both stay.
// CHECK-LABEL: @others
// CHECK-NOT: vector
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @others(%x: memref<40x40xf32>, %b: memref<40x40xi1>, %y: memref<40xf32>, %any: memref<40xf32>) {
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<40x40xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#transposed, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<40x40xf32>) outs(%y : memref<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  }
  // Booleans are bytes in memory.
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%b : memref<40x40xi1>) outs(%any : memref<40xf32>) {
  ^bb0(%in: i1, %out: f32):
    %f = arith.uitofp %in : i1 to f32
    %s = arith.addf %out, %f : f32
    linalg.yield %s : f32
  }
  return
}
