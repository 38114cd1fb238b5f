//===-- LearningRate.h - the argument that scales an update -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_LEARNINGRATE_H
#define CGX_PASSES_IMPORT_LEARNINGRATE_H

#include "ElementOrder.h"

namespace cgx {

/// The arguments, single f32 numbers, that may be the learning rate of a parameter: each way of the `reduced`
/// gradient to the parameter's `next` value leads through a product with it, or with its negative, and each
/// of the next values of `moments` has a way that does not. So the factor of a loss that was scaled is none.
///
///     %m1 = 0.9 %m + %r                         feeds m, without %eta
///     %w1 = %w - %eta * %m1                     feeds w
llvm::SmallVector<mlir::BlockArgument> findLearningRates(mlir::Value reduced, mlir::Value next,
                                                         llvm::ArrayRef<mlir::Value> moments);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_LEARNINGRATE_H
