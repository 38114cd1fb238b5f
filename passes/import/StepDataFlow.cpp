//===-- StepDataFlow.cpp - what each value of a step is computed from -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepDataFlow.h"

#include "KeptElements.h"

using namespace mlir;
using namespace cgx;

StepDataFlow::StepDataFlow(func::FuncOp step) : argumentCount(step.getNumArguments()) {
  step.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface collective) {
    firstExchange[collective] = exchanges.size();
    for (unsigned i = 0; i < collective.getInputs().size(); ++i)
      exchanges.push_back({collective, i});
  });
  auto addSource = [](BitVector &set, unsigned source) {
    set.resize(std::max(set.size(), source + 1));
    set.set(source);
  };
  for (BlockArgument argument : step.getArguments()) {
    addSource(at(argument).any, argument.getArgNumber());
    addSource(at(argument).kept, argument.getArgNumber());
  }
  for (auto [i, exchange] : llvm::enumerate(exchanges)) {
    addSource(at(exchange.getResult()).any, getSource(i));
    addSource(at(exchange.getResult()).kept, getSource(i));
  }
  visitBlock(step.getBody().front());
  closeOverExchanges(step);
}

static bool isIn(const BitVector &set, unsigned source) { return source < set.size() && set[source]; }

bool StepDataFlow::dependsOn(Value value, unsigned source) const {
  return isIn(getSources(value).any, source);
}

const StepDataFlow::Sources &StepDataFlow::getSources(Value value) const {
  static const Sources none;
  auto found = sources.find(value);
  return found == sources.end() ? none : found->second;
}

StepDataFlow::Sources &StepDataFlow::at(Value value) { return sources[value]; }

//===----------------------------------------------------------------------===//
// One pass over the program
//===----------------------------------------------------------------------===//

void StepDataFlow::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(op);
}

void StepDataFlow::visit(Operation &op) {
  StringRef name = op.getName().getStringRef();
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    visitExchanges(collective);
  else if (isa<WaitOp>(op))
    return; // its results were visited with the start
  else if (name == "stablehlo.while")
    visitLoop(op);
  else if (name == "stablehlo.case" || name == "stablehlo.if")
    visitBranches(op);
  else if (name == "sdy.manual_computation")
    visitManualComputation(op);
  else
    visitPlain(op);
}

/// `to |= from`; says whether that added anything. Copies, since the map may
/// move its values when it grows.
static bool add(StepDataFlow::Sources &to, const StepDataFlow::Sources &from) {
  bool changes = from.any.test(to.any) || from.kept.test(to.kept);
  to.any |= from.any;
  to.kept |= from.kept;
  return changes;
}

void StepDataFlow::visitExchanges(CollectiveOpInterface collective) {
  for (auto [input, result] : llvm::zip_equal(collective.getInputs(), collective.getResultTensors())) {
    BitVector any = getSources(input).any;
    at(result).any |= any;
  }
}

void StepDataFlow::visitLoop(Operation &loop) {
  Block &condition = loop.getRegion(0).front();
  Block &body = loop.getRegion(1).front();
  Operation *next = body.getTerminator();
  bool changes = true;
  for (unsigned i = 0; i < loop.getNumOperands(); ++i) {
    Sources initial = getSources(loop.getOperand(i));
    add(at(condition.getArgument(i)), initial);
    add(at(body.getArgument(i)), initial);
  }
  while (changes) {
    changes = false;
    visitBlock(body);
    for (unsigned i = 0; i < loop.getNumOperands(); ++i) {
      Sources carried = getSources(next->getOperand(i));
      add(at(condition.getArgument(i)), carried);
      changes |= add(at(body.getArgument(i)), carried);
    }
  }
  visitBlock(condition);
  for (unsigned i = 0; i < loop.getNumOperands(); ++i) {
    Sources last = getSources(body.getArgument(i));
    add(at(loop.getResult(i)), last);
  }
}

/// The results of all branches, and which branch it is.
void StepDataFlow::visitBranches(Operation &op) {
  Sources choice;
  for (Value operand : op.getOperands())
    choice.any |= getSources(operand).any;
  for (Region &region : op.getRegions()) {
    visitBlock(region.front());
    for (auto [result, value] : llvm::zip(op.getResults(), region.front().getTerminator()->getOperands())) {
      Sources branch = getSources(value);
      add(at(result), branch);
      add(at(result), choice);
    }
  }
}

void StepDataFlow::visitManualComputation(Operation &op) {
  Block &body = op.getRegion(0).front();
  for (auto [argument, operand] : llvm::zip(body.getArguments(), op.getOperands())) {
    Sources given = getSources(operand);
    add(at(argument), given);
  }
  visitBlock(body);
  for (auto [result, value] : llvm::zip(op.getResults(), body.getTerminator()->getOperands())) {
    Sources returned = getSources(value);
    add(at(result), returned);
  }
}

void StepDataFlow::visitPlain(Operation &op) {
  if (op.getNumResults() == 0)
    return;
  bool isBarrier = op.getName().getStringRef() == "stablehlo.optimization_barrier";
  BitVector all;
  if (!isBarrier) {
    for (Value operand : op.getOperands())
      all |= getSources(operand).any;
    // Regions of reductions, maps and sorts read values from around them.
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          all |= getSources(operand).any;
      });
  }
  for (OpResult result : op.getResults()) {
    Sources made;
    made.any = isBarrier ? getSources(op.getOperand(result.getResultNumber())).any : all;
    for (Value operand : getKeptOperands(result))
      made.kept |= getSources(operand).kept;
    add(at(result), made);
  }
}

//===----------------------------------------------------------------------===//
// Ways that pass collectives
//===----------------------------------------------------------------------===//

/// Exchanges form a graph: one keeps elements of another's result. A second sum
/// over the same gradient (JAX with check_vma) is the usual case.
void StepDataFlow::closeOverExchanges(func::FuncOp step) {
  Operation *terminator = step.getBody().front().getTerminator();
  unsigned count = argumentCount + exchanges.size();
  reached.assign(count, BitVector(terminator->getNumOperands()));
  for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
    for (unsigned source : getSources(value).kept.set_bits())
      reached[source].set(i);
  keptBehindExchange.resize(exchanges.size());
  for (auto [i, exchange] : llvm::enumerate(exchanges))
    keptBehindExchange[i] = getSources(exchange.getInput()).kept;

  // Backward for results, forward for arguments. Program order makes one round
  // enough, but in loops.
  bool changes = true;
  while (changes) {
    changes = false;
    for (unsigned i = exchanges.size(); i-- > 0;)
      for (unsigned source : getSources(exchanges[i].getInput()).kept.set_bits()) {
        changes |= reached[getSource(i)].test(reached[source]);
        reached[source] |= reached[getSource(i)];
      }
    for (unsigned i = 0; i < exchanges.size(); ++i)
      for (unsigned source : getSources(exchanges[i].getInput()).kept.set_bits()) {
        if (source < argumentCount)
          continue;
        const BitVector behind = keptBehindExchange[source - argumentCount];
        changes |= behind.test(keptBehindExchange[i]);
        keptBehindExchange[i] |= behind;
      }
  }
}

BitVector StepDataFlow::getKeptSources(Value value) const {
  BitVector kept = getSources(value).kept;
  for (unsigned source : getSources(value).kept.set_bits())
    if (source >= argumentCount)
      kept |= keptBehindExchange[source - argumentCount];
  kept.resize(argumentCount + exchanges.size());
  return kept;
}
