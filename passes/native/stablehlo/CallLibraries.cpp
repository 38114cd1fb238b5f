//===-- CallLibraries.cpp - Linear algebra to calls of the runtime ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// JAX prints its factorizations as the custom calls of jaxlib, one for each routine of LAPACK and element
// type. Layouts in them tell how XLA would store the matrices; the meaning of a call does not depend on them.
//
//===----------------------------------------------------------------------------===//
#include "Conversion.h"
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/native.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_CALLLIBRARIESPASS
#include "cgx/Passes/Native.h.inc"

namespace {

/// Returns LAPACK's letter of an element type, or 0.
char letterOf(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  Type real = complex ? complex.getElementType() : element;
  if (real.isF32())
    return complex ? 'c' : 's';
  if (real.isF64())
    return complex ? 'z' : 'd';
  return 0;
}

SmallVector<Value> call(OpBuilder &b, Location loc, StringRef callee, ArrayRef<int64_t> scalars,
                        ValueRange inputs, TypeRange types) {
  SmallVector<Value> outputs;
  for (Type type : types)
    outputs.push_back(ownTensor(b, loc, cast<RankedTensorType>(type)));
  auto op = rt::LibraryOp::create(b, loc, types, callee, scalars, inputs, outputs);
  return op.getResults();
}

/// The operands of a routine as matrices, which it must be safe to pass to C.
struct Shapes {
  SmallVector<int64_t> batch;
  RankedTensorType matrix;
  bool areExpected = true;

  /// Checks shapes: `of` is a batch of matrices, and the others lie beside it.
  explicit Shapes(Value of) : matrix(dyn_cast<RankedTensorType>(of.getType())) {
    areExpected = matrix && matrix.hasStaticShape() && matrix.getRank() >= 2;
    if (areExpected)
      batch.assign(matrix.getShape().begin(), matrix.getShape().end() - 2);
  }
  int64_t rows() const { return matrix.getDimSize(matrix.getRank() - 2); }
  int64_t columns() const { return matrix.getDimSize(matrix.getRank() - 1); }
  int64_t count() const { return llvm::product_of(batch); }
  char letter() const { return letterOf(matrix.getElementType()); }
  /// Returns the element type of singular values and eigenvalues.
  Type real() const {
    auto complex = dyn_cast<ComplexType>(matrix.getElementType());
    return complex ? complex.getElementType() : matrix.getElementType();
  }

  void expect(Value value, ArrayRef<int64_t> extents, Type element) {
    SmallVector<int64_t> shape(batch);
    llvm::append_range(shape, extents);
    areExpected &= value.getType() == RankedTensorType::get(shape, element);
  }
  void expect(Value value, ArrayRef<int64_t> extents) { expect(value, extents, matrix.getElementType()); }
  void expectInfo(Value value) { expect(value, {}, IntegerType::get(value.getContext(), 32)); }
};

/// custom_call @lapack_spotrf_ffi(a) -> library @cgx_native_cholesky [...] ins(a) outs(...)
class LapackCallPattern : public OpRewritePattern<stablehlo::CustomCallOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    StringRef name = op.getCallTargetName();
    if (!name.consume_front("lapack_") || !name.consume_back("_ffi") || name.empty())
      return failure();
    char letter = name.front();
    if (op.getInputs().empty())
      return rewriter.notifyMatchFailure(op, "has no operands");
    Shapes shapes(op.getInputs().front());
    auto convert = llvm::StringSwitch<Conversion>(name.drop_front())
                       .Case("potrf", &LapackCallPattern::cholesky)
                       .Case("getrf", &LapackCallPattern::lu)
                       .Case("geqrf", &LapackCallPattern::qr)
                       .Case("geqp3", &LapackCallPattern::pivotedQr)
                       .Cases({"orgqr", "ungqr"}, &LapackCallPattern::householderProduct)
                       .Cases({"ormqr", "unmqr"}, &LapackCallPattern::householderMultiply)
                       .Cases({"syevd", "heevd"}, &LapackCallPattern::eigh)
                       .Case("geev", &LapackCallPattern::eig)
                       .Case("gees", &LapackCallPattern::schur)
                       .Case("gehrd", &LapackCallPattern::hessenberg)
                       .Cases({"sytrd", "hetrd"}, &LapackCallPattern::tridiagonal)
                       .Cases({"gesdd", "gesvd"}, &LapackCallPattern::svd)
                       .Case("trsm", &LapackCallPattern::triangularSolve)
                       .Case("gtsv", &LapackCallPattern::tridiagonalSolve)
                       .Default(nullptr);
    if (!convert)
      return rewriter.notifyMatchFailure(op, "a routine that the runtime does not have");
    // The diagonals of gtsv are no matrices; its last operand is one.
    if (convert == &LapackCallPattern::tridiagonalSolve)
      shapes = Shapes(op.getInputs().back());
    if (!shapes.areExpected || shapes.letter() != letter)
      return rewriter.notifyMatchFailure(op, "expected batches of matrices of the type that the name says");
    return (this->*convert)(op, shapes, rewriter);
  }

