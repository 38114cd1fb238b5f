// The whole way down: one entry, one manifest, one function that frees what steps keep, also a destructor; everything
// else internal.
// RUN: cgx-opt %S/Inputs/step.mlir --cgx-lower-to-llvm | FileCheck %s

// CHECK-DAG: llvm.func internal @main
// CHECK-DAG: llvm.func @cgx_program_step(
// CHECK-DAG: llvm.mlir.global {{.*}}@cgx_program_manifest(
// CHECK-DAG: llvm.func @cgx_program_release()
// CHECK-DAG: llvm.mlir.global_dtors dtors = [@cgx_program_release]
// CHECK-DAG: llvm.call @cgx_rt_operand(
// CHECK-DAG: llvm.call @cgx_rt_run(
