//===-- Feeding.h - which result is the next value of which argument --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_FEEDING_H
#define CGX_PASSES_IMPORT_FEEDING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace cgx {

/// What is known about an argument or a result of a step.
struct StepValue {
  std::string name; // Empty when the text does not name it.
  mlir::Type type;  // On one rank.
  mlir::Attribute sharding;
  bool isDonated = false;                  // Arguments: its buffer may be reused.
  std::optional<unsigned> aliasedResult{}; // Arguments: the result that reuses it.
};

/// The name that the location of a function argument gives it, or "".
llvm::StringRef getArgumentName(mlir::BlockArgument argument);

/// The arguments and results of a step: `cgx.name` if there is one, else the name
/// that the framework gave.
llvm::SmallVector<StepValue> getStepArguments(mlir::func::FuncOp step);
llvm::SmallVector<StepValue> getStepResults(mlir::func::FuncOp step);

/// For each result, the argument that takes its value in the next step, if any.
///
/// 1. By name. A step returns whole subtrees of its state: the results under
///    `result[0]` feed the arguments under `state` when at least half of them are
///    there under the same keys with the same type and sharding. Among several
///    such arguments (parameters and their average), a donated one, then the one
///    with most results, then the first. A bare tensor, which has no keys to
///    compare, feeds the donated argument of its type or the one in its position.
/// 2. Then by `tf.aliasing_output`. It comes second because JAX pairs donated
///    arguments with results by type alone, in order: a step that takes
///    (momentum, params) and returns (params, momentum) would feed one into the
///    other.
/// 3. In a text without names, donated arguments are fed, in order, by the first
///    run of results, from the start of a subtree, that has their types.
llvm::SmallVector<std::optional<unsigned>> matchFeeds(llvm::ArrayRef<StepValue> arguments,
                                                      llvm::ArrayRef<StepValue> results);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_FEEDING_H