private:
  using Conversion = LogicalResult (LapackCallPattern::*)(stablehlo::CustomCallOp, Shapes &,
                                                          PatternRewriter &) const;

  /// Returns an integer of the call's configuration, which stands in one of two places; or -1.
  static int64_t option(stablehlo::CustomCallOp op, StringRef name) {
    for (Attribute place : {op->getAttr("mhlo.backend_config"), op.getBackendConfigAttr()})
      if (auto config = dyn_cast_or_null<DictionaryAttr>(place))
        if (auto value = config.getAs<IntegerAttr>(name))
          return value.getType().isSignedInteger() ? value.getSInt() : value.getValue().getZExtValue();
    return -1;
  }
  /// Returns whether each option is one of the letters that are allowed for it.
  static bool areLetters(std::initializer_list<std::pair<int64_t, StringRef>> options) {
    return llvm::all_of(options, [](auto &option) {
      return option.first > 0 && option.first < 128 &&
             option.second.contains(static_cast<char>(option.first));
    });
  }

  static bool hasCounts(stablehlo::CustomCallOp op, size_t operands, size_t results) {
    return op.getInputs().size() == operands && op.getNumResults() == results;
  }

  static LogicalResult mismatch(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    return rewriter.notifyMatchFailure(op, "operands, results or options are not those of the routine");
  }

  static LogicalResult replace(stablehlo::CustomCallOp op, PatternRewriter &rewriter, StringRef callee,
                               ArrayRef<int64_t> scalars) {
    rewriter.replaceOp(op, call(rewriter, op.getLoc(), callee, scalars, op.getInputs(), op.getResultTypes()));
    return success();
  }

  LogicalResult cholesky(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t uplo = option(op, "uplo"), n = shapes.rows();
    if (!hasCounts(op, 1, 2) || !areLetters({{uplo, "LU"}}))
      return mismatch(op, rewriter);
    shapes.expect(op.getResult(0), {n, n});
    shapes.expectInfo(op.getResult(1));
    if (!shapes.areExpected || shapes.columns() != n)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_cholesky", {shapes.letter(), uplo, n, shapes.count()});
  }

  LogicalResult lu(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 1, 3))
      return mismatch(op, rewriter);
    int64_t m = shapes.rows(), n = shapes.columns();
    shapes.expect(op.getResult(0), {m, n});
    shapes.expect(op.getResult(1), {std::min(m, n)}, rewriter.getI32Type());
    shapes.expectInfo(op.getResult(2));
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_lu", {shapes.letter(), m, n, shapes.count()});
  }

  LogicalResult qr(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 1, 2))
      return mismatch(op, rewriter);
    int64_t m = shapes.rows(), n = shapes.columns();
    shapes.expect(op.getResult(0), {m, n});
    shapes.expect(op.getResult(1), {std::min(m, n)});
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_qr", {shapes.letter(), m, n, shapes.count()});
  }

  LogicalResult pivotedQr(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 2, 3))
      return mismatch(op, rewriter);
    int64_t m = shapes.rows(), n = shapes.columns();
    shapes.expect(op.getInputs()[1], {n}, rewriter.getI32Type());
    shapes.expect(op.getResult(0), {m, n});
    shapes.expect(op.getResult(1), {n}, rewriter.getI32Type());
    shapes.expect(op.getResult(2), {std::min(m, n)});
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_pivoted_qr", {shapes.letter(), m, n, shapes.count()});
  }

  /// Returns the number of reflectors: the last extent of `tau`, which lies beside the matrices.
  static int64_t reflectors(Value tau, Shapes &shapes) {
    auto type = dyn_cast<RankedTensorType>(tau.getType());
    int64_t k = type && type.getRank() > 0 ? type.getShape().back() : 0;
    shapes.expect(tau, {k});
    return k;
  }

  LogicalResult householderProduct(stablehlo::CustomCallOp op, Shapes &shapes,
                                   PatternRewriter &rewriter) const {
    if (!hasCounts(op, 2, 1))
      return mismatch(op, rewriter);
    int64_t m = shapes.rows(), n = shapes.columns(), k = reflectors(op.getInputs()[1], shapes);
    shapes.expect(op.getResult(0), {m, n});
    if (!shapes.areExpected || n > m || k > n)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_householder_product",
                   {shapes.letter(), m, n, k, shapes.count()});
  }

  LogicalResult householderMultiply(stablehlo::CustomCallOp op, Shapes &shapes,
                                    PatternRewriter &rewriter) const {
    int64_t left = option(op, "left"), transpose = option(op, "transpose");
    if (!hasCounts(op, 3, 1) || left < 0 || left > 1 || transpose < 0 || transpose > 1)
      return mismatch(op, rewriter);
    Shapes multiplied(op.getInputs()[2]);
    if (!multiplied.areExpected)
      return mismatch(op, rewriter);
    int64_t m = multiplied.rows(), n = multiplied.columns(), k = reflectors(op.getInputs()[1], shapes);
    shapes.expect(op.getInputs()[2], {m, n});
    shapes.expect(op.getResult(0), {m, n});
    if (!shapes.areExpected || shapes.rows() != (left ? m : n) || k > shapes.columns() || k > shapes.rows())
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_householder_multiply",
                   {shapes.letter(), left, transpose, m, n, shapes.columns(), k, shapes.count()});
  }

  LogicalResult eigh(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t mode = option(op, "mode"), uplo = option(op, "uplo"), n = shapes.rows();
    if (!hasCounts(op, 1, 3) || !areLetters({{mode, "NV"}, {uplo, "LU"}}))
      return mismatch(op, rewriter);
    shapes.expect(op.getResult(0), {n, n});
    shapes.expect(op.getResult(1), {n}, shapes.real());
    shapes.expectInfo(op.getResult(2));
    if (!shapes.areExpected || shapes.columns() != n)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_eigh", {shapes.letter(), mode, uplo, n, shapes.count()});
  }

  /// Calls a routine that makes `results` of the op's, in that order. Unused results may be empty.
  static LogicalResult replaceSome(stablehlo::CustomCallOp op, PatternRewriter &rewriter, StringRef callee,
                                   ArrayRef<int64_t> scalars, ArrayRef<Value> results, ArrayRef<Type> types) {
    SmallVector<Value> made = call(rewriter, op.getLoc(), callee, scalars, op.getInputs(), types);
    for (auto [old, result] : llvm::zip_equal(results, made))
      if (old && !old.use_empty())
        rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(op);
    return success();
  }

  /// Eigenvalues, as two results for real matrices, left and right vectors.
  LogicalResult eig(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t left = option(op, "compute_left"), right = option(op, "compute_right"), n = shapes.rows();
    Type element = shapes.matrix.getElementType();
    bool isReal = !isa<ComplexType>(element);
    if (!hasCounts(op, 1, isReal ? 5 : 4) || !areLetters({{left, "NV"}, {right, "NV"}}) ||
        shapes.columns() != n)
      return mismatch(op, rewriter);
    SmallVector<Value> results(op.getResults());
    if (!isReal)
      results.insert(results.begin() + 1, Value());
    shapes.expect(results[0], {n});
    if (isReal)
      shapes.expect(results[1], {n});
    Type complex = isReal ? ComplexType::get(element) : element;
    auto nothing = RankedTensorType::get({0}, element);
    SmallVector<Type> types{results[0].getType(), isReal ? results[1].getType() : Type(nothing)};
    for (auto [computes, vectors] : {std::pair(left, results[2]), std::pair(right, results[3])}) {
      shapes.expect(vectors, {n, n}, complex);
      shapes.areExpected &= computes == 'V' || vectors.use_empty();
      types.push_back(computes == 'V' ? vectors.getType() : Type(nothing));
    }
    shapes.expectInfo(results[4]);
    types.push_back(results[4].getType());
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replaceSome(op, rewriter, "cgx_native_eig", {shapes.letter(), left, right, n, shapes.count()},
                       results, types);
  }

  /// Converts a Schur decomposition: the results are the form, vectors, eigenvalues as above, and the number
  /// that was chosen, which is unused.
  LogicalResult schur(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t mode = option(op, "mode"), sort = option(op, "sort"), n = shapes.rows();
    Type element = shapes.matrix.getElementType();
    bool isReal = !isa<ComplexType>(element);
    if (!hasCounts(op, 1, isReal ? 6 : 5) || !areLetters({{mode, "NV"}, {sort, "N"}}) ||
        shapes.columns() != n)
      return mismatch(op, rewriter);
    SmallVector<Value> results(op.getResults());
    if (!isReal)
      results.insert(results.begin() + 3, Value());
    if (!results[4].use_empty() || (mode == 'N' && !results[1].use_empty()))
      return mismatch(op, rewriter);
    results.erase(results.begin() + 4);
    auto nothing = RankedTensorType::get({0}, element);
    SmallVector<Type> types;
    const SmallVector<int64_t> extents[] = {{n, n}, {n, n}, {n}, {n}};
    for (unsigned i = 0; i < 4; ++i) {
      bool isMade = results[i] && (i != 1 || mode == 'V');
      if (results[i])
        shapes.expect(results[i], extents[i]);
      types.push_back(isMade ? results[i].getType() : Type(nothing));
    }
    shapes.expectInfo(results[4]);
    types.push_back(results[4].getType());
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replaceSome(op, rewriter, "cgx_native_schur", {shapes.letter(), mode, n, shapes.count()}, results,
                       types);
  }

  LogicalResult hessenberg(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t low = option(op, "low"), high = option(op, "high"), n = shapes.rows();
    bool areLimits = n == 0 || (1 <= low && low <= high && high <= n);
    if (!hasCounts(op, 1, 3) || !areLimits || shapes.columns() != n)
      return mismatch(op, rewriter);
    shapes.expect(op.getResult(0), {n, n});
    shapes.expect(op.getResult(1), {std::max<int64_t>(n - 1, 0)});
    shapes.expectInfo(op.getResult(2));
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_hessenberg", {shapes.letter(), low, high, n, shapes.count()});
  }

  LogicalResult tridiagonal(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t uplo = option(op, "uplo"), n = shapes.rows(), beside = std::max<int64_t>(n - 1, 0);
    if (!hasCounts(op, 1, 5) || !areLetters({{uplo, "LU"}}) || shapes.columns() != n)
      return mismatch(op, rewriter);
    shapes.expect(op.getResult(0), {n, n});
    shapes.expect(op.getResult(1), {n}, shapes.real());
    shapes.expect(op.getResult(2), {beside}, shapes.real());
    shapes.expect(op.getResult(3), {beside});
    shapes.expectInfo(op.getResult(4));
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_tridiagonal", {shapes.letter(), uplo, n, shapes.count()});
  }

  /// Converts a singular value decomposition. LAPACK leaves the first result in the operand's place; it is
  /// unused.
  LogicalResult svd(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t mode = option(op, "mode"), m = shapes.rows(), n = shapes.columns(), least = std::min(m, n);
    if (!hasCounts(op, 1, 5) || !areLetters({{mode, "ASN"}}) || !op.getResult(0).use_empty())
      return mismatch(op, rewriter);
    shapes.expect(op.getResult(1), {least}, shapes.real());
    shapes.expectInfo(op.getResult(4));
    if (mode == 'N') {
      shapes.areExpected &= op.getResult(2).use_empty() && op.getResult(3).use_empty();
    } else {
      shapes.expect(op.getResult(2), {m, mode == 'A' ? m : least});
      shapes.expect(op.getResult(3), {mode == 'A' ? n : least, n});
    }
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    SmallVector<Type> types(llvm::drop_begin(op->getResultTypes()));
    if (mode == 'N') {
      auto nothing = RankedTensorType::get({0}, shapes.matrix.getElementType());
      types[1] = types[2] = nothing;
    }
    SmallVector<Value> results = call(rewriter, op.getLoc(), "cgx_native_svd",
                                      {shapes.letter(), mode, m, n, shapes.count()}, op.getInputs(), types);
    for (auto [old, result] : llvm::zip_equal(op.getResults().drop_front(), results))
      if (!old.use_empty())
        rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(op);
    return success();
  }

  LogicalResult triangularSolve(stablehlo::CustomCallOp op, Shapes &shapes, PatternRewriter &rewriter) const {
    int64_t side = option(op, "side"), uplo = option(op, "uplo"), trans = option(op, "trans_x"),
            diag = option(op, "diag");
    if (!hasCounts(op, 2, 1) || !areLetters({{side, "LR"}, {uplo, "LU"}, {trans, "NTC"}, {diag, "NU"}}))
      return mismatch(op, rewriter);
    Shapes right(op.getInputs()[1]);
    if (!right.areExpected)
      return mismatch(op, rewriter);
    int64_t m = right.rows(), n = right.columns(), order = side == 'L' ? m : n;
    shapes.expect(op.getInputs()[0], {order, order});
    shapes.expect(op.getInputs()[1], {m, n});
    shapes.expect(op.getResult(0), {m, n});
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    return replace(op, rewriter, "cgx_native_triangular_solve",
                   {shapes.letter(), side, uplo, trans, diag, m, n, shapes.count()});
  }

  /// Converts a tridiagonal solve. LAPACK leaves the first three results in the places of the diagonals; they
  /// are unused.
  LogicalResult tridiagonalSolve(stablehlo::CustomCallOp op, Shapes &shapes,
                                 PatternRewriter &rewriter) const {
    if (!hasCounts(op, 4, 5) ||
        !llvm::all_of(op.getResults().take_front(3), [](Value value) { return value.use_empty(); }))
      return mismatch(op, rewriter);
    int64_t n = shapes.rows(), columns = shapes.columns();
    for (Value diagonal : op.getInputs().take_front(3))
      shapes.expect(diagonal, {n});
    shapes.expect(op.getResult(3), {n, columns});
    shapes.expectInfo(op.getResult(4));
    if (!shapes.areExpected)
      return mismatch(op, rewriter);
    SmallVector<Type> types = {op.getResultTypes()[3], op.getResultTypes()[4]};
    SmallVector<Value> results = call(rewriter, op.getLoc(), "cgx_native_tridiagonal_solve",
                                      {shapes.letter(), n, columns, shapes.count()}, op.getInputs(), types);
    rewriter.replaceAllUsesWith(op.getResult(3), results[0]);
    rewriter.replaceAllUsesWith(op.getResult(4), results[1]);
    rewriter.eraseOp(op);
    return success();
  }
};

