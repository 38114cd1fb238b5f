// MLIR's parser takes memory for each result up to the number that it reads: such text is refused before.
// RUN: not cgx-opt %s 2>&1 | FileCheck %s
// RUN: %if native %{ not cgx-compile %s -o %t.so 2>&1 | FileCheck %s %}

// In a comment anything may stand: %0#4294967295.
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {note = "%0#4294967295"} {
  // CHECK: huge-result-number.mlir:[[#@LINE + 1]]: error: expected the number of a result to be below 1048576, got 2147483648
  return %arg0#2147483648 : tensor<4xf32>
}
