//===-- PlatformCalls.cpp - Calls that JAX prints for GPUs and TPUs --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
//
// A step that was lowered for an accelerator calls the libraries of that accelerator. They compute the same
// as LAPACK, so each call becomes the one that JAX prints for CPUs; CallLibraries.cpp converts those.
//
//===----------------------------------------------------------------------------===//
#include "Expansions.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace cgx {
namespace {

/// Returns an entry of the configuration of a typed call.
template <typename AttrTy> AttrTy option(stablehlo::CustomCallOp op, StringRef name) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  if (!config)
    config = dyn_cast_or_null<DictionaryAttr>(op.getBackendConfigAttr());
  return config ? config.getAs<AttrTy>(name) : AttrTy();
}

bool isSet(stablehlo::CustomCallOp op, StringRef name) {
  auto value = option<BoolAttr>(op, name);
  return value && value.getValue();
}

//===----------------------------------------------------------------------------===//
// Factorizations
//===----------------------------------------------------------------------------===//

/// custom_call @cusolver_potrf_ffi(a) -> custom_call @lapack_spotrf_ffi(a)
class FactorizationPattern : public OpRewritePattern<stablehlo::CustomCallOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    StringRef name = op.getCallTargetName();
    if (name.consume_front("cu") || name.consume_front("hip"))
      if (!name.consume_back("_ffi") && !name.starts_with("hybrid_"))
        name = "";
    auto convert = llvm::StringSwitch<Conversion>(name)
                       .Case("solver_potrf", &FactorizationPattern::cholesky)
                       .Case("solver_getrf", &FactorizationPattern::lu)
                       .Cases({"solver_geqrf", "Qr"}, &FactorizationPattern::qr)
                       .Cases({"solver_orgqr", "ProductOfElementaryHouseholderReflectors"},
                              &FactorizationPattern::householderProduct)
                       .Case("solver_syevd", &FactorizationPattern::eigh)
                       .Case("Eigh", &FactorizationPattern::eighOfXla)
                       .Cases({"hybrid_eig_real", "hybrid_eig_comp"}, &FactorizationPattern::eig)
                       .Cases({"solver_gesvdj", "solver_gesvdp"}, &FactorizationPattern::svdWithV)
                       .Cases({"solver_gesvd", "solver_gesdd"}, &FactorizationPattern::svd)
                       .Case("sparse_gtsv2", &FactorizationPattern::tridiagonalSolve)
                       .Default(nullptr);
    if (!convert || op.getInputs().empty() || !letterOf(op.getInputs().back()))
      return rewriter.notifyMatchFailure(op, "no factorization of an accelerator");
    return (this->*convert)(op, rewriter);
  }

