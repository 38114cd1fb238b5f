//===-- Einsum.cpp - Older forms of products and gathers -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Expansions.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace cgx {
namespace {

/// The names of a tensor's dimensions: letters, and for those that an ellipsis stands for numbers beyond
/// them, counted from its end.
using Names = SmallVector<int64_t>;

constexpr StringLiteral ellipsis = "...";
constexpr int64_t endOfEllipsis = 1 << 20;

/// Returns the names that `text` gives to `rank` dimensions; without a rank, an ellipsis stands for `unnamed`
/// ones.
std::optional<Names> namesIn(StringRef text, std::optional<int64_t> rank, int64_t unnamed) {
  Names names;
  size_t at = text.find(ellipsis);
  if (rank)
    unnamed = at == StringRef::npos ? 0 : *rank - static_cast<int64_t>(text.size() - ellipsis.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == at) {
      for (int64_t j = 0; j < unnamed; ++j)
        names.push_back(endOfEllipsis - unnamed + j);
      i += ellipsis.size() - 1;
    } else if (llvm::isAlpha(text[i])) {
      names.push_back(text[i]);
    } else {
      return std::nullopt;
    }
  }
  if (rank && static_cast<int64_t>(names.size()) != *rank)
    return std::nullopt;
  return names;
}

/// A tensor whose dimensions have names.
struct Named {
  Value value;
  Names names;

  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
  int64_t position(int64_t name) const { return llvm::find(names, name) - names.begin(); }
};

/// Takes diagonals: x[..i..i..] -> sum over the second i of x where both are equal.
void takeDiagonals(ImplicitLocOpBuilder &b, Named &tensor) {
  for (size_t i = 0; i < tensor.names.size(); ++i)
    for (size_t j = tensor.names.size(); --j > i;) {
      if (tensor.names[i] != tensor.names[j])
        continue;
      RankedTensorType type = tensor.type();
      auto numbers = type.clone(b.getI32Type());
      Value row = stablehlo::IotaOp::create(b, numbers, i), column = stablehlo::IotaOp::create(b, numbers, j);
      Value equal =
          stablehlo::CompareOp::create(b, type.clone(b.getI1Type()), row, column,
                                       stablehlo::ComparisonDirection::EQ, /*compare_type=*/nullptr);
      Value diagonal = stablehlo::SelectOp::create(b, type, equal, tensor.value, splatOf(b, type, 0));
      tensor.value = sumOver(b, diagonal, static_cast<int64_t>(j));
      tensor.names.erase(tensor.names.begin() + static_cast<ptrdiff_t>(j));
    }
}

/// Sums over the dimensions whose names are not `kept`.
void sumOthers(ImplicitLocOpBuilder &b, Named &tensor, function_ref<bool(int64_t)> kept) {
  SmallVector<int64_t> dropped;
  for (auto [dim, name] : llvm::enumerate(tensor.names))
    if (!kept(name))
      dropped.push_back(static_cast<int64_t>(dim));
  tensor.value = sumOver(b, tensor.value, dropped);
  llvm::erase_if(tensor.names, [&](int64_t name) { return !kept(name); });
}

/// Transposes the tensor to the order of `names`, which are all of its dimensions.
Value ordered(ImplicitLocOpBuilder &b, const Named &tensor, const Names &names, RankedTensorType type) {
  if (names == tensor.names)
    return tensor.value;
  SmallVector<int64_t> permutation;
  for (int64_t name : names)
    permutation.push_back(tensor.position(name));
  return stablehlo::TransposeOp::create(b, type, tensor.value, permutation);
}

