//===-- LowerCollectives.cpp - Collectives to runtime operations -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Native.h"
#include "ir/RuntimeOps.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_LOWERCOLLECTIVESPASS
#include "cgx/Passes/Native.h.inc"

namespace {

Value emptyOf(OpBuilder &builder, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
}

/// Returns whether result and operand have one size, so that the one can take the place of the other.
bool runsInPlace(Operation *op) { return isa<AllReduceOp, BroadcastOp, PermuteOp>(op); }

SmallVector<Value> emptyOutputs(OpBuilder &builder, Location loc, TypeRange types) {
  return llvm::map_to_vector(types,
                             [&](Type type) { return emptyOf(builder, loc, cast<RankedTensorType>(type)); });
}

/// The number of collectives, one in the place of the other, beyond which the next has memory of its own:
/// bufferization compares all values in one place with all ops that read it, and one copy is cheap beside so
/// many collectives.
constexpr unsigned mostInOnePlace = 16;

/// Returns the tensor that a collective may overwrite with its result: the operand, or a copy if too many
/// collectives have overwritten it already.
Value placeFor(OpBuilder &builder, Location loc, Value operand) {
  Value place = operand;
  for (unsigned count = 0; count < mostInOnePlace; ++count) {
    auto result = dyn_cast<OpResult>(place);
    auto before = result ? dyn_cast<DestinationStyleOpInterface>(result.getOwner()) : nullptr;
    if (!before || !isa<rt::CgxRtDialect>(before->getDialect()))
      return operand;
    place = before.getTiedOpOperand(result)->get();
    if (auto start = isa<rt::WaitOp>(before.getOperation()) ? place.getDefiningOp<rt::StartOp>() : nullptr)
      place = start.getOutputs()[cast<OpResult>(place).getResultNumber() - 1]; // after the ticket
  }
  return bufferization::AllocTensorOp::create(builder, loc, cast<RankedTensorType>(operand.getType()),
                                              ValueRange(), operand);
}

/// all_reduce(x) -> run outs(x), where result and operand have one size; else
/// all_gather(x) -> run ins(x) outs(empty)
template <typename OpTy> struct CollectivePattern : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ValueRange inputs = adaptor.getInputs();
    if (runsInPlace(op)) {
      SmallVector<Value> places =
          llvm::map_to_vector(inputs, [&](Value input) { return placeFor(rewriter, op.getLoc(), input); });
      rewriter.replaceOpWithNewOp<rt::RunOp>(op, op.getResultTypes(), op.getId(), ValueRange(), places);
      return success();
    }
    SmallVector<Value> outputs = emptyOutputs(rewriter, op.getLoc(), op.getResultTypes());
    rewriter.replaceOpWithNewOp<rt::RunOp>(op, op.getResultTypes(), op.getId(), inputs, outputs);
    return success();
  }
};

/// bind_optimizer_state parameter(w) first_moment(m) -> bind_optimizer_state [0, 1] (w, m)
struct BindOptimizerStatePattern : OpConversionPattern<BindOptimizerStateOp> {
  using OpConversionPattern<BindOptimizerStateOp>::OpConversionPattern;
  LogicalResult matchAndRewrite(BindOptimizerStateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<int64_t> kept;
    for (int64_t kind = 0; kind < CGX_KEPT_COUNT; ++kind)
      if (op.getKept(static_cast<Kept>(kind)))
        kept.push_back(kind);
    rewriter.replaceOpWithNewOp<rt::BindOptimizerStateOp>(op, op.getId(), op.getOperandNumber(), kept,
                                                          adaptor.getOperands());
    return success();
  }
};

/// compress(x) -> payload @cgx_rt_compress ins(x) outs(empty), and so for each step.
template <typename OpTy> struct PayloadPattern : OpConversionPattern<OpTy> {
  PayloadPattern(const TypeConverter &converter, MLIRContext *context, StringRef callee)
      : OpConversionPattern<OpTy>(converter, context), callee(callee) {}

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    IntegerAttr phase;
    if constexpr (std::is_same_v<OpTy, CompressOp>)
      phase = rewriter.getI64IntegerAttr(static_cast<int64_t>(op.getPhase()));
    auto type = cast<RankedTensorType>(this->getTypeConverter()->convertType(op.getType()));
    Value empty = emptyOf(rewriter, op.getLoc(), type);
    rewriter.replaceOpWithNewOp<rt::PayloadOp>(
        op, type, FlatSymbolRefAttr::get(rewriter.getContext(), callee),
        rewriter.getI64IntegerAttr(op.getId()), rewriter.getI64IntegerAttr(op.getOperandNumber()), phase,
        adaptor.getInput(), empty);
    return success();
  }

  StringRef callee;
};

