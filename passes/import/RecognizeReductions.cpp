//===-- RecognizeReductions.cpp - reductions that are written as other ops -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Permutes, sums and choices by the number of the rank are linear. The result of rank r for a value x, of
// which each rank q has its own, is
//
//   v_r = sum over q of M[r][q] * x_q
//
// A permute moves rows of M, a sum adds matrices, a factor scales them, a choice takes each row from one of
// two. A ring, a tree and a butterfly are recognized by this matrix, in any order of hops:
//
//   M[r][q] = c where r and q are in one group, and 0 elsewhere    =>    v = c * all_reduce sum(x)
//
// For gathers and exchanges, where N is the number of ranks of a group and d the dimension:
//
//   reduce add over d (all_gather(x) along d), of size 1 there       = all_reduce sum(x)
//   reduce add over d (reshape N x ... (all_gather(x) along d))      = all_reduce sum(x)
//   reduce add over d (all_to_all(x) along d), of size N there       = reduce_scatter sum(x) along d
//   reduce add over d (reshape N x ... (all_to_all(x) along d))      = reduce_scatter sum(x) along d
//
// The order of floating-point additions changes.
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "LinearMaps.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"
#include "cgx/Passes/RankValues.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_RECOGNIZEREDUCTIONSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {

/// The largest number of rows of matrices. Handing on sums one by one over more ranks would take too long in
/// practice.
constexpr int64_t kMostRanks = 64;

bool isReducible(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && isa<FloatType>(type.getElementType()) &&
         getCodecElementType(type.getElementType());
}

Value createAllReduce(OpBuilder &builder, Location location, Value value, GroupsAttr groups,
                      CollectiveOpInterface model, CollectiveIds &ids) {
  return AllReduceOp::create(builder, location, value.getType(), value, Reduction::Sum, ids.take(), groups,
                             builder.getArrayAttr(model.getCodecs()[0]),
                             builder.getArrayAttr(model.getLayers()[0]), Algorithm::Auto,
                             /*hierarchy=*/nullptr, /*exact_reasons=*/nullptr)
      .getResult(0);
}

