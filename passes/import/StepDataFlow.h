//===-- StepDataFlow.h - the sources of each value of a step ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_STEPDATAFLOW_H
#define CGX_PASSES_IMPORT_STEPDATAFLOW_H

#include "ElementSigns.h"
#include "SourceSets.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/RegionFlow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace cgx {

/// One operand of one collective, and the result that goes with it.
struct Exchange {
  CollectiveOpInterface collective;
  unsigned index;

  mlir::Value getInput() { return collective.getInputs()[index]; }
  mlir::Value getResult() { return collective.getResultTensors()[index]; }
};

/// The sources that every value of a step is computed from, in one pass over the program (loops: until
/// nothing changes). Sources are the arguments of the step, numbered first, its exchanges, and the operands
/// of those.
class StepDataFlow {
public:
  struct Sources {
    /// All sources that the value depends on, through any op.
    SourceSet any = 0;
    /// The sources whose elements the value keeps, on a way that passes no collective; see KeptElements.h.
    SourceSet kept = 0;
    /// The sources that the value has its sign from, on such a way, also through contractions; see
    /// ElementSigns.h.
    SourceSet signedBy = 0;
    /// The sources whose elements the value keeps with their signs, op by op: neither squared, nor used as a
    /// scale.
    SourceSet keptSigned = 0;
    /// The exchanges whose elements met, in arithmetic, those of an argument that their operand keeps
    /// elements of.
    SourceSet met = 0;
    ElementSigns signs = ElementSigns::Unvisited;

    bool operator==(const Sources &) const = default;
  };

  /// The flow that is followed through loops: that of `All` rounds, or only from what comes in to what comes
  /// out.
  enum class Rounds { One, All };

  StepDataFlow(mlir::func::FuncOp step, Rounds rounds);

  unsigned getArgumentCount() const { return argumentCount; }
  llvm::MutableArrayRef<Exchange> getExchanges() { return exchanges; }
  /// These return the number of an exchange among the sources, and that of its operand.
  unsigned getSource(unsigned exchange) const { return argumentCount + exchange; }
  unsigned getInputSource(unsigned exchange) const { return argumentCount + exchanges.size() + exchange; }

  /// Returns whether something is carried from one round of a loop to the next; if not, all rounds are one.
  bool hasRounds() const { return goesBack; }

  const SourceSets &getSets() const { return sets; }
  Sources getSources(mlir::Value value) const { return sources.lookup(value); }
  bool dependsOn(mlir::Value value, unsigned source) const {
    return sets.contains(getSources(value).any, source);
  }
  bool keeps(mlir::Value value, unsigned source) const {
    return sets.contains(getSources(value).kept, source);
  }

  /// Returns whether a result of the step keeps elements of a source, on any way.
  bool reaches(unsigned source, unsigned result) const {
    return sets.contains(kept.ofResults[result], source);
  }
  /// Returns whether a result of the step has a sign from a source, on any way.
  bool signs(unsigned source, unsigned result) const {
    return sets.contains(signedBy.ofResults[result], source);
  }
  /// Returns whether a result of the step keeps elements of a source with their signs, on any way.
  bool reachesWithSigns(unsigned source, unsigned result) const {
    return sets.contains(keptSigned.ofResults[result], source);
  }
  /// Returns the step's results that keep elements of an exchange, and those that have a sign from it, on
  /// whatever way, in order.
  llvm::ArrayRef<unsigned> getReachedResults(unsigned exchange) const { return kept.byExchange[exchange]; }
  llvm::ArrayRef<unsigned> getSignedResults(unsigned exchange) const { return signedBy.byExchange[exchange]; }
  /// Returns whether the operand of exchange `to` keeps elements of exchange `from`, on any way.
  bool passesOn(unsigned from, unsigned to) const {
    return sets.contains(kept.ofExchanges[to], getSource(from));
  }
  bool passesOnWithSigns(unsigned from, unsigned to) const {
    return sets.contains(keptSigned.ofExchanges[to], getSource(from));
  }
  /// Returns whether the operand of an exchange keeps elements of a source, on any way.
  bool carries(unsigned exchange, unsigned source) const {
    return sets.contains(kept.ofExchanges[exchange], source);
  }
  /// Returns the arguments that elements of an exchange are added to somewhere, or subtracted from; one bit
  /// for each source.
  llvm::BitVector getSummands(unsigned exchange) const;

private:
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation &op);
  void visitExchanges(CollectiveOpInterface collective);
  void visitRegions(mlir::Operation &op, llvm::ArrayRef<RegionEdge> edges);
  bool pass(const RegionEdge &edge, SourceSet choice);
  void visitPlain(mlir::Operation &op);
  /// Returns the union of the sources of `operands`, as an op passes it on that has its sign from them.
  SourceSet getSignedBy(mlir::Operation *op, llvm::ArrayRef<mlir::Value> operands,
                        SourceSet Sources::*relation);
  void meet(mlir::Operation &op, Sources &made);
  bool add(mlir::Value value, const Sources &more);

  /// A relation of values to sources, closed over exchanges: the sources of an exchange's operand are sources
  /// of its result.
  struct Closure {
    llvm::SmallVector<SourceSet> ofExchanges; ///< of their operands
    llvm::SmallVector<SourceSet> ofResults;
    llvm::SmallVector<llvm::SmallVector<unsigned>> byExchange; ///< the results that have it
  };
  Closure closeOverExchanges(mlir::func::FuncOp step, SourceSet Sources::*relation);
  SourceSet unitePassed(SourceSet direct, llvm::ArrayRef<SourceSet> ofExchanges, bool isOrdered);

  unsigned argumentCount;
  Rounds rounds;
  bool goesBack = false;
  llvm::SmallVector<Exchange> exchanges;
  SourceSets sets;
  SourceSet allArguments = 0;
  SourceSet allExchanges = 0;
  llvm::DenseMap<mlir::Operation *, unsigned> firstExchange;
  /// The arguments that the operand of each exchange keeps elements of, on any way.
  llvm::SmallVector<SourceSet> carriedArguments;
  llvm::DenseMap<mlir::Value, Sources> sources;
  /// Operands of exchanges, under their own numbers.
  llvm::DenseMap<mlir::Value, SourceSet> inputSources;
  /// The sources whose elements were kept on the two sides of each addition.
  llvm::SetVector<std::pair<SourceSet, SourceSet>> sums;
  Closure kept;
  Closure signedBy;
  Closure keptSigned;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_STEPDATAFLOW_H