/// triangular_solve(a, b) -> library @cgx_native_triangular_solve [...] ins(a, b) outs(x)
struct TriangularSolvePattern : OpRewritePattern<stablehlo::TriangularSolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::TriangularSolveOp op, PatternRewriter &rewriter) const override {
    Shapes shapes(op.getA()), right(op.getB());
    if (!shapes.areExpected || !right.areExpected || !shapes.letter())
      return rewriter.notifyMatchFailure(op, "not a batch of matrices of f32, f64 or complex numbers");
    int64_t m = right.rows(), n = right.columns(), order = op.getLeftSide() ? m : n;
    shapes.expect(op.getA(), {order, order});
    shapes.expect(op.getB(), {m, n});
    shapes.expect(op.getResult(), {m, n});
    char trans;
    switch (op.getTransposeA()) {
    case stablehlo::Transpose::NO_TRANSPOSE:
      trans = 'N';
      break;
    case stablehlo::Transpose::TRANSPOSE:
      trans = 'T';
      break;
    case stablehlo::Transpose::ADJOINT:
      trans = 'C';
      break;
    default:
      return rewriter.notifyMatchFailure(op, "an invalid transposition");
    }
    if (!shapes.areExpected)
      return rewriter.notifyMatchFailure(op, "the shapes do not match");
    int64_t scalars[] = {shapes.letter(),
                         op.getLeftSide() ? 'L' : 'R',
                         op.getLower() ? 'L' : 'U',
                         trans,
                         op.getUnitDiagonal() ? 'U' : 'N',
                         m,
                         n,
                         shapes.count()};
    rewriter.replaceOp(op, call(rewriter, op.getLoc(), "cgx_native_triangular_solve", scalars,
                                op.getOperands(), op->getResultTypes()));
    return success();
  }
};

