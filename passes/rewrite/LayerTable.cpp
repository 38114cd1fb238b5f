//===-- LayerTable.cpp - A program as a table of layers -------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Passes/LayerTable.h"

#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/StepRuns.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

namespace cgx {

using namespace mlir;

static std::vector<int64_t> toVector(ArrayRef<int64_t> values) { return {values.begin(), values.end()}; }

std::vector<std::vector<int64_t>> toLayerGroups(GroupsAttr groups) {
  std::vector<std::vector<int64_t>> rows;
  for (DenseI64ArrayAttr row : groups.getRows())
    rows.push_back(toVector(row.asArrayRef()));
  return rows;
}

layers::Mesh toLayerMesh(ModuleOp module) {
  layers::Mesh mesh;
  if (auto attribute = module->getAttrOfType<MeshAttr>(kMeshAttrName)) {
    mesh.sizes = toVector(attribute.getSizes());
    for (StringAttr axis : attribute.getAxes())
      mesh.axes.push_back(axis.str());
  }
  return mesh;
}

layers::Operand toLayerOperand(LayerAttr layer, RankedTensorType type, CodecAttrInterface codec) {
  layers::Operand operand;
  operand.layer.name = layer.getName().str();
  operand.layer.kind = layers::Kind(layer.getKind());
  operand.layer.stacked = layer.getStacked();
  if (DenseI64ArrayAttr shape = layer.getShape())
    operand.layer.shape = toVector(shape.asArrayRef());
  operand.shape = toVector(type.getShape());
  operand.type = *getCodecElementType(type.getElementType());
  operand.codec = toLayerCodec(codec);
  return operand;
}

/// Sets the fields that only this kind of collective has.
static void describeKind(layers::Collective &collective, Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AllReduceOp o) {
        collective.kind = CGX_ALL_REDUCE;
        collective.algorithm = cgx_algorithm(o.getAlgorithm());
        collective.hierarchy = toLayerHierarchy(o.getHierarchy());
      })
      .Case([&](AllGatherOp o) {
        collective.kind = CGX_ALL_GATHER;
        collective.dim = o.getDim();
        if (std::optional<int64_t> id = o.getDecodesAgain())
          collective.decodesAgain = *id;
      })
      .Case([&](ReduceScatterOp o) {
        collective.kind = CGX_REDUCE_SCATTER;
        collective.dim = o.getDim();
      })
      .Case([&](AllToAllOp o) {
        collective.kind = CGX_ALL_TO_ALL;
        collective.splitDim = o.getSplitDim();
        collective.concatDim = o.getConcatDim();
      })
      .Case([&](BroadcastOp o) {
        collective.kind = CGX_BROADCAST;
        collective.root = o.getRoot();
      })
      .Case([&](PermuteOp o) {
        collective.kind = CGX_PERMUTE;
        for (auto [source, target] : o.getPairs())
          collective.pairs.emplace_back(source, target);
        if (ArrayAttr sends = o.getSends())
          for (StringRef ofPair : sends.getAsValueRange<StringAttr>())
            (collective.sends ? *collective.sends : collective.sends.emplace()).push_back(ofPair.str());
      });
}

layers::Collective toLayerCollective(CollectiveOpInterface op) {
  layers::Collective collective;
  collective.id = op.getId();
  if (std::optional<Reduction> reduction = op.getReductionKind())
    collective.reduction = layers::Reduction(*reduction);
  collective.groups = toLayerGroups(op.getGroups());
  collective.runs = getRunsPerStep(op);
  collective.every = getStepsPerRun(op);
  describeKind(collective, op);
  SmallVector<Origin> origins = getOrigins(op);
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
    layers::Operand &operand =
        collective.operands.emplace_back(toLayerOperand(op.getLayer(i), op.getInputType(i), op.getCodec(i)));
    operand.reason = getExactReason(op, i).str();
    operand.isDecided = op.getExactReasonsAttr() != nullptr;
    operand.origin = origins[i];
  }
  return collective;
}

LayerTable::LayerTable(ModuleOp module) : module(module) {
  if (auto ranks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName))
    table.ranks = ranks.getInt();
  table.mesh = toLayerMesh(module);
  module.walk([&](CollectiveOpInterface op) {
    table.collectives.push_back(toLayerCollective(op));
    ops.push_back(op);
  });
}

void LayerTable::writeBack() {
  Builder builder(module.getContext());
  for (auto [op, collective] : llvm::zip_equal(ops, table.collectives)) {
    SmallVector<Attribute> codecs, reasons;
    for (const layers::Operand &operand : collective.operands) {
      codecs.push_back(getCodecAttr(module.getContext(), operand.codec));
      reasons.push_back(builder.getStringAttr(operand.reason));
    }
    op.setCodecsAttr(builder.getArrayAttr(codecs));
    if (llvm::all_of(collective.operands, [](const layers::Operand &operand) { return operand.isDecided; }))
      op.setExactReasonsAttr(builder.getArrayAttr(reasons));
  }
}

void emitAt(ModuleOp module, const layers::Diagnostics &diagnostics) {
  for (const layers::Diagnostic &diagnostic : diagnostics.get()) {
    InFlightDiagnostic said = diagnostic.severity == layers::Severity::Error
                                  ? mlir::emitError(module.getLoc())
                                  : mlir::emitWarning(module.getLoc());
    said << diagnostic.message;
    for (const std::string &note : diagnostic.notes)
      said.attachNote() << note;
  }
}

} // namespace cgx
