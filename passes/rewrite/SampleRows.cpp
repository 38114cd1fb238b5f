//===-- SampleRows.cpp - The samples of a value's rows --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dimensions of samples go through an op as those of its operands do. Ids are made by applying the op to the
// operands' ids: a slice of a batch is a slice of its ids, a choice between two a choice between theirs. For
// most ops the ids are the operand's own.
//
//===----------------------------------------------------------------------===//

#include "SampleRows.h"

#include "LoopCarry.h"

#include "cgx/Passes/RegionFlow.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace cgx {

using Dims = SampleRows::Dims;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Returns whether two values are made by the same ops from the same values.
static bool isSameValue(Value a, Value b, unsigned depth = 32) {
  a = throughRegions(a);
  b = throughRegions(b);
  if (a == b)
    return true;
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  if (depth == 0 || !left || !right || left->getName() != right->getName() || left->getNumRegions() != 0 ||
      !isPure(left) || left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getResultTypes() != right->getResultTypes() ||
      left->getNumOperands() != right->getNumOperands() ||
      cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber())
    return false;
  return llvm::all_of(llvm::zip_equal(left->getOperands(), right->getOperands()), [&](auto pair) {
    return isSameValue(std::get<0>(pair), std::get<1>(pair), depth - 1);
  });
}

static std::string text(ArrayRef<int64_t> dims) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::interleaveComma(dims, stream);
  return "[" + result + "]";
}

/// Emits the error of an op that mixes samples.
static LogicalResult mixes(Operation *op, const Twine &what) {
  return op->emitOpError()
         << "is on the way from the batch to an activation of which changes are sent (delta): "
            "expected each position of the batch to map to itself, but "
         << what;
}

SampleRows::SampleRows(FunctionOpInterface step, unsigned ids) : step(step), ids(ids) {}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

FailureOr<Dims> SampleRows::dimsOf(Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  FailureOr<Dims> dims = compute(value);
  if (succeeded(dims))
    known[value] = *dims;
  return dims;
}

FailureOr<Dims> SampleRows::compute(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return Dims();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument);
  return ofOp(value.getDefiningOp(), cast<OpResult>(value).getResultNumber());
}

FailureOr<Dims> SampleRows::ofArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (parent == step) {
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName);
          feeds && feeds.getInt() == number)
        return Dims(); // state
    auto splitOf = [&](unsigned i) -> Attribute {
      auto sharding = step.getArgAttrOfType<ShardingAttr>(i, kShardingAttrName);
      return sharding && !sharding.getDimensions().empty() ? Attribute(sharding.getDimensions().front())
                                                           : Attribute();
    };
    RankedTensorType type = typeOf(argument);
    bool isBatch = type.getRank() > 0 && type.getDimSize(0) == typeOf(step.getArgument(ids)).getDimSize(0) &&
                   splitOf(number) == splitOf(ids);
    return isBatch ? Dims{0} : Dims();
  }
  if (auto loop = dyn_cast<stablehlo::WhileOp>(parent);
      loop && argument.getOwner() == &loop.getBody().front())
    return ofCarried(loop, number);
  return mixes(parent, "what its region takes cannot be followed");
}

FailureOr<Dims> SampleRows::ofCarried(stablehlo::WhileOp loop, unsigned index) {
  BlockArgument argument = loop.getBody().front().getArgument(index);
  Value next = loop.getBody().front().getTerminator()->getOperand(index);
  FailureOr<Dims> first = dimsOf(loop.getOperand()[index]);
  if (failed(first) || next == argument)
    return first;
  known[argument] = *first;
  FailureOr<Dims> second = dimsOf(next);
  if (failed(second))
    return second;
  if (first->empty() && !second->empty()) {
    // The value belongs to no sample before the first round: what was found inside was found too early.
    SmallVector<Value> inside;
    for (auto &[value, dims] : known)
      if (loop.getBody().isAncestor(value.getParentRegion()))
        inside.push_back(value);
    for (Value value : inside)
      known.erase(value);
    known[argument] = *second;
    FailureOr<Dims> again = dimsOf(next);
    if (failed(again))
      return again;
    if (*again != *second)
      return mixes(loop, "the samples of operand " + Twine(index) + " are along " + text(*second) +
                             " in one round and " + text(*again) + " in the next");
    first = second;
  } else if (!second->empty() && *first != *second) {
    return mixes(loop, "the samples of operand " + Twine(index) + " are along " + text(*first) +
                           " in one round and " + text(*second) + " in the next");
  }
  if (!first->empty())
    carried.insert(argument);
  return first;
}

