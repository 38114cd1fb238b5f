//===-- ApproximateMath.cpp - Math functions that vectorize ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// exp and log: S. Moshier, Cephes Math Library (1984-), expf and logf, extended to results and arguments that
// are subnormal, for which MLIR's own expansions give zero and the logarithm of the least normal number.
// expm1 and log1p take the same polynomials before 1 is added, or after it is taken off exactly.
//
//===----------------------------------------------------------------------------===//
#include "Formula.h"
#include "cgx/Passes/Native.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>
#include <numbers>

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_APPROXIMATEMATHPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// ln 2 in two parts; products of the first with the exponents of f32 are exact.
constexpr double ln2High = 0.693359375, ln2Low = -2.12194440e-4;

bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

Type withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(element) : element;
}

/// The bits of floats, with the integer arithmetic that puts them together.
struct Bits {
  ImplicitLocOpBuilder *b;
  Value value;

  static Bits of(Term x) {
    return {x.b, arith::BitcastOp::create(*x.b, withElement(x.value.getType(), x.b->getI32Type()), x.value)};
  }
  Value number(int64_t number) const {
    TypedAttr element = b->getI32IntegerAttr(static_cast<int32_t>(number));
    if (auto shaped = dyn_cast<ShapedType>(value.getType()))
      element = DenseElementsAttr::get(shaped, cast<Attribute>(element));
    return arith::ConstantOp::create(*b, element);
  }
  template <typename OpTy> Bits apply(Value other) const { return {b, OpTy::create(*b, value, other)}; }
  template <typename OpTy> Bits apply(int64_t other) const { return apply<OpTy>(number(other)); }
  Type floatType() const { return withElement(value.getType(), b->getF32Type()); }
  Term asFloat() const { return {b, arith::BitcastOp::create(*b, floatType(), value)}; }
  Term toFloat() const { return {b, arith::SIToFPOp::create(*b, floatType(), value)}; }
};

/// Returns 2 to the power of an integer in the range of the exponents of normal numbers.
Term powerOfTwo(Bits exponent) {
  return exponent.apply<arith::AddIOp>(127).apply<arith::ShLIOp>(23).asFloat();
}

/// x = n ln 2 + r, with r at most ln 2 / 2 and n whole; exp(r) - 1 beside.
struct Exponential {
  Bits n;
  Term p;

  /// Splits x into n ln 2 + r. x is no NaN, and n is an exponent that a shift of the bits can take.
  static Exponential of(Term x) {
    Term n = (x * std::numbers::log2e).apply<math::RoundEvenOp>();
    Term r = (-n).fma(n.of(ln2Low), (-n).fma(n.of(ln2High), x));
    Term p = r.fusedPolynomial({1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                                1.6666665459e-1, 5.0000001201e-1});
    Value whole = arith::FPToSIOp::create(*x.b, withElement(x.value.getType(), x.b->getI32Type()), n.value);
    return {{x.b, whole}, p.fma(r * r, r)};
  }
};

/// Clamps x to bounds. The comparisons are false for NaN, which becomes `least`.
Term clamped(Term x, double least, double greatest) {
  Term inside = x.where(x > least, x.of(least));
  return inside.where(inside < greatest, x.of(greatest));
}

/// Computes exp(n ln 2 + r) = 2^n exp(r), in two steps where 2^n is no normal number.
Term exponential(Term x) {
  // The bounds are those outside of which all results are zero or infinite.
  Exponential e = Exponential::of(clamped(x, -104.5, 89.0));
  Bits half = e.n.apply<arith::ShRSIOp>(1);
  Term result = (e.p + 1.0) * powerOfTwo(half) * powerOfTwo(e.n.apply<arith::SubIOp>(half.value));
  return x.where(x.isNaN(), result);
}

/// Computes expm1(n ln 2 + r) = 2 (2^(n-1) (exp(r) - 1) + (2^(n-1) - 1/2)), which is exp(r) - 1 where n is 0.
Term exponentialMinusOne(Term x) {
  // Below the first bound every result is -1.
  Exponential e = Exponential::of(clamped(x, -25.0, 89.0));
  Term half = powerOfTwo(e.n.apply<arith::SubIOp>(1));
  Term result = e.p.fma(half, half - 0.5) * 2.0;
  // The square of x is nothing to x, which may be subnormal, or -0.
  Value isSmall = x.apply<math::AbsFOp>() < 0x1p-25;
  return x.where(x.isNaN(), x.where(isSmall, result));
}

/// Computes n ln 2 + log(1 + f), with f from sqrt(1/2) - 1 to sqrt(2) - 1.
Term logarithmOf(Term n, Term f) {
  Term square = f * f;
  Term p = f.fusedPolynomial({7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                              1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                              3.3333331174e-1}) *
           f * square;
  p = n.fma(f.of(ln2Low), p);
  p = square.fma(f.of(-0.5), p);
  return n.fma(f.of(ln2High), f + p);
}

