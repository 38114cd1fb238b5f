//===-- SplitStackedLayers.cpp - Each layer of a stack by itself ----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective works on the layers of a stack one by one: for x of shape [n, ...],
//
//   all_reduce(x) = stack(all_reduce(x[0]), ..., all_reduce(x[n - 1]))
//
// and likewise for all_gather and reduce_scatter along another dimension than the first. The pieces are
// operands of the same collective, so that they travel in the same messages.
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/layers/Glob.h"
#include "cgx/layers/PlannedCodecs.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "mlir/IR/Builders.h"

namespace cgx {
#define GEN_PASS_DEF_SPLITSTACKEDLAYERSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns the dimension along which the operands of `op` are cut or put together, if there is one.
std::optional<int64_t> getDim(CollectiveOpInterface op) {
  if (auto gather = dyn_cast<AllGatherOp>(op.getOperation()))
    return gather.getDim();
  if (auto scatter = dyn_cast<ReduceScatterOp>(op.getOperation()))
    return scatter.getDim();
  return std::nullopt;
}

/// Returns whether an operand is a stack that can be taken apart.
bool isStack(CollectiveOpInterface op, unsigned operand) {
  if (!isa<AllReduceOp, AllGatherOp, ReduceScatterOp>(op) || op.getOriginsAttr() || getDim(op) == 0 ||
      op.isStarted())
    return false;
  DenseI64ArrayAttr shape = op.getLayer(operand).getShape();
  RankedTensorType type = op.getInputType(operand);
  return shape && shape.size() > 1 && type.getRank() == static_cast<int64_t>(shape.size()) &&
         type.getDimSize(0) == shape[0] && shape[0] > 1;
}

/// A collective with the layers of some operands as operands of their own.
class StackSplitter {
public:
  explicit StackSplitter(CollectiveOpInterface op) : op(op), builder(op) {}

  void split(llvm::function_ref<bool(unsigned)> isSplit) {
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      counts.push_back(isSplit(i) ? op.getInputType(i).getDimSize(0) : 0);
      if (counts.back() == 0)
        addOperand(op.getInputs()[i], op.getLayer(i), i, op->getResult(i).getType());
      for (int64_t layer = 0; layer < counts.back(); ++layer)
        addLayer(i, layer);
    }
    state.addAttributes(op->getAttrs());
    auto made = cast<CollectiveOpInterface>(builder.create(state));
    made.setLayersAttr(builder.getArrayAttr(layers));
    made.setCodecsAttr(builder.getArrayAttr(codecs));
    auto results = made->getResults().begin();
    for (auto [i, count] : llvm::enumerate(counts)) {
      SmallVector<Value> taken(results, results + std::max<int64_t>(1, count));
      results += taken.size();
      op->getResult(i).replaceAllUsesWith(count == 0 ? taken[0] : stack(taken, op->getResult(i).getType()));
    }
    op->erase();
  }

private:
  void addOperand(Value value, LayerAttr layer, unsigned i, Type resultType) {
    state.operands.push_back(value);
    state.types.push_back(resultType);
    layers.push_back(layer);
    codecs.push_back(op.getCodecs()[i]);
  }

  void addLayer(unsigned i, int64_t layer) {
    RankedTensorType type = op.getInputType(i);
    SmallVector<int64_t> begin(type.getRank(), 0), end(type.getShape()), strides(type.getRank(), 1);
    begin[0] = layer;
    end[0] = layer + 1;
    Value slice = stablehlo::SliceOp::create(builder, op.getLoc(), withoutStack(type, 1), op.getInputs()[i],
                                             begin, end, strides);
    if (!getDim(op)) // that of the collective counts from the first dimension
      slice = stablehlo::ReshapeOp::create(builder, op.getLoc(), withoutStack(type, std::nullopt), slice);
    LayerAttr whole = op.getLayer(i);
    std::string name = whole.getName().str() + "[" + std::to_string(layer) + "]";
    auto named = LayerAttr::get(op.getContext(), name, whole.getKind(),
                                builder.getDenseI64ArrayAttr(whole.getShape().asArrayRef().drop_front()));
    auto result = cast<RankedTensorType>(op->getResult(i).getType());
    addOperand(slice, named, i,
               getDim(op) ? withoutStack(result, 1) : cast<RankedTensorType>(slice.getType()));
  }