/// Returns the dimensions that values of one shape have in common; those of no sample agree with all.
FailureOr<Dims> SampleRows::join(Operation *op, ArrayRef<Value> values) {
  Dims joined;
  for (Value value : values) {
    FailureOr<Dims> dims = dimsOf(value);
    if (failed(dims))
      return failure();
    if (typeOf(value).getRank() == 0 || dims->empty())
      continue;
    if (!joined.empty() && joined != *dims)
      return mixes(op, "it combines samples along " + text(joined) + " with samples along " + text(*dims));
    joined = *dims;
  }
  return joined;
}

namespace {

/// Returns the values that the branches of a choice return as this result.
SmallVector<Value> returnedBy(Operation *choice, unsigned result) {
  SmallVector<Value> values;
  for (Region &branch : choice->getRegions())
    values.push_back(branch.front().getTerminator()->getOperand(result));
  return values;
}

/// Dimensions that a reshape turns into each other: consecutive ones with as many elements.
struct Group {
  SmallVector<int64_t> before, after;
};

SmallVector<Group> groupsOf(ArrayRef<int64_t> before, ArrayRef<int64_t> after) {
  SmallVector<Group> groups;
  size_t i = 0, j = 0;
  while (i < before.size() || j < after.size()) {
    Group &group = groups.emplace_back();
    int64_t left = 1, right = 1;
    if (i < before.size())
      left *= before[i], group.before.push_back(static_cast<int64_t>(i++));
    if (j < after.size())
      right *= after[j], group.after.push_back(static_cast<int64_t>(j++));
    while (left != right) {
      if (left < right && i < before.size())
        left *= before[i], group.before.push_back(static_cast<int64_t>(i++));
      else if (j < after.size())
        right *= after[j], group.after.push_back(static_cast<int64_t>(j++));
      else
        break;
    }
    // Dimensions of one element belong to whatever is before them, but not all of them to samples.
    if (i == before.size() && j < after.size() && after[j] == 1)
      group.after.push_back(static_cast<int64_t>(j++));
    if (j == after.size() && i < before.size() && before[i] == 1)
      group.before.push_back(static_cast<int64_t>(i++));
  }
  return groups;
}

Dims sorted(Dims dims) {
  llvm::sort(dims);
  return dims;
}

} // namespace

