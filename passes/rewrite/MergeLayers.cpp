//===-- MergeLayers.cpp - The scope of an entire model --------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

namespace cgx {
#define GEN_PASS_DEF_MERGELAYERSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// The properties that operands share if they are encoded as one: codec, element type, kind of layer.
using ReductionKey = std::tuple<Attribute, Type, LayerKind>;

/// Returns the numbers of operands that become one; an operand that does not stands alone.
SmallVector<SmallVector<unsigned>> findMerges(AllReduceOp op) {
  SmallVector<SmallVector<unsigned>> merges;
  llvm::MapVector<ReductionKey, size_t> open;
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
    auto [place, isNew] = open.try_emplace(
        {op.getCodec(i), op.getInputType(i).getElementType(), op.getLayer(i).getKind()}, merges.size());
    if (isNew || op.getCodec(i).isExact())
      merges.push_back({i});
    else
      merges[place->second].push_back(i);
  }
  return merges;
}

/// The rewriting of one collective: its operands, results and layers as vectors.
class Merging {
public:
  explicit Merging(AllReduceOp op) : op(op), builder(op) {}

  Value concatenate(ArrayRef<unsigned> operands) {
    SmallVector<Value> vectors;
    for (unsigned operand : operands)
      vectors.push_back(reshape(op.getInputs()[operand], vectorOf({operand})));
    return stablehlo::ConcatenateOp::create(builder, op.getLoc(), vectorOf(operands), vectors,
                                            /*dimension=*/0);
  }

  /// Replaces the results of these operands by the parts of `merged`.
  void takeApart(Value merged, ArrayRef<unsigned> operands) {
    int64_t begin = 0;
    for (unsigned operand : operands) {
      RankedTensorType vector = vectorOf({operand});
      int64_t end = begin + vector.getNumElements();
      Value part = stablehlo::SliceOp::create(builder, op.getLoc(), vector, merged, ArrayRef<int64_t>{begin},
                                              ArrayRef<int64_t>{end}, ArrayRef<int64_t>{1});
      op.getResult(operand).replaceAllUsesWith(reshape(part, op.getInputType(operand)));
      begin = end;
    }
  }

  LayerAttr layerOf(ArrayRef<unsigned> operands) {
    SmallVector<std::string> names;
    for (unsigned operand : operands)
      names.push_back(op.getLayer(operand).getName().str());
    return LayerAttr::get(op.getContext(), llvm::join(names, " + "), op.getLayer(operands[0]).getKind(),
                          builder.getDenseI64ArrayAttr({vectorOf(operands).getNumElements()}));
  }

private:
  RankedTensorType vectorOf(ArrayRef<unsigned> operands) {
    int64_t elements = 0;
    for (unsigned operand : operands)
      elements += op.getInputType(operand).getNumElements();
    return RankedTensorType::get({elements}, op.getInputType(operands[0]).getElementType());
  }

  Value reshape(Value value, RankedTensorType type) {
    if (value.getType() == type)
      return value;
    return stablehlo::ReshapeOp::create(builder, op.getLoc(), type, value);
  }

  AllReduceOp op;
  OpBuilder builder;
};

struct MergeLayers : impl::MergeLayersPassBase<MergeLayers> {
  void runOnOperation() override {
    WalkResult walk = getOperation().walk([](AllReduceOp op) {
      SmallVector<SmallVector<unsigned>> merges = findMerges(op);
      if (merges.size() == op.getInputs().size() || op.isStarted())
        return WalkResult::advance();
      return failed(merge(op, merges)) ? WalkResult::interrupt() : WalkResult::skip();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult merge(AllReduceOp op, ArrayRef<SmallVector<unsigned>> merges) {
    OpBuilder builder(op);
    Merging merging(op);
    ArrayAttr given = op.getExactReasonsAttr();
    SmallVector<Value> inputs;
    SmallVector<Attribute> codecs, layers, reasons;
    for (ArrayRef<unsigned> operands : merges) {
      bool isAlone = operands.size() == 1;
      inputs.push_back(isAlone ? op.getInputs()[operands[0]] : merging.concatenate(operands));
      layers.push_back(isAlone ? op.getLayer(operands[0]) : merging.layerOf(operands));
      codecs.push_back(op.getCodec(operands[0]));
      if (given)
        reasons.push_back(given[operands[0]]);
      // An optimizer keeps no state of a vector of layers, and gcomp cannot choose among them.
      if (!isAlone && op.getCodec(operands[0]).readsKept(Kept::Parameter))
        return op.emitError("layers merged into a vector: codec ")
               << op.getCodec(operands[0]).getFamily()
               << " reads what the optimizer keeps of each layer: expected the scope layer-wise";
      auto type = cast<RankedTensorType>(inputs.back().getType());
      if (std::string refusal = op.getCodec(operands[0]).getShapeRefusal(type); !refusal.empty())
        return op.emitError("layers merged into a vector: codec ")
               << op.getCodec(operands[0]).getFamily() << ": " << refusal;
    }
    auto merged = AllReduceOp::create(
        builder, op.getLoc(), ValueRange(inputs).getTypes(), inputs, op.getReduction(), op.getId(),
        op.getGroups(), builder.getArrayAttr(codecs), builder.getArrayAttr(layers), op.getAlgorithm(),
        op.getHierarchyAttr(), given ? builder.getArrayAttr(reasons) : ArrayAttr());
    for (auto [operands, result] : llvm::zip_equal(merges, merged.getResults())) {
      if (operands.size() == 1)
        op.getResult(operands[0]).replaceAllUsesWith(result);
      else
        merging.takeApart(result, operands);
    }
    op.erase();
    return success();
  }
};

} // namespace
} // namespace cgx