  /// Returns the type with another first dimension, or without one.
  static RankedTensorType withoutStack(RankedTensorType type, std::optional<int64_t> first) {
    SmallVector<int64_t> shape(type.getShape().drop_front());
    if (first)
      shape.insert(shape.begin(), *first);
    return type.clone(shape);
  }

  Value stack(ArrayRef<Value> parts, Type type) {
    SmallVector<Value> stacked;
    for (Value part : parts) {
      RankedTensorType slice = withoutStack(cast<RankedTensorType>(type), 1);
      stacked.push_back(part.getType() == slice
                            ? part
                            : stablehlo::ReshapeOp::create(builder, op.getLoc(), slice, part).getResult());
    }
    return stablehlo::ConcatenateOp::create(builder, op.getLoc(), type, stacked, /*dimension=*/0);
  }

  CollectiveOpInterface op;
  OpBuilder builder;
  OperationState state{op.getLoc(), op->getName()};
  SmallVector<Attribute> layers, codecs;
  SmallVector<int64_t> counts; ///< of layers; 0 where an operand stays whole
};

struct SplitStackedLayers : impl::SplitStackedLayersPassBase<SplitStackedLayers> {
  using SplitStackedLayersPassBase::SplitStackedLayersPassBase;

  void runOnOperation() override {
    if (layers.empty() && plan.empty())
      return;
    if (failed(readPatterns()))
      return signalPassFailure();
    std::optional<cgx::layers::PlannedCodecs> planned;
    if (!plan.empty()) {
      cgx::layers::Diagnostics diagnostics;
      planned = cgx::layers::PlannedCodecs::read(plan, diagnostics);
      emitAt(getOperation(), diagnostics);
      if (!planned)
        return signalPassFailure();
    }
    SmallVector<CollectiveOpInterface> ops;
    getOperation().walk([&](CollectiveOpInterface op) { ops.push_back(op); });
    for (CollectiveOpInterface op : ops) {
      auto isSplit = [&](unsigned i) {
        return isStack(op, i) &&
               ((planned && planned->namesLayersOf(
                                toLayerOperand(op.getLayer(i), op.getInputType(i), op.getCodec(i)).layer)) ||
                isNamed(op.getLayer(i)));
      };
      if (llvm::any_of(llvm::seq<unsigned>(0, op.getInputs().size()), isSplit))
        StackSplitter(op).split(isSplit);
    }
    for (const Pattern &pattern : patterns)
      if (!pattern.matched)
        emitWarning(getOperation().getLoc())
            << "split-layers=" << pattern.text << " matches the name of no stack of layers";
  }

private:
  struct Pattern {
    std::string text;
    cgx::layers::Glob glob;
    bool matched = false;
  };

  LogicalResult readPatterns() {
    patterns.clear();
    for (const std::string &text : layers) {
      std::string reason;
      std::optional<cgx::layers::Glob> glob = cgx::layers::Glob::parse(text, reason);
      if (!glob)
        return emitError(getOperation().getLoc())
               << "expected split-layers to be a glob, got " << text << ": " << reason;
      patterns.push_back({text, std::move(*glob)});
    }
    return success();
  }

  bool isNamed(LayerAttr layer) {
    bool matches = false;
    for (Pattern &pattern : patterns)
      if (pattern.glob.matches(layer.getName().str()))
        matches = pattern.matched = true;
    return matches;
  }

  SmallVector<Pattern> patterns;
};

} // namespace
} // namespace cgx