/// Returns whether a product can be written: each name is that of an operand, and none stands twice.
bool isPermutation(const Names &result, const Names &of) {
  Names sorted = result, given = of;
  llvm::sort(sorted);
  llvm::sort(given);
  return sorted == given && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

int64_t unnamedIn(StringRef text, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return text.contains(ellipsis) ? type.getRank() - static_cast<int64_t>(text.size() - ellipsis.size()) : 0;
}

std::string withoutSpaces(StringRef text) {
  std::string result = text.str();
  llvm::erase(result, ' ');
  return result;
}

/// unary_einsum("iij->j") -> diagonals, then sums, then a transpose
struct UnaryEinsumPattern : OpRewritePattern<stablehlo::UnaryEinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::UnaryEinsumOp op, PatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getOperand().getType()), to = cast<RankedTensorType>(op.getType());
    std::string config = withoutSpaces(op.getEinsumConfig());
    auto [operandText, resultText] = StringRef(config).split("->");
    std::optional<Names> names = namesIn(operandText, from.getRank(), 0);
    std::optional<Names> results = namesIn(resultText, std::nullopt, unnamedIn(operandText, op.getOperand()));
    if (!names || !results || !from.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "names that do not match the operand");
    Names distinct = *names;
    llvm::sort(distinct);
    distinct.erase(llvm::unique(distinct), distinct.end());
    llvm::erase_if(distinct, [&](int64_t name) { return !llvm::is_contained(*results, name); });
    if (!isPermutation(*results, distinct) || static_cast<int64_t>(results->size()) != to.getRank())
      return rewriter.notifyMatchFailure(op, "names of the result that the operand has not");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Named tensor{op.getOperand(), *names};
    takeDiagonals(b, tensor);
    sumOthers(b, tensor, [&](int64_t name) { return llvm::is_contained(*results, name); });
    rewriter.replaceOp(op, ordered(b, tensor, *results, to));
    return success();
  }
};

/// einsum("bik,bkj->bij") -> dot_general, its result transposed; what one operand alone has and the result
/// has not is summed before
struct EinsumPattern : OpRewritePattern<stablehlo::EinsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::EinsumOp op, PatternRewriter &rewriter) const override {
    auto lhsType = cast<RankedTensorType>(op.getLhs().getType()),
         rhsType = cast<RankedTensorType>(op.getRhs().getType()), type = cast<RankedTensorType>(op.getType());
    std::string config = withoutSpaces(op.getEinsumConfig());
    auto [operands, resultText] = StringRef(config).split("->");
    auto [lhsText, rhsText] = operands.split(",");
    std::optional<Names> lhsNames = namesIn(lhsText, lhsType.getRank(), 0),
                         rhsNames = namesIn(rhsText, rhsType.getRank(), 0);
    int64_t unnamed = std::max(unnamedIn(lhsText, op.getLhs()), unnamedIn(rhsText, op.getRhs()));
    std::optional<Names> results = namesIn(resultText, std::nullopt, unnamed);
    if (!lhsNames || !rhsNames || !results || !lhsType.hasStaticShape() || !rhsType.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "names that do not match the operands");
    auto isIn = [](const Names &names, int64_t name) { return llvm::is_contained(names, name); };
    DenseMap<int64_t, int64_t> extents;
    auto addExtents = [&](const Names &names, RankedTensorType of) {
      return llvm::all_of(llvm::zip_equal(names, of.getShape()), [&](auto pair) {
        auto [name, extent] = pair;
        return extents.try_emplace(name, extent).first->second == extent;
      });
    };
    if (!addExtents(*lhsNames, lhsType) || !addExtents(*rhsNames, rhsType))
      return rewriter.notifyMatchFailure(op, "one name for two extents");
    for (int64_t name : *results)
      if (!extents.count(name) || llvm::count(*results, name) != 1)
        return rewriter.notifyMatchFailure(op, "names of the result that are not those of an operand");

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Named lhs{op.getLhs(), *lhsNames}, rhs{op.getRhs(), *rhsNames};
    takeDiagonals(b, lhs);
    takeDiagonals(b, rhs);
    sumOthers(b, lhs, [&](int64_t name) { return isIn(*results, name) || isIn(*rhsNames, name); });
    sumOthers(b, rhs, [&](int64_t name) { return isIn(*results, name) || isIn(*lhsNames, name); });
    SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracted, rhsContracted, shape;
    Names batch, lhsFree, rhsFree;
    for (int64_t name : lhs.names) {
      if (!isIn(rhs.names, name)) {
        lhsFree.push_back(name);
      } else if (isIn(*results, name)) {
        batch.push_back(name);
        lhsBatch.push_back(lhs.position(name));
        rhsBatch.push_back(rhs.position(name));
      } else {
        lhsContracted.push_back(lhs.position(name));
        rhsContracted.push_back(rhs.position(name));
      }
    }
    for (int64_t name : rhs.names)
      if (!isIn(lhs.names, name))
        rhsFree.push_back(name);
    Named product;
    for (const Names &names : {batch, lhsFree, rhsFree})
      llvm::append_range(product.names, names);
    for (int64_t name : product.names)
      shape.push_back(extents.lookup(name));
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(b.getContext(), lhsBatch, rhsBatch, lhsContracted,
                                                           rhsContracted);
    product.value = stablehlo::DotGeneralOp::create(b, RankedTensorType::get(shape, type.getElementType()),
                                                    lhs.value, rhs.value, numbers,
                                                    /*precision_config=*/nullptr, /*algorithm=*/nullptr);
    rewriter.replaceOp(op, ordered(b, product, *results, type));
    return success();
  }
};

