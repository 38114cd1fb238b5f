//===-- StepState.h - the state that a step takes and returns ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_STEPSTATE_H
#define CGX_PASSES_IMPORT_STEPSTATE_H

#include "TreePath.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace cgx {

/// The arguments of a step in the per-rank form: their paths in the Python tree and the results that feed
/// them. In a step without feeds, a result stands for the argument of its name, as gradients are returned.
class StepState {
public:
  explicit StepState(mlir::func::FuncOp step);

  unsigned getArgumentCount() const { return paths.size(); }
  /// Returns the argument that a result feeds.
  std::optional<unsigned> getFedArgument(unsigned result) const { return feeds[result]; }
  /// Returns the result that feeds an argument; such an argument is state, another data.
  std::optional<unsigned> getFeedingResult(unsigned argument) const { return fedBy[argument]; }
  bool isState(unsigned argument) const { return fedBy[argument].has_value(); }

  /// Returns the path of an argument. One without a name of its own, in a text without
  /// locations, has that of the result that feeds it.
  const TreePath &getPath(unsigned argument) const { return paths[argument]; }
  /// Returns whether its path says that it is a parameter: a key or the root contains "param".
  bool isCalledParameter(unsigned argument) const;
  /// Returns the number of keys that the paths of two arguments have in common at their
  /// ends: `opt_state[0].mu['l1']['w']` and `params['l1']['w']` have two.
  unsigned getCommonSuffix(unsigned argument, unsigned other) const;

  /// Returns the type of an argument if it is a tensor of floating-point numbers of
  /// static shape, else null.
  mlir::RankedTensorType getFloatType(unsigned argument) const {
    return isComplex[argument] ? mlir::RankedTensorType() : types[argument];
  }

  /// Returns the type of an argument as above; complex numbers are supported too, in the type that they
  /// travel in: both parts side by side, in a last dimension of 2.
  mlir::RankedTensorType getNumberType(unsigned argument) const { return types[argument]; }

  /// Returns the shape of an argument with a number type as a parameter: without the device axis, a
  /// first dimension that is split to size 1 (pmap has one everywhere), and without that of complex numbers'
  /// parts.
  llvm::ArrayRef<int64_t> getParameterShape(unsigned argument) const {
    return types[argument]
        .getShape()
        .drop_front(hasDeviceAxis[argument] ? 1 : 0)
        .drop_back(isComplex[argument] ? 1 : 0);
  }

private:
  llvm::SmallVector<TreePath> paths;
  llvm::SmallVector<mlir::RankedTensorType> types;
  llvm::SmallVector<bool> isComplex;
  llvm::SmallVector<bool> hasDeviceAxis;
  llvm::SmallVector<std::optional<unsigned>> feeds;
  llvm::SmallVector<std::optional<unsigned>> fedBy;
};

/// Returns `type` if it is a tensor of floating-point numbers of static shape, else null.
mlir::RankedTensorType getStaticFloatTensor(mlir::Type type);

} // namespace cgx

#endif // CGX_PASSES_IMPORT_STEPSTATE_H