/// Returns the number that all elements of `value` have; nothing, if that is not known.
std::optional<double> getNumber(Value value) {
  Value splat = getSplat(value);
  DenseElementsAttr elements;
  if (!splat || !matchPattern(splat, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

//===----------------------------------------------------------------------===//
// Sums that ranks hand on
//===----------------------------------------------------------------------===//

/// A value as a linear function of a base: for each rank, row by row, the factors of all ranks' bases.
struct LinearForm {
  Value base;
  std::vector<double> factors;
};

/// The value is `factor` times the sum of the base over the ranks of each group.
struct HandedSum {
  Value value, base;
  GroupsAttr groups;
  double factor;
  PermuteOp permute;
};

class HandedSums {
public:
  explicit HandedSums(ModuleOp module)
      : module(module), rankValues(module), ranks(rankValues.getNumRanks()) {}

  void run(CollectiveIds &ids) {
    if (ranks < 2 || ranks > kMostRanks)
      return;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumRegions() == 0 && op->getNumResults() == 1)
        visit(op);
    });
    // The last sum is replaced first: the smaller sums that it is made of are erased then.
    for (HandedSum &sum : llvm::reverse(found)) {
      eraseUnused();
      if (!live.contains(sum.value))
        continue;
      OpBuilder builder(module.getContext());
      builder.setInsertionPointAfterValue(sum.value);
      replace(builder, sum, ids);
    }
    eraseUnused();
  }

private:
  void visit(Operation *op) {
    Value result = op->getResult(0);
    std::optional<LinearForm> form = isReducible(result) ? compute(op) : std::nullopt;
    // A value whose users were all visited is not asked for again, and its matrix is large.
    for (Value operand : op->getOperands())
      if (auto known = forms.find(operand); known != forms.end() && --known->second.users == 0)
        forms.erase(known);
    if (!form)
      return;
    tracked.push_back(op);
    live.insert(result);
    if (std::optional<HandedSum> sum = matchSum(result, *form))
      found.push_back(*sum);
    const auto users = static_cast<unsigned>(std::distance(result.use_begin(), result.use_end()));
    if (users != 0)
      forms.insert({result, {std::move(*form), users}});
  }

  /// Returns the form of a value, which is itself where nothing was handed on.
  LinearForm getForm(Value value) {
    if (auto known = forms.find(value); known != forms.end())
      return known->second.form;
    LinearForm form{value, std::vector<double>(ranks * ranks, 0)};
    for (int64_t rank = 0; rank < ranks; ++rank)
      form.factors[rank * ranks + rank] = 1;
    return form;
  }

  std::optional<LinearForm> compute(Operation *op) {
    if (auto permute = dyn_cast<PermuteOp>(op))
      return permuted(permute);
    if (llvm::none_of(op->getOperands(), [&](Value operand) { return forms.contains(operand); }))
      return std::nullopt;
    if (isa<stablehlo::AddOp>(op))
      return combined(op->getOperand(0), op->getOperand(1),
                      [](int64_t, double a, double b) { return a + b; });
    if (isa<stablehlo::SubtractOp>(op))
      return combined(op->getOperand(0), op->getOperand(1),
                      [](int64_t, double a, double b) { return a - b; });
    if (auto select = dyn_cast<stablehlo::SelectOp>(op))
      return chosen(select);
    if (isa<stablehlo::NegOp>(op))
      return scaled(op->getOperand(0), -1);
    if (isa<stablehlo::MulOp>(op))
      for (unsigned i : {0, 1})
        if (std::optional<double> factor = getNumber(op->getOperand(1 - i)))
          return scaled(op->getOperand(i), *factor);
    if (isa<stablehlo::DivOp>(op))
      if (std::optional<double> divisor = getNumber(op->getOperand(1)); divisor && *divisor != 0)
        return scaled(op->getOperand(0), 1 / *divisor);
    return std::nullopt;
  }

  std::optional<LinearForm> permuted(PermuteOp op) {
    CollectiveOpInterface collective = op;
    if (collective.getInputs().size() != 1 || op.getSends() || !collective.getCodec(0).isRaw())
      return std::nullopt;
    LinearForm form = getForm(collective.getInputs()[0]);
    std::vector<double> moved(form.factors.size(), 0);
    for (auto [source, target] : op.getPairs())
      if (source < ranks && target < ranks)
        std::copy_n(form.factors.begin() + source * ranks, ranks, moved.begin() + target * ranks);
    form.factors = std::move(moved);
    lastPermute = op;
    return form;
  }

  std::optional<LinearForm> scaled(Value value, double factor) {
    LinearForm form = getForm(value);
    for (double &each : form.factors)
      each *= factor;
    return form;
  }

  std::optional<LinearForm> combined(Value left, Value right,
                                     llvm::function_ref<double(int64_t rank, double, double)> combine) {
    LinearForm form = getForm(left), other = getForm(right);
    if (form.base != other.base)
      return std::nullopt;
    for (size_t i = 0; i < form.factors.size(); ++i)
      form.factors[i] = combine(static_cast<int64_t>(i) / ranks, form.factors[i], other.factors[i]);
    return form;
  }

  std::optional<LinearForm> chosen(stablehlo::SelectOp select) {
    Value condition = select->getOperand(0);
    if (cast<RankedTensorType>(condition.getType()).getRank() != 0)
      condition = getSplat(condition);
    if (!condition)
      return std::nullopt;
    std::vector<bool> takesFirst;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const RankValues::Integers *values = rankValues.get(condition);
      if (!values || values->of(rank).size() != 1)
        return std::nullopt;
      takesFirst.push_back(!values->of(rank)[0].isZero());
    }
    return combined(select->getOperand(1), select->getOperand(2),
                    [&](int64_t rank, double a, double b) { return takesFirst[rank] ? a : b; });
  }

  /// Returns the groups over which a value is the sum, if it is one.
  std::optional<HandedSum> matchSum(Value value, const LinearForm &form) {
    const double factor = form.factors[0];
    SmallVector<SmallVector<int64_t>> rows;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      SmallVector<int64_t> members;
      for (int64_t other = 0; other < ranks; ++other) {
        const double each = form.factors[rank * ranks + other];
        // Rounded factors: a mean of three by thirds.
        if (std::abs(each) > 1e-9 * std::abs(factor)) {
          if (std::abs(each - factor) > 1e-6 * std::abs(factor))
            return std::nullopt;
          members.push_back(other);
        }
      }
      if (!llvm::is_contained(members, rank))
        return std::nullopt;
      // Groups have no rank in common.
      auto *row =
          llvm::find_if(rows, [&](ArrayRef<int64_t> other) { return llvm::is_contained(other, rank); });
      if (row == rows.end() ? members.front() != rank : *row != members)
        return std::nullopt;
      if (row == rows.end())
        rows.push_back(members);
    }
    if (factor == 0 || rows.front().size() < 2)
      return std::nullopt;
    auto groups = GroupsAttr::get(module.getContext(), ArrayRef(rows));
    if (!groups.getUniformSize())
      return std::nullopt;
    return HandedSum{value, form.base, groups, factor, lastPermute};
  }

  void replace(OpBuilder &builder, HandedSum &sum, CollectiveIds &ids) {
    Location location = sum.value.getLoc();
    Value total = createAllReduce(builder, location, sum.base, sum.groups, sum.permute, ids);
    if (std::abs(sum.factor - 1) > 1e-9) {
      auto type = cast<RankedTensorType>(total.getType());
      Value factor = stablehlo::ConstantOp::create(
          builder, location,
          DenseElementsAttr::get(type, FloatAttr::get(type.getElementType(), sum.factor).getValue()));
      total = stablehlo::MulOp::create(builder, location, type, total, factor);
    }
    sum.value.replaceAllUsesWith(total);
  }

  /// Erases ops that hand on unused sums, from the end of the program to its beginning.
  void eraseUnused() {
    for (Operation *&op : llvm::reverse(tracked))
      if (op && op->use_empty()) {
        live.erase(op->getResult(0));
        op->erase();
        op = nullptr;
      }
    llvm::erase(tracked, nullptr);
  }

  struct Known {
    LinearForm form;
    unsigned users;
  };

  ModuleOp module;
  RankValues rankValues;
  int64_t ranks;
  PermuteOp lastPermute;
  llvm::DenseMap<Value, Known> forms;
  std::vector<Operation *> tracked;
  llvm::DenseSet<Value> live;
  std::vector<HandedSum> found;
};

