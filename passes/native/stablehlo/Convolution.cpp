//===-- Convolution.cpp - Convolutions -------------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// Convolutions of one group, and their gradients, are computed by the runtime if it has oneDNN
// (LibraryConvolution.cpp). The others, small ones and those of numbers that are no floats, are lowered here:
//
// The input is padded and dilated in memory, so that every read of a window is affine in the loops.
//
// One group: the windows are copied side by side into a matrix of patches, whose product with the kernel is
// the result. Rows (or columns) of the patches are the places of the output, columns (or rows) those of the
// kernel, both in the order of memory, so that neither the kernel nor, in most layouts, the result moves.
// The kernel's gradient is such a convolution with the roles of batch and features exchanged.
//
// Groups: a loop nest, whose products would be too thin for BLAS.
//
//===----------------------------------------------------------------------------===//
#include "Contractions.h"
#include "Conversion.h"
#include "LibraryConvolution.h"
#include "ScalarConvert.h"
#include "Window.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace cgx {
namespace {

SmallVector<int64_t> allBut(int64_t rank, int64_t excluded) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != excluded)
      dims.push_back(dim);
  return dims;
}

int64_t positionOf(ArrayRef<int64_t> dims, int64_t dim) { return llvm::find(dims, dim) - dims.begin(); }

/// One convolution: its padded input, the kernel, and what their dimensions mean.
class Convolution {
public:
  Convolution(stablehlo::ConvolutionOp op, Value lhs, Value kernel, RankedTensorType type, OpBuilder &b)
      : op(op), numbers(op.getDimensionNumbers()), b(b), loc(op.getLoc()), kernel(kernel), type(type) {
    auto inputType = cast<RankedTensorType>(lhs.getType());
    kernelType = cast<RankedTensorType>(kernel.getType());
    SmallVector<int64_t> sizes;
    for (int64_t dim : numbers.getKernelSpatialDimensions())
      sizes.push_back(kernelType.getDimSize(dim));
    windows =
        windowsOf(sizes, op.getWindowStrides(), op.getPadding(), op.getLhsDilation(), op.getRhsDilation());
    if (std::optional<ArrayRef<bool>> reversal = op.getWindowReversal())
      for (auto [window, reversed] : llvm::zip_equal(windows, *reversal))
        window.reversed = reversed;
    SmallVector<Window> ofInput(inputType.getRank());
    for (auto [window, dim] : llvm::zip_equal(windows, numbers.getInputSpatialDimensions()))
      ofInput[dim] = window;
    input = paddedFor(ofInput, b, loc, lhs, zeroOf(b, loc, inputType.getElementType()));
    outputDims = allBut(type.getRank(), numbers.getOutputFeatureDimension());
    kernelDims = allBut(type.getRank(), numbers.getKernelOutputFeatureDimension());
  }

  /// Returns the result of a convolution of one group. Null where elements are no numbers.
  Value asProduct() {
    int64_t rank = type.getRank(), spatial = rank - 2;
    Value result;
    SmallVector<int64_t> order; // of the result: output dimensions
    if (llvm::all_of(windows, [](const Window &window) { return window.isTrivial(); })) {
      // A product at each place: the input is its own patches.
      SmallVector<int64_t> meaning(rank, -1);
      meaning[numbers.getInputBatchDimension()] = numbers.getOutputBatchDimension();
      for (int64_t i = 0; i < spatial; ++i)
        meaning[numbers.getInputSpatialDimensions()[i]] = numbers.getOutputSpatialDimensions()[i];
      for (int64_t dim : allBut(rank, numbers.getInputFeatureDimension()))
        order.push_back(meaning[dim]);
      int64_t feature = numbers.getKernelInputFeatureDimension();
      Value matrix = withoutUnitDims(b, loc, kernel, [&](int64_t dim) {
        return dim != feature && dim != numbers.getKernelOutputFeatureDimension();
      });
      int64_t contracted = feature < numbers.getKernelOutputFeatureDimension() ? 0 : 1;
      result = contractOf(input, matrix, {numbers.getInputFeatureDimension()}, {contracted}, order);
    } else {
      order = outputDims;
      bool placesFirst = numbers.getInputFeatureDimension() == rank - 1;
      SmallVector<int64_t> columns(rank - 1);
      std::iota(columns.begin(), columns.end(), placesFirst ? rank - 1 : 0);
      result = contractOf(patches(placesFirst), kernel, columns, kernelDims, order);
    }
    if (!result)
      return nullptr;
    order.push_back(numbers.getOutputFeatureDimension());
    SmallVector<int64_t> permutation;
    for (int64_t dim = 0; dim < rank; ++dim)
      permutation.push_back(positionOf(order, dim));
    return transposed(b, loc, result, permutation);
  }

