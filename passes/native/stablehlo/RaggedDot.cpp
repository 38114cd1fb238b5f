//===-- RaggedDot.cpp - Products of groups -----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// JAX exports ragged_dot for GPUs and TPUs; for CPUs it exports the expansion, which is the one made here.
//
//===----------------------------------------------------------------------------===//
#include "Expansions.h"

#include "cgx/Dialect/Stablehlo/ChloDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace cgx {
namespace {

SmallVector<int64_t> behindGroups(ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
}

/// Returns the dimensions that vary the sizes of groups: batches, and those of the kind of the ragged
/// dimension that stand before it.
SmallVector<int64_t> prefixOf(int64_t ragged, ArrayRef<int64_t> batch, ArrayRef<int64_t> sameKind) {
  SmallVector<int64_t> prefix(batch);
  for (int64_t dim : sameKind) {
    if (dim == ragged)
      break;
    prefix.push_back(dim);
  }
  return prefix;
}

/// Splits elements by group: each group alone in a new first dimension of groups, and zeros elsewhere.
class GroupSplitter {
public:
  GroupSplitter(ImplicitLocOpBuilder &b, Value sizes) : b(b), sizes(sizes) {}

  Value split(Value operand, int64_t ragged, ArrayRef<int64_t> prefix) {
    auto type = cast<RankedTensorType>(operand.getType());
    auto sizesType = cast<RankedTensorType>(sizes.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), sizesType.getShape().back());
    RankedTensorType split = RankedTensorType::get(shape, type.getElementType()),
                     numbers = split.clone(sizesType.getElementType());
    SmallVector<int64_t> dims; // where the dimensions of the sizes go
    if (sizesType.getRank() > 1)
      dims = behindGroups(prefix);
    dims.push_back(0);
    Value ends = runningSum();
    Value starts = stablehlo::SubtractOp::create(b, sizesType, ends, sizes);
    Value place = stablehlo::IotaOp::create(b, numbers, ragged + 1);
    auto compared = [&](Value bound, stablehlo::ComparisonDirection direction) -> Value {
      Value spread = stablehlo::BroadcastInDimOp::create(b, numbers, bound, dims);
      return stablehlo::CompareOp::create(b, split.clone(b.getI1Type()), place, spread, direction,
                                          /*compare_type=*/nullptr);
    };
    Value inGroup = stablehlo::AndOp::create(b, split.clone(b.getI1Type()),
                                             compared(starts, stablehlo::ComparisonDirection::GE),
                                             compared(ends, stablehlo::ComparisonDirection::LT));
    SmallVector<int64_t> all = behindGroups(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    Value copies = stablehlo::BroadcastInDimOp::create(b, split, operand, all);
    return stablehlo::SelectOp::create(b, split, inGroup, copies, splatOf(b, split, 0));
  }

private:
  /// Returns running sums of the sizes: element i of the last dimension is the sum of the elements 0 to i.
  Value runningSum() {
    auto type = cast<RankedTensorType>(sizes.getType());
    int64_t rank = type.getRank();
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(shape.back());
    auto square = RankedTensorType::get(shape, type.getElementType());
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    dims.back() = rank; // the summand; before it, the result
    Value summands = stablehlo::BroadcastInDimOp::create(b, square, sizes, dims);
    Value result = stablehlo::IotaOp::create(b, square, rank - 1);
    Value summand = stablehlo::IotaOp::create(b, square, rank);
    Value counts = stablehlo::CompareOp::create(b, square.clone(b.getI1Type()), summand, result,
                                                stablehlo::ComparisonDirection::LE, /*compare_type=*/nullptr);
    Value counted = stablehlo::SelectOp::create(b, square, counts, summands, splatOf(b, square, 0));
    return sumOver(b, counted, rank);
  }

  ImplicitLocOpBuilder &b;
  Value sizes;
};

/// Free dimension: ragged_dot(x, w) -> dot_general(split(x), w), which contracts the groups, too.
/// Contracted: ragged_dot(x, y) -> dot_general(split(x), split(y)), groups being a batch.
/// Batch: ragged_dot(x, y) -> dot_general(x, y).
struct RaggedDotPattern : OpRewritePattern<chlo::RaggedDotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(chlo::RaggedDotOp op, PatternRewriter &rewriter) const override {
    auto isStatic = [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); };
    if (!llvm::all_of(op->getOperandTypes(), isStatic) || !isStatic(op.getType()))
      return rewriter.notifyMatchFailure(op, "dynamic shape");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    chlo::RaggedDotDimensionNumbersAttr numbers = op.getRaggedDotDimensionNumbers();
    SmallVector<int64_t> lhsBatch(numbers.getLhsBatchingDimensions()),
        rhsBatch(numbers.getRhsBatchingDimensions()), lhsContracted(numbers.getLhsContractingDimensions()),
        rhsContracted(numbers.getRhsContractingDimensions());
    Value lhs = op.getLhs(), rhs = op.getRhs();
    int64_t ragged = numbers.getLhsRaggedDimensions().front();
    GroupSplitter groups(b, op.getGroupSizes());

    if (const int64_t *place = llvm::find(lhsContracted, ragged); place != lhsContracted.end()) {
      int64_t rhsRagged = rhsContracted[place - lhsContracted.begin()];
      lhs = groups.split(lhs, ragged, prefixOf(ragged, lhsBatch, lhsContracted));
      rhs = groups.split(rhs, rhsRagged, prefixOf(rhsRagged, rhsBatch, rhsContracted));
      for (SmallVector<int64_t> *dims : {&lhsBatch, &rhsBatch, &lhsContracted, &rhsContracted})
        *dims = behindGroups(*dims);
      for (SmallVector<int64_t> *dims : {&lhsBatch, &rhsBatch})
        dims->insert(dims->begin(), 0);
    } else if (!llvm::is_contained(lhsBatch, ragged)) {
      SmallVector<int64_t> free;
      for (int64_t dim = 0; dim <= ragged; ++dim)
        if (!llvm::is_contained(lhsBatch, dim) && !llvm::is_contained(lhsContracted, dim))
          free.push_back(dim);
      lhs = groups.split(lhs, ragged, prefixOf(ragged, lhsBatch, free));
      lhsBatch = behindGroups(lhsBatch);
      lhsContracted = behindGroups(lhsContracted);
      lhsContracted.push_back(0);
      rhsContracted.push_back(numbers.getRhsGroupDimensions().front());
    }
    auto dims = stablehlo::DotDimensionNumbersAttr::get(b.getContext(), lhsBatch, rhsBatch, lhsContracted,
                                                        rhsContracted);
    rewriter.replaceOpWithNewOp<stablehlo::DotGeneralOp>(op, op.getType(), lhs, rhs, dims,
                                                         /*precision_config=*/nullptr, /*algorithm=*/nullptr);
    return success();
  }
};

} // namespace

void populateRaggedDotExpansions(RewritePatternSet &set) { set.add<RaggedDotPattern>(set.getContext()); }

} // namespace cgx