FailureOr<Dims> SampleRows::ofOp(Operation *op, unsigned result) {
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return dimsOf(loop.getBody().front().getArgument(result));
  if (auto permute = dyn_cast<PermuteOp>(op))
    return dimsOf(permute.getInputs()[result]);
  if (isa<stablehlo::OptimizationBarrierOp>(op))
    return dimsOf(op->getOperand(result));

  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return join(op, returnedBy(op, result));

  // A result that is made only of values that belong to no sample belongs to none.
  bool isOfNone = op->getNumRegions() == 0 || isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op);
  SmallVector<Dims> of;
  for (Value operand : op->getOperands()) {
    FailureOr<Dims> dims = dimsOf(operand);
    if (failed(dims))
      return failure();
    of.push_back(*dims);
    isOfNone &= dims->empty();
  }
  if (isOfNone)
    return Dims();
  auto has = [&](unsigned operand, int64_t dim) { return llvm::is_contained(of[operand], dim); };

  return llvm::TypeSwitch<Operation *, FailureOr<Dims>>(op)
      .Case([&](stablehlo::ReshapeOp reshape) -> FailureOr<Dims> {
        ArrayRef<int64_t> before = typeOf(reshape.getOperand()).getShape(),
                          after = typeOf(reshape.getResult()).getShape();
        Dims dims;
        for (const Group &group : groupsOf(before, after)) {
          auto isSample = [&](int64_t dim) { return has(0, dim); };
          auto isLong = [&](int64_t dim) { return before[dim] != 1; };
          if (llvm::none_of(group.before, isSample))
            continue;
          for (int64_t dim : group.before)
            if (isLong(dim) && !isSample(dim))
              return mixes(op, "it joins the samples with dimension " + Twine(dim));
          // A trailing 1 need not count anything.
          for (int64_t dim : group.after)
            if (after[dim] != 1 || group.after.size() == 1 ||
                llvm::all_of(group.after, [&](int64_t other) { return after[other] == 1; }))
              dims.push_back(dim);
        }
        return sorted(dims);
      })
      .Case([&](stablehlo::TransposeOp transpose) -> FailureOr<Dims> {
        Dims dims;
        for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
          if (has(0, from))
            dims.push_back(static_cast<int64_t>(to));
        return dims;
      })
      .Case([&](stablehlo::BroadcastInDimOp broadcast) -> FailureOr<Dims> {
        Dims dims;
        for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          if (has(0, static_cast<int64_t>(from))) {
            if (typeOf(broadcast.getOperand()).getDimSize(from) !=
                typeOf(broadcast.getResult()).getDimSize(to))
              return mixes(op, "it repeats a sample along dimension " + Twine(to));
            dims.push_back(to);
          }
        return sorted(dims);
      })
      .Case<stablehlo::SliceOp, stablehlo::ReverseOp>([&](auto) -> FailureOr<Dims> { return of[0]; })
      .Case([&](stablehlo::DynamicSliceOp) -> FailureOr<Dims> {
        if (llvm::any_of(ArrayRef(of).drop_front(), [](const Dims &dims) { return !dims.empty(); }))
          return mixes(op, "where it slices depends on samples");
        return of[0];
      })
      .Case([&](stablehlo::DynamicUpdateSliceOp) -> FailureOr<Dims> {
        if (llvm::any_of(ArrayRef(of).drop_front(2), [](const Dims &dims) { return !dims.empty(); }))
          return mixes(op, "where it writes depends on samples");
        return join(op, {op->getOperand(0), op->getOperand(1)});
      })
      .Case([&](stablehlo::ConcatenateOp) -> FailureOr<Dims> {
        return join(op, SmallVector<Value>(op->getOperands()));
      })
      .Case([&](stablehlo::PadOp pad) -> FailureOr<Dims> {
        for (int64_t dim : of[0])
          if (pad.getEdgePaddingLow()[dim] != 0 || pad.getEdgePaddingHigh()[dim] != 0 ||
              pad.getInteriorPadding()[dim] != 0)
            return mixes(op, "it pads dimension " + Twine(dim) + ", which counts samples");
        return of[0];
      })
      .Case([&](stablehlo::ReduceOp reduce) -> FailureOr<Dims> {
        FailureOr<Dims> dims = join(op, SmallVector<Value>(reduce.getInputs()));
        if (failed(dims))
          return failure();
        Dims left;
        for (int64_t dim : *dims) {
          if (llvm::is_contained(reduce.getDimensions(), dim))
            return mixes(op, "it reduces dimension " + Twine(dim) + ", which counts samples");
          left.push_back(dim -
                         llvm::count_if(reduce.getDimensions(), [&](int64_t gone) { return gone < dim; }));
        }
        return left;
      })
      .Case([&](stablehlo::DotGeneralOp dot) -> FailureOr<Dims> {
        stablehlo::DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
        ArrayRef<int64_t> batching[] = {numbers.getLhsBatchingDimensions(),
                                        numbers.getRhsBatchingDimensions()},
                          contracting[] = {numbers.getLhsContractingDimensions(),
                                           numbers.getRhsContractingDimensions()};
        Dims dims;
        int64_t at = 0;
        for (; at < static_cast<int64_t>(batching[0].size()); ++at) {
          bool left = has(0, batching[0][at]), right = has(1, batching[1][at]);
          if (left || right)
            dims.push_back(at);
        }
        for (unsigned side : {0, 1})
          for (int64_t dim = 0; dim < typeOf(op->getOperand(side)).getRank(); ++dim) {
            if (llvm::is_contained(contracting[side], dim)) {
              if (has(side, dim))
                return mixes(op, "it adds up dimension " + Twine(dim) + " of operand " + Twine(side) +
                                     ", which counts samples");
            } else if (!llvm::is_contained(batching[side], dim)) {
              if (has(side, dim)) {
                if (side == 1 && llvm::any_of(of[0], [&](int64_t other) {
                      return !llvm::is_contained(batching[0], other);
                    }))
                  return mixes(op, "it multiplies samples by samples");
                dims.push_back(at);
              }
              ++at;
            }
          }
        return dims;
      })
      .Case([&](stablehlo::GatherOp gather) -> FailureOr<Dims> {
        stablehlo::GatherDimensionNumbersAttr numbers = gather.getDimensionNumbers();
        if (!of[0].empty())
          return mixes(op, "it gathers from samples");
        // The table belongs to no sample. The dimensions of the indices, except that of the index vector, are
        // the dimensions of the result that are no offsets.
        Dims dims;
        int64_t index = 0;
        for (int64_t dim = 0; dim < typeOf(gather.getResult()).getRank(); ++dim) {
          if (llvm::is_contained(numbers.getOffsetDims(), dim))
            continue;
          index += index == numbers.getIndexVectorDim();
          if (has(1, index++))
            dims.push_back(dim);
        }
        if (has(1, numbers.getIndexVectorDim()))
          return mixes(op, "its index vectors count samples");
        return dims;
      })
      .Default([&](Operation *) -> FailureOr<Dims> {
        if (op->hasTrait<OpTrait::Elementwise>() || isa<stablehlo::SelectOp, stablehlo::ClampOp>(op))
          return join(op, SmallVector<Value>(op->getOperands()));
        return mixes(op, "this op cannot be followed");
      });
}

