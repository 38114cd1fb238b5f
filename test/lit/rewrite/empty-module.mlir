// Passes that ask for the mesh take a module in which nothing of cgx was parsed.
// RUN: cgx-opt %s --cgx-check-activations --cgx-warn-of-repeated-sums --cgx-fold-replicated --cgx-assign-codecs | FileCheck %s
// RUN: cgx-opt %s --cgx-check-activations | FileCheck %s
// RUN: cgx-opt %s --cgx-warn-of-repeated-sums | FileCheck %s
// RUN: cgx-opt %s --cgx-fold-replicated | FileCheck %s
// RUN: cgx-opt %s --cgx-assign-codecs | FileCheck %s

// CHECK: module
module {}
