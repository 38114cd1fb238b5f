// Literals of booleans in attributes of any op are read alike, and text in strings and comments is left alone:
// dense<"0x0100"> : tensor<2xi1>
// RUN: cgx-opt %s --mlir-print-op-generic | FileCheck %s
// RUN: %if native %{ cgx-opt %s --cgx-import --cgx-lower-to-llvm -o %t.ll %}

// CHECK-LABEL: sym_name = "main"
func.func public @main() -> tensor<16xi1> {
  // CHECK: value = dense<[true, false, false, false, false, false, false, false, true, true, false, false, false, false, false, true]>
  // CHECK-SAME: note = "dense<\220x0100\22> : tensor<2xi1>"
  %0 = "stablehlo.constant"() <{value = dense<"0x01000000000000000101000000000001"> : tensor<16xi1>}> {note = "dense<\"0x0100\"> : tensor<2xi1>"} : () -> tensor<16xi1>
  // CHECK: dense<[true, false, true]> : vector<3xi1>
  %1 = arith.constant dense<"0x010001"> : vector<3xi1>
  // Columns stay where they were.
  return %0 : tensor<16xi1>
}
