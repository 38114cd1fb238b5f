//===-- Constraints.cpp - checks that verifiers share -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace cgx::stablehlo;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type cgx::stablehlo::getExpressedType(Type element) {
  auto quantized = dyn_cast<quant::QuantizedType>(element);
  return quantized ? quantized.getExpressedType() : element;
}

bool cgx::stablehlo::isQuantized(Type element) { return isa<quant::QuantizedType>(element); }

bool cgx::stablehlo::isCompatibleElement(Type a, Type b) {
  auto x = dyn_cast<quant::QuantizedType>(a), y = dyn_cast<quant::QuantizedType>(b);
  if (!x || !y)
    return a == b;
  return x.getStorageType() == y.getStorageType() && x.isSigned() == y.isSigned() &&
         x.getExpressedType() == y.getExpressedType();
}

bool cgx::stablehlo::isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  if (auto a = dyn_cast<IntegerType>(from), b = dyn_cast<IntegerType>(to); a && b)
    return a.isUnsigned() == b.isUnsigned() && (a.getWidth() == 1) == (b.getWidth() == 1) &&
           a.getWidth() <= b.getWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
  if (auto a = dyn_cast<ComplexType>(from), b = dyn_cast<ComplexType>(to); a && b)
    return isPromotable(a.getElementType(), b.getElementType());
  auto a = dyn_cast<quant::QuantizedType>(from), b = dyn_cast<quant::QuantizedType>(to);
  return a && b && a.getExpressedType() == b.getExpressedType() &&
         a.getStorageTypeIntegralWidth() <= b.getStorageTypeIntegralWidth();
}

std::optional<int64_t> cgx::stablehlo::getElementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    std::optional<int64_t> product =
        ShapedType::isDynamic(size) ? std::nullopt : llvm::checkedMul(count, size);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

bool cgx::stablehlo::isTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  SmallVector<int64_t> known;
  for (int64_t size : tensor.getShape())
    if (!ShapedType::isDynamic(size) && size != 0)
      known.push_back(size);
  std::optional<int64_t> count = getElementCount(known);
  return count && *count <= kMostElements;
}

std::string cgx::stablehlo::textOf(ArrayRef<int64_t> numbers) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(numbers, stream, [&](int64_t number) {
    if (ShapedType::isDynamic(number))
      stream << '?';
    else
      stream << number;
  });
  stream << ']';
  return text;
}

LogicalResult cgx::stablehlo::verifyRank(Operation *op, StringRef name, Value value, int64_t rank) {
  if (tensorOf(value).getRank() == rank)
    return success();
  return op->emitOpError() << "expected " << name << " of rank " << rank << ", got " << value.getType();
}

LogicalResult cgx::stablehlo::verifyElement(Operation *op, Value result, Value operand) {
  Type expected = tensorOf(operand).getElementType(), got = tensorOf(result).getElementType();
  if (isCompatibleElement(expected, got))
    return success();
  return op->emitOpError() << "expected a result of element type " << expected << ", got " << got;
}

LogicalResult cgx::stablehlo::verifyShape(Operation *op, Value result, ArrayRef<int64_t> expected) {
  if (succeeded(verifyCompatibleShape(tensorOf(result).getShape(), expected)))
    return success();
  return op->emitOpError() << "expected a result of shape " << textOf(expected) << ", got "
                           << textOf(tensorOf(result).getShape());
}

LogicalResult cgx::stablehlo::verifyType(Operation *op, Value result, RankedTensorType expected) {
  if (isCompatibleElement(tensorOf(result).getElementType(), expected.getElementType()) &&
      succeeded(verifyCompatibleShape(tensorOf(result).getShape(), expected.getShape())))
    return success();
  return op->emitOpError() << "expected a result of type " << expected << ", got " << result.getType();
}

