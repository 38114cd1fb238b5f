// Loop nests become functions; equal ones share one, and parameters that are apart say so.
// RUN: cgx-opt %s --split-input-file --cgx-outline-loops | FileCheck %s

// Two layers: the buffers differ, the function does not.
// CHECK: func.func private @cgx_loops_0(%{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias})
// CHECK-SAME: cgx_rt.outlined
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: @cgx_loops_1
// CHECK-LABEL: func.func @main
// CHECK: call @cgx_loops_0(%[[X:.*]], %[[A:.*]]) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK: call @cgx_loops_0(%[[A]], %[[B:.*]]) : (memref<8xf32>, memref<8xf32>) -> ()
// CHECK-NOT: scf.for
func.func @main(%context: i64, %x: memref<8xf32> {llvm.noalias}, %scratch: memref<128xi8> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %a = memref.view %scratch[%c0][] : memref<128xi8> to memref<8xf32>
  %b = memref.view %scratch[%c64][] : memref<128xi8> to memref<8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c1 step %c1 {
      %0 = memref.load %x[%i] : memref<8xf32>
      memref.store %0, %a[%i] : memref<8xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c1 step %c1 {
      %0 = memref.load %a[%i] : memref<8xf32>
      memref.store %0, %b[%i] : memref<8xf32>
    }
  }
  return
}

// -----

// Parts of the scratch memory that overlap: no parameter may claim to be alone.
// CHECK: func.func private @cgx_loops_0(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>)
// CHECK-NOT: llvm.noalias
// CHECK-LABEL: func.func @main
func.func @main(%context: i64, %scratch: memref<128xi8> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %a = memref.view %scratch[%c0][] : memref<128xi8> to memref<8xf32>
  %b = memref.view %scratch[%c16][] : memref<128xi8> to memref<8xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %a[%i] : memref<8xf32>
    memref.store %0, %b[%i] : memref<8xf32>
  }
  return
}

// -----

// A loop that calls the runtime stays; what it does in between does not. A view at a place known at run time is made
// again inside.
// CHECK: func.func private @cgx_loops_0(%[[X:.*]]: memref<64xf32>{{.*}}, %[[AT:.*]]: index)
// CHECK: memref.subview %[[X]][%[[AT]]] [8] [1]
// CHECK-LABEL: func.func @main
// CHECK: scf.for %[[K:.*]] =
// CHECK: func.call @cgx_rt_wait
// CHECK: func.call @cgx_loops_0(%{{.*}}, %[[K]])
func.func private @cgx_rt_wait(i64, i64)
func.func @main(%context: i64, %x: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %id = arith.constant 0 : i64
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %c8 step %c1 {
    func.call @cgx_rt_wait(%context, %id) : (i64, i64) -> ()
    %part = memref.subview %x[%k] [8] [1] : memref<64xf32> to memref<8xf32, strided<[1], offset: ?>>
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %one, %part[%i] : memref<8xf32, strided<[1], offset: ?>>
    }
  }
  return
}

// -----

// The results of a nest are the results of the function.
// CHECK: func.func private @cgx_loops_0(%{{.*}}: memref<8xf32> {{.*}}) -> f32
// CHECK-LABEL: func.func @main
// CHECK: %[[SUM:.*]] = call @cgx_loops_0
// CHECK: memref.store %[[SUM]]
func.func @main(%context: i64, %x: memref<8xf32> {llvm.noalias}, %y: memref<f32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %1 = arith.addf %s, %0 : f32
    scf.yield %1 : f32
  }
  memref.store %sum, %y[] : memref<f32>
  return
}
