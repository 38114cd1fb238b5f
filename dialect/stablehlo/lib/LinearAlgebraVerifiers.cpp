//===-- LinearAlgebraVerifiers.cpp - fft, cholesky, triangular_solve -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cgx::stablehlo;

/// Verifies the shape of the result. It is that of the operand, except that the last dimension of a transform
/// between real and complex numbers has n / 2 + 1 elements on the complex side.
LogicalResult FftOp::verify() {
  auto operand = cast<RankedTensorType>(getOperand().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  ArrayRef<int64_t> length = getFftLength();
  int64_t count = length.size();
  if (count < 1 || count > 3 || count > operand.getRank())
    return emitOpError() << "expected 1 to " << std::min<int64_t>(3, operand.getRank())
                         << " entries of fft_length, got " << count;
  SmallVector<int64_t> shape(operand.getShape());
  bool isReal = getFftType() == FftType::RFFT, isInverseReal = getFftType() == FftType::IRFFT;
  for (int64_t i = 0; i < count; ++i) {
    int64_t &size = shape[operand.getRank() - count + i];
    bool isHalved = isInverseReal && i == count - 1 && length[i] != 0;
    int64_t expected = isHalved ? length[i] / 2 + 1 : length[i];
    if (!ShapedType::isDynamic(size) && size != expected)
      return emitOpError() << "expected an operand of size " << expected << " in dimension "
                           << operand.getRank() - count + i << ", as fft_length says, got " << operand;
    if (i == count - 1)
      size = isReal && length[i] != 0 ? length[i] / 2 + 1 : length[i];
  }
  if (failed(verifyCompatibleShape(result.getShape(), shape)))
    return emitOpError() << "expected a result of type "
                         << RankedTensorType::get(shape, result.getElementType()) << ", got " << result;
  for (RankedTensorType type : {operand, result}) {
    auto complex = dyn_cast<ComplexType>(type.getElementType());
    if (Type part = complex ? complex.getElementType() : type.getElementType();
        !part.isF32() && !part.isF64())
      return emitOpError() << "expected numbers of f32 or f64, got " << type;
  }
  if (isa<ComplexType>(operand.getElementType()) == isReal)
    return emitOpError() << "expected " << (isReal ? "real" : "complex") << " numbers for "
                         << stringifyFftType(getFftType()) << ", got " << operand;
  if (isa<ComplexType>(result.getElementType()) == isInverseReal)
    return emitOpError() << "expected a result of " << (isInverseReal ? "real" : "complex") << " numbers for "
                         << stringifyFftType(getFftType()) << ", got " << result;
  return success();
}

/// Returns whether the last two dimensions of `type` are, or may be, those of a square matrix.
static bool isSquare(RankedTensorType type) {
  if (type.getRank() < 2)
    return false;
  return succeeded(
      verifyCompatibleDims({type.getDimSize(type.getRank() - 1), type.getDimSize(type.getRank() - 2)}));
}

LogicalResult CholeskyOp::verify() {
  if (isSquare(cast<RankedTensorType>(getA().getType())))
    return success();
  return emitOpError() << "expected square matrices, got " << getA().getType();
}

LogicalResult TriangularSolveOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType());
  auto b = cast<RankedTensorType>(getB().getType());
  if (!isSquare(a))
    return emitOpError() << "expected square matrices a, got " << a;
  int64_t rank = a.getRank(), side = rank - (getLeftSide() ? 2 : 1);
  if (b.getRank() != rank || b.getElementType() != a.getElementType() ||
      failed(verifyCompatibleShape(a.getShape().drop_back(2), b.getShape().drop_back(2))) ||
      failed(verifyCompatibleDims({a.getDimSize(side), b.getDimSize(side)})))
    return emitOpError() << "expected b to have the batches of a and its size in dimension " << side
                         << ", got " << a << " and " << b;
  if (getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitOpError() << "expected NO_TRANSPOSE, TRANSPOSE or ADJOINT, got TRANSPOSE_INVALID";
  auto result = cast<RankedTensorType>(getResult().getType());
  if (result.getElementType() != b.getElementType() || failed(verifyCompatibleShape(result, b))) // (C4)
    return emitOpError() << "expected a result of the type of b, " << b << ", got " << getResult().getType();
  return success();
}