LogicalResult cgx::stablehlo::verifySameShapes(Operation *op, StringRef name, ValueRange values) {
  for (Value value : values)
    if (failed(verifyCompatibleShape(tensorOf(value).getShape(), tensorOf(values[0]).getShape())))
      return op->emitOpError() << "expected " << name << " of one shape, got " << values[0].getType()
                               << " and " << value.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Lists of numbers
//===----------------------------------------------------------------------===//

LogicalResult cgx::stablehlo::verifyDims(Operation *op, StringRef name, ArrayRef<int64_t> dims,
                                         int64_t rank) {
  SmallVector<bool> seen(rank);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << "expected " << name << " in range [0, " << rank << "), got " << dim;
    if (std::exchange(seen[dim], true))
      return op->emitOpError() << "expected " << name << " to be unique, got " << textOf(dims);
  }
  return success();
}

LogicalResult cgx::stablehlo::verifySorted(Operation *op, StringRef name, ArrayRef<int64_t> dims) {
  if (llvm::is_sorted(dims))
    return success();
  return op->emitOpError() << "expected " << name << " to be sorted, got " << textOf(dims);
}

LogicalResult cgx::stablehlo::verifyDisjoint(Operation *op, StringRef name, ArrayRef<int64_t> dims,
                                             StringRef otherName, ArrayRef<int64_t> others) {
  for (int64_t dim : dims)
    if (llvm::is_contained(others, dim))
      return op->emitOpError() << "expected no dimension in both " << name << " and " << otherName << ", got "
                               << dim;
  return success();
}

LogicalResult cgx::stablehlo::verifyCount(Operation *op, StringRef name, size_t count, int64_t rank) {
  if (static_cast<int64_t>(count) == rank)
    return success();
  return op->emitOpError() << "expected " << rank << " " << name << ", one per dimension, got " << count;
}

LogicalResult cgx::stablehlo::verifyPositive(Operation *op, StringRef name, ArrayRef<int64_t> values) {
  if (llvm::all_of(values, [](int64_t value) { return value > 0; }))
    return success();
  return op->emitOpError() << "expected " << name << " of at least 1, got " << textOf(values);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

TypeRange cgx::stablehlo::getReturnedTypes(Region &region) {
  if (region.empty() || !region.front().mightHaveTerminator())
    return {};
  return region.front().getTerminator()->getOperandTypes();
}

LogicalResult cgx::stablehlo::verifyArguments(Operation *op, StringRef name, Region &region,
                                              TypeRange types) {
  if (region.getArgumentTypes() == types)
    return success();
  return op->emitOpError() << "expected " << name << " to take " << (types.empty() ? "nothing" : "") << types
                           << ", got " << (region.getArgumentTypes().empty() ? "nothing" : "")
                           << region.getArgumentTypes();
}

LogicalResult cgx::stablehlo::verifyReturned(Operation *op, StringRef name, Region &region, TypeRange types) {
  TypeRange returned = getReturnedTypes(region);
  if (returned == types)
    return success();
  return op->emitOpError() << "expected " << name << " to return " << (types.empty() ? "nothing" : "")
                           << types << ", got " << (returned.empty() ? "nothing" : "") << returned;
}

LogicalResult cgx::stablehlo::verifyReducer(Operation *op, StringRef name, Region &region, TypeRange inputs,
                                            TypeRange initials, SmallVectorImpl<Type> &elements) {
  if (region.getNumArguments() != 2 * inputs.size())
    return op->emitOpError() << "expected " << 2 * inputs.size() << " arguments of " << name << ", got "
                             << region.getNumArguments();
  TypeRange returned = getReturnedTypes(region);
  if (returned.size() != inputs.size())
    return op->emitOpError() << "expected " << name << " to return " << inputs.size()
                             << " values, one per operand, got " << returned.size();
  for (Type type : returned) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 0)
      return op->emitOpError() << "expected " << name << " to return tensors of rank 0, got " << type;
    elements.push_back(tensor.getElementType());
  }
  SmallVector<Type> arguments(returned);
  llvm::append_range(arguments, returned);
  if (failed(verifyArguments(op, name, region, arguments)))
    return failure();
  for (TypeRange types : {inputs, initials})
    for (auto [type, element] : llvm::zip_equal(types, elements))
      if (!isPromotable(getElementTypeOrSelf(type), element))
        return op->emitOpError() << "expected " << name << " to compute in a type to which "
                                 << getElementTypeOrSelf(type) << " can be promoted, got " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

