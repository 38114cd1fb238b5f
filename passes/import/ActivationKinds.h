//===-- ActivationKinds.h - directions of activations ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_ACTIVATIONKINDS_H
#define CGX_PASSES_IMPORT_ACTIVATIONKINDS_H

#include "StepDataFlow.h"
#include "StepState.h"

#include <map>
#include <optional>

namespace cgx {

/// The facts about the exchanges of a step, by exchange, before its activations are told apart.
struct KnownExchanges {
  llvm::BitVector activations;
  llvm::BitVector gradients;                             ///< of parameters
  llvm::SmallVector<std::optional<unsigned>> parameters; ///< the argument whose gradient or weight it is
};

/// Tells activations from their gradients, and tokens that travel to experts from others, by data flow:
///
///     tokens ──dispatch──▶ . up . down ──combine──▶ loss        forward
///     to x ◀─dispatch_gradient── . up' . down' ◀─combine_gradient──        backward
///
/// An *expert* of an exchange is a parameter of which the ranks of a group hold different pieces, and whose
/// gradient they do not add up. Tokens that `all_to_all` brings to a contraction with an expert are
/// dispatched; those that it takes from one are combined. Numbers that a *router* made, by whose largest ones
/// `all_to_all` sends (`top_k`, `argmax`), are no activations and must stay uncompressed. Activations that a
/// metric of the step (the loss) depends on travel forward, all others backward, except those that are
/// computed again (`jax.checkpoint`). In a step without metrics directions are unknown, and all are forward.
class ActivationKinds {
public:
  /// Builds the analysis. `round` is the flow of one round of the step's loops.
  ActivationKinds(mlir::func::FuncOp step, const StepState &state, StepDataFlow &flow,
                  const StepDataFlow &round, KnownExchanges known);

  /// Returns a kind of activations, or `other`.
  LayerKind getKind(unsigned exchange);
  /// Returns the parameters that an activation meets first, on its way there, or that made it; of tokens,
  /// experts alone.
  llvm::SmallVector<unsigned> getParameters(unsigned exchange);

private:
  /// The origins of a value's rows, past ops that move them whole.
  struct Rows {
    SourceSet parameters = 0; ///< of the contraction that made them
    SourceSet exchanges = 0;  ///< that they came through
    SourceSet selectors = 0;  ///< parameters of what was sorted to choose anything that the value depends on
  };

  void followRows();
  Rows findRows(mlir::OpResult result);
  SourceSet getContracted(mlir::Value operand);
  void findForward();
  bool isRecomputed(unsigned exchange);
  bool isExpert(unsigned parameter, GroupsAttr groups);
  bool areSplitOver(unsigned parameter, GroupsAttr groups);
  llvm::SmallVector<unsigned> getExperts(unsigned exchange, SourceSet parameters);
  SourceSet getMakers(mlir::Value value);
  bool isRouted(unsigned exchange);

  mlir::func::FuncOp step;
  const StepState &state;
  StepDataFlow &flow;
  const StepDataFlow &round;
  KnownExchanges known;
  SourceSets sets;
  llvm::DenseMap<mlir::Value, Rows> rows;
  llvm::SmallVector<SourceSet> met; ///< by exchange: parameters of contractions that take what it brings
  SourceSet routers = 0;            ///< parameters
  llvm::BitVector isForward;
  std::map<std::pair<unsigned, const void *>, bool> experts;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_ACTIVATIONKINDS_H
