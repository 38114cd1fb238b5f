//===-- FlatElements.h - runs of a tensor's elements -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_FLATELEMENTS_H
#define CGX_PASSES_IMPORT_FLATELEMENTS_H

#include "cgx/Passes/RankValues.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace cgx {

/// A run of the elements of a tensor in row-major order.
struct FlatRange {
  int64_t begin;
  int64_t end;

  int64_t size() const { return end - begin; }
  bool contains(FlatRange other) const { return begin <= other.begin && other.end <= end; }
  bool isDisjointFrom(FlatRange other) const { return end <= other.begin || other.end <= begin; }
  FlatRange shiftedBy(int64_t offset) const { return {begin + offset, end + offset}; }
  bool operator==(FlatRange other) const { return begin == other.begin && end == other.end; }
  bool operator<(FlatRange other) const { return std::tie(begin, end) < std::tie(other.begin, other.end); }
};

/// Returns the range of all elements of a tensor of static shape.
FlatRange getWholeRange(mlir::Value value);

/// Returns the run of the operand's elements that a slice is, at constant indices, if it is one run.
std::optional<FlatRange> getSlicedRange(mlir::Operation *op, RankValues &values);

/// Returns whether each element of the result is made of the elements of the operands at the same place, or
/// of operands that are one number.
bool isElementByElement(mlir::Operation *op);

/// Returns whether all elements are the number 0.
bool isZeroSplat(mlir::Value value);

/// Returns `value` in another shape of as many elements; itself, where it has it.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// Concatenates `values` into one vector.
mlir::Value concatenateFlat(mlir::OpBuilder &builder, mlir::Location location, mlir::ValueRange values);

/// The ops that lead from a value to slices of it, element by element: every value has the root's elements in
/// order.
struct SlicedFlow {
  /// A slice, and the elements of the root that it takes.
  struct Slice {
    mlir::Operation *op;
    FlatRange range;
    llvm::ArrayRef<int64_t> shape; ///< that it is given next, if it is a vector
  };

  llvm::SmallVector<Slice> slices;
  llvm::SetVector<mlir::Operation *> ops; ///< elementwise ops and reshapes on the way
};

/// Returns the flow from `root` within its block.
SlicedFlow followToSlices(mlir::Value root, RankValues &values);

/// Takes runs of the elements of a tensor from the tensors that it is made of, where that is cheaper than to
/// slice it:
///
///   concatenate(a, b)[a's elements] = a        pad(a, p)[a's elements] = a
///   update(a, b)[b's elements]      = b        f(a, b)[run]            = f(a[run], b[run])
///
/// The last rewriting is applied to ops without other users, which then disappear, and to those `onTheWay`.
class ElementTaker {
public:
  explicit ElementTaker(RankValues &values) : values(values) {}

  /// Returns the elements of `range` in a shape of their own: that in which they were made, else a vector.
  mlir::Value take(mlir::Value value, FlatRange range, const llvm::SetVector<mlir::Operation *> &onTheWay);

  /// Returns the ranges that were taken of a value so far.
  const std::map<FlatRange, mlir::Value> &getTaken(mlir::Value value) { return taken[value]; }

private:
  mlir::Value joinTaken(mlir::OpBuilder &builder, mlir::Value value, FlatRange range);
  mlir::Value make(mlir::OpBuilder &builder, mlir::Value value, FlatRange range);
  mlir::Value takeOfParts(mlir::OpBuilder &builder, mlir::Operation *concatenate, FlatRange range);
  mlir::Value takeOfPadded(mlir::OpBuilder &builder, mlir::Operation *pad, FlatRange range);
  mlir::Value takeOfUpdated(mlir::Operation *update, FlatRange range);
  mlir::Value takeOfElementwise(mlir::OpBuilder &builder, mlir::Operation *op, FlatRange range);
  mlir::Value take(mlir::Value value, FlatRange range);

  RankValues &values;
  const llvm::SetVector<mlir::Operation *> *onTheWay = nullptr;
  llvm::DenseMap<mlir::Value, std::map<FlatRange, mlir::Value>> taken;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_FLATELEMENTS_H