/// Returns a number in every element of `type`.
Value splat(OpBuilder &b, Location loc, RankedTensorType type, double value) {
  Type element = type.getElementType();
  auto part = [&](Type type, double value) {
    APFloat number(value);
    bool losesInfo;
    number.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number;
  };
  DenseElementsAttr attr;
  if (auto complex = dyn_cast<ComplexType>(element))
    attr = DenseElementsAttr::get(type, std::complex<APFloat>(part(complex.getElementType(), value),
                                                              part(complex.getElementType(), 0)));
  else
    attr = DenseElementsAttr::get(type, part(element, value));
  return stablehlo::ConstantOp::create(b, loc, type, attr);
}

/// cholesky(a) -> select(lies in the triangle, select(info == 0, library @cgx_native_cholesky ins(a), NaN),
/// 0)
struct CholeskyPattern : OpRewritePattern<stablehlo::CholeskyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CholeskyOp op, PatternRewriter &b) const override {
    Shapes shapes(op.getA());
    if (!shapes.areExpected || !shapes.letter() || shapes.rows() != shapes.columns())
      return b.notifyMatchFailure(op, "not a batch of square matrices of f32, f64 or complex numbers");
    Location loc = op.getLoc();
    RankedTensorType type = shapes.matrix;
    auto info = RankedTensorType::get(shapes.batch, b.getI32Type());
    int64_t scalars[] = {shapes.letter(), op.getLower() ? 'L' : 'U', shapes.rows(), shapes.count()};
    SmallVector<Value> results = call(b, loc, "cgx_native_cholesky", scalars, op.getA(), {type, info});

