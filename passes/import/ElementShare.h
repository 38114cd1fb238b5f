//===-- ElementShare.h - the share of one value in another -----*- C++ -*-===//
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

/// The factor, with its sign, that elements of `source` have in the values computed from them, each in its
/// own place:
///
///   x - rate * g          share of x: 1, of g: -1
///   (x - y) / rate        share of x: 1, of y: -1
///   x - (x - rate * g)    share of x: 0, of g: 1
///
/// A number that is known only at run time counts as `unknown`, and so does a divisor of elements: by default
/// as 1, or as 0 where the share must be certain. Of the branches, the larger share counts; a loop counts by
/// one round. Nonlinear ops have no share.
class ElementShare {
public:
  explicit ElementShare(mlir::Value source, double unknown = 1) : source(source), unknown(unknown) {}

  double in(mlir::Value value);

private:
  double compute(mlir::OpResult result);
  double computeOfProduct(mlir::Operation *op);

  mlir::Value source;
  double unknown;
  /// The known shares. Values under way have none, so that a value that a loop carries has the share of its
  /// initial value.
  llvm::DenseMap<mlir::Value, double> shares;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_ELEMENTSHARE_H
