//===-- StateUpdates.cpp - results that are updates of arguments -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateUpdates.h"

#include "KeptElements.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RegionFlow.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace cgx;

StateUpdates::StateUpdates(func::FuncOp step)
    : entry(&step.getBody().front()), terminator(entry->getTerminator()) {
  findReductions(step);
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

static std::optional<double> getFactor(Value value, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (!constant.isSplat())
      return std::nullopt;
    if (isa<FloatType>(constant.getElementType()))
      return constant.getSplatValue<APFloat>().convertToDouble();
    if (constant.getElementType().isIntOrIndex())
      return static_cast<double>(constant.getSplatValue<APInt>().getSExtValue());
    return std::nullopt;
  }
  if (isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp, stablehlo::ConvertOp>(op))
    return getFactor(op->getOperand(0), depth - 1);
  if (op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<double> lhs = getFactor(op->getOperand(0), depth - 1);
  std::optional<double> rhs = getFactor(op->getOperand(1), depth - 1);
  if (isa<stablehlo::SubtractOp>(op) && lhs == 1.0 && !rhs)
    return 1.0;
  if (!lhs || !rhs)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case<stablehlo::AddOp>([&](auto) { return *lhs + *rhs; })
      .Case<stablehlo::SubtractOp>([&](auto) { return *lhs - *rhs; })
      .Case<stablehlo::MulOp>([&](auto) { return *lhs * *rhs; })
      .Case<stablehlo::DivOp>([&](auto) { return *lhs / *rhs; })
      .Case<stablehlo::PowOp>([&](auto) { return std::pow(*lhs, *rhs); })
      .Default(std::optional<double>());
}

std::optional<double> cgx::getKnownFactor(Value value) { return getFactor(value); }

static bool isReduction(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return collective.getReductionKind().has_value();
  return isa<stablehlo::AllReduceOp, stablehlo::ReduceScatterOp, shard::AllReduceOp, shard::ReduceScatterOp>(
      op);
}

/// Returns the number of ranks whose values a summing collective adds up; 1 for other collectives.
static double getSummands(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    std::optional<int64_t> size = collective.getGroups().getUniformSize();
    return collective.getReductionKind() == Reduction::Sum ? static_cast<double>(size.value_or(1)) : 1.0;
  }
  if (!isReduction(op))
    return 1.0;
  if (auto groups = dyn_cast_or_null<DenseIntElementsAttr>(op->getAttr("replica_groups")))
    return static_cast<double>(groups.getType().getShape().back());
  auto module = op->getParentOfType<ModuleOp>();
  auto ranks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
  return ranks ? static_cast<double>(ranks.getInt()) : 1.0;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Returns the elements that a tensor's elements of one index in the dimensions up to `dim` are; none where
/// dimensions before it make that several runs of memory.
static std::optional<int64_t> getRowSize(RankedTensorType type, int64_t dim) {
  int64_t size = 1;
  for (auto [i, extent] : llvm::enumerate(type.getShape())) {
    if (static_cast<int64_t>(i) < dim && extent != 1)
      return std::nullopt;
    if (static_cast<int64_t>(i) > dim)
      size *= extent;
  }
  return size;
}

/// Returns where the result of a slice begins in its operand, both row-major; none where it is several runs.
static std::optional<int64_t> getSliceOffset(stablehlo::SliceOp slice) {
  auto from = dyn_cast<RankedTensorType>(slice.getOperand().getType());
  auto to = dyn_cast<RankedTensorType>(slice.getType());
  if (!from || !to)
    return std::nullopt;
  std::optional<int64_t> offset = 0;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (from.getDimSize(dim) == to.getDimSize(dim))
      continue;
    std::optional<int64_t> row = getRowSize(from, dim);
    if (!row || slice.getStrides()[dim] != 1)
      return std::nullopt;
    offset = *offset + slice.getStartIndices()[dim] * *row;
  }
  return offset;
}

