//===-- OuterOptimizer.h - optimizers of outer steps -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_OUTEROPTIMIZER_H
#define CGX_PASSES_IMPORT_OUTEROPTIMIZER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>

namespace cgx {

/// The optimizer that moves the anchor a by the outer gradient d, the mean over the ranks of anchor -
/// parameter:
///
///   sgd        a - lr d
///   momentum   m' = momentum m + d,  a - lr m'
///   nesterov   m' = momentum m + d,  a - lr (momentum m' + d)
class OuterOptimizer {
public:
  /// Reads `nesterov`, or `nesterov<lr=0.7 momentum=0.9>`, with parameters that were given as options of
  /// their own ("" if not). Nothing, after an error, where that is no optimizer.
  static std::optional<OuterOptimizer> parse(llvm::StringRef text, llvm::StringRef rate,
                                             llvm::StringRef momentum,
                                             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

  bool hasMomentum() const { return rule != Rule::Sgd; }

  /// Returns the type in which an anchor of a type is moved, and its momentum kept: at least f32.
  static mlir::RankedTensorType getWideType(mlir::RankedTensorType type);

  struct Next {
    mlir::Value anchor;
    mlir::Value momentum; ///< null without
  };
  /// Computes the next anchor and momentum. `anchor` and `gradient` have one type, `momentum` has its wide
  /// type.
  Next update(mlir::OpBuilder &builder, mlir::Location location, mlir::Value anchor, mlir::Value momentum,
              mlir::Value gradient) const;

private:
  enum class Rule { Sgd, Momentum, Nesterov };
  Rule rule;
  double rate;
  double momentum;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_OUTEROPTIMIZER_H
