// The manifest is written while the program still says what it exchanges, and for whom.
// RUN: cgx-opt %S/../native/Inputs/step.mlir --cgx-emit-manifest | FileCheck %s

// CHECK: cgx_rt.manifest = "{{.*}}\22arguments\22:
// CHECK-SAME: \22name\22:\22state['w']\22
// CHECK-SAME: \22codec\22:{{{.*}}\22bits\22:4
// CHECK-SAME: \22layer\22:\22w\22
// CHECK-SAME: \22feeds\22:0
// CHECK: cgx.all_reduce