//===----------------------------------------------------------------------===//
// Ways back
//===----------------------------------------------------------------------===//

/// Follows a value back through the ops that add to it, scale it or move it.
struct StateUpdates::Walk {
  /// Elements of a value, from `offset` on in the order of memory; -1 stands for some of them.
  using Place = std::pair<Value, int64_t>;

  Walk(const StateUpdates &updates, Value value) : updates(updates) {
    count = getElementCount(value);
    reach(value, 0, 1.0);
    while (!worklist.empty()) {
      Place place = worklist.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(place.first))
        reachArgument(argument, place.second, factors[place]);
      else
        step(cast<OpResult>(place.first), place.second, factors[place]);
    }
  }

  void reach(Value value, int64_t offset, double factor) {
    // Sums of one value with itself lead there more than once; a few times are enough to find the
    // largest share.
    Place place(value, offset);
    double &known = factors[place];
    if (factor <= known || factor < 1e-9 || ++visits[place] > 4)
      return;
    known = factor;
    worklist.push_back(place);
  }

  void reachArgument(BlockArgument argument, int64_t offset, double factor) {
    bool isWhole = offset == -1 || (offset == 0 && getElementCount(argument) == count);
    if (isWhole)
      shares[argument] = std::max(shares.lookup(argument), factor);
  }

  void step(OpResult value, int64_t offset, double factor) {
    Operation *op = value.getOwner();
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      return reach(collective.getInputs()[value.getResultNumber()], -1, factor * getSummands(op));
    if (isa<stablehlo::WhileOp>(op))
      return stepThroughLoop(op, value.getResultNumber(), offset, factor);
    if (SmallVector<Value> incoming = getIncomingValues(value); !incoming.empty()) {
      for (Value each : incoming)
        reach(each, offset, factor);
      return;
    }
    if (isa<stablehlo::MulOp, stablehlo::DivOp>(op))
      return stepThroughScale(op, offset, factor);
    if (auto concatenation = dyn_cast<stablehlo::ConcatenateOp>(op))
      return stepThroughConcatenation(concatenation, offset, factor);
    if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
      std::optional<int64_t> begin = getSliceOffset(slice);
      return reach(slice.getOperand(), begin && offset >= 0 ? offset + *begin : -1, factor);
    }
    // A transposition leaves the whole the whole; other moves are not followed place by place.
    const bool isMoved =
        stablehlo::isCollective(op) ||
        isa<stablehlo::TransposeOp, stablehlo::ReverseOp, stablehlo::DynamicSliceOp, stablehlo::PadOp>(op);
    for (unsigned i : getAddends(value)) {
      bool isWhole =
          offset == 0 && getElementCount(value) == count && getElementCount(op->getOperand(i)) == count;
      reach(op->getOperand(i), isMoved && !isWhole ? -1 : offset, factor * getSummands(op));
    }
  }

  /// Returns the operands that a result is the sum or the choice of, or a copy.
  static SmallVector<unsigned, 2> getAddends(OpResult value) {
    Operation *op = value.getOwner();
    if (isa<stablehlo::AddOp, stablehlo::MaxOp, stablehlo::MinOp>(op))
      return {0, 1};
    if (isa<stablehlo::SelectOp>(op))
      return {1, 2};
    if (isa<stablehlo::ClampOp>(op))
      return {1};
    if (isa<stablehlo::OptimizationBarrierOp>(op) || stablehlo::isCollective(op))
      return {value.getResultNumber()};
    // Broadcasts and reductions of several elements are no copies; a scatter and an update of a slice leave
    // most of their first operand.
    const bool isOfOne = isa<stablehlo::BroadcastInDimOp, stablehlo::ReduceOp>(op) &&
                         op->getNumResults() == 1 &&
                         getElementCount(op->getOperand(0)) == getElementCount(value);
    const bool isCopy =
        isa<stablehlo::SubtractOp, stablehlo::ConvertOp, stablehlo::ReshapeOp, stablehlo::TransposeOp,
            stablehlo::ReverseOp, stablehlo::ReducePrecisionOp, stablehlo::DynamicSliceOp, stablehlo::PadOp,
            stablehlo::DynamicUpdateSliceOp>(op) ||
        (isa<stablehlo::ScatterOp>(op) && op->getNumResults() == 1);
    return isOfOne || isCopy ? SmallVector<unsigned, 2>{0} : SmallVector<unsigned, 2>();
  }

  void stepThroughScale(Operation *op, int64_t offset, double factor) {
    const bool isProduct = isa<stablehlo::MulOp>(op);
    for (unsigned i = 0; i < (isProduct ? 2 : 1); ++i)
      if (std::optional<double> other = getFactor(op->getOperand(1 - i)); other && *other > 0)
        reach(op->getOperand(i), offset, isProduct ? factor * *other : factor / *other);
  }

  void stepThroughConcatenation(stablehlo::ConcatenateOp op, int64_t offset, double factor) {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    const bool isRun = offset >= 0 && type && getRowSize(type, op.getDimension());
    int64_t begin = 0;
    for (Value operand : op.getInputs()) {
      int64_t size = getElementCount(operand);
      if (!isRun)
        reach(operand, -1, factor);
      else if (begin <= offset && offset + count <= begin + size)
        reach(operand, offset - begin, factor);
      begin += size;
    }
  }

  /// Follows a value that a loop carries into itself: it is an update, however often the loop runs.
  void stepThroughLoop(Operation *loop, unsigned number, int64_t offset, double factor) {
    Block &body = loop->getRegion(1).front();
    const Shares &carried = updates.findShares(body.getTerminator()->getOperand(number));
    if (carried.lookup(body.getArgument(number)) > 0.5)
      reach(loop->getOperand(number), offset, factor);
  }

  const StateUpdates &updates;
  int64_t count;
  SmallVector<Place> worklist;
  llvm::DenseMap<Place, double> factors;
  llvm::DenseMap<Place, unsigned> visits;
  Shares shares;
};