private:
  using Conversion = LogicalResult (FactorizationPattern::*)(stablehlo::CustomCallOp,
                                                             PatternRewriter &) const;

  static char letterOf(Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    auto complex = dyn_cast<ComplexType>(element);
    if (complex)
      element = complex.getElementType();
    return element.isF32() ? (complex ? 'c' : 's') : element.isF64() ? (complex ? 'z' : 'd') : 0;
  }

  /// Creates the call of a routine, whose name for complex matrices may be another one.
  static Operation *call(PatternRewriter &rewriter, stablehlo::CustomCallOp op, StringRef routine,
                         TypeRange types, ArrayRef<std::pair<StringRef, char>> letters = {},
                         StringRef complexRoutine = {}) {
    char letter = letterOf(op.getInputs().back());
    bool isComplex = letter == 'c' || letter == 'z';
    std::string target = "lapack_" + std::string(1, letter) +
                         (isComplex && !complexRoutine.empty() ? complexRoutine : routine).str() + "_ffi";
    NamedAttrList config;
    auto byte = IntegerType::get(op.getContext(), 8, IntegerType::Unsigned);
    for (auto [name, value] : letters)
      config.set(name, IntegerAttr::get(byte, value));
    OperationState state(op.getLoc(), stablehlo::CustomCallOp::getOperationName());
    state.addOperands(op.getInputs());
    state.addTypes(types);
    state.addAttribute("call_target_name", rewriter.getStringAttr(target));
    state.addAttribute("mhlo.backend_config", config.getDictionary(op.getContext()));
    return rewriter.create(state);
  }

  static LogicalResult mismatch(stablehlo::CustomCallOp op, PatternRewriter &rewriter) {
    return rewriter.notifyMatchFailure(op, "operands or results are not those of the routine");
  }

  static bool hasCounts(stablehlo::CustomCallOp op, size_t operands, size_t results) {
    return op.getInputs().size() == operands && op.getNumResults() == results;
  }

  static RankedTensorType infoOf(Value matrices) {
    auto type = cast<RankedTensorType>(matrices.getType());
    return RankedTensorType::get(type.getShape().drop_back(std::min<int64_t>(2, type.getRank())),
                                 IntegerType::get(type.getContext(), 32));
  }

  LogicalResult cholesky(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 1, 2))
      return mismatch(op, rewriter);
    rewriter.replaceOp(
        op, call(rewriter, op, "potrf", op->getResultTypes(), {{"uplo", isSet(op, "lower") ? 'L' : 'U'}}));
    return success();
  }

  LogicalResult lu(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 1, 3))
      return mismatch(op, rewriter);
    rewriter.replaceOp(op, call(rewriter, op, "getrf", op->getResultTypes()));
    return success();
  }

  LogicalResult qr(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 1, 2))
      return mismatch(op, rewriter);
    rewriter.replaceOp(op, call(rewriter, op, "geqrf", op->getResultTypes()));
    return success();
  }

  LogicalResult householderProduct(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 2, 1))
      return mismatch(op, rewriter);
    rewriter.replaceOp(op, call(rewriter, op, "orgqr", op->getResultTypes(), {}, "ungqr"));
    return success();
  }

  LogicalResult eigh(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 1, 3))
      return mismatch(op, rewriter);
    rewriter.replaceOp(op, call(rewriter, op, "syevd", op->getResultTypes(),
                                {{"mode", 'V'}, {"uplo", isSet(op, "lower") ? 'L' : 'U'}}, "heevd"));
    return success();
  }

  /// Converts XLA's own call, whose configuration is "lower,sort,sweeps,tolerance". LAPACK always sorts.
  LogicalResult eighOfXla(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    auto config = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
    auto type = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
    if (!hasCounts(op, 1, 2) || !config || !type)
      return mismatch(op, rewriter);
    SmallVector<Type> types(op->getResultTypes());
    types.push_back(infoOf(op.getInputs()[0]));
    Operation *made =
        call(rewriter, op, "syevd", types,
             {{"mode", 'V'}, {"uplo", config.getValue().starts_with("1") ? 'L' : 'U'}}, "heevd");
    rewriter.replaceOp(op, made->getResults().take_front(2));
    return success();
  }

  LogicalResult eig(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (op.getInputs().size() != 1)
      return mismatch(op, rewriter);
    rewriter.replaceOp(op, call(rewriter, op, "geev", op->getResultTypes(),
                                {{"compute_left", isSet(op, "left") ? 'V' : 'N'},
                                 {"compute_right", isSet(op, "right") ? 'V' : 'N'}}));
    return success();
  }

  static char modeOf(stablehlo::CustomCallOp op) {
    return !isSet(op, "compute_uv") ? 'N' : isSet(op, "full_matrices") ? 'A' : 'S';
  }

  /// Converts a singular value decomposition whose fourth result is V; LAPACK returns its adjoint.
  LogicalResult svdWithV(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    auto v = hasCounts(op, 1, 5) ? dyn_cast<RankedTensorType>(op.getResult(3).getType()) : RankedTensorType();
    if (!v || v.getRank() < 2)
      return mismatch(op, rewriter);
    int64_t rank = v.getRank();
    SmallVector<int64_t> shape(v.getShape()), swap(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    std::swap(shape[rank - 2], shape[rank - 1]);
    std::swap(swap[rank - 2], swap[rank - 1]);
    SmallVector<Type> types(op->getResultTypes());
    types[3] = v.clone(shape);
    Operation *made = call(rewriter, op, "gesdd", types, {{"mode", modeOf(op)}});
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> results(made->getResults());
    results[3] = stablehlo::TransposeOp::create(b, v, results[3], swap);
    if (isa<ComplexType>(v.getElementType())) {
      Type part = v.clone(cast<ComplexType>(v.getElementType()).getElementType());
      Value real = stablehlo::RealOp::create(b, part, results[3]);
      Value imaginary = stablehlo::NegOp::create(b, part, stablehlo::ImagOp::create(b, part, results[3]));
      results[3] = stablehlo::ComplexOp::create(b, v, real, imaginary);
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  /// Converts a singular value decomposition. For wide matrices, V's adjoint precedes U.
  LogicalResult svd(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 1, 5))
      return mismatch(op, rewriter);
    SmallVector<Type> types(op->getResultTypes());
    bool isTransposed = isSet(op, "transposed");
    if (isTransposed)
      std::swap(types[2], types[3]);
    SmallVector<Value> results(call(rewriter, op, "gesdd", types, {{"mode", modeOf(op)}})->getResults());
    if (isTransposed)
      std::swap(results[2], results[3]);
    rewriter.replaceOp(op, results);
    return success();
  }

  LogicalResult tridiagonalSolve(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const {
    if (!hasCounts(op, 4, 1) || !isa<RankedTensorType>(op.getInputs()[3].getType()))
      return mismatch(op, rewriter);
    SmallVector<Type> types(op.getInputs().getTypes());
    types.push_back(infoOf(op.getInputs()[3]));
    rewriter.replaceOp(op, call(rewriter, op, "gtsv", types)->getResult(3));
    return success();
  }
};

//===----------------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------------===//

Value compareEqual(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  auto type = cast<RankedTensorType>(lhs.getType()).clone(b.getI1Type());
  return stablehlo::CompareOp::create(b, type, lhs, rhs, stablehlo::ComparisonDirection::EQ,
                                      /*compare_type=*/nullptr);
}

/// Returns the order of the rows after swapping row i with row pivots[i] for each i in turn:
///
///   for i: here = order[i], there = order[pivots[i]]
///          order = select(place == i, there, select(place == pivots[i], here, order))
Value permutationOf(ImplicitLocOpBuilder &b, Value pivots, RankedTensorType type) {
  auto from = cast<RankedTensorType>(pivots.getType());
  int64_t last = type.getRank() - 1;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  auto spread = [&](Value value, ArrayRef<int64_t> dims) -> Value {
    return stablehlo::BroadcastInDimOp::create(b, type, value, dims);
  };
  SmallVector<int64_t> batchDims(llvm::to_vector(llvm::seq<int64_t>(0, last)));
  Value places = stablehlo::IotaOp::create(b, type, last);
  SmallVector<Value> initial = {splatOf(b, scalar, 0), places};
  SmallVector<Type> carried = {scalar, type};
  SmallVector<Location> locations(2, b.getLoc());
  auto loop = stablehlo::WhileOp::create(b, carried, initial);
  OpBuilder::InsertionGuard guard(b);
  Block *condition = b.createBlock(&loop->getRegion(0), {}, carried, locations);
  Value count = splatOf(b, scalar, static_cast<double>(from.getShape().back()));
  Value goesOn =
      stablehlo::CompareOp::create(b, scalar.clone(b.getI1Type()), condition->getArgument(0), count,
                                   stablehlo::ComparisonDirection::LT, /*compare_type=*/nullptr);
  stablehlo::ReturnOp::create(b, goesOn);

  Block *body = b.createBlock(&loop->getRegion(1), {}, carried, locations);
  Value i = body->getArgument(0), order = body->getArgument(1);
  // Each matrix in the batch has one pivot.
  SmallVector<Value> starts(last, splatOf(b, scalar, 0));
  starts.push_back(i);
  SmallVector<int64_t> sizes(type.getShape().drop_back());
  auto each = RankedTensorType::get(sizes, type.getElementType());
  sizes.push_back(1);
  Value pivot = stablehlo::DynamicSliceOp::create(b, RankedTensorType::get(sizes, type.getElementType()),
                                                  pivots, starts, sizes);
  pivot = spread(stablehlo::ReshapeOp::create(b, each, pivot), batchDims);
  Value isHere = compareEqual(b, places, spread(i, {})), isThere = compareEqual(b, places, pivot);
  Value zeros = splatOf(b, type, 0);
  auto pick = [&](Value predicate) {
    return spread(sumOver(b, stablehlo::SelectOp::create(b, type, predicate, order, zeros), {last}),
                  batchDims);
  };
  Value here = pick(isHere), there = pick(isThere);
  Value next = stablehlo::SelectOp::create(b, type, isThere, here, order);
  next = stablehlo::SelectOp::create(b, type, isHere, there, next);
  Value one = stablehlo::AddOp::create(b, scalar, i, splatOf(b, scalar, 1));
  stablehlo::ReturnOp::create(b, ValueRange{one, next});
  return loop->getResult(1);
}

bool arePivotsOf(Value pivots, Type permutation) {
  auto from = dyn_cast<RankedTensorType>(pivots.getType()), to = dyn_cast<RankedTensorType>(permutation);
  return from && to && from.hasStaticShape() && to.hasStaticShape() && to.getRank() > 0 &&
         from.getRank() == to.getRank() && from.getElementType() == to.getElementType() &&
         from.getElementType().isInteger() && from.getShape().drop_back() == to.getShape().drop_back() &&
         from.getShape().back() <= to.getShape().back();
}

/// custom_call @cu_lu_pivots_to_permutation(pivots) -> while
struct PivotsPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (!op.getCallTargetName().ends_with("_lu_pivots_to_permutation") || op.getInputs().size() != 1 ||
        op.getNumResults() != 1 || !arePivotsOf(op.getInputs()[0], op.getResult(0).getType()))
      return rewriter.notifyMatchFailure(op, "no permutation of pivots");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(
        op, permutationOf(b, op.getInputs()[0], cast<RankedTensorType>(op.getResult(0).getType())));
    return success();
  }
};

