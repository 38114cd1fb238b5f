// Locations that stand at their ops, as --mlir-print-local-scope writes them, are kept like those at the end. What says
// nothing of them, but in comments such as loc("here") and in names, gets none.
// RUN: split-file %s %t
// RUN: cgx-opt %t/inline.mlir -o %t/out.mlir && FileCheck %s --input-file=%t/out.mlir
// RUN: cgx-opt %t/none.mlir -o %t/none.out.mlir && FileCheck %s --check-prefix=NONE --input-file=%t/none.out.mlir

// CHECK-DAG: #[[LINE:loc[0-9]*]] = loc("train.py":30:11)
// CHECK-DAG: stablehlo.negate {{.*}} loc(#[[LINE]])
// NONE: func.func @quoted
// NONE-NOT: loc(#

//--- inline.mlir
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32> loc("train.py":30:11)
  return %0 : tensor<4xf32>
}

//--- none.mlir
// loc("train.py":30:11)
func.func @quoted(%x: tensor<4xf32> {cgx.name = "a \" loc(b)"}) -> tensor<4xf32> { // as in loc(c)
  return %x : tensor<4xf32>
}