    using Direction = stablehlo::ComparisonDirection;
    auto compare = [&](Value lhs, Value rhs, Direction direction) -> Value {
      auto predicates = cast<RankedTensorType>(lhs.getType()).clone(b.getI1Type());
      return stablehlo::CompareOp::create(b, loc, predicates, lhs, rhs, direction,
                                          /*compare_type=*/nullptr);
    };
    Value zeros = stablehlo::ConstantOp::create(b, loc, info, cast<ElementsAttr>(b.getZeroAttr(info)));
    Value worked = stablehlo::BroadcastInDimOp::create(
        b, loc, type.clone(b.getI1Type()), compare(results[1], zeros, Direction::EQ),
        llvm::to_vector(llvm::seq<int64_t>(0, info.getRank())));
    auto numbers = type.clone(b.getI32Type());
    Value row = stablehlo::IotaOp::create(b, loc, numbers, type.getRank() - 2);
    Value column = stablehlo::IotaOp::create(b, loc, numbers, type.getRank() - 1);
    Value inside = compare(row, column, op.getLower() ? Direction::GE : Direction::LE);
    Value nan = splat(b, loc, type, std::numeric_limits<double>::quiet_NaN());
    Value factor = stablehlo::SelectOp::create(b, loc, type, worked, results[0], nan);
    b.replaceOpWithNewOp<stablehlo::SelectOp>(op, type, inside, factor, splat(b, loc, type, 0));
    return success();
  }
};

