//===-- CombineReductions.cpp - one reduction for a sum of several -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For R a sum or a mean over the ranks of a group, and linear maps L, M, P:
//
//   R(a) + R(b)              = R(a + b)
//   R(a) - R(b)              = R(a - b)
//   P(L(R(a))) + P(M(R(b)))  = P(R(L(a) + M(b)))     where L and M are the same on all ranks
//   R(a), R(a)               = R(a), used twice
//
// Every removed reduction saves its bytes. Floats are added in another order: a rank adds its two
// contributions first. A factor that the results share, such as 1/N, stays after the reduction, as it may
// keep a 16-bit sum from being too small.
//
//===----------------------------------------------------------------------===//

#include "CollectiveIds.h"
#include "LinearMaps.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Import.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

namespace cgx {
#define GEN_PASS_DEF_COMBINEREDUCTIONSPASS
#include "cgx/Passes/Import.h.inc"
} // namespace cgx

using namespace mlir;
using namespace cgx;

namespace {

/// The properties that reductions share if they may become one.
using CombineKey = std::tuple<Reduction, Algorithm, Attribute, Attribute, Attribute, Attribute, Attribute>;

CombineKey getCombineKey(AllReduceOp op, unsigned operand) {
  ArrayAttr reasons = op.getExactReasonsAttr();
  return {op.getReduction(),
          op.getAlgorithm(),
          op.getGroups(),
          op.getHierarchyAttr(),
          op.getCodecs()[operand],
          op.getLayers()[operand],
          reasons ? reasons[operand] : Attribute()};
}

/// A summand of a tree of additions and subtractions.
struct Term {
  Value value;
  bool isNegative;
};

bool isSum(Operation *op) { return op && isa<stablehlo::AddOp, stablehlo::SubtractOp>(op); }

/// Returns the addition or subtraction of the block that makes `value` for one other alone, else null.
Operation *getInnerSum(Value value, Block *block) {
  Operation *op = value.getDefiningOp();
  return isSum(op) && op->getBlock() == block && value.hasOneUse() ? op : nullptr;
}

void collectTerms(Operation *sum, bool isNegative, SmallVectorImpl<Term> &terms) {
  for (OpOperand &operand : sum->getOpOperands()) {
    bool flips = operand.getOperandNumber() == 1 && isa<stablehlo::SubtractOp>(sum);
    if (Operation *inner = getInnerSum(operand.get(), sum->getBlock()))
      collectTerms(inner, isNegative != flips, terms);
    else
      terms.push_back({operand.get(), isNegative != flips});
  }
}

uint64_t getBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * cgx_element_bytes(*getCodecElementType(tensor.getElementType()));
}

/// A term that is made of a reduction.
struct ReducedTerm {
  unsigned position; ///< among the terms
  MappedReduction reduction;
};

/// One sum, and the terms of it that can be reduced together.
class SumCombiner {
public:
  SumCombiner(Operation *root, CollectiveIds &ids) : root(root), builder(root), ids(ids) {}

  /// Combines the terms of the sum, and returns whether anything was combined; the root is then gone.
  bool run() {
    collectTerms(root, /*isNegative=*/false, terms);
    llvm::MapVector<CombineKey, SmallVector<ReducedTerm>> byKey;
    for (auto [position, term] : llvm::enumerate(terms))
      if (std::optional<MappedReduction> reduction = matchMappedReduction(term.value, root->getBlock()))
        byKey[getCombineKey(reduction->reduce, reduction->operand)].push_back(
            {static_cast<unsigned>(position), *reduction});
    bool changes = false;
    for (auto &[key, reduced] : byKey)
      changes |= combine(reduced);
    if (changes)
      rebuild();
    return changes;
  }

private:
  bool combine(SmallVector<ReducedTerm> &reduced) {
    if (reduced.size() < 2)
      return false;
    SmallVector<Operation *> outer = takeCommonMaps(reduced);
    llvm::erase_if(reduced, [](ReducedTerm &term) {
      return !llvm::all_of(term.reduction.maps, [](Operation *map) { return commutesWithRanks(map); });
    });
    if (reduced.size() < 2)
      return false;
    Type type = reduced[0].reduction.maps.empty() ? reduced[0].reduction.getInput().getType()
                                                  : reduced[0].reduction.maps.back()->getResult(0).getType();
    uint64_t bytes = 0;
    for (ReducedTerm &term : reduced)
      bytes += getBytes(term.reduction.getInput().getType());
    if (getBytes(type) > bytes || !getCodecElementType(getElementTypeOrSelf(type)))
      return false; // A wider type would cost more than it saves.

    Value local = addLocally(reduced);
    Value total = reduce(local, reduced);
    for (Operation *map : outer)
      total = applyMap(builder, map, total);
    terms[reduced[0].position].value = total;
    for (const ReducedTerm &term : ArrayRef(reduced).drop_front())
      terms[term.position].value = {};
    return true;
  }