/// custom_call @LuDecomposition(a) -> lu, its pivots from 0, and their permutation
struct LuOfXlaPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    if (op.getCallTargetName() != "LuDecomposition" || op.getInputs().size() != 1 ||
        op.getNumResults() != 3 || !isa<RankedTensorType>(op.getInputs()[0].getType()) ||
        !arePivotsOf(op.getResult(1), op.getResult(2).getType()))
      return rewriter.notifyMatchFailure(op, "no LU decomposition");
    // The routine is called as for CPUs, with pivots from 1 and a sign of success.
    auto matrices = cast<RankedTensorType>(op.getInputs()[0].getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Type> types(op->getResultTypes());
    types[2] = RankedTensorType::get(matrices.getShape().drop_back(std::min<int64_t>(2, matrices.getRank())),
                                     b.getI32Type());
    OperationState state(op.getLoc(), stablehlo::CustomCallOp::getOperationName());
    state.addOperands(op.getInputs());
    state.addTypes(types);
    state.addAttribute("call_target_name", b.getStringAttr("cusolver_getrf_ffi"));
    Operation *lu = rewriter.create(state);
    auto type = cast<RankedTensorType>(op.getResult(1).getType());
    Value pivots = stablehlo::SubtractOp::create(b, type, lu->getResult(1), splatOf(b, type, 1));
    Value order = permutationOf(b, pivots, cast<RankedTensorType>(op.getResult(2).getType()));
    rewriter.replaceOp(op, {lu->getResult(0), pivots, order});
    return success();
  }
};