/// dot(x, y) -> dot_general over the last dimension of x and the first of y
struct DotPattern : OpRewritePattern<stablehlo::DotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::DotOp op, PatternRewriter &rewriter) const override {
    int64_t last = cast<RankedTensorType>(op.getLhs().getType()).getRank() - 1;
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(op.getContext(), /*lhsBatchingDimensions=*/{},
                                                           /*rhsBatchingDimensions=*/{}, last, int64_t(0));
    rewriter.replaceOpWithNewOp<stablehlo::DotGeneralOp>(op, op.getType(), op.getLhs(), op.getRhs(), numbers,
                                                         op.getPrecisionConfigAttr(), /*algorithm=*/nullptr);
    return success();
  }
};

/// torch_index_select(x, i) along `dim` -> gather of slices of extent 1 there; batch dimensions go together
struct TorchIndexSelectPattern : OpRewritePattern<stablehlo::TorchIndexSelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TorchIndexSelectOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getOperand().getType()),
         index = cast<RankedTensorType>(op.getIndex().getType());
    int64_t dim = op.getDim(), batch = op.getBatchDims(), rank = type.getRank();
    if (!type.hasStaticShape() || dim < batch || dim >= rank || batch > index.getRank())
      return rewriter.notifyMatchFailure(op, "dimensions that the operand has not");
    SmallVector<int64_t> batches = llvm::to_vector(llvm::seq<int64_t>(0, batch));
    SmallVector<int64_t> sizes(type.getShape()), offsets = llvm::to_vector(llvm::seq(batch, dim));
    for (int64_t i = 0; i < batch; ++i)
      sizes[i] = 1;
    sizes[dim] = 1;
    int64_t after = dim + index.getRank() - batch;
    llvm::append_range(offsets, llvm::seq(after, after + rank - dim - 1));
    auto numbers =
        stablehlo::GatherDimensionNumbersAttr::get(op.getContext(), offsets, /*collapsedSliceDims=*/dim,
                                                   batches, batches, /*startIndexMap=*/dim, index.getRank());
    rewriter.replaceOpWithNewOp<stablehlo::GatherOp>(op, op.getType(), op.getOperand(), op.getIndex(),
                                                     numbers, sizes, /*indices_are_sorted=*/false);
    return success();
  }
};

} // namespace

void populateEinsumExpansions(RewritePatternSet &patterns) {
  patterns.add<UnaryEinsumPattern, EinsumPattern, DotPattern, TorchIndexSelectPattern>(patterns.getContext());
}

} // namespace cgx