//===----------------------------------------------------------------------===//
// Ids
//===----------------------------------------------------------------------===//

RankedTensorType SampleRows::idsType(Value value, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (int64_t dim : dims)
    shape.push_back(typeOf(value).getDimSize(dim));
  return RankedTensorType::get(shape, IntegerType::get(value.getContext(), 32));
}

/// Makes the ids of rows of no sample: -1 for the first row, -2 for the second.
Value SampleRows::noneOf(OpBuilder &builder, Location loc, RankedTensorType type) {
  SmallVector<int32_t> values(type.getNumElements());
  std::iota(values.rbegin(), values.rend(), -static_cast<int32_t>(values.size()));
  return stablehlo::ConstantOp::create(builder, loc, type,
                                       DenseIntElementsAttr::get(type, ArrayRef<int32_t>(values)));
}

void SampleRows::carryThroughLoops() {
  for (Value value : carried) {
    auto argument = cast<BlockArgument>(value);
    auto loop = cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
    unsigned index = argument.getArgNumber(), added = loop.getOperand().size();
    RankedTensorType type = idsType(argument, known[argument]);
    OpBuilder builder(loop);
    stablehlo::WhileOp rebuilt =
        carryThroughLoop(loop, noneOf(builder, loop.getLoc(), type)); // until connectLoops()
    Block &body = rebuilt.getBody().front();
    for (unsigned i = 0; i < added; ++i) {
      if (auto found = known.find(loop->getResult(i)); found != known.end()) {
        Dims dims = found->second;
        known.erase(found);
        known[rebuilt->getResult(i)] = dims;
      }
      loop->getResult(i).replaceAllUsesWith(rebuilt->getResult(i));
    }
    for (CarriedIds &other : loops)
      if (other.loop == loop)
        other.loop = rebuilt;
    loop->erase();
    made[argument] = body.getArgument(added);
    made[rebuilt->getResult(index)] = rebuilt->getResult(added);
    loops.push_back({rebuilt, index, added});
  }
}

