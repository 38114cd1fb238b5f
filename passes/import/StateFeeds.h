//===-- StateFeeds.h - results that are the next values of arguments -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_STATEFEEDS_H
#define CGX_PASSES_IMPORT_STATEFEEDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>

namespace cgx {

/// The facts about an argument or a result of a step.
struct StepValue {
  std::string name; // empty if the text does not name it
  mlir::Type type;  // on one rank
  mlir::Attribute sharding;
  bool isReplicated = false;               // Arguments: known to be equal on all ranks.
  bool isDonated = false;                  // Arguments: its buffer may be reused.
  std::optional<unsigned> aliasedResult{}; // Arguments: the result that reuses it.
};

/// Returns the name that the location of a function argument gives it, or "".
llvm::StringRef getArgumentName(mlir::BlockArgument argument);

/// Returns whether pmap gives an argument to all replicas alike.
bool isSameOnReplicas(mlir::func::FuncOp step, unsigned argument);

/// These describe the arguments and results of a step. Their name is `cgx.name` if there is one, else the one
/// that the framework gave.
llvm::SmallVector<StepValue> getStepArguments(mlir::func::FuncOp step);
llvm::SmallVector<StepValue> getStepResults(mlir::func::FuncOp step);

/// The argument that takes each result's value in the next step, if any.
using Feeds = llvm::SmallVector<std::optional<unsigned>>;

/// A result that is computed like the next value of one of some arguments, but that feeds none.
struct Doubt {
  enum class Reason {
    Ambiguous, // There are several readings.
    Type,      // It is returned in another type than it is taken.
    Sharding,  // It is split in another way.
    Data,      // Each rank has its own, as it has of a batch.
    Place,     // It stands where the argument does, among state, and nothing else shows it.
  };
  unsigned result;
  llvm::SmallVector<unsigned> arguments;
  Reason reason;
};

struct StateFeeds {
  Feeds feeds;
  llvm::SmallVector<Doubt> doubts;
  /// The results whose argument only data flow shows.
  llvm::SmallVector<unsigned> byFlow;
};

/// Finds which results feed which arguments of a per-rank program, by these rules in order:
///
/// 1. By name. A step returns whole subtrees of its state: the results under
///    `result[0]` feed the arguments under `state` when at least half of them are
///    there under the same keys with the same type and sharding. Among several
///    such arguments (parameters and their average), the one of which the results
///    are updates (`StateUpdates`), then a donated one, then the one with most
///    results, then the first. A bare tensor, which has no keys to compare, feeds
///    the argument that it updates, the donated argument of its type or the one in
///    its position. Names feed nothing where the step updates nothing: one that
///    returns gradients names them like its parameters.
/// 2. Then by data flow (`FlowMatcher`): what is an update of one argument only.
/// 3. Then, where arguments have no names, by what stands beside these pairs.
/// 4. Then by `tf.aliasing_output` and `mhlo.input_output_alias`. They come late
///    because JAX pairs donated arguments with results by type alone, in order: a
///    step that takes (momentum, params) and returns (params, momentum) would feed
///    one into the other.
/// 5. In a text without names of which data flow shows nothing, donated arguments are
///    fed, in order, by the first run of results, from the start of a subtree, that
///    has their types.
StateFeeds findFeeds(mlir::func::FuncOp step);

/// Applies rules 1, 4 and 5, for a step of which nothing else is known.
Feeds matchFeeds(llvm::ArrayRef<StepValue> arguments, llvm::ArrayRef<StepValue> results);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_STATEFEEDS_H
