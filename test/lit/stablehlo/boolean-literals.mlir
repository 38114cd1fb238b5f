// Booleans as LLVM 23 writes them, a byte per element, are those that LLVM 22 writes in bits.
// RUN: cgx-opt %s | FileCheck %s
// RUN: cgx-opt %s | cgx-opt | FileCheck %s
// RUN: mlir-opt-22 --load-dialect-plugin=%cgx_lib/cgx-plugin.so %s | FileCheck %s

// 16 elements: pretty, in any spacing, and on the side of newer MLIR of an op that is generic.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2x8xi1>, tensor<9xi1>) {
  // CHECK{LITERAL}: dense<[[true, false, false, false, false, false, false, false], [true, true, false, false, false, false, false, true]]> : tensor<2x8xi1>
  %0 = stablehlo.constant dense<"0x01000000000000000101000000000001"> : tensor<2x8xi1>
  // CHECK: dense<[false, false, true, false, false, false, false, false, true]> : tensor<9xi1>
  %1 = stablehlo.constant dense < "0x0000FF000000000001" > : tensor< 9xi1 >
  return %0, %1 : tensor<2x8xi1>, tensor<9xi1>
}

// A literal that has bits already stays: 16 elements in two bytes.
// CHECK-LABEL: func.func @bits
func.func @bits() -> tensor<16xi1> {
  // CHECK: dense<[true, false, false, false, false, false, false, false, true, true, false, false, false, false, false, true]> : tensor<16xi1>
  %0 = stablehlo.constant dense<"0x0183"> : tensor<16xi1>
  return %0 : tensor<16xi1>
}

// One byte is a splat.
// CHECK-LABEL: func.func @splat
func.func @splat() -> tensor<16xi1> {
  // CHECK: dense<true> : tensor<16xi1>
  %0 = stablehlo.constant dense<"0xFF"> : tensor<16xi1>
  return %0 : tensor<16xi1>
}

// Bytes of other types are left alone.
// CHECK-LABEL: func.func @integers
func.func @integers() -> tensor<4xi8> {
  // CHECK: dense<[1, 0, 1, 1]> : tensor<4xi8>
  %0 = stablehlo.constant dense<"0x01000101"> : tensor<4xi8>
  return %0 : tensor<4xi8>
}
