//===-- EmitManifest.cpp - What the program takes, returns and communicates -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===-----------------------------------------------------------------------------------===//
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/Manifest.h"
#include "cgx/Passes/StepRuns.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"

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

/// Per dimension, the names of the axes that split it.
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

/// The name of an element type of arguments and results; nothing where native code has none. Narrow ones are
/// called as in MLIR, in lower case: "f8e4m3fn", "i4", "u4".
std::optional<std::string> nameInSignature(Type element) {
  if (getCodecElementType(element))
    return getElementTypeName(element).str();
  if (!isNarrow(element))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return StringRef(text).starts_with("ui") ? text.substr(0, 1) + text.substr(2) : StringRef(text).lower();
}

/// One argument or result; `attributes` are those of its place in the signature.
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

json::Object describeCodec(CodecAttrInterface codec) {
  json::Object entry;
  for (NamedAttribute parameter : codec.getManifestEntry())
    entry[parameter.getName().getValue()] = valueOf(parameter.getValue());
  return entry;
}

json::Array describeGroups(GroupsAttr groups) {
  json::Array rows;
  for (DenseI64ArrayAttr row : groups.getRows())
    rows.push_back(arrayOf(row.asArrayRef()));
  return rows;
}

json::Object describeOperand(RankedTensorType type, LayerAttr layer, CodecAttrInterface codec) {
  return json::Object{{"layer", layer.getName()},
                      {"kind", stringifyLayerKind(layer.getKind())},
                      {"dtype", getElementTypeName(type.getElementType())},
                      {"shape", arrayOf(type.getShape())},
                      {"elements", type.getNumElements()},
                      {"codec", describeCodec(codec)}};
}

json::Object describeCollective(CollectiveOpInterface op) {
  json::Array operands;
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    json::Object operand = describeOperand(op.getInputType(i), op.getLayer(i), op.getCodec(i));
    if (mayBeCompressed(op, i))
      operand["may_be_compressed"] = true;
    operands.push_back(std::move(operand));
  }
  json::Object entry{{"id", op.getId()},
                     {"kind", op.getKind()},
                     {"groups", describeGroups(op.getGroups())},
                     {"operands", std::move(operands)}};
  if (std::optional<Reduction> reduction = op.getReductionKind())
    entry["reduction"] = stringifyReduction(*reduction);
  if (std::optional<uint64_t> runs = getRunsPerStep(op); runs && *runs != 1)
    entry["runs"] = static_cast<int64_t>(*runs);
  if (const uint64_t every = getStepsPerRun(op); every != 1)
    entry["every"] = static_cast<int64_t>(every);
  // What only this kind of collective has.
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AllReduceOp o) {
        entry["algorithm"] = stringifyAlgorithm(o.getAlgorithm());
        if (std::optional<HierarchyAttr> hierarchy = o.getHierarchy())
          entry["hierarchy"] = json::Object{{"local", hierarchy->getLocal()},
                                            {"leaders", stringifyLeaders(hierarchy->getLeaders())},
                                            {"inside", describeCodec(hierarchy->getInside())}};
      })
      .Case([&](AllGatherOp o) {
        entry["dim"] = o.getDim();
        if (std::optional<int64_t> id = o.getDecodesAgain())
          entry["decodes_again"] = *id;
      })
      .Case([&](ReduceScatterOp o) { entry["dim"] = o.getDim(); })
      .Case([&](AllToAllOp o) {
        entry["split_dim"] = o.getSplitDim();
        entry["concat_dim"] = o.getConcatDim();
      })
      .Case([&](BroadcastOp o) { entry["root"] = o.getRoot(); })
      .Case([&](PermuteOp o) {
        json::Array pairs;
        for (auto [source, target] : o.getPairs())
          pairs.push_back(json::Array{source, target});
        entry["source_target_pairs"] = std::move(pairs);
        if (ArrayAttr sends = o.getSends()) {
          json::Array digits;
          for (StringRef ofPair : sends.getAsValueRange<StringAttr>())
            digits.push_back(ofPair.str());
          entry["sends"] = std::move(digits);
        }
      });
  return entry;
}