  /// Returns the result of a convolution of several groups. Null where elements are no numbers.
  Value asLoops() {
    Type accumulator = accumulatorOf(b, type.getElementType());
    if (!accumulator.isIntOrFloat() || accumulator.isInteger(1))
      return nullptr;
    int64_t rank = type.getRank(), groups = std::max(op.getFeatureGroupCount(), op.getBatchGroupCount());
    bool ofFeatures = op.getFeatureGroupCount() > 1;
    int64_t grouped = ofFeatures ? numbers.getInputFeatureDimension() : numbers.getInputBatchDimension();
    // Loops over the output's places, the kernel's places, the group, the features of a group.
    int64_t loops = 2 * rank;
    AffineExpr group = b.getAffineDimExpr(loops - 2), feature = b.getAffineDimExpr(loops - 1);
    auto map = [&](ArrayRef<AffineExpr> exprs, int64_t split) {
      SmallVector<AffineExpr> results(exprs);
      results.insert(results.begin() + split, group);
      return AffineMap::get(loops, 0, results, b.getContext());
    };
    int64_t ofKernel = numbers.getKernelOutputFeatureDimension(),
            ofOutput = numbers.getOutputFeatureDimension();
    SmallVector<AffineExpr> kernelExprs(rank, feature), outputExprs(rank, feature);
    for (auto [loop, dim] : llvm::enumerate(outputDims))
      outputExprs[dim] = b.getAffineDimExpr(loop);
    for (auto [loop, dim] : llvm::enumerate(kernelDims))
      kernelExprs[dim] = b.getAffineDimExpr(rank - 1 + loop);
    AffineMap maps[] = {map(inputExprs(0, rank - 1), grouped), map(kernelExprs, ofKernel),
                        map(outputExprs, ofOutput)};
    SmallVector<utils::IteratorType> iterators = parallel(loops);
    std::fill_n(iterators.begin() + rank - 1, rank - 1, utils::IteratorType::reduction);

    auto sums = RankedTensorType::get(splitShape(type, ofOutput, groups), accumulator);
    Value zeros = filledTensor(b, loc, sums, zeroOf(b, loc, accumulator));
    Type lhsType = getElementTypeOrSelf(op.getLhs().getType()),
         rhsType = getElementTypeOrSelf(op.getRhs().getType());
    Type wide = isa<FloatType>(accumulator) ? accumulator : getElementTypeOrSelf(op.getType());
    Value result =
        linalg::GenericOp::create(
            b, loc, TypeRange{sums},
            ValueRange{split(input, grouped, groups), split(kernel, ofKernel, groups)}, ValueRange{zeros},
            maps, iterators,
            [&](OpBuilder &builder, Location loc, ValueRange in) {
              ImplicitLocOpBuilder b(loc, builder);
              Value x = convertScalar(b, in[0], lhsType, wide), w = convertScalar(b, in[1], rhsType, wide);
              Value sum = isa<FloatType>(accumulator)
                              ? arith::AddFOp::create(b, in[2], arith::MulFOp::create(b, x, w)).getResult()
                              : arith::AddIOp::create(b, in[2], arith::MulIOp::create(b, x, w)).getResult();
              linalg::YieldOp::create(b, sum);
            })
            .getResult(0);
    result = reshaped(b, loc, result, type.getShape());
    return withElement(b, loc, result, type.getElementType());
  }

private:
  /// Returns where the input is read, given the numbers of the first loop over the output's places and of the
  /// first over the kernel's.
  SmallVector<AffineExpr> inputExprs(int64_t firstPlace, int64_t firstColumn) {
    auto place = [&](int64_t dim) { return b.getAffineDimExpr(firstPlace + positionOf(outputDims, dim)); };
    auto column = [&](int64_t dim) { return b.getAffineDimExpr(firstColumn + positionOf(kernelDims, dim)); };
    SmallVector<AffineExpr> exprs(type.getRank());
    exprs[numbers.getInputBatchDimension()] = place(numbers.getOutputBatchDimension());
    exprs[numbers.getInputFeatureDimension()] = column(numbers.getKernelInputFeatureDimension());
    for (auto [i, window] : llvm::enumerate(windows))
      exprs[numbers.getInputSpatialDimensions()[i]] = window.at(
          place(numbers.getOutputSpatialDimensions()[i]), column(numbers.getKernelSpatialDimensions()[i]));
    return exprs;
  }

