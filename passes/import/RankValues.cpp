//===-- RankValues.cpp - values computed from the number of the rank -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/RankValues.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/RegionFlow.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cgx;
using llvm::APInt;

namespace {

using Elements = std::vector<APInt>;

/// The largest tensor that is evaluated: tables have an entry per rank, and few columns.
constexpr int64_t kLargestTensor = 16384;
/// Expressions of offsets are a dozen ops deep.
constexpr unsigned kDeepestExpression = 256;

/// Returns the type of a small tensor of integers, else null.
RankedTensorType getSmallIntegers(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isInteger() ||
      type.getNumElements() > kLargestTensor)
    return {};
  return type;
}

bool isUnsigned(Type type) {
  auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
  return integer.isUnsigned() || integer.getWidth() == 1;
}

/// Returns an element as a number.
int64_t toNumber(const APInt &element, bool isUnsignedType) {
  return isUnsignedType ? static_cast<int64_t>(element.getZExtValue()) : element.getSExtValue();
}

/// Walks the indices of `shape` in row-major order.
void forEachIndex(ArrayRef<int64_t> shape, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t count = ShapedType::getNumElements(shape);
  for (int64_t i = 0; i < count; ++i) {
    visit(index);
    for (size_t dimension = shape.size(); dimension-- > 0;) {
      if (++index[dimension] < shape[dimension])
        break;
      index[dimension] = 0;
    }
  }
}

int64_t linearize(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    position = position * size + i;
  return position;
}

/// Returns the elements of a result whose every element is one of the operand: `indexOf` says which.
Elements pick(const Elements &from, RankedTensorType operand, RankedTensorType result,
              llvm::function_ref<void(ArrayRef<int64_t>, MutableArrayRef<int64_t>)> indexOf) {
  Elements elements;
  SmallVector<int64_t> source(operand.getRank(), 0);
  forEachIndex(result.getShape(), [&](ArrayRef<int64_t> index) {
    indexOf(index, source);
    elements.push_back(from[linearize(source, operand.getShape())]);
  });
  return elements;
}

std::optional<APInt> divide(const APInt &a, const APInt &b, bool isUnsignedType) {
  if (b.isZero())
    return std::nullopt; // StableHLO does not say what that is.
  return isUnsignedType ? a.udiv(b) : a.sdiv(b);
}

std::optional<APInt> getRemainder(const APInt &a, const APInt &b, bool isUnsignedType) {
  if (b.isZero())
    return std::nullopt;
  return isUnsignedType ? a.urem(b) : a.srem(b);
}

std::optional<APInt> combine(Operation *op, const APInt &a, const APInt &b, bool isUnsignedType) {
  bool isBool = a.getBitWidth() == 1;
  bool shiftsOut = b.uge(a.getBitWidth());
  unsigned shift = shiftsOut ? 0 : static_cast<unsigned>(b.getZExtValue());
  return llvm::TypeSwitch<Operation *, std::optional<APInt>>(op)
      .Case<stablehlo::AddOp>([&](auto) { return isBool ? (a | b) : (a + b); })
      .Case<stablehlo::SubtractOp>([&](auto) { return a - b; })
      .Case<stablehlo::MulOp>([&](auto) { return a * b; })
      .Case<stablehlo::DivOp>([&](auto) { return divide(a, b, isUnsignedType); })
      .Case<stablehlo::RemOp>([&](auto) { return getRemainder(a, b, isUnsignedType); })
      .Case<stablehlo::AndOp>([&](auto) { return a & b; })
      .Case<stablehlo::OrOp>([&](auto) { return a | b; })
      .Case<stablehlo::XorOp>([&](auto) { return a ^ b; })
      .Case<stablehlo::MaxOp>([&](auto) { return (isUnsignedType ? a.ugt(b) : a.sgt(b)) ? a : b; })
      .Case<stablehlo::MinOp>([&](auto) { return (isUnsignedType ? a.ult(b) : a.slt(b)) ? a : b; })
      .Case<stablehlo::ShiftLeftOp>([&](auto) { return shiftsOut ? a ^ a : a.shl(shift); })
      .Case<stablehlo::ShiftRightLogicalOp>([&](auto) { return shiftsOut ? a ^ a : a.lshr(shift); })
      .Case<stablehlo::ShiftRightArithmeticOp>(
          [&](auto) { return a.ashr(shiftsOut ? a.getBitWidth() - 1 : shift); })
      .Default([](Operation *) { return std::nullopt; });
}