//===----------------------------------------------------------------------===//
// Sums of what was gathered or exchanged
//===----------------------------------------------------------------------===//

/// Returns the dimension that an op sums from zero, if it does nothing else; nothing for another op.
std::optional<int64_t> getSummedDimension(stablehlo::ReduceOp op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      !matchPattern(op->getOperand(1), m_AnyZeroFloat()))
    return std::nullopt;
  ArrayRef<int64_t> dimensions = op.getDimensions();
  Block &body = op->getRegion(0).front();
  Operation &first = body.front();
  const bool adds = isa<stablehlo::AddOp>(first) && body.getTerminator() == first.getNextNode() &&
                    body.getTerminator()->getOperand(0) == first.getResult(0) &&
                    llvm::all_of(first.getOperands(),
                                 [&](Value each) {
                                   auto argument = dyn_cast<BlockArgument>(each);
                                   return argument && argument.getOwner() == &body;
                                 }) &&
                    first.getOperand(0) != first.getOperand(1);
  if (dimensions.size() != 1 || !adds)
    return std::nullopt;
  return dimensions[0];
}

/// Returns whether `type` has the shape `shape` with a dimension of `size` inserted before dimension `at`.
bool isWithDimension(RankedTensorType type, ArrayRef<int64_t> shape, int64_t at, int64_t size) {
  SmallVector<int64_t> expected(shape);
  expected.insert(expected.begin() + at, size);
  return type.getShape() == ArrayRef(expected);
}

