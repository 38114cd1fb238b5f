//===-- StepDataFlow.cpp - the sources of each value of a step -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepDataFlow.h"

#include "KeptElements.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace cgx;

static SmallVector<Exchange> findExchanges(func::FuncOp step) {
  SmallVector<Exchange> exchanges;
  step.walk<WalkOrder::PreOrder>([&](CollectiveOpInterface collective) {
    for (unsigned i = 0; i < collective.getInputs().size(); ++i)
      exchanges.push_back({collective, i});
  });
  return exchanges;
}

StepDataFlow::StepDataFlow(func::FuncOp step, Rounds rounds)
    : argumentCount(step.getNumArguments()), rounds(rounds), exchanges(findExchanges(step)),
      sets(argumentCount + 2 * exchanges.size()), carriedArguments(exchanges.size(), 0) {
  for (auto [i, exchange] : llvm::enumerate(exchanges)) {
    SourceSet &own = inputSources[getScaledBase(exchange.getInput())];
    own = sets.unite(own, sets.getSingle(getInputSource(i)));
    allExchanges = sets.unite(allExchanges, sets.getSingle(getSource(i)));
    firstExchange.try_emplace(exchange.collective, i);
  }
  for (unsigned i = 0; i < argumentCount; ++i)
    allArguments = sets.unite(allArguments, sets.getSingle(i));
  unsigned valueCount = 0;
  step.walk([&](Operation *op) { valueCount += op->getNumResults(); });
  sources.reserve(argumentCount + valueCount);
  const auto addSource = [&](Value value, unsigned source) {
    SourceSet own = sets.getSingle(source);
    add(value, {.any = own,
                .kept = own,
                .signedBy = own,
                .keptSigned = own,
                .met = 0,
                .signs = ElementSigns::Unvisited});
  };
  for (BlockArgument argument : step.getArguments()) {
    addSource(argument, argument.getArgNumber());
    sources[argument].signs = ElementSigns::Mixed;
  }
  for (auto [i, exchange] : llvm::enumerate(exchanges))
    addSource(exchange.getResult(), getSource(i));
  visitBlock(step.getBody().front());
  kept = closeOverExchanges(step, &Sources::kept);
  signedBy = closeOverExchanges(step, &Sources::signedBy);
  keptSigned = closeOverExchanges(step, &Sources::keptSigned);
}

/// Adds sources to those of a value, and returns whether any was new.
bool StepDataFlow::add(Value value, const Sources &more) {
  Sources &known = sources[value];
  SourceSet own = inputSources.lookup(value);
  Sources sum = {.any = sets.unite(known.any, more.any),
                 .kept = sets.unite(sets.unite(known.kept, more.kept), own),
                 .signedBy = sets.unite(sets.unite(known.signedBy, more.signedBy), own),
                 .keptSigned = sets.unite(sets.unite(known.keptSigned, more.keptSigned), own),
                 .met = sets.unite(known.met, more.met),
                 .signs = join(known.signs, more.signs)};
  bool isNew = !(sum == known);
  known = sum;
  return isNew;
}

//===----------------------------------------------------------------------===//
// One pass over the program
//===----------------------------------------------------------------------===//

void StepDataFlow::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(op);
}

void StepDataFlow::visit(Operation &op) {
  if (CollectiveOpInterface collective = getIssued(&op))
    visitExchanges(collective);
  else if (isa<WaitOp>(op))
    return; // its results were visited with the start
  else if (SmallVector<RegionEdge> edges = getRegionEdges(&op); !edges.empty())
    visitRegions(op, edges);
  else
    visitPlain(op);
}

void StepDataFlow::visitExchanges(CollectiveOpInterface collective) {
  unsigned i = firstExchange.lookup(collective);
  for (auto [input, result] : llvm::zip_equal(collective.getInputs(), collective.getResultTensors())) {
    Sources from = getSources(input);
    SourceSet &arguments = carriedArguments[i++];
    arguments = sets.unite(arguments, sets.intersect(from.kept, allArguments));
    sets.forEach(sets.intersect(from.kept, allExchanges), [&](unsigned source) {
      arguments = sets.unite(arguments, carriedArguments[source - argumentCount]);
    });
    add(result, {.any = from.any, .kept = 0, .signedBy = 0, .keptSigned = 0, .met = 0, .signs = from.signs});
  }
}

bool StepDataFlow::pass(const RegionEdge &edge, SourceSet choice) {
  bool isNew = false;
  for (auto [from, to] : llvm::zip_equal(edge.from, edge.to)) {
    Sources given = getSources(from);
    given.any = sets.unite(given.any, choice);
    isNew |= add(to, given);
  }
  return isNew;
}

/// Repeats loops until nothing changes. Sets only grow, so that a loop takes no more rounds than a value
/// needs to go through it.
void StepDataFlow::visitRegions(Operation &op, ArrayRef<RegionEdge> edges) {
  goesBack |= llvm::any_of(edges, [](const RegionEdge &edge) { return edge.isBack; });
  // The choice of the branch depends on an operand that is passed to no region.
  llvm::DenseSet<Value> isPassed;
  for (const RegionEdge &edge : edges)
    isPassed.insert_range(edge.from);
  SourceSet choice = 0;
  for (Value operand : op.getOperands())
    if (!isPassed.contains(operand))
      choice = sets.unite(choice, getSources(operand).any);
  for (const RegionEdge &edge : edges)
    if (edge.isEntry)
      pass(edge, choice);
  bool changes = true;
  while (changes) {
    for (Region &region : op.getRegions())
      for (Block &block : region)
        visitBlock(block);
    changes = false;
    for (const RegionEdge &edge : edges)
      if (rounds == Rounds::All || !edge.isBack)
        changes |= pass(edge, choice) && isa<BlockArgument>(edge.to.front());
  }
}

