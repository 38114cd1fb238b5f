//===-- EmitManifest.cpp - The manifest of a program -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===-----------------------------------------------------------------------------------===//
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/Manifest.h"
#include "cgx/layers/Manifest.h"

#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace mlir;
namespace json = llvm::json;

namespace cgx {
#define GEN_PASS_DEF_EMITMANIFESTPASS
#include "cgx/Passes/Manifest.h.inc"

namespace {

json::Array arrayOf(ArrayRef<int64_t> values) { return json::Array(values); }

std::string textOf(const json::Value &value) { return llvm::formatv("{0}", value).str(); }

// ---- Attributes ---------------------------------------------------------------------------

json::Value valueOf(Attribute attribute) {
  if (auto entries = dyn_cast<DictionaryAttr>(attribute)) {
    json::Object object;
    for (NamedAttribute entry : entries)
      object[entry.getName().getValue()] = valueOf(entry.getValue());
    return object;
  }
  return llvm::TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](BoolAttr attr) { return attr.getValue(); })
      .Case([](IntegerAttr attr) { return attr.getInt(); })
      .Case([](FloatAttr attr) { return attr.getValueAsDouble(); })
      .Case([](StringAttr attr) { return attr.getValue(); })
      .Default([](Attribute) { return nullptr; });
}

// ---- Arguments and results ----------------------------------------------------------------

/// Returns, per dimension, the names of the axes that split it.
json::Array shardingOf(ShardingAttr sharding, int64_t rank) {
  json::Array dims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    json::Array axes;
    if (sharding && dim < static_cast<int64_t>(sharding.getDimensions().size()))
      for (auto axis : sharding.getDimensions()[dim].getAsRange<StringAttr>())
        axes.push_back(axis.getValue());
    dims.push_back(std::move(axes));
  }
  return dims;
}

/// Returns the name of an element type of arguments and results; nothing where native code has none. Narrow
/// ones are called as in MLIR, in lower case: "f8e4m3fn", "i4", "u4".
std::optional<std::string> nameInSignature(Type element) {
  if (getCodecElementType(element))
    return getElementTypeName(element).str();
  if (!isNarrow(element))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return StringRef(text).starts_with("ui") ? text.substr(0, 1) + text.substr(2) : StringRef(text).lower();
}

/// Describes one argument or result; `attributes` are those of its place in the signature.
FailureOr<json::Object> describeValue(func::FuncOp main, Type type, DictionaryAttr attributes,
                                      const Twine &defaultName) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<std::string> dtype = tensor ? nameInSignature(tensor.getElementType()) : std::nullopt;
  if (!dtype || !tensor.hasStaticShape())
    return main.emitError(
               "expected tensors of static shape, of numbers or booleans, in the signature of @main, "
               "got ")
           << type
           << (tensor && stablehlo::isQuantized(tensor.getElementType())
                   ? ": quantized types have no native code, export the step in floats, or with scales and "
                     "integers of its own"
                   : "");
  auto get = [&](StringRef name) { return attributes ? attributes.get(name) : Attribute(); };
  auto name = dyn_cast_or_null<StringAttr>(get(kNameAttrName));
  RankedTensorType global = tensor;
  if (auto attr = dyn_cast_or_null<TypeAttr>(get(kGlobalTypeAttrName)))
    if (auto globalType = dyn_cast<RankedTensorType>(attr.getValue()))
      global = globalType;
  json::Object entry{
      {"name", name ? name.getValue().str() : defaultName.str()},
      {"dtype", *dtype},
      {"shape", arrayOf(tensor.getShape())},
      {"global_shape", arrayOf(global.getShape())},
      {"sharding", shardingOf(dyn_cast_or_null<ShardingAttr>(get(kShardingAttrName)), tensor.getRank())}};
  if (auto feeds = dyn_cast_or_null<IntegerAttr>(get(kFeedsAttrName)))
    entry["feeds"] = feeds.getInt();
  else if (auto updates = dyn_cast_or_null<IntegerAttr>(get(kUpdatesAttrName)))
    entry["updates"] = updates.getInt();
  if (Attribute initial = get(kInitialAttrName))
    entry["initial"] = valueOf(initial);
  return entry;
}

// ---- Collectives -------------------------------------------------------------------------

/// A collective in explicit form is spread over its payload operations.
struct ExplicitCollective {
  Operation *first = nullptr;
  GroupsAttr groups;
  std::map<int64_t, layers::Operand> operands;
  std::optional<Reduction> reduction;

