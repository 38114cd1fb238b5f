//===-- RaveledParameters.h - parameters in one vector --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_RAVELEDPARAMETERS_H
#define CGX_PASSES_RAVELEDPARAMETERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace cgx {

/// Vectors that hold the elements of several parameters: a buffer of gradients that is reduced as one
/// (`params` of `params/w` and `params/b`), or state that is kept as one vector, of which the step makes
/// matrices:
///
///     flat -> all_gather -> slice [0:2048] -> reshape 64x32      2048 elements of rank 2
///                        -> slice [2048:2080]                      32 elements of rank 1
class RaveledParameters {
public:
  explicit RaveledParameters(mlir::func::FuncOp step);

  /// Returns the rank of the parameters that most elements of a layer are of. Nothing where no argument of
  /// the step is called so.
  std::optional<int64_t> getRank(llvm::StringRef layer) const;

private:
  /// The numbers of elements of an argument, by the rank of their parameters.
  using Elements = std::map<int64_t, int64_t>;

  struct Parameter {
    std::string root; ///< the name of the tree that it is in
    std::string name;
    bool isVector; ///< else a layer of its name that has one dimension is a vector of a stack, not it itself
    Elements elements;
  };

  llvm::SmallVector<Parameter> parameters;
};

} // namespace cgx

#endif // CGX_PASSES_RAVELEDPARAMETERS_H
