// A user who asks for identity knows that nothing is compressed.
// RUN: cgx-opt %s --cgx-compress=codec=identity -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=NOTHING --implicit-check-not=warning
// RUN: cgx-opt %s --cgx-compress='codec=identity weight=identity' -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=NOTHING --implicit-check-not=warning
// RUN: cgx-opt %s --cgx-compress=bits=4 -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHERS
// RUN: cgx-opt %s --cgx-compress='codec=identity weight=bits=8' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHERS

// NOTHING-NOT: nothing is compressed
// OTHERS: nothing is compressed, though 1 gradient travels: 1-D parameter (1); min-rank=1 takes vectors, too
module attributes {cgx.num_ranks = 4 : i64} {
func.func @main(%w: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32> {cgx.feeds = 0 : i64}) {
  %0 = cgx.all_reduce mean(%x) groups([[0, 1, 2, 3]]) id(0) layer("w", gradient, [4]) : tensor<4xf32>
  %1 = stablehlo.subtract %w, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
}
