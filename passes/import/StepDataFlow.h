//===-- StepDataFlow.h - what each value of a step is computed from ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_IMPORT_STEPDATAFLOW_H
#define CGX_PASSES_IMPORT_STEPDATAFLOW_H

#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace cgx {

/// One operand of one collective, and the result that goes with it.
struct Exchange {
  CollectiveOpInterface collective;
  unsigned index;

  mlir::Value getInput() { return collective.getInputs()[index]; }
  mlir::Value getResult() { return collective.getResultTensors()[index]; }
};

/// For every value of a step, the sources that it is computed from, in one pass
/// over the program (loops: until nothing changes). Sources are the arguments of
/// the step, numbered first, and its exchanges. With bit sets for sources, time
/// and memory grow with ops times sources / 64.
class StepDataFlow {
public:
  struct Sources {
    /// All sources that the value depends on, through whatever op.
    llvm::BitVector any;
    /// The sources whose elements the value keeps, on a way that passes no
    /// collective; see KeptElements.h.
    llvm::BitVector kept;
  };

  explicit StepDataFlow(mlir::func::FuncOp step);

  unsigned getArgumentCount() const { return argumentCount; }
  llvm::MutableArrayRef<Exchange> getExchanges() { return exchanges; }
  /// The number of an exchange among the sources.
  unsigned getSource(unsigned exchange) const { return argumentCount + exchange; }

  bool dependsOn(mlir::Value value, unsigned source) const;
  const Sources &getSources(mlir::Value value) const;

  /// The step's results that keep elements of a source, on whatever way.
  const llvm::BitVector &getReachedResults(unsigned source) const { return reached[source]; }
  /// The sources that a value keeps elements of, on whatever way; one bit for
  /// each source.
  llvm::BitVector getKeptSources(mlir::Value value) const;

private:
  void visitBlock(mlir::Block &block);
  void visit(mlir::Operation &op);
  void visitExchanges(CollectiveOpInterface collective);
  void visitLoop(mlir::Operation &loop);
  void visitBranches(mlir::Operation &op);
  void visitManualComputation(mlir::Operation &op);
  void visitPlain(mlir::Operation &op);
  void closeOverExchanges(mlir::func::FuncOp step);
  Sources &at(mlir::Value value);

  unsigned argumentCount;
  llvm::SmallVector<Exchange> exchanges;
  llvm::DenseMap<mlir::Operation *, unsigned> firstExchange;
  llvm::DenseMap<mlir::Value, Sources> sources;
  llvm::SmallVector<llvm::BitVector> reached;
  llvm::SmallVector<llvm::BitVector> keptBehindExchange;
};

} // namespace cgx

#endif // CGX_PASSES_IMPORT_STEPDATAFLOW_H