  /// Returns the windows side by side: (places, columns), or the other way round.
  Value patches(bool placesFirst) {
    int64_t half = type.getRank() - 1;
    SmallVector<int64_t> shape(2 * half);
    for (int64_t i = 0; i < half; ++i) {
      shape[placesFirst ? i : half + i] = type.getDimSize(outputDims[i]);
      shape[placesFirst ? half + i : i] = kernelType.getDimSize(kernelDims[i]);
    }
    auto result = RankedTensorType::get(shape, getElementTypeOrSelf(input.getType()));
    AffineMap maps[] = {AffineMap::get(2 * half, 0,
                                       inputExprs(placesFirst ? 0 : half, placesFirst ? half : 0),
                                       b.getContext()),
                        b.getMultiDimIdentityMap(2 * half)};
    return linalg::GenericOp::create(
               b, loc, TypeRange{result}, ValueRange{input}, ValueRange{emptyTensor(b, loc, result)}, maps,
               parallel(2 * half),
               [](OpBuilder &b, Location loc, ValueRange in) { linalg::YieldOp::create(b, loc, in[0]); })
        .getResult(0);
  }

  /// Returns the product with dimensions `order`, of the output, and the features.
  Value contractOf(Value lhs, Value rhs, ArrayRef<int64_t> lhsContracted, ArrayRef<int64_t> rhsContracted,
                   ArrayRef<int64_t> order) {
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(type.getDimSize(dim));
    shape.push_back(type.getDimSize(numbers.getOutputFeatureDimension()));
    return contract(b, loc, lhs, rhs,
                    {{}, {}, SmallVector<int64_t>(lhsContracted), SmallVector<int64_t>(rhsContracted)},
                    RankedTensorType::get(shape, type.getElementType()));
  }

  static SmallVector<int64_t> splitShape(RankedTensorType type, int64_t dim, int64_t groups) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= groups;
    shape.insert(shape.begin() + dim, groups);
    return shape;
  }

  /// Splits the dimension `dim` into two: the group, and the place in a group.
  Value split(Value tensor, int64_t dim, int64_t groups) {
    return reshaped(b, loc, tensor, splitShape(cast<RankedTensorType>(tensor.getType()), dim, groups));
  }

  stablehlo::ConvolutionOp op;
  stablehlo::ConvDimensionNumbersAttr numbers;
  OpBuilder &b;
  Location loc;
  Value input, kernel;
  RankedTensorType type, kernelType;
  SmallVector<Window> windows;                 // one for each spatial dimension
  SmallVector<int64_t> outputDims, kernelDims; // without the output's features
};

struct ConvolutionPattern : OpConversionPattern<stablehlo::ConvolutionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    if (!type.getElementType().isIntOrFloat())
      return rewriter.notifyMatchFailure(op, "not a convolution of numbers");
    auto isEmpty = [](Value tensor) {
      return cast<RankedTensorType>(tensor.getType()).getNumElements() == 0;
    };
    if (type.getNumElements() == 0 || isEmpty(adaptor.getLhs()) || isEmpty(adaptor.getRhs())) {
      Value zero = zeroOf(rewriter, op.getLoc(), type.getElementType());
      rewriter.replaceOp(op, filledTensor(rewriter, op.getLoc(), type, zero));
      return success();
    }
    if (Value result = libraryConvolution(rewriter, op, adaptor.getLhs(), adaptor.getRhs(), type)) {
      rewriter.replaceOp(op, result);
      return success();
    }
    Convolution convolution(op, adaptor.getLhs(), adaptor.getRhs(), type, rewriter);
    bool grouped = op.getFeatureGroupCount() > 1 || op.getBatchGroupCount() > 1;
    Value result = grouped ? convolution.asLoops() : convolution.asProduct();
    if (!result)
      return rewriter.notifyMatchFailure(op, "not a convolution of numbers");
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void populateConvolutionPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvolutionPattern>(converter, patterns.getContext());
}

} // namespace cgx
