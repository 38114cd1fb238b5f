//===-- SampleRows.h - The samples of a value's rows -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PASSES_REWRITE_SAMPLEROWS_H
#define CGX_PASSES_REWRITE_SAMPLEROWS_H

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace cgx {

/// Follows values back to the batch of a step, and tells which of their dimensions count samples: positions
/// along these are positions of the batch, however sliced, chosen and moved. A value without such dimensions
/// belongs to no sample: weights, masks, zeros.
class SampleRows {
public:
  using Dims = llvm::SmallVector<int64_t, 2>; ///< ascending

  /// Follows samples from the batch. `ids` is the argument of `step` that has the id of each sample of the
  /// batch. Data whose first dimension is as long and split as the ids' is the batch.
  SampleRows(mlir::FunctionOpInterface step, unsigned ids);

  /// Returns the dimensions that count samples. Fails, after an error that names the op, where samples mix.
  mlir::FailureOr<Dims> dimsOf(mlir::Value value);

  /// Makes the ids of values that dimsOf() has seen, of the shape of their sample dimensions: ops on these
  /// dimensions are applied to the ids. Values of no sample have ids below zero. Loops that carry samples
  /// from round to round are rebuilt, so that handles to them become invalid; values inside stay. Call this
  /// once, after all dimsOf().
  void carryThroughLoops();
  /// Returns the ids of the rows of a value along `dims`, which are those of dimsOf() or, for one of no
  /// sample, any.
  mlir::FailureOr<mlir::Value> idsOf(mlir::Value value, llvm::ArrayRef<int64_t> dims,
                                     mlir::OpBuilder &builder);
  /// Sets the ids of a value that was sent with them.
  void setIds(mlir::Value value, Dims dims, mlir::Value ids) {
    known[value] = dims;
    made[value] = ids;
  }
  /// Gives loops that were rebuilt the ids that they carry.
  mlir::LogicalResult connectLoops();

private:
  mlir::FailureOr<Dims> compute(mlir::Value value);
  mlir::FailureOr<Dims> ofArgument(mlir::BlockArgument argument);
  mlir::FailureOr<Dims> ofCarried(stablehlo::WhileOp loop, unsigned index);
  mlir::FailureOr<Dims> ofOp(mlir::Operation *op, unsigned result);
  mlir::FailureOr<Dims> join(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values);
  mlir::FailureOr<mlir::Value> makeIds(mlir::OpResult value, llvm::ArrayRef<int64_t> dims);
  mlir::Value noneOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type);
  mlir::RankedTensorType idsType(mlir::Value value, llvm::ArrayRef<int64_t> dims);
  mlir::FailureOr<mlir::Value> same(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values,
                                    mlir::OpBuilder &builder);

  mlir::FunctionOpInterface step;
  unsigned ids;
  llvm::DenseMap<mlir::Value, Dims> known;
  llvm::DenseMap<mlir::Value, mlir::Value> made;
  /// The arguments of loops' bodies that change from round to round and count samples.
  llvm::SetVector<mlir::Value> carried;
  struct CarriedIds {
    stablehlo::WhileOp loop;
    unsigned index, ids;
  };
  llvm::SmallVector<CarriedIds> loops;
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_SAMPLEROWS_H