Value reshape(OpBuilder &builder, Location location, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return stablehlo::ReshapeOp::create(builder, location, type, value);
}

/// Returns the result of a sum over the ranks of a gather or an exchange, in place of `op`; null if it is
/// none.
Value recognize(stablehlo::ReduceOp op, CollectiveIds &ids) {
  std::optional<int64_t> dimension = getSummedDimension(op);
  if (!dimension || !isReducible(op->getResult(0)))
    return {};
  Value summed = op->getOperand(0);
  auto summedType = cast<RankedTensorType>(summed.getType());
  auto split = summed.hasOneUse() ? summed.getDefiningOp<stablehlo::ReshapeOp>() : nullptr;
  Value exchanged = split ? split->getOperand(0) : summed;
  auto collective = exchanged.getDefiningOp<CollectiveOpInterface>();
  if (!collective || !exchanged.hasOneUse() || collective.getInputs().size() != 1 || collective.isStarted() ||
      !collective.getCodec(0).isRaw())
    return {};
  std::optional<int64_t> ranks = collective.getGroups().getUniformSize();
  if (!ranks || *ranks < 2 || summedType.getDimSize(*dimension) != *ranks)
    return {};
  Value input = collective.getInputs()[0];
  auto inputType = cast<RankedTensorType>(input.getType());
  OpBuilder builder(op);
  Type resultType = op->getResult(0).getType();

  if (auto gather = dyn_cast<AllGatherOp>(collective.getOperation())) {
    if (int64_t(gather.getDim()) != *dimension)
      return {};
    const bool isStacked = !split && inputType.getDimSize(*dimension) == 1;
    const bool isSplit = split && isWithDimension(summedType, inputType.getShape(), *dimension, *ranks);
    if (!isStacked && !isSplit)
      return {};
    return createAllReduce(builder, op.getLoc(), reshape(builder, op.getLoc(), input, resultType),
                           collective.getGroups(), collective, ids);
  }
  auto exchange = dyn_cast<AllToAllOp>(collective.getOperation());
  if (!exchange || int64_t(exchange.getSplitDim()) != *dimension ||
      exchange.getConcatDim() != exchange.getSplitDim())
    return {};
  const int64_t size = inputType.getDimSize(*dimension);
  SmallVector<int64_t> part(inputType.getShape());
  part[*dimension] = size / *ranks;
  const bool isStacked = !split && size == *ranks;
  const bool isSplit = split && isWithDimension(summedType, part, *dimension, *ranks);
  if (!isStacked && !isSplit)
    return {};
  auto scatter = ReduceScatterOp::create(
      builder, op.getLoc(), inputType.clone(part), input, Reduction::Sum, *dimension, ids.take(),
      collective.getGroups(), builder.getArrayAttr(collective.getCodecs()[0]),
      builder.getArrayAttr(collective.getLayers()[0]), /*exact_reasons=*/nullptr);
  return reshape(builder, op.getLoc(), scatter.getResult(0), resultType);
}

struct RecognizeReductions : cgx::impl::RecognizeReductionsPassBase<RecognizeReductions> {
  void runOnOperation() override {
    CollectiveIds ids(getOperation());
    SmallVector<stablehlo::ReduceOp> sums;
    getOperation().walk([&](stablehlo::ReduceOp op) { sums.push_back(op); });
    for (stablehlo::ReduceOp op : sums)
      if (Value total = recognize(op, ids)) {
        Operation *summed = op->getOperand(0).getDefiningOp();
        op->getResult(0).replaceAllUsesWith(total);
        op->erase();
        eraseChain(summed);
      }
    HandedSums(getOperation()).run(ids);
  }

private:
  /// Erases a collective that had one user, or a reshape of it.
  static void eraseChain(Operation *op) {
    Operation *inner = isa<stablehlo::ReshapeOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
    op->erase();
    if (inner)
      inner->erase();
  }
};
} // namespace
