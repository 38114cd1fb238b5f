//===-- LowerToXlaFfi.cpp - Collectives to calls of XLA ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "cgx/Passes/Manifest.h"
#include "cgx/Passes/Xla.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace cgx {
#define GEN_PASS_DEF_LOWERTOXLAFFIPASS
#include "cgx/Passes/Xla.h.inc"

namespace {

/// The optimizer state bound to the codecs of a collective's operands: pairs of operand and kind, and the
/// tensors.
struct Bound {
  SmallVector<int64_t> kept;
  SmallVector<Value> tensors;
};

/// Returns row-major layouts for the tensors of a call: the runtime supports no others.
ArrayAttr getLayouts(Builder &builder, TypeRange types) {
  SmallVector<Attribute> layouts;
  for (Type type : types) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    SmallVector<int64_t> minorToMajor = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
    auto shape = RankedTensorType::get({rank}, builder.getIndexType());
    layouts.push_back(DenseIntElementsAttr::get(shape, minorToMajor));
  }
  return builder.getArrayAttr(layouts);
}

/// Writes the calls of @main, in the order of its collectives.
class CallChain {
public:
  explicit CallChain(func::FuncOp main)
      : main(main),
        tokenType(RankedTensorType::get({}, IntegerType::get(main.getContext(), 32, IntegerType::Unsigned))) {
  }

  /// Finds collectives, the state bound to them, and the operations that contain them. This comes first.
  LogicalResult collect() {
    WalkResult walk = main.walk([&](Operation *op) -> WalkResult {
      if (auto payload = dyn_cast<PayloadOpInterface>(op)) {
        op->emitOpError() << "is a part of collective " << payload.getId()
                          << " in explicit form, which XLA cannot call; leave out `decompose`";
        return WalkResult::interrupt();
      }
      if (auto bind = dyn_cast<BindOptimizerStateOp>(op))
        addBound(bind);
      if (!isa<CollectiveOpInterface>(op))
        return WalkResult::advance();
      for (Operation *outer = op; outer != main; outer = outer->getParentOp())
        communicating.insert(outer);
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  LogicalResult run(StringAttr name) {
    program = name;
    if (communicating.empty())
      return success();
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Location loc = main.getLoc();
    Value token =
        call(builder, loc, "cgx_begin_step", {createRank(builder, loc)}, TypeRange(), {})->getResult(0);
    FailureOr<Value> last = lowerBlock(body, token);
    if (failed(last))
      return failure();
    builder.setInsertionPoint(body.getTerminator());
    call(builder, loc, "cgx_end_step", {*last}, TypeRange(), {});
    for (Operation *op : llvm::reverse(lowered))
      op->erase();
    return success();
  }

private:
  void addBound(BindOptimizerStateOp bind) {
    Bound &ofCollective = bound[bind.getId()];
    for (int64_t kind = 0; kind < CGX_KEPT_COUNT; ++kind)
      if (Value tensor = bind.getKept(static_cast<Kept>(kind))) {
        ofCollective.kept.append({bind.getOperandNumber(), kind});
        ofCollective.tensors.push_back(tensor);
      }
    lowered.push_back(bind);
  }

  /// Returns the number of this rank among all of them.
  Value createRank(OpBuilder &builder, Location loc) {
    auto module = main->getParentOfType<ModuleOp>();
    auto count = [&](StringRef name) {
      auto attribute = module->getAttrOfType<IntegerAttr>(name);
      return attribute ? attribute.getInt() : 1;
    };
    int64_t partitions = count("mhlo.num_partitions"), replicas = count("mhlo.num_replicas");
    if (replicas <= 1)
      return stablehlo::PartitionIdOp::create(builder, loc, tokenType);
    Value replica = stablehlo::ReplicaIdOp::create(builder, loc, tokenType);
    if (partitions <= 1)
      return replica;
    Value partition = stablehlo::PartitionIdOp::create(builder, loc, tokenType);
    Value size = stablehlo::ConstantOp::create(
        builder, loc, tokenType,
        DenseElementsAttr::get(tokenType, APInt(/*numBits=*/32, static_cast<uint64_t>(partitions))));
    Value first = stablehlo::MulOp::create(builder, loc, tokenType, replica, size);
    return stablehlo::AddOp::create(builder, loc, tokenType, first, partition);
  }

  /// Creates a call that returns the token and results of `types`.
  Operation *call(OpBuilder &builder, Location loc, StringRef target, ValueRange operands, TypeRange types,
                  ArrayRef<NamedAttribute> config) {
    SmallVector<Type> results{tokenType};
    llvm::append_range(results, types);
    NamedAttrList attributes(config);
    attributes.set("program", program);
    NamedAttribute properties[] = {
        builder.getNamedAttr("call_target_name", builder.getStringAttr(target)),
        builder.getNamedAttr("has_side_effect", builder.getBoolAttr(true)),
        builder.getNamedAttr("api_version", builder.getI32IntegerAttr(4)),
        builder.getNamedAttr("backend_config", attributes.getDictionary(builder.getContext())),
        builder.getNamedAttr("operand_layouts", getLayouts(builder, operands.getTypes())),
        builder.getNamedAttr("result_layouts", getLayouts(builder, results))};
    return stablehlo::CustomCallOp::create(builder, loc, results, operands, properties);
  }

  /// Lowers the contents of a block, and returns the token after it.
  FailureOr<Value> lowerBlock(Block &block, Value token) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!communicating.contains(&op))
        continue;
      if (CollectiveOpInterface collective = getIssued(&op)) {
        if (auto start = dyn_cast<StartOp>(op); start && start.getCondition())
          return collective.emitOpError()
                 << "layer '" << collective.getLayer(0).getName()
                 << "': is started with a condition, as outer steps that overlap are; expected a step for "
                    "cgx-run or cgx-compile, got one for XLA, whose calls always run";
        token = lowerCollective(collective, token);
        continue;
      }
      FailureOr<Value> behind = lowerRegions(op, token);
      if (failed(behind))
        return failure();
      token = *behind;
    }
    return token;
  }

