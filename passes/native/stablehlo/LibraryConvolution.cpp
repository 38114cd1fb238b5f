//===-- LibraryConvolution.cpp - Convolutions that the runtime computes -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------===//
//
// StableHLO has one operation for three of a library: a convolution, its gradient with respect to the input,
// and that with respect to the kernel. An input that is dilated is the output's gradient under a stride, and
// is convolved with the reversed kernel. A window that covers more than the result is the output's gradient,
// too: batch and features of the input are exchanged, strides are dilations, and the result is the kernel's
// gradient.
//
// A tensor is described by its strides, so that no layout is moved here.
//
//===------------------------------------------------------------------------------===//
#include "LibraryConvolution.h"
#include "Contractions.h"
#include "Conversion.h"
#include "ir/RuntimeOps.h"

#include "cgx/native.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cstring>
#include <optional>

using namespace mlir;

namespace cgx {
namespace {

/// The size below which a loop nest or a product is faster than the library's setup.
constexpr int64_t minMultiplications = 1 << 16;

constexpr int64_t dimensions = CGX_CONVOLUTION_DIMENSIONS;

/// The attributes of one spatial dimension in StableHLO.
struct Extent {
  int64_t lhs, rhs, result, stride, low, high, lhsDilation, rhsDilation;
  bool isReversed;
};

SmallVector<Extent> extentsOf(stablehlo::ConvolutionOp op, RankedTensorType lhs, RankedTensorType rhs,
                              RankedTensorType type) {
  stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<Extent> result;
  auto at = [](std::optional<ArrayRef<int64_t>> values, size_t i, int64_t otherwise) {
    return values ? (*values)[i] : otherwise;
  };
  std::optional<DenseIntElementsAttr> padding = op.getPadding();
  for (size_t i = 0; i < numbers.getInputSpatialDimensions().size(); ++i) {
    auto pad = [&](size_t side) -> int64_t {
      return padding ? padding->getValues<int64_t>()[2 * i + side] : 0;
    };
    result.push_back({lhs.getDimSize(numbers.getInputSpatialDimensions()[i]),
                      rhs.getDimSize(numbers.getKernelSpatialDimensions()[i]),
                      type.getDimSize(numbers.getOutputSpatialDimensions()[i]),
                      at(op.getWindowStrides(), i, 1), pad(0), pad(1), at(op.getLhsDilation(), i, 1),
                      at(op.getRhsDilation(), i, 1), op.getWindowReversal() && (*op.getWindowReversal())[i]});
  }
  return result;
}

/// Steps in row-major memory.
cgx_convolution_strides stridesOf(RankedTensorType type, int64_t first, int64_t second,
                                  ArrayRef<int64_t> places) {
  auto step = [&](int64_t dim) { return llvm::product_of(type.getShape().drop_front(dim + 1)); };
  cgx_convolution_strides result = {step(first), step(second), {}};
  for (int64_t &missing : result.places)
    missing = type.getNumElements();
  for (auto [i, dim] : llvm::enumerate(places))
    result.places[dimensions - places.size() + i] = step(dim);
  return result;
}

/// True if libcgx_native was built with oneDNN.
#ifdef CGX_HAS_DNNL
constexpr bool callsLibrary = true;
#else
constexpr bool callsLibrary = false;
#endif

Value reversed(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<AffineExpr> from;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr place = b.getAffineDimExpr(dim);
    from.push_back(llvm::is_contained(dims, dim) ? type.getDimSize(dim) - 1 - place : place);
  }
  AffineMap maps[] = {AffineMap::get(type.getRank(), 0, from, b.getContext()),
                      b.getMultiDimIdentityMap(type.getRank())};
  return linalg::GenericOp::create(
             b, loc, TypeRange{type}, ValueRange{tensor}, ValueRange{emptyTensor(b, loc, type)}, maps,
             parallel(type.getRank()),
             [](OpBuilder &b, Location loc, ValueRange in) { linalg::YieldOp::create(b, loc, in[0]); })
      .getResult(0);
}

/// Returns whether the output's size follows from the other sizes, as the runtime requires.
bool isConsistent(const cgx_convolution &c) {
  for (int64_t i = 0; i < dimensions; ++i) {
    int64_t read = (c.kernel_size[i] - 1) * c.dilation[i] + 1;
    int64_t high = std::max<int64_t>((c.out_size[i] - 1) * c.stride[i] + read - c.in_size[i] - c.low[i], 0);
    int64_t free = c.in_size[i] + c.low[i] + high - read;
    if (c.low[i] < 0 || free < 0 || free / c.stride[i] + 1 != c.out_size[i])
      return false;
  }
  return true;
}

class Description {
public:
  Description(stablehlo::ConvolutionOp op, RankedTensorType lhs, RankedTensorType rhs, RankedTensorType type)
      : numbers(op.getDimensionNumbers()), lhs(lhs), rhs(rhs), type(type),
        extents(extentsOf(op, lhs, rhs, type)) {}