  /// Takes the maps that all terms end in off the ends of their chains: these may stay after the reduction. A
  /// convert to a wider type may not, since the sum would be taken in the narrow one.
  SmallVector<Operation *> takeCommonMaps(SmallVector<ReducedTerm> &reduced) {
    SmallVector<Operation *> common;
    auto isCommon = [&] {
      return llvm::all_of(reduced, [&](ReducedTerm &term) {
        return !term.reduction.maps.empty() &&
               areSameMap(term.reduction.maps.back(), reduced[0].reduction.maps.back());
      });
    };
    while (isCommon()) {
      Operation *map = reduced[0].reduction.maps.back();
      if (isa<stablehlo::ConvertOp>(map) && commutesWithRanks(map))
        break;
      common.push_back(map);
      for (ReducedTerm &term : reduced)
        term.reduction.maps.pop_back();
    }
    std::reverse(common.begin(), common.end());
    return common;
  }

  /// Returns the rank's own sum, with the sign that makes its first term positive.
  Value addLocally(ArrayRef<ReducedTerm> reduced) {
    Value sum;
    for (ReducedTerm term : reduced) {
      Value value = term.reduction.getInput();
      for (Operation *map : term.reduction.maps)
        value = applyMap(builder, map, value);
      bool isSubtracted = terms[term.position].isNegative != terms[reduced[0].position].isNegative;
      sum = sum ? add(sum, value, isSubtracted) : value;
    }
    return sum;
  }

  Value add(Value a, Value b, bool isSubtracted) {
    if (isSubtracted)
      return stablehlo::SubtractOp::create(builder, root->getLoc(), a.getType(), a, b);
    return stablehlo::AddOp::create(builder, root->getLoc(), a.getType(), a, b);
  }

  Value reduce(Value local, ArrayRef<ReducedTerm> reduced) {
    SmallVector<Location> locations;
    for (ReducedTerm term : reduced)
      locations.push_back(term.reduction.reduce.getLoc());
    AllReduceOp model = reduced[0].reduction.reduce;
    unsigned operand = reduced[0].reduction.operand;
    auto combined = AllReduceOp::create(
        builder, builder.getFusedLoc(locations), local.getType(), local, model.getReduction(), ids.take(),
        model.getGroups(), builder.getArrayAttr(model.getCodecs()[operand]),
        builder.getArrayAttr(model.getLayers()[operand]), model.getAlgorithm(), model.getHierarchyAttr(),
        getExactReasons(model, operand));
    return combined.getResult(0);
  }

  /// Builds the sum of the terms that are left, in the place of the root. The first one exists and is
  /// positive: it comes from the root's left operand.
  void rebuild() {
    Value sum;
    for (const Term &term : terms)
      if (term.value)
        sum = sum ? add(sum, term.value, term.isNegative) : term.value;
    root->getResult(0).replaceAllUsesWith(sum);
    llvm::MapVector<AllReduceOp, SmallVector<unsigned>> dropped;
    eraseUnused(root, dropped);
    for (auto &[reduce, positions] : dropped)
      dropOperands(reduce, positions);
  }

  /// Erases sums and maps that only made the terms, and collects the operands of reductions that are not
  /// needed any more.
  static void eraseUnused(Operation *op, llvm::MapVector<AllReduceOp, SmallVector<unsigned>> &dropped) {
    if (!op->use_empty() || !(isSum(op) || getLinearOperand(op)))
      return;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands) {
      auto result = dyn_cast<OpResult>(operand);
      auto reduce = result ? dyn_cast<AllReduceOp>(result.getOwner()) : nullptr;
      if (reduce && result.use_empty())
        dropped[reduce].push_back(result.getResultNumber());
      else if (result && !reduce)
        eraseUnused(result.getOwner(), dropped);
    }
  }

  Operation *root;
  OpBuilder builder;
  CollectiveIds &ids;
  SmallVector<Term> terms;
};

struct CombineReductions : cgx::impl::CombineReductionsPassBase<CombineReductions> {
  void runOnOperation() override {
    CollectiveIds ids(getOperation());
    getOperation().walk([&](Block *block) { shareEqual(*block); });
    // A sum that was combined may be a term of the next one: roots in program order.
    SmallVector<Operation *> roots;
    getOperation().walk([&](Operation *op) {
      if (isRoot(op))
        roots.push_back(op);
    });
    for (Operation *root : roots)
      SumCombiner(root, ids).run();
  }

private:
  /// Returns whether an op is a sum of numbers that is no term of another one.
  static bool isRoot(Operation *op) {
    if (!isSum(op))
      return false;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || type.getElementType().isInteger(1))
      return false;
    return !op->hasOneUse() || !isSum(*op->user_begin()) || (*op->user_begin())->getBlock() != op->getBlock();
  }

  /// Shares equal reductions: R(a), R(a) -> R(a).
  static void shareEqual(Block &block) {
    llvm::DenseMap<Value, SmallVector<std::pair<CombineKey, Value>>> results;
    llvm::MapVector<AllReduceOp, SmallVector<unsigned>> duplicates;
    for (auto op : block.getOps<AllReduceOp>())
      for (auto [i, input] : llvm::enumerate(op.getInputs())) {
        auto &known = results[input];
        CombineKey key = getCombineKey(op, i);
        auto *same = llvm::find_if(known, [&](auto &entry) { return entry.first == key; });
        if (same == known.end()) {
          known.push_back({key, op.getResult(i)});
          continue;
        }
        op.getResult(i).replaceAllUsesWith(same->second);
        duplicates[op].push_back(i);
      }
    for (auto &[op, positions] : duplicates)
      dropOperands(op, positions);
  }
};

} // namespace