//===----------------------------------------------------------------------------===//
// Memory and random bits
//===----------------------------------------------------------------------------===//

/// custom_call @AllocateBuffer() -> 0: `jax.lax.empty`, whose elements are whatever they are
struct AllocateBufferPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    auto type =
        op.getNumResults() == 1 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
    if (op.getCallTargetName() != "AllocateBuffer" || !op.getInputs().empty() || !type ||
        !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "no buffer");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, splatOf(b, type, 0));
    return success();
  }
};

/// custom_call @cu_threefry2x32_ffi(key0, key1, x0, x1) -> 20 rounds of Threefry, as releases of JAX before
/// 0.8 print jax.random for GPUs
struct ThreefryPattern : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    auto type =
        op.getNumResults() == 2 ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
    const auto isSame = [&](Type other) { return other == type; };
    if (!op.getCallTargetName().contains("threefry2x32") || op.getInputs().size() < 4 || !type ||
        !type.hasStaticShape() || !type.getElementType().isInteger(32) ||
        !llvm::all_of(op.getInputs().take_front(4).getTypes(), isSame) ||
        !llvm::all_of(op->getResultTypes(), isSame))
      return rewriter.notifyMatchFailure(op, "not two words of keys and of counters");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const auto add = [&](Value x, Value y) -> Value { return stablehlo::AddOp::create(b, type, x, y); };
    const auto exclusiveOr = [&](Value x, Value y) -> Value {
      return stablehlo::XorOp::create(b, type, x, y);
    };
    const auto rotate = [&](Value x, int distance) -> Value {
      Value left = stablehlo::ShiftLeftOp::create(b, type, x, splatOf(b, type, distance));
      Value right = stablehlo::ShiftRightLogicalOp::create(b, type, x, splatOf(b, type, 32 - distance));
      return stablehlo::OrOp::create(b, type, left, right);
    };
    Value keys[3] = {op.getInputs()[0], op.getInputs()[1], {}};
    keys[2] = exclusiveOr(exclusiveOr(keys[0], keys[1]), splatOf(b, type, 0x1BD11BDA));
    Value x = add(op.getInputs()[2], keys[0]), y = add(op.getInputs()[3], keys[1]);
    static constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    for (int round = 0; round < 5; ++round) {
      for (int distance : rotations[round % 2]) {
        x = add(x, y);
        y = exclusiveOr(x, rotate(y, distance));
      }
      x = add(x, keys[(round + 1) % 3]);
      y = add(add(y, keys[(round + 2) % 3]), splatOf(b, type, round + 1));
    }
    rewriter.replaceOp(op, {x, y});
    return success();
  }
};

} // namespace

void populatePlatformCallExpansions(RewritePatternSet &patterns) {
  patterns.add<FactorizationPattern, PivotsPattern, LuOfXlaPattern, AllocateBufferPattern, ThreefryPattern>(
      patterns.getContext());
}

} // namespace cgx