bool compare(stablehlo::ComparisonDirection direction, int64_t a, int64_t b) {
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return a == b;
  case stablehlo::ComparisonDirection::NE:
    return a != b;
  case stablehlo::ComparisonDirection::GE:
    return a >= b;
  case stablehlo::ComparisonDirection::GT:
    return a > b;
  case stablehlo::ComparisonDirection::LE:
    return a <= b;
  case stablehlo::ComparisonDirection::LT:
    return a < b;
  }
  llvm_unreachable("all directions are above");
}

/// Evaluates one op on the elements of its operands on one rank.
class Evaluation {
public:
  Evaluation(Operation *op, SmallVector<Elements> operands)
      : op(op), operands(std::move(operands)), result(cast<RankedTensorType>(op->getResult(0).getType())) {}

  std::optional<Elements> run() {
    using Result = std::optional<Elements>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case<stablehlo::ConstantOp>([&](stablehlo::ConstantOp constant) -> Result {
          auto values = dyn_cast<DenseIntElementsAttr>(constant.getValue());
          if (!values)
            return std::nullopt;
          return Elements(values.value_begin<APInt>(), values.value_end<APInt>());
        })
        .Case<stablehlo::IotaOp>([&](stablehlo::IotaOp iota) { return count(iota.getIotaDimension()); })
        .Case<stablehlo::ReshapeOp, stablehlo::OptimizationBarrierOp>([&](auto) { return operands[0]; })
        .Case<stablehlo::ConvertOp>([&](auto) { return convert(); })
        .Case<stablehlo::BroadcastInDimOp, stablehlo::TransposeOp, stablehlo::SliceOp,
              stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp, stablehlo::ConcatenateOp>(
            [&](auto move) { return visit(move); })
        .Case<stablehlo::CompareOp>([&](stablehlo::CompareOp comparison) { return visit(comparison); })
        .Case<stablehlo::SelectOp>(
            [&](auto) { return map([&](size_t i) { return at(0, i).isZero() ? at(2, i) : at(1, i); }); })
        .Case<stablehlo::ClampOp>([&](auto) { return clamp(); })
        .Case<stablehlo::NotOp>([&](auto) { return map([&](size_t i) { return ~at(0, i); }); })
        .Case<stablehlo::NegOp>([&](auto) { return map([&](size_t i) { return -at(0, i); }); })
        .Case<stablehlo::AbsOp>([&](auto) { return map([&](size_t i) { return at(0, i).abs(); }); })
        .Default([&](Operation *) -> Result {
          if (operands.size() != 2)
            return std::nullopt;
          bool isUnsignedType = isUnsigned(result);
          return map([&](size_t i) { return combine(op, at(0, i), at(1, i), isUnsignedType); });
        });
  }

private:
  RankedTensorType getType(unsigned operand) {
    return cast<RankedTensorType>(op->getOperand(operand).getType());
  }

  /// Returns an element of an operand; a single one stands for all.
  const APInt &at(unsigned operand, size_t i) {
    return operands[operand].size() == 1 ? operands[operand][0] : operands[operand][i];
  }

  std::optional<Elements> map(llvm::function_ref<std::optional<APInt>(size_t)> function) {
    Elements elements;
    for (size_t i = 0, e = result.getNumElements(); i < e; ++i) {
      std::optional<APInt> element = function(i);
      if (!element)
        return std::nullopt;
      elements.push_back(std::move(*element));
    }
    return elements;
  }