  Value lowerCollective(CollectiveOpInterface op, Value token) {
    OpBuilder builder(op.getIssuer());
    SmallVector<Value> operands{token};
    llvm::append_range(operands, op.getInputs());
    const Bound &ofCodecs = bound[op.getId()];
    llvm::append_range(operands, ofCodecs.tensors);
    ResultRange results = op.getResultTensors();
    NamedAttribute config[] = {
        builder.getNamedAttr("collective", builder.getI64IntegerAttr(op.getId())),
        builder.getNamedAttr("operands", builder.getI64IntegerAttr(op.getInputs().size())),
        builder.getNamedAttr("kept", builder.getDenseI64ArrayAttr(ofCodecs.kept))};
    Operation *replacement =
        call(builder, op.getLoc(), "cgx_collective", operands, results.getTypes(), config);
    // A start has its results at the wait, which comes later in the block.
    results.replaceAllUsesWith(replacement->getResults().drop_front());
    lowered.push_back(op.getIssuer());
    if (op.isStarted())
      lowered.push_back(*op.getIssuer()->user_begin());
    return replacement->getResult(0);
  }

  /// Lowers an op with collectives inside, which takes and returns the token from now on.
  FailureOr<Value> lowerRegions(Operation &op, Value token) {
    bool isLoop = isa<stablehlo::WhileOp>(op);
    if (!isLoop && !isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
      return op.emitOpError() << "has a collective inside, expected stablehlo.while, if or case around it";
    OperationState state(op.getLoc(), op.getName(), op.getOperands(), op.getResultTypes(), op.getAttrs());
    state.addTypes(tokenType);
    if (isLoop)
      state.addOperands(token);
    for (Region &region : op.getRegions())
      state.addRegion()->takeBody(region);
    Operation *extended = OpBuilder(&op).create(state);
    for (Region &region : extended->getRegions()) {
      Block &block = region.front();
      Value inside = isLoop ? block.addArgument(tokenType, op.getLoc()) : token;
      FailureOr<Value> behind = lowerBlock(block, inside);
      if (failed(behind))
        return failure();
      // A condition returns only a boolean. Ops after it run after its calls in any case.
      bool isCondition = isLoop && &region == &extended->getRegion(0);
      if (!isCondition)
        block.getTerminator()->insertOperands(block.getTerminator()->getNumOperands(), *behind);
    }
    op.replaceAllUsesWith(extended->getResults().drop_back());
    op.erase();
    return extended->getResults().back();
  }

  func::FuncOp main;
  StringAttr program;
  RankedTensorType tokenType;
  llvm::DenseSet<Operation *> communicating;
  llvm::DenseMap<int64_t, Bound> bound;
  SmallVector<Operation *> lowered; ///< an operation before what uses its results
};

/// The most elements that are written one by one; more are written as hexadecimal digits.
constexpr int64_t kMostWrittenOut = 64;

/// Writes booleans as bytes, where they would be written as bits: constant dense<i1> -> convert (constant
/// dense<ui8>).
void writeBooleansAsBytes(ModuleOp module) {
  module.walk([](stablehlo::ConstantOp constant) {
    auto booleans = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    if (!booleans || !booleans.getElementType().isInteger(1) || booleans.isSplat() ||
        booleans.getNumElements() <= kMostWrittenOut)
      return;
    OpBuilder builder(constant);
    RankedTensorType type = cast<RankedTensorType>(booleans.getType())
                                .clone(IntegerType::get(constant->getContext(), 8, IntegerType::Unsigned));
    SmallVector<APInt> bytes;
    for (const APInt &element : booleans.getValues<APInt>())
      bytes.push_back(element.zext(8));
    Value raw =
        stablehlo::ConstantOp::create(builder, constant.getLoc(), type, DenseElementsAttr::get(type, bytes));
    constant->replaceAllUsesWith(
        stablehlo::ConvertOp::create(builder, constant.getLoc(), constant->getResultTypes(), raw));
    constant->erase();
  });
}

struct LowerToXlaFfiPass : impl::LowerToXlaFfiPassBase<LowerToXlaFfiPass> {
  using LowerToXlaFfiPassBase::LowerToXlaFfiPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || !main.getBody().hasOneBlock()) {
      module.emitError("expected a function @main with a body of one block");
      return signalPassFailure();
    }
    CallChain calls(main);
    // The manifest while collectives have their codecs.
    if (failed(calls.collect()) || failed(emitManifest(module, /*withSignature=*/false)) ||
        failed(calls.run(getProgramName(module))) || failed(checkNothingIsLeft(module)))
      return signalPassFailure();
    writeBooleansAsBytes(module);
  }

  StringAttr getProgramName(ModuleOp module) {
    if (!program.empty())
      return StringAttr::get(module.getContext(), program);
    llvm::json::Value manifest = llvm::cantFail(llvm::json::parse(getManifest(module)));
    return StringAttr::get(module.getContext(), *manifest.getAsObject()->getString("hash"));
  }

  LogicalResult checkNothingIsLeft(ModuleOp module) {
    WalkResult walk = module.walk([](Operation *op) {
      if (!isa_and_nonnull<CgxDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("is not in @main, expected every function inlined into it");
      return WalkResult::interrupt();
    });
    return failure(walk.wasInterrupted());
  }
};

} // namespace
} // namespace cgx