/// Returns the input where the condition holds, and elsewhere the zeros that the wait gives:
///   x -> x = select(condition, x, 0)
/// An `if` would have a buffer for each branch, while a select fuses with the op that computes x.
Value createOrZeros(OpBuilder &builder, Location loc, Value condition, Value input) {
  auto type = cast<RankedTensorType>(input.getType());
  // A constant of the whole shape would be stored in the object.
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = stablehlo::ConstantOp::create(builder, loc, cast<ElementsAttr>(builder.getZeroAttr(scalar)));
  Value zeros = stablehlo::BroadcastInDimOp::create(builder, loc, type, zero, ArrayRef<int64_t>{});
  return stablehlo::SelectOp::create(builder, loc, type, condition, input, zeros);
}

/// h = start all_reduce(x) ; wait h -> t, s = start outs(x) ; wait t outs(s)
/// h = start all_gather(x) ; wait h -> t, s = start ins(x) outs(empty) ; wait t ins(x) outs(s)
/// h = start when(c) all_reduce(x) ; wait h -> y = select(c, x, 0) ; t, s = start outs(y) when c ; ...
void lowerPair(WaitOp wait) {
  CollectiveOpInterface collective = wait.getCollective();
  bool inPlace = runsInPlace(collective);
  TypeRange types = wait.getResultTypes();
  OpBuilder builder(collective.getIssuer());
  SmallVector<Value> inputs(collective.getInputs());
  Value condition = cast<StartOp>(collective.getIssuer()).getCondition(), holds;
  if (condition) {
    for (Value &input : inputs)
      input = createOrZeros(builder, collective.getLoc(), condition, input);
    holds = tensor::ExtractOp::create(builder, collective.getLoc(), condition, ValueRange());
  }
  SmallVector<Value> outputs =
      inPlace ? llvm::map_to_vector(
                    inputs, [&](Value input) { return placeFor(builder, collective.getLoc(), input); })
              : emptyOutputs(builder, collective.getLoc(), types);
  if (inPlace)
    inputs.clear();
  auto start = rt::StartOp::create(builder, collective.getLoc(), builder.getType<rt::TicketType>(), types,
                                   collective.getId(), inputs, outputs, holds);
  builder.setInsertionPoint(wait);
  auto result =
      rt::WaitOp::create(builder, wait.getLoc(), types, start.getTicket(), inputs, start.getInFlight());
  wait->replaceAllUsesWith(result.getResults());
  wait.erase();
  collective.getIssuer()->erase();
}

struct LowerCollectivesPass : impl::LowerCollectivesPassBase<LowerCollectivesPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    getOperation().walk(lowerPair);
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](PayloadType type) -> Type {
      return RankedTensorType::get({static_cast<int64_t>(type.getBytes())},
                                   IntegerType::get(type.getContext(), 8));
    });

    RewritePatternSet patterns(context);
    patterns.add<CollectivePattern<AllReduceOp>, CollectivePattern<AllGatherOp>,
                 CollectivePattern<ReduceScatterOp>, CollectivePattern<AllToAllOp>,
                 CollectivePattern<BroadcastOp>, CollectivePattern<PermuteOp>, BindOptimizerStatePattern>(
        converter, context);
    patterns.add<PayloadPattern<CompressOp>>(converter, context, "cgx_rt_compress");
    patterns.add<PayloadPattern<PayloadAllToAllOp>>(converter, context, "cgx_rt_payload_all_to_all");
    patterns.add<PayloadPattern<DecompressAccumulateOp>>(converter, context, "cgx_rt_decompress_accumulate");
    patterns.add<PayloadPattern<PayloadAllGatherOp>>(converter, context, "cgx_rt_payload_all_gather");
    patterns.add<PayloadPattern<DecompressOp>>(converter, context, "cgx_rt_decompress");

    ConversionTarget target(*context);
    target.addIllegalDialect<CgxDialect>();
    target.addLegalDialect<bufferization::BufferizationDialect, rt::CgxRtDialect, tensor::TensorDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace cgx