  /// Returns the convolution that the runtime computes, or nothing if it cannot.
  std::optional<cgx_convolution> get() {
    int64_t window = 1, covered = 1;
    bool isProduct = true;
    for (const Extent &e : extents) {
      window *= e.rhs;
      covered *= e.result;
      isProduct &= e.rhs == 1 && e.stride == 1 && e.low == 0 && e.high == 0 && e.lhsDilation == 1;
    }
    if (isProduct)
      return std::nullopt; // at each place, for BLAS
    if (llvm::any_of(extents, [](const Extent &e) { return e.lhsDilation != 1; }))
      describeInputGradient();
    else if (window > covered)
      describeKernelGradient();
    else
      describeOutput();
    return isConsistent(c) ? std::optional(c) : std::nullopt;
  }

  /// Returns the spatial dimensions of the kernel to turn round before.
  SmallVector<int64_t> getReversedDims() const {
    SmallVector<int64_t> dims;
    for (auto [e, dim] : llvm::zip_equal(extents, numbers.getKernelSpatialDimensions()))
      if (e.isReversed != (c.kind == CGX_CONVOLUTION_INPUT_GRADIENT) && e.rhs > 1)
        dims.push_back(dim);
    return dims;
  }

private:
  cgx_convolution_strides lhsStrides(bool swapped) const {
    int64_t batch = numbers.getInputBatchDimension(), feature = numbers.getInputFeatureDimension();
    return stridesOf(lhs, swapped ? feature : batch, swapped ? batch : feature,
                     numbers.getInputSpatialDimensions());
  }
  cgx_convolution_strides rhsStrides(bool inputFirst) const {
    int64_t in = numbers.getKernelInputFeatureDimension(), out = numbers.getKernelOutputFeatureDimension();
    return stridesOf(rhs, inputFirst ? in : out, inputFirst ? out : in, numbers.getKernelSpatialDimensions());
  }
  cgx_convolution_strides resultStrides(bool swapped) const {
    int64_t batch = numbers.getOutputBatchDimension(), feature = numbers.getOutputFeatureDimension();
    return stridesOf(type, swapped ? feature : batch, swapped ? batch : feature,
                     numbers.getOutputSpatialDimensions());
  }

  void fill(int64_t *values, llvm::function_ref<int64_t(const Extent &)> of, int64_t missing = 1) {
    std::fill_n(values, dimensions, missing);
    for (auto [i, e] : llvm::enumerate(extents))
      values[dimensions - extents.size() + i] = of(e);
  }

  void describeOutput() {
    c.kind = CGX_CONVOLUTION_OUTPUT;
    c.samples = lhs.getDimSize(numbers.getInputBatchDimension());
    c.in_features = lhs.getDimSize(numbers.getInputFeatureDimension());
    c.out_features = type.getDimSize(numbers.getOutputFeatureDimension());
    fill(c.in_size, [](const Extent &e) { return e.lhs; });
    fill(c.kernel_size, [](const Extent &e) { return e.rhs; });
    fill(c.out_size, [](const Extent &e) { return e.result; });
    fill(c.stride, [](const Extent &e) { return e.stride; });
    fill(c.dilation, [](const Extent &e) { return e.rhsDilation; });
    fill(c.low, [](const Extent &e) { return e.high < 0 ? -1 : e.low; }, 0);
    c.input = lhsStrides(false);
    c.kernel = rhsStrides(false);
    c.output = resultStrides(false);
  }

