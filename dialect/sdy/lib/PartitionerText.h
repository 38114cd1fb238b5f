//===-- PartitionerText.h - attributes that are kept as text -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sharding rules and propagation edges mean nothing to us and go through as they were written. What makes
// them invalid is found all the same: a partitioner that reads our output should not be the first to say so.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_DIALECT_SDY_LIB_PARTITIONERTEXT_H
#define CGX_DIALECT_SDY_LIB_PARTITIONERTEXT_H

#include "cgx/Dialect/Sdy/SdyDialect.h"

namespace cgx::sdy {

/// `op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}, custom>`: which dimensions of
/// operands and results are split together. Dimensions are products of factors, by number (i is 0).
struct ShardingRule {
  using Dimension = llvm::SmallVector<int64_t>; ///< its factors, major first
  using Tensor = llvm::SmallVector<Dimension>;

  llvm::SmallVector<int64_t> factors; ///< their sizes
  llvm::SmallVector<Tensor> operands, results;
  /// reduction, need_replication, permutation: a factor is in one of them at most.
  llvm::SmallVector<int64_t> special[3];
  llvm::SmallVector<int64_t> blocked;
  bool isCustom = false;

  /// Nothing, and what is wrong, if the text is none.
  static std::optional<ShardingRule> parse(llvm::StringRef text, std::string &wrong);
  /// What is wrong with it for `op`, or "".
  std::string refuse(mlir::Operation *op) const;
};

/// `propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>`: by which steps of a partitioner the
/// axes of a sharding came there.
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

/// What is wrong with the text of an attribute that is kept as such, or "".
std::string refuseText(llvm::StringRef text);

/// Checks an attribute `sdy.sharding_rule` or `sdy.*propagation_edges` of `op`.
llvm::LogicalResult verifyPartitionerText(mlir::Operation *op, mlir::NamedAttribute attribute);

} // namespace cgx::sdy

#endif // CGX_DIALECT_SDY_LIB_PARTITIONERTEXT_H