  void add(PayloadOpInterface op) {
    if (!first)
      first = op;
    if (auto exchange = dyn_cast<CommunicationOpInterface>(op.getOperation()))
      groups = exchange.getGroups();
    if (auto decompress = dyn_cast<DecompressAccumulateOp>(op.getOperation()))
      reduction = decompress.getReduction();
    auto compress = dyn_cast<CompressOp>(op.getOperation());
    if (compress && compress.getPhase() == Phase::Contribution) {
      PayloadType payload = op.getPayloadType();
      layers::Operand &operand = operands[op.getOperandNumber()] =
          toLayerOperand(compress.getLayer(), payload.getTensorType(), payload.getCodec());
      operand.origin = getOrigin(compress);
    }
  }

  FailureOr<layers::Collective> describe(int64_t id) {
    layers::Collective collective;
    collective.id = id;
    collective.algorithm = CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER;
    for (auto &[number, operand] : operands) {
      if (number != static_cast<int64_t>(collective.operands.size()))
        return first->emitError("expected operand ") << collective.operands.size() << " of collective " << id
                                                     << " to be compressed, got operand " << number;
      collective.operands.push_back(std::move(operand));
    }
    if (collective.operands.empty() || !groups || !reduction)
      return first->emitError("expected compress, exchange and decompress_accumulate for collective ") << id;
    collective.reduction = layers::Reduction(*reduction);
    collective.groups = toLayerGroups(groups);
    return collective;
  }
};

/// Describes all collectives.
FailureOr<std::vector<layers::Collective>> describeCollectives(ModuleOp module) {
  std::vector<layers::Collective> collectives;
  llvm::DenseSet<int64_t> ids;
  std::map<int64_t, ExplicitCollective> explicitOnes;
  WalkResult walk = module.walk([&](Operation *op) {
    if (auto payload = dyn_cast<PayloadOpInterface>(op))
      explicitOnes[payload.getId()].add(payload);
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective)
      return WalkResult::advance();
    collectives.push_back(toLayerCollective(collective));
    if (ids.insert(collective.getId()).second)
      return WalkResult::advance();
    op->emitError("expected ids to be unique, got a second collective ") << collective.getId();
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto &[id, collective] : explicitOnes) {
    FailureOr<layers::Collective> described = collective.describe(id);
    if (failed(described))
      return failure();
    if (!ids.insert(id).second)
      return collective.first->emitError("expected ids to be unique, got a collective and payloads with id ")
             << id;
    collectives.push_back(std::move(*described));
  }
  return collectives;
}

// ---- The module --------------------------------------------------------------------------

/// Describes the arguments and results of @main.
FailureOr<layers::Signature> describeSignature(ModuleOp module) {
  FailureOr<func::FuncOp> main = lookupMain(module);
  if (failed(main))
    return failure();
  json::Array arguments, results;
  FunctionType type = main->getFunctionType();
  for (unsigned i = 0; i < type.getNumInputs(); ++i) {
    auto entry = describeValue(*main, type.getInput(i), main->getArgAttrDict(i), "arg" + Twine(i));
    if (failed(entry))
      return failure();
    arguments.push_back(std::move(*entry));
  }
  for (unsigned i = 0; i < type.getNumResults(); ++i) {
    auto entry = describeValue(*main, type.getResult(i), main->getResultAttrDict(i), "result" + Twine(i));
    if (failed(entry))
      return failure();
    results.push_back(std::move(*entry));
  }
  return layers::Signature{textOf(std::move(arguments)), textOf(std::move(results))};
}

struct EmitManifestPass : impl::EmitManifestPassBase<EmitManifestPass> {
  void runOnOperation() override {
    if (failed(emitManifest(getOperation(), /*withSignature=*/true)))
      signalPassFailure();
  }
};

} // namespace

bool isNarrow(Type element) {
  if (auto type = dyn_cast<FloatType>(element))
    return type.getWidth() <= 8;
  auto type = dyn_cast<IntegerType>(element);
  return type && type.getWidth() > 1 && type.getWidth() < 8;
}

StringRef getManifest(ModuleOp module) {
  auto manifest = module->getAttrOfType<StringAttr>(manifestAttrName);
  return manifest ? manifest.getValue() : StringRef();
}

LogicalResult emitManifest(ModuleOp module, bool withSignature) {
  FailureOr<std::vector<layers::Collective>> collectives = describeCollectives(module);
  if (failed(collectives))
    return failure();
  layers::Table table;
  if (auto ranks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName))
    table.ranks = ranks.getInt();
  table.mesh = toLayerMesh(module);
  table.collectives = std::move(*collectives);
  std::optional<layers::Signature> signature;
  if (withSignature) {
    FailureOr<layers::Signature> described = describeSignature(module);
    if (failed(described))
      return failure();
    signature = std::move(*described);
  }
  module->setAttr(manifestAttrName,
                  StringAttr::get(module.getContext(), layers::manifestOf(table, signature)));
  return success();
}

#define GEN_PASS_REGISTRATION
#include "cgx/Passes/Manifest.h.inc"

void registerManifestPasses() { registerEmitManifestPass(); }

} // namespace cgx