  void describeInputGradient() {
    c.kind = CGX_CONVOLUTION_INPUT_GRADIENT;
    c.samples = lhs.getDimSize(numbers.getInputBatchDimension());
    c.out_features = lhs.getDimSize(numbers.getInputFeatureDimension());
    c.in_features = type.getDimSize(numbers.getOutputFeatureDimension());
    fill(c.in_size, [](const Extent &e) { return e.result; });
    fill(c.kernel_size, [](const Extent &e) { return e.rhs; });
    fill(c.out_size, [](const Extent &e) { return e.lhs; });
    fill(c.stride, [](const Extent &e) { return e.lhsDilation; });
    fill(c.dilation, [](const Extent &e) { return e.rhsDilation; });
    fill(c.low, [](const Extent &e) { return e.stride != 1 ? -1 : (e.rhs - 1) * e.rhsDilation - e.low; }, 0);
    c.input = resultStrides(false);
    c.kernel = rhsStrides(true);
    c.output = lhsStrides(false);
  }

  void describeKernelGradient() {
    c.kind = CGX_CONVOLUTION_KERNEL_GRADIENT;
    c.samples = lhs.getDimSize(numbers.getInputFeatureDimension());
    c.in_features = lhs.getDimSize(numbers.getInputBatchDimension());
    c.out_features = type.getDimSize(numbers.getOutputFeatureDimension());
    fill(c.in_size, [](const Extent &e) { return e.lhs; });
    fill(c.kernel_size, [](const Extent &e) { return e.result; });
    fill(c.out_size, [](const Extent &e) { return e.rhs; });
    fill(c.stride, [](const Extent &e) { return e.rhsDilation; });
    fill(c.dilation, [](const Extent &e) { return e.stride; });
    fill(c.low, [](const Extent &e) { return e.isReversed ? -1 : e.low; }, 0);
    c.input = lhsStrides(true);
    c.kernel = resultStrides(true);
    c.output = rhsStrides(true);
  }

  stablehlo::ConvDimensionNumbersAttr numbers;
  RankedTensorType lhs, rhs, type;
  SmallVector<Extent> extents;
  cgx_convolution c = {};
};

} // namespace

Value libraryConvolution(OpBuilder &b, stablehlo::ConvolutionOp op, Value lhs, Value rhs,
                         RankedTensorType type) {
  if (!callsLibrary)
    return nullptr;
  auto lhsType = cast<RankedTensorType>(lhs.getType()), rhsType = cast<RankedTensorType>(rhs.getType());
  auto isFloat = [](RankedTensorType type) {
    return isa<Float32Type, Float16Type, BFloat16Type>(type.getElementType());
  };
  int64_t rank = type.getRank();
  if (rank < 3 || rank > dimensions + 2 || op.getFeatureGroupCount() > 1 || op.getBatchGroupCount() > 1 ||
      !isFloat(lhsType) || !isFloat(rhsType) || !isFloat(type))
    return nullptr;
  int64_t perElement = rhsType.getNumElements() /
                       rhsType.getDimSize(op.getDimensionNumbers().getKernelOutputFeatureDimension());
  if (type.getNumElements() * perElement < minMultiplications)
    return nullptr;
  Description description(op, lhsType, rhsType, type);
  std::optional<cgx_convolution> convolution = description.get();
  if (!convolution)
    return nullptr;

  Location loc = op.getLoc();
  Type f32 = b.getF32Type();
  if (SmallVector<int64_t> dims = description.getReversedDims(); !dims.empty())
    rhs = reversed(b, loc, rhs, dims);
  SmallVector<int64_t> numbers(sizeof(cgx_convolution) / sizeof(int64_t));
  std::memcpy(numbers.data(), &*convolution, sizeof(cgx_convolution));
  Value described = arith::ConstantOp::create(b, loc, b.getI64TensorAttr(numbers));
  auto sums = type.clone(f32);
  Value result = rt::LibraryOp::create(
                     b, loc, TypeRange{sums}, "cgx_native_convolution_f32", ArrayRef<int64_t>(),
                     ValueRange{described, withElement(b, loc, lhs, f32), withElement(b, loc, rhs, f32)},
                     ownTensor(b, loc, sums))
                     .getResult(0);
  return withElement(b, loc, result, type.getElementType());
}

} // namespace cgx