LogicalResult cgx::stablehlo::verifyWindow(Operation *op, const Window &window, int64_t rank) {
  if (failed(verifyCount(op, "window_dimensions", window.dimensions.size(), rank)) ||
      failed(verifyPositive(op, "window_dimensions", window.dimensions)))
    return failure();
  using Named = std::pair<StringRef, std::optional<ArrayRef<int64_t>>>;
  for (auto [name, values] : {Named("strides", window.strides), Named("base dilations", window.baseDilations),
                              Named("window dilations", window.windowDilations)})
    if (values &&
        (failed(verifyCount(op, name, values->size(), rank)) || failed(verifyPositive(op, name, *values))))
      return failure();
  if (!window.padding)
    return success();
  auto type = window.padding->getType();
  if (type.getRank() == 2 && type.getDimSize(0) == rank && type.getDimSize(1) == 2)
    return success();
  return op->emitOpError() << "expected padding of type tensor<" << rank << "x2xi64>, got " << type;
}

/// Returns (size - 1) * dilation + 1, if 64 bits hold it.
static std::optional<int64_t> dilate(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : llvm::checkedMulAdd<int64_t>(size - 1, dilation, 1);
}

FailureOr<SmallVector<int64_t>> cgx::stablehlo::countWindows(Operation *op, const Window &window,
                                                             ArrayRef<int64_t> shape) {
  SmallVector<int64_t> padding(2 * shape.size(), 0), counts;
  if (window.padding)
    padding.assign(window.padding->value_begin<int64_t>(), window.padding->value_end<int64_t>());
  auto at = [](std::optional<ArrayRef<int64_t>> values, size_t dim) { return values ? (*values)[dim] : 1; };
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(size)) {
      counts.push_back(size);
      continue;
    }
    std::optional<int64_t> extent = dilate(size, at(window.baseDilations, dim));
    std::optional<int64_t> reach = dilate(window.dimensions[dim], at(window.windowDilations, dim));
    for (int64_t pad : {padding[2 * dim], padding[2 * dim + 1]})
      extent = extent ? llvm::checkedAdd(*extent, pad) : extent;
    if (!extent || !reach)
      return op->emitOpError() << "expected a window within 64 bits in dimension " << dim << " of size "
                               << size;
    if (*extent < 0)
      return op->emitOpError() << "expected padding that leaves dimension " << dim << " at least 0, got "
                               << *extent;
    counts.push_back(*extent == 0 || *reach > *extent ? 0 : (*extent - *reach) / at(window.strides, dim) + 1);
  }
  return counts;
}

LogicalResult cgx::stablehlo::verifyPrecision(Operation *op, std::optional<ArrayAttr> precision) {
  if (!precision)
    return success();
  if (precision->size() > 2)
    return op->emitOpError() << "expected at most 2 precisions, one per operand, got " << precision->size();
  return success();
}

LogicalResult cgx::stablehlo::verifyComplexProduct(Operation *op) {
  Type lhs = op->getOperand(0).getType(), rhs = op->getOperand(1).getType();
  Type result = op->getResult(0).getType();
  auto isComplex = [](Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); };
  if (isComplex(lhs) == isComplex(rhs) && isComplex(rhs) == isComplex(result))
    return success();
  return op->emitOpError() << "expected operands and a result that are all complex, or none of them, got "
                           << lhs << " and " << rhs << " to " << result;
}