LogicalResult SampleRows::connectLoops() {
  for (CarriedIds &entry : loops) {
    Block &body = entry.loop.getBody().front();
    Dims dims = known[body.getArgument(entry.index)];
    OpBuilder before(entry.loop), atEnd(body.getTerminator());
    FailureOr<Value> first = idsOf(entry.loop.getOperand()[entry.index], dims, before);
    if (failed(first))
      return failure();
    FailureOr<Value> next = idsOf(body.getTerminator()->getOperand(entry.index), dims, atEnd);
    if (failed(next))
      return failure();
    entry.loop->setOperand(entry.ids, *first);
    body.getTerminator()->setOperand(entry.ids, *next);
  }
  return success();
}

FailureOr<Value> SampleRows::idsOf(Value value, ArrayRef<int64_t> dims, OpBuilder &builder) {
  value = throughRegions(value);
  if (auto found = made.find(value); found != made.end())
    return found->second;
  FailureOr<Dims> own = dimsOf(value);
  if (failed(own))
    return failure();
  if (own->empty())
    return noneOf(builder, value.getLoc(), idsType(value, dims));
  if (auto argument = dyn_cast<BlockArgument>(value)) // of the step; those of loops are made
    return step.getArgument(ids);
  FailureOr<Value> result = makeIds(cast<OpResult>(value), *own);
  if (succeeded(result))
    made[value] = *result;
  return result;
}

/// Returns the ids that values of one shape have in common. Those of no sample agree with all.
FailureOr<Value> SampleRows::same(Operation *op, ArrayRef<Value> values, OpBuilder &builder) {
  Value common;
  for (Value value : values) {
    FailureOr<Dims> own = dimsOf(value);
    if (failed(own))
      return failure();
    if (own->empty())
      continue;
    FailureOr<Value> of = idsOf(value, *own, builder);
    if (failed(of))
      return failure();
    if (common && !isSameValue(common, *of))
      return mixes(op, "it combines different samples");
    common = common ? common : *of;
  }
  return common;
}

/// Returns the predicate of a select, if it is one for all elements; else null.
static Value scalarPredicate(Value predicate) {
  if (typeOf(predicate).getRank() == 0)
    return predicate;
  auto broadcast = predicate.getDefiningOp<stablehlo::BroadcastInDimOp>();
  return broadcast && typeOf(broadcast.getOperand()).getRank() == 0 ? Value(broadcast.getOperand()) : Value();
}