/// A collective in explicit form is spread over its payload operations.
struct ExplicitCollective {
  Operation *first = nullptr;
  GroupsAttr groups;
  std::map<int64_t, json::Object> operands;
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
      operands[op.getOperandNumber()] =
          describeOperand(payload.getTensorType(), compress.getLayer(), payload.getCodec());
    }
  }

  FailureOr<json::Object> describe(int64_t id) {
    json::Array inOrder;
    for (auto &[number, operand] : operands) {
      if (number != static_cast<int64_t>(inOrder.size()))
        return first->emitError("expected operand ")
               << inOrder.size() << " of collective " << id << " to be compressed, got operand " << number;
      inOrder.push_back(std::move(operand));
    }
    if (inOrder.empty() || !groups || !reduction)
      return first->emitError("expected compress, exchange and decompress_accumulate for collective ") << id;
    return json::Object{{"id", id},
                        {"kind", AllReduceOp::getOperationName().split('.').second},
                        {"reduction", stringifyReduction(*reduction)},
                        {"algorithm", stringifyAlgorithm(Algorithm::ScatterReduceAllGather)},
                        {"groups", describeGroups(groups)},
                        {"operands", std::move(inOrder)}};
  }
};

/// Where the operands of collectives come from, by id and position.
using Origins = std::map<std::pair<int64_t, int64_t>, Origin>;

/// Numbers the operands of all collectives, by which random numbers are selected: in the order of where they
/// come from, so that it does not matter which travel together.
void numberLayers(std::map<int64_t, json::Object> &collectives, const Origins &origins) {
  SmallVector<std::pair<Origin, json::Object *>> operands;
  for (auto &[id, collective] : collectives)
    for (auto [number, operand] : llvm::enumerate(*collective.getArray("operands")))
      operands.emplace_back(origins.at({id, static_cast<int64_t>(number)}), operand.getAsObject());
  llvm::stable_sort(operands, [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto [layerId, operand] : llvm::enumerate(operands))
    (*operand.second)["layer_id"] = static_cast<int64_t>(layerId);
}

/// All collectives by id.
FailureOr<json::Array> describeCollectives(ModuleOp module) {
  std::map<int64_t, json::Object> collectives;
  std::map<int64_t, ExplicitCollective> explicitOnes;
  Origins origins;
  WalkResult walk = module.walk([&](Operation *op) {
    if (auto compress = dyn_cast<CompressOp>(op))
      origins[{compress.getId(), compress.getOperandNumber()}] = getOrigin(compress);
    if (auto payload = dyn_cast<PayloadOpInterface>(op))
      explicitOnes[payload.getId()].add(payload);
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective)
      for (auto [number, origin] : llvm::enumerate(getOrigins(collective)))
        origins[{collective.getId(), static_cast<int64_t>(number)}] = origin;
    if (collective && !collectives.try_emplace(collective.getId(), describeCollective(collective)).second) {
      op->emitError("expected ids to be unique, got a second collective ") << collective.getId();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto &[id, collective] : explicitOnes) {
    FailureOr<json::Object> entry = collective.describe(id);
    if (failed(entry))
      return failure();
    if (!collectives.try_emplace(id, std::move(*entry)).second)
      return collective.first->emitError("expected ids to be unique, got a collective and payloads with id ")
             << id;
  }
  numberLayers(collectives, origins);
  json::Array inOrder;
  for (auto &[id, collective] : collectives)
    inOrder.push_back(std::move(collective));
  return inOrder;
}

// ---- The module --------------------------------------------------------------------------

json::Array describeMesh(MeshAttr mesh) {
  json::Array axes;
  if (mesh)
    for (auto [name, size] : llvm::zip_equal(mesh.getAxes(), mesh.getSizes()))
      axes.push_back(json::Object{{"name", name.getValue()}, {"size", size}});
  return axes;
}

/// Adds what @main takes and returns.
LogicalResult describeSignature(ModuleOp module, json::Object &manifest) {
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
  manifest["arguments"] = std::move(arguments);
  manifest["results"] = std::move(results);
  return success();
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
  FailureOr<json::Array> collectives = describeCollectives(module);
  if (failed(collectives))
    return failure();
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttrName);
  auto ranks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
  json::Object manifest{{"cgx_manifest", 1},
                        {"ranks", ranks ? ranks.getInt() : 1},
                        {"mesh", describeMesh(mesh)},
                        {"collectives", std::move(*collectives)}};
  if (withSignature && failed(describeSignature(module, manifest)))
    return failure();
  // Ranks whose programs differ in any of this must not talk to each other.
  uint64_t hash = llvm::xxh3_64bits(textOf(json::Object(manifest)));
  manifest["hash"] = llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
  module->setAttr(manifestAttrName, StringAttr::get(module.getContext(), textOf(std::move(manifest))));
  return success();
}

#define GEN_PASS_REGISTRATION
#include "cgx/Passes/Manifest.h.inc"

void registerManifestPasses() { registerEmitManifestPass(); }

} // namespace cgx