/// fft(x) of lengths [l] -> library @cgx_native_fft [type, kind, batch, 1, 1, l] ins(x)
struct FftPattern : OpRewritePattern<stablehlo::FftOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::FftOp op, PatternRewriter &rewriter) const override {
    auto from = cast<RankedTensorType>(op.getOperand().getType()),
         to = cast<RankedTensorType>(op.getResult().getType());
    Type element = from.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    ArrayRef<int64_t> lengths = op.getFftLength();
    int64_t rank = lengths.size();
    if (!from.hasStaticShape() || !to.hasStaticShape() || !letterOf(element) || rank < 1 || rank > 3 ||
        from.getRank() < rank)
      return rewriter.notifyMatchFailure(op, "not of one to three static dimensions of f32 or f64");
    if (to.getNumElements() == 0) {
      rewriter.replaceOpWithNewOp<stablehlo::ConstantOp>(op, to,
                                                         DenseElementsAttr::get(to, ArrayRef<Attribute>()));
      return success();
    }
    SmallVector<int64_t> scalars = {letterOf(element), kindOf(op.getFftType()),
                                    llvm::product_of(from.getShape().drop_back(rank))};
    scalars.append(3 - rank, 1);
    llvm::append_range(scalars, lengths);
    rewriter.replaceOp(
        op, call(rewriter, op.getLoc(), "cgx_native_fft", scalars, op.getOperand(), op->getResultTypes()));
    return success();
  }

  static int64_t kindOf(stablehlo::FftType type) {
    switch (type) {
    case stablehlo::FftType::FFT:
      return CGX_FFT_FORWARD;
    case stablehlo::FftType::IFFT:
      return CGX_FFT_INVERSE;
    case stablehlo::FftType::RFFT:
      return CGX_FFT_REAL;
    case stablehlo::FftType::IRFFT:
      return CGX_FFT_INVERSE_REAL;
    }
    llvm_unreachable("every kind is above");
  }
};

struct CallLibrariesPass : impl::CallLibrariesPassBase<CallLibrariesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LapackCallPattern, TriangularSolvePattern, CholeskyPattern, FftPattern>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace cgx