FailureOr<Value> SampleRows::makeIds(OpResult value, ArrayRef<int64_t> dims) {
  Operation *op = value.getOwner();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  RankedTensorType type = idsType(value, dims);
  auto only = [&](Value operand) -> FailureOr<Value> {
    FailureOr<Dims> own = dimsOf(operand);
    if (failed(own))
      return failure();
    return idsOf(operand, *own, builder);
  };
  // Along the samples' dimensions of operand 0.
  auto pick = [&](ArrayRef<int64_t> all, ArrayRef<int64_t> chosen) {
    SmallVector<int64_t> picked;
    for (int64_t dim : chosen)
      picked.push_back(all[dim]);
    return picked;
  };

  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](stablehlo::OptimizationBarrierOp) { return only(op->getOperand(value.getResultNumber())); })
      .Case([&](PermuteOp) -> FailureOr<Value> {
        return mixes(op, "it is itself sent without ids; give it the same codec");
      })
      .Case([&](stablehlo::ReshapeOp) -> FailureOr<Value> {
        FailureOr<Value> of = only(op->getOperand(0));
        if (failed(of) || of->getType() == type)
          return of;
        return Value(stablehlo::ReshapeOp::create(builder, loc, type, *of));
      })
      .Case([&](stablehlo::TransposeOp transpose) -> FailureOr<Value> {
        FailureOr<Value> of = only(op->getOperand(0));
        FailureOr<Dims> from = dimsOf(op->getOperand(0));
        if (failed(of) || failed(from))
          return failure();
        SmallVector<int64_t> order;
        for (int64_t dim : dims)
          order.push_back(llvm::find(*from, transpose.getPermutation()[dim]) - from->begin());
        if (llvm::is_sorted(order))
          return of;
        return Value(stablehlo::TransposeOp::create(builder, loc, type, *of, order));
      })
      .Case([&](stablehlo::BroadcastInDimOp) { return only(op->getOperand(0)); })
      .Case([&](stablehlo::SliceOp slice) -> FailureOr<Value> {
        FailureOr<Value> of = only(op->getOperand(0));
        if (failed(of) || of->getType() == type)
          return of;
        return Value(stablehlo::SliceOp::create(builder, loc, type, *of, pick(slice.getStartIndices(), dims),
                                                pick(slice.getLimitIndices(), dims),
                                                pick(slice.getStrides(), dims)));
      })
      .Case([&](stablehlo::ReverseOp reverse) -> FailureOr<Value> {
        FailureOr<Value> of = only(op->getOperand(0));
        SmallVector<int64_t> turned;
        for (auto [i, dim] : llvm::enumerate(dims))
          if (llvm::is_contained(reverse.getDimensions(), dim))
            turned.push_back(static_cast<int64_t>(i));
        if (failed(of) || turned.empty())
          return of;
        return Value(stablehlo::ReverseOp::create(builder, loc, type, *of, turned));
      })
      .Case([&](stablehlo::DynamicSliceOp slice) -> FailureOr<Value> {
        FailureOr<Value> of = only(op->getOperand(0));
        if (failed(of) || of->getType() == type)
          return of;
        SmallVector<Value> starts;
        for (int64_t dim : dims)
          starts.push_back(slice.getStartIndices()[dim]);
        return Value(stablehlo::DynamicSliceOp::create(builder, loc, type, *of, starts,
                                                       pick(slice.getSliceSizes(), dims)));
      })
      .Case([&](stablehlo::DynamicUpdateSliceOp update) -> FailureOr<Value> {
        if (idsType(op->getOperand(1), dims) == type)
          return same(op, {op->getOperand(0), op->getOperand(1)}, builder);
        FailureOr<Value> into = idsOf(op->getOperand(0), dims, builder),
                         of = idsOf(op->getOperand(1), dims, builder);
        if (failed(into) || failed(of))
          return failure();
        SmallVector<Value> starts;
        for (int64_t dim : dims)
          starts.push_back(update.getStartIndices()[dim]);
        return Value(stablehlo::DynamicUpdateSliceOp::create(builder, loc, type, *into, *of, starts));
      })
      .Case([&](stablehlo::ConcatenateOp concatenate) -> FailureOr<Value> {
        const auto *at = llvm::find(dims, static_cast<int64_t>(concatenate.getDimension()));
        if (at == dims.end())
          return same(op, SmallVector<Value>(op->getOperands()), builder);
        SmallVector<Value> parts;
        for (Value operand : op->getOperands()) {
          FailureOr<Value> of = idsOf(operand, dims, builder);
          if (failed(of))
            return failure();
          parts.push_back(*of);
        }
        return Value(stablehlo::ConcatenateOp::create(builder, loc, type, parts, at - dims.begin()));
      })
      .Case([&](stablehlo::SelectOp select) -> FailureOr<Value> {
        Value predicate = scalarPredicate(select.getPred());
        if (!predicate)
          return same(op, SmallVector<Value>(op->getOperands()), builder);
        FailureOr<Value> a = idsOf(select.getOnTrue(), dims, builder),
                         b = idsOf(select.getOnFalse(), dims, builder);
        if (failed(a) || failed(b))
          return failure();
        if (isSameValue(*a, *b))
          return a;
        return Value(stablehlo::SelectOp::create(builder, loc, type, predicate, *a, *b));
      })
      .Case<stablehlo::IfOp, stablehlo::CaseOp>([&](auto) -> FailureOr<Value> {
        FailureOr<Value> of = same(op, returnedBy(op, value.getResultNumber()), builder);
        if (succeeded(of) && op->isAncestor(of->getParentRegion()->getParentOp()))
          return mixes(op, "one of its branches moves samples");
        return of;
      })
      // The other ops, such as products, gathers and reductions, take their ids from their operands.
      .Default([&](Operation *) { return same(op, SmallVector<Value>(op->getOperands()), builder); });
}

} // namespace cgx
