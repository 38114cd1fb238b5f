//===-- OptimizerState.h - the optimizer state of a parameter --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_OPTIMIZERSTATE_H
#define CGX_PASSES_OPTIMIZERSTATE_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <functional>
#include <memory>

namespace cgx {

class StepState;

/// Finds, in a per-rank program, the arguments that hold a parameter and its moments, which are those whose
/// next values take the elements of the reduced gradient one by one, in their order. Also finds the argument,
/// a single number, that is its learning rate.
///
///     %r = all_reduce(%g)                       layer "w"
///     %m1 = 0.9 %m + %r                         feeds m: it adds gradients up, the first moment
///     %v1 = 0.9 %v + %r * %r                    feeds v: it adds their squares up, the second one
///     %w1 = %w - %eta * %m1 / sqrt(%v1)         feeds w, which has the layer's name: the parameter
class OptimizerState {
public:
  explicit OptimizerState(mlir::func::FuncOp step);
  ~OptimizerState();

  using EmitError = std::function<mlir::InFlightDiagnostic()>;

  /// The arguments by kind of state. `find` returns them for the layer of an operand whose result is
  /// `reduced`: those of the kinds that `codec` reads, while others are null. It fails, with an error that
  /// says what was looked for, where one is missing.
  using Arguments = std::array<mlir::Value, CGX_KEPT_COUNT>;
  mlir::FailureOr<Arguments> find(mlir::Value reduced, LayerAttr layer, CodecAttrInterface codec,
                                  const EmitError &emitError) const;

private:
  mlir::Value getNextValue(unsigned argument) const;
  /// Returns names for messages; "none" for no arguments.
  std::string getNames(llvm::ArrayRef<unsigned> arguments) const;
  /// Returns, in rising order, the arguments whose next value is one of these values.
  llvm::SmallVector<unsigned> getUpdated(const llvm::DenseSet<mlir::Value> &values) const;

  mlir::Block *entry; ///< of the step
  std::unique_ptr<StepState> state;
  llvm::StringMap<unsigned> argumentOf; ///< by the name of a layer: arguments that the step updates
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned, 1>> updatedBy; ///< by next value
};

} // namespace cgx

#endif // CGX_PASSES_OPTIMIZERSTATE_H
