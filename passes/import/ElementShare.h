//===-- ElementShare.h - how much of one value is in another --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_ELEMENTSHARE_H
#define CGX_PASSES_IMPORT_ELEMENTSHARE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace cgx {

/// The factor, with its sign, that the elements of `source` come with in values that are computed from them,
/// each to its own place:
///
///   x - rate * g          share of x: 1, of g: -1
///   (x - y) / rate        share of x: 1, of y: -1
///   x - (x - rate * g)    share of x: 0, of g: 1
///
/// A number that only the run knows counts as `unknown`, and so does what elements are divided by: by default
/// as 1, or as 0 where the share is to be certain. Of branches the larger share counts, of a loop what one
/// round makes of it. What is not linear has no share.
class ElementShare {
public:
  explicit ElementShare(mlir::Value source, double unknown = 1) : source(source), unknown(unknown) {}

  double in(mlir::Value value);

private:
  double compute(mlir::OpResult result);
  double computeOfProduct(mlir::Operation *op);

  mlir::Value source;
  double unknown;
  /// Values under way have none: what a loop carries comes to what it came from.
  llvm::DenseMap<mlir::Value, double> shares;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_ELEMENTSHARE_H