/// Computes log(2^n (1 + f)) = n ln 2 + log(1 + f).
Term logarithm(Term x) {
  Value isSubnormal = x < 0x1p-126;
  Term normal = (x * 0x1p23).where(isSubnormal, x);
  Bits bits = Bits::of(normal);
  Term exponent = bits.apply<arith::ShRUIOp>(23).apply<arith::SubIOp>(126).toFloat();
  exponent = (exponent - 23.0).where(isSubnormal, exponent);
  Term mantissa = bits.apply<arith::AndIOp>(0x007fffff).apply<arith::OrIOp>(0x3f000000).asFloat();
  Value isSmall = mantissa < std::numbers::sqrt2 / 2;
  exponent = (exponent - 1.0).where(isSmall, exponent);
  Term result = logarithmOf(exponent, (mantissa - 1.0) + mantissa.where(isSmall, 0.0));
  result = x.of(-infinity).where(x == 0.0, result);
  result = x.of(std::numeric_limits<double>::quiet_NaN()).where(x < 0.0, result);
  Value isUnchanged = x.compare(arith::CmpFPredicate::UEQ, infinity);
  return x.where(isUnchanged, result);
}

/// Computes log(1 + x) = n ln 2 + log(1 + f), with f = 2^-n x + (2^-n - 1), which is x where n is 0.
Term logarithmOfOnePlus(Term x) {
  // Where x is so large that 1 does not change it, 1 is left out, and x is scaled, so that 2^-n is a normal
  // number.
  Value isLarge = x > 0x1p60;
  Term scaled = (x * 0x1p-64).where(isLarge, x), one = x.of(0.0).where(isLarge, 1.0);
  constexpr int64_t bitsOfRootOfHalf = 0x3f3504f3;
  Bits n = Bits::of(scaled + one).apply<arith::SubIOp>(bitsOfRootOfHalf).apply<arith::ShRSIOp>(23);
  Term inverse = powerOfTwo(Bits{x.b, n.number(0)}.apply<arith::SubIOp>(n.value));
  Term f = scaled.fma(inverse, one * inverse - 1.0);
  Term exponent = n.toFloat();
  Term result = logarithmOf((exponent + 64.0).where(isLarge, exponent), f);
  result = x.of(-infinity).where(x == -1.0, result);
  result = x.of(std::numeric_limits<double>::quiet_NaN()).where(x < -1.0, result);
  Value isSmall = x.apply<math::AbsFOp>() < 0x1p-25;
  Value isUnchanged = x.compare(arith::CmpFPredicate::UEQ, infinity);
  return x.where(isUnchanged, x.where(isSmall, result));
}

/// exp(x) -> arithmetic
template <typename OpTy, Term (*formula)(Term)> struct ExpansionPattern : OpRewritePattern<OpTy> {
  // A higher benefit than MLIR's patterns puts this one first.
  ExpansionPattern(MLIRContext *context) : OpRewritePattern<OpTy>(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (!isF32(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, formula({&b, op.getOperand()}).value);
    return success();
  }
};

/// maximumf(x, y) -> llvm.maximum(x, y), which has -0 below 0. MLIR's expansion takes them for equal.
template <typename OpTy, typename ToTy> struct ExtremumPattern : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return failure();
    rewriter.replaceOpWithNewOp<ToTy>(op, op.getType(), op.getLhs(), op.getRhs());
    return success();
  }
};

/// Returns whether MLIR's approximation of the function is accurate over the whole range of f32. Those of sin
/// and cos lose all digits for large arguments.
bool isApproximated(StringRef name) {
  return llvm::is_contained({math::TanhOp::getOperationName(), math::ErfOp::getOperationName()}, name);
}

struct ApproximateMathPass : impl::ApproximateMathPassBase<ApproximateMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<ExpansionPattern<math::ExpOp, exponential>, ExpansionPattern<math::ExpM1Op, exponentialMinusOne>,
             ExpansionPattern<math::LogOp, logarithm>, ExpansionPattern<math::Log1pOp, logarithmOfOnePlus>>(
            &getContext());
    patterns.add<ExtremumPattern<arith::MaximumFOp, LLVM::MaximumOp>,
                 ExtremumPattern<arith::MinimumFOp, LLVM::MinimumOp>>(&getContext());
    populateMathF32ExpansionPatterns(patterns, isApproximated);
    populateMathPolynomialApproximationPatterns(patterns, isApproximated);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) || failed(callWhatWouldCancel()))
      signalPassFailure();
  }

  /// Calls libm for functions whose conversion to LLVM, by log(1 + x) and exp(x) - 1, would lose all digits
  /// of a small x.
  LogicalResult callWhatWouldCancel() {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalOp<math::ExpM1Op, math::Log1pOp>(
        [](Operation *op) { return !getElementTypeOrSelf(op->getResultTypes().front()).isF64(); });
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace
} // namespace cgx
