//===-- PartitionerText.h - attributes that are kept as text -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sharding rules and propagation edges have no meaning for cgx and are passed through as they were written.
// They are verified nevertheless: a partitioner that reads cgx's output should not be the first to find an
// error.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_SDY_LIB_PARTITIONERTEXT_H
#define CGX_DIALECT_SDY_LIB_PARTITIONERTEXT_H

#include "cgx/Dialect/Sdy/SdyDialect.h"

namespace cgx::sdy {

/// A rule such as `op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}, custom>`,
/// which says which dimensions of operands and results are split together. Dimensions are products of
/// factors, by number (i is 0).
struct ShardingRule {
  using Dimension = llvm::SmallVector<int64_t>; ///< its factors, major first
  using Tensor = llvm::SmallVector<Dimension>;

  llvm::SmallVector<int64_t> factors; ///< their sizes
  llvm::SmallVector<Tensor> operands, results;
  /// The factors of reduction, need_replication and permutation: a factor is in one of them at most.
  llvm::SmallVector<int64_t> special[3];
  llvm::SmallVector<int64_t> blocked;
  bool isCustom = false;

  /// Parses a rule. Returns nothing, and what is wrong, if the text is none.
  static std::optional<ShardingRule> parse(llvm::StringRef text, std::string &wrong);
  /// Returns what is wrong with the rule for `op`, or "".
  std::string refuse(mlir::Operation *op) const;
};

/// A text such as `propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>`, which says by which
/// steps of a partitioner the axes of a sharding came to a value.
struct PropagationEdges {
  struct Value {
    bool isResult;
    int64_t index;
    bool operator==(const Value &) const = default;
  };
  struct Edge {
    Value source;
    llvm::SmallVector<Value> targets;
  };
  struct Step {
    int64_t index;
    llvm::SmallVector<Edge> edges;
  };

  llvm::SmallVector<Step> steps;

  static std::optional<PropagationEdges> parse(llvm::StringRef text, std::string &wrong);
  std::string refuse(mlir::Operation *op) const;
};

/// Returns what is wrong with the text of an attribute that is kept as text, or "".
std::string refuseText(llvm::StringRef text);

/// Checks an attribute `sdy.sharding_rule` or `sdy.*propagation_edges` of `op`.
llvm::LogicalResult verifyPartitionerText(mlir::Operation *op, mlir::NamedAttribute attribute);

} // namespace cgx::sdy

#endif // CGX_DIALECT_SDY_LIB_PARTITIONERTEXT_H
