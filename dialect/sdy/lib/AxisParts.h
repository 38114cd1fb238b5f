//===-- AxisParts.h - arithmetic of axes and parts of axes -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_DIALECT_SDY_LIB_AXISPARTS_H
#define CGX_DIALECT_SDY_LIB_AXISPARTS_H

#include "cgx/Dialect/Sdy/SdyDialect.h"

#include <functional>

namespace cgx::sdy {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// An axis read as `begin` x `end / begin` x the rest: the positions [begin, end) of its factorization, as
/// the products of the sizes before and up to the part. A whole axis begins at 1.
struct AxisPart {
  llvm::StringRef name;
  int64_t begin;
  int64_t end;

  bool operator==(const AxisPart &other) const = default;
  bool overlaps(const AxisPart &other) const {
    return name == other.name && begin < other.end && other.begin < end;
  }
};

using AxisParts = llvm::SmallVector<AxisPart>;

/// Returns the parts that `axes` name, consecutive parts of one axis as one. All axes belong to `mesh`.
AxisParts getParts(llvm::ArrayRef<AxisRefAttr> axes, MeshAttr mesh);

/// Appends a part, as one with the last if that ends where it begins.
void appendPart(AxisParts &parts, AxisPart part);

/// Takes `suffix` from the end of `parts`. Fails, with `parts` as far as it got, if they do not end so.
llvm::LogicalResult dropSuffix(AxisParts &parts, const AxisParts &suffix);

/// Returns the parts in the order of the mesh, consecutive parts of one axis joined.
AxisParts sortParts(AxisParts parts, MeshAttr mesh);

/// Returns a text such as `["x", "y":(1)2]`.
std::string textOf(const AxisParts &parts, MeshAttr mesh);

/// Returns the sharding of a value: null if there is none; nothing where only a partitioner would know, as of
/// arguments of regions.
std::optional<TensorShardingAttr> getSharding(mlir::Value value);

/// Fails if the sharding of a value of `op` names an axis that a manual computation around it has.
llvm::LogicalResult verifyFreeAxes(mlir::Operation *op, TensorShardingAttr sharding, EmitError emitError);

/// Checks that axes exist in a mesh, that sub-axes divide them, that no part of one is named twice, and that
/// consecutive parts are written as one.
class AxisChecker {
public:
  AxisChecker(MeshAttr mesh, std::function<mlir::InFlightDiagnostic()> emitError)
      : mesh(mesh), emitError(std::move(emitError)) {}

  llvm::LogicalResult check(llvm::ArrayRef<AxisRefAttr> axes);
  /// Checks axes whose order has no meaning: they must stand in the order of the mesh.
  llvm::LogicalResult checkSorted(llvm::StringRef what, llvm::ArrayRef<AxisRefAttr> axes);

private:
  llvm::LogicalResult check(AxisRefAttr axis);

  MeshAttr mesh;
  std::function<mlir::InFlightDiagnostic()> emitError; // outlives what it was made of
  AxisParts named;
};

} // namespace cgx::sdy

#endif // CGX_DIALECT_SDY_LIB_AXISPARTS_H