const StateUpdates::Shares &StateUpdates::findShares(Value value) const {
  auto found = sharesOf.find(value);
  if (found != sharesOf.end())
    return *found->second;
  auto shares = std::make_unique<Shares>(Walk(*this, value).shares);
  return *(sharesOf[value] = std::move(shares));
}

double StateUpdates::getShare(unsigned result, unsigned argument) const {
  return findShares(terminator->getOperand(result)).lookup(entry->getArgument(argument));
}

SmallVector<unsigned> StateUpdates::getUpdatedArguments(unsigned result) const {
  SmallVector<unsigned> arguments;
  for (auto [argument, share] : findShares(terminator->getOperand(result)))
    if (argument.getOwner() == entry && share > 0.5)
      arguments.push_back(argument.getArgNumber());
  llvm::sort(arguments);
  return arguments;
}

bool StateUpdates::isUnchanged(unsigned result, unsigned argument) const {
  return terminator->getOperand(result) == entry->getArgument(argument);
}

bool StateUpdates::areSame(unsigned result, unsigned other) const {
  return terminator->getOperand(result) == terminator->getOperand(other);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Finds reductions in one pass forward. Results of a loop or a branch are known once its regions were
/// visited; values that a loop carries around are not followed.
void StateUpdates::findReductions(func::FuncOp step) {
  step.walk<WalkOrder::PostOrder>([&](Operation *op) {
    for (OpResult result : op->getResults()) {
      bool keeps = isReduction(op);
      for (Value operand : getKeptOperands(result))
        keeps |= reduced.contains(operand);
      for (Value incoming : getIncomingValues(result))
        keeps |= reduced.contains(incoming);
      if (keeps)
        reduced.insert(result);
    }
  });
}

bool StateUpdates::keepsReduction(unsigned result) const {
  return reduced.contains(terminator->getOperand(result));
}