  Elements count(uint64_t dimension) {
    Elements elements;
    unsigned width = result.getElementTypeBitWidth();
    forEachIndex(result.getShape(), [&](ArrayRef<int64_t> index) {
      elements.push_back(APInt(64, index[dimension]).zextOrTrunc(width));
    });
    return elements;
  }

  std::optional<Elements> convert() {
    bool isUnsignedType = isUnsigned(getType(0));
    unsigned width = result.getElementTypeBitWidth();
    return map([&](size_t i) {
      if (width == 1)
        return APInt(1, !at(0, i).isZero());
      return isUnsignedType ? at(0, i).zextOrTrunc(width) : at(0, i).sextOrTrunc(width);
    });
  }

  std::optional<Elements> clamp() {
    bool isUnsignedType = isUnsigned(result);
    return map([&](size_t i) {
      const APInt &low = at(0, i), &value = at(1, i), &high = at(2, i);
      const APInt &raised = (isUnsignedType ? value.ult(low) : value.slt(low)) ? low : value;
      return (isUnsignedType ? raised.ugt(high) : raised.sgt(high)) ? high : raised;
    });
  }

  Elements visit(stablehlo::BroadcastInDimOp broadcast) {
    RankedTensorType from = getType(0);
    return pick(operands[0], from, result, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (auto [i, dimension] : llvm::enumerate(broadcast.getBroadcastDimensions()))
        source[i] = from.getDimSize(i) == 1 ? 0 : index[dimension];
    });
  }

  Elements visit(stablehlo::TransposeOp transpose) {
    return pick(operands[0], getType(0), result,
                [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
                  for (auto [i, dimension] : llvm::enumerate(transpose.getPermutation()))
                    source[dimension] = index[i];
                });
  }

  Elements visit(stablehlo::SliceOp slice) {
    return pick(operands[0], getType(0), result,
                [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
                  for (size_t i = 0; i < index.size(); ++i)
                    source[i] = slice.getStartIndices()[i] + index[i] * slice.getStrides()[i];
                });
  }

  /// Evaluates a slice. The start is clamped, so that the slice fits.
  Elements visit(stablehlo::DynamicSliceOp) {
    RankedTensorType from = getType(0);
    SmallVector<int64_t> starts;
    for (int64_t i = 0; i < from.getRank(); ++i) {
      int64_t start = toNumber(operands[i + 1][0], isUnsigned(getType(i + 1)));
      starts.push_back(std::clamp<int64_t>(start, 0, from.getDimSize(i) - result.getDimSize(i)));
    }
    return pick(operands[0], from, result, [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
      for (size_t i = 0; i < index.size(); ++i)
        source[i] = starts[i] + index[i];
    });
  }

  Elements visit(stablehlo::DynamicUpdateSliceOp) {
    RankedTensorType part = getType(1);
    SmallVector<int64_t> starts;
    for (int64_t i = 0; i < part.getRank(); ++i)
      starts.push_back(std::clamp<int64_t>(toNumber(operands[i + 2][0], isUnsigned(getType(i + 2))), 0,
                                           result.getDimSize(i) - part.getDimSize(i)));
    Elements elements = operands[0];
    SmallVector<int64_t> target(part.getRank());
    int64_t position = 0;
    forEachIndex(part.getShape(), [&](ArrayRef<int64_t> index) {
      for (size_t i = 0; i < index.size(); ++i)
        target[i] = starts[i] + index[i];
      elements[linearize(target, result.getShape())] = operands[1][position++];
    });
    return elements;
  }

  Elements visit(stablehlo::ConcatenateOp concatenate) {
    Elements elements;
    int64_t dimension = concatenate.getDimension();
    forEachIndex(result.getShape(), [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> source(index);
      unsigned operand = 0;
      while (source[dimension] >= getType(operand).getDimSize(dimension))
        source[dimension] -= getType(operand++).getDimSize(dimension);
      elements.push_back(operands[operand][linearize(source, getType(operand).getShape())]);
    });
    return elements;
  }

  std::optional<Elements> visit(stablehlo::CompareOp comparison) {
    bool isUnsignedType = isUnsigned(getType(0));
    return map([&](size_t i) {
      return APInt(1, compare(comparison.getComparisonDirection(), toNumber(at(0, i), isUnsignedType),
                              toNumber(at(1, i), isUnsignedType)));
    });
  }

  Operation *op;
  SmallVector<Elements> operands;
  RankedTensorType result;
};

} // namespace