void StepDataFlow::visitPlain(Operation &op) {
  if (op.getNumResults() == 0)
    return;
  bool isBarrier = isa<stablehlo::OptimizationBarrierOp>(op);
  SourceSet all = 0;
  if (!isBarrier) {
    for (Value operand : op.getOperands())
      all = sets.unite(all, getSources(operand).any);
    // Regions of reductions, maps and sorts read values from around them.
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          all = sets.unite(all, getSources(operand).any);
      });
  }
  for (OpResult result : op.getResults()) {
    Sources made;
    made.any = isBarrier ? getSources(op.getOperand(result.getResultNumber())).any : all;
    SmallVector<Value> kept = getKeptOperands(result), signs = getSignOperands(result);
    for (Value operand : kept) {
      Sources from = getSources(operand);
      made.kept = sets.unite(made.kept, from.kept);
      made.met = sets.unite(made.met, from.met);
    }
    made.signedBy = getSignedBy(&op, signs, &Sources::signedBy);
    llvm::erase_if(signs, [&](Value operand) { return !llvm::is_contained(kept, operand); });
    made.keptSigned = getSignedBy(&op, signs, &Sources::keptSigned);
    made.signs = getElementSigns(result, [&](Value operand) { return getSources(operand).signs; });
    meet(op, made);
    add(result, made);
  }
}

/// Returns the sources that give the result its sign. The square of a sum, `(m + g)^2`, has a part of either
/// sign with `g`; the square of `g` has none.
SourceSet StepDataFlow::getSignedBy(Operation *op, ArrayRef<Value> operands, SourceSet Sources::*relation) {
  SourceSet signedBy = 0;
  for (Value operand : operands)
    signedBy = sets.unite(signedBy, getSources(operand).*relation);
  if (signedBy == 0 || !isSquare(op))
    return signedBy;
  unsigned count = 0;
  sets.forEach(sets.intersect(signedBy, sets.unite(allArguments, allExchanges)), [&](unsigned) { ++count; });
  return count > 1 ? signedBy : 0;
}

/// Records additions, and exchanges that meet an argument that they carry themselves.
void StepDataFlow::meet(Operation &op, Sources &made) {
  const bool isSum =
      isa<stablehlo::AddOp, stablehlo::SubtractOp, arith::AddFOp, arith::SubFOp, tosa::AddOp, tosa::SubOp>(
          op);
  const bool isProduct = isa<stablehlo::MulOp, stablehlo::DivOp, arith::MulFOp, arith::DivFOp>(op);
  if (op.getNumOperands() != 2 || !(isSum || isProduct) || getKeptOperands(op.getResult(0)).size() != 2)
    return;
  for (unsigned i : {0, 1}) {
    SourceSet other = getSources(op.getOperand(1 - i)).kept;
    Sources mine = getSources(op.getOperand(i));
    SourceSet coming = sets.intersect(mine.kept, allExchanges);
    if (coming == 0 || other == 0)
      continue;
    if (isSum)
      sums.insert({sets.intersect(coming, mine.signedBy), other});
    sets.forEach(coming, [&](unsigned source) {
      if (sets.intersect(other, carriedArguments[source - argumentCount]) != 0)
        made.met = sets.unite(made.met, sets.getSingle(source));
    });
  }
}

//===----------------------------------------------------------------------===//
// Ways that pass collectives
//===----------------------------------------------------------------------===//

/// Returns `direct` and the sources of the exchanges in it. In program order, the last exchange of a chain
/// has all sources of those that it depends on.
SourceSet StepDataFlow::unitePassed(SourceSet direct, ArrayRef<SourceSet> ofExchanges, bool isOrdered) {
  SmallVector<unsigned> passed;
  sets.forEach(sets.intersect(direct, allExchanges),
               [&](unsigned source) { passed.push_back(source - argumentCount); });
  SourceSet covered = 0;
  for (unsigned exchange : llvm::reverse(passed))
    if (!isOrdered || !sets.contains(covered, getSource(exchange)))
      covered = sets.unite(covered, ofExchanges[exchange]);
  return sets.unite(direct, covered);
}

/// Exchanges form a graph: one keeps elements of another's result. A second sum
/// over the same gradient (JAX with check_vma) is the usual case.
StepDataFlow::Closure StepDataFlow::closeOverExchanges(func::FuncOp step, SourceSet Sources::*relation) {
  Closure closure;
  bool isOrdered = true; // but for what loops carry around
  for (auto [i, exchange] : llvm::enumerate(exchanges)) {
    closure.ofExchanges.push_back(getSources(exchange.getInput()).*relation);
    sets.forEach(sets.intersect(closure.ofExchanges.back(), allExchanges),
                 [&](unsigned source) { isOrdered &= source < getSource(i); });
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (SourceSet &set : closure.ofExchanges) {
      SourceSet all = unitePassed(set, closure.ofExchanges, isOrdered);
      changes |= all != set && !isOrdered;
      set = all;
    }
  }
  closure.byExchange.resize(exchanges.size());
  for (auto [i, value] : llvm::enumerate(step.getBody().front().getTerminator()->getOperands())) {
    closure.ofResults.push_back(unitePassed(getSources(value).*relation, closure.ofExchanges, isOrdered));
    sets.forEach(sets.intersect(closure.ofResults.back(), allExchanges),
                 [&](unsigned source) { closure.byExchange[source - argumentCount].push_back(i); });
  }
  return closure;
}

BitVector StepDataFlow::getSummands(unsigned exchange) const {
  BitVector summands(argumentCount + 2 * exchanges.size());
  for (auto [coming, other] : sums)
    if (sets.contains(coming, getSource(exchange)))
      sets.forEach(other, [&](unsigned source) { summands.set(source); });
  return summands;
}