RankValues::RankValues(ModuleOp module) {
  auto getCount = [&](StringRef name) {
    auto count = module->getAttrOfType<IntegerAttr>(name);
    return count ? std::max<int64_t>(1, count.getValue().getSExtValue()) : int64_t(1);
  };
  int64_t replicas = getCount("mhlo.num_replicas");
  numRanks = module->hasAttr(kNumRanksAttrName) ? getCount(kNumRanksAttrName)
                                                : replicas * getCount("mhlo.num_partitions");
  numPartitions = std::max<int64_t>(1, numRanks / replicas);
}

const RankValues::Integers *RankValues::get(Value value) {
  value = throughRegions(value);
  auto found = known.find(value);
  if (found == known.end()) {
    ++depth;
    std::optional<Integers> integers = depth > kDeepestExpression ? std::nullopt : evaluate(value);
    --depth;
    found =
        known.try_emplace(value, integers ? std::make_unique<Integers>(std::move(*integers)) : nullptr).first;
  }
  return found->second.get();
}

std::optional<int64_t> RankValues::getScalar(Value value, int64_t rank) {
  // Ranks come from the groups of a program that is not verified yet.
  if (rank < 0 || rank >= numRanks)
    return std::nullopt;
  const Integers *integers = get(value);
  if (!integers || integers->of(rank).size() != 1)
    return std::nullopt;
  return toNumber(integers->of(rank)[0], isUnsigned(value.getType()));
}

std::optional<RankValues::Integers> RankValues::evaluate(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || !getSmallIntegers(value) || result.getOwner()->getNumRegions() > 0 ||
      result.getOwner()->getNumResults() > 1)
    return std::nullopt;
  SmallVector<const Integers *> operands;
  for (Value operand : result.getOwner()->getOperands()) {
    operands.push_back(get(operand));
    if (!operands.back())
      return std::nullopt;
  }
  return evaluate(result.getOwner(), operands);
}

std::optional<RankValues::Integers> RankValues::evaluate(Operation *op,
                                                         ArrayRef<const Integers *> operands) const {
  if (op->getNumRegions() > 0 || op->getNumResults() != 1)
    return std::nullopt;
  RankedTensorType type = getSmallIntegers(op->getResult(0));
  if (!type)
    return std::nullopt;
  if (isa<stablehlo::PartitionIdOp, stablehlo::ReplicaIdOp>(op)) {
    std::vector<Elements> ids;
    for (int64_t rank = 0; rank < numRanks; ++rank)
      ids.push_back({APInt(64, isa<stablehlo::ReplicaIdOp>(op) ? rank / numPartitions : rank % numPartitions)
                         .zextOrTrunc(type.getElementTypeBitWidth())});
    return Integers(std::move(ids));
  }
  const bool isUniform = llvm::all_of(operands, [](const Integers *each) { return each->isUniform(); });
  if (!isUniform && type.getNumElements() * numRanks > (int64_t(1) << 22))
    return std::nullopt;
  std::vector<Elements> byRank;
  for (int64_t rank = 0, e = isUniform ? 1 : numRanks; rank < e; ++rank) {
    SmallVector<Elements> onRank;
    for (const Integers *operand : operands)
      onRank.push_back(operand->of(rank).vec());
    std::optional<Elements> elements = Evaluation(op, std::move(onRank)).run();
    if (!elements)
      return std::nullopt;
    byRank.push_back(std::move(*elements));
  }
  return Integers(std::move(byRank));
}
