//===-- PlannedCodecs.cpp - The codecs of a plan -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlannedCodecs.h"

#include "CodecText.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <set>

using namespace mlir;
namespace json = llvm::json;

namespace cgx {

namespace {

std::string textOf(const json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString())
    return text->str();
  return llvm::formatv("{0}", value).str();
}

/// The attribute's assembly. A parameter that is true is a flag, one that is false is not there.
std::string assemblyOf(const json::Object &codec) {
  std::map<std::string, std::string> sorted; // the same text for the same codec
  for (const auto &[name, value] : codec)
    if (name != "family" && name != "error_feedback" && name != "decay" && value.getAsBoolean() != false)
      sorted[name.str()] = value.getAsBoolean() ? "" : " = " + textOf(value);
  std::string text;
  for (const auto &[name, value] : sorted)
    text += (text.empty() ? "" : ", ") + name + value;
  std::string assembly =
      "#cgx." + codec.getString("family").value_or("").str() + (text.empty() ? "" : "<" + text + ">");
  // How each rank makes up for losses is a wrapper in the IR and a member in JSON.
  if (std::optional<StringRef> storage = codec.getString("error_feedback"))
    assembly = "#cgx.error_feedback<" + assembly +
               ", decay = " + llvm::formatv("{0:E}", codec.getNumber("decay").value_or(1)).str() +
               ", storage = " + storage->str() + ">";
  return assembly;
}

} // namespace

CodecAttrInterface parseJsonCodec(MLIRContext *context, const json::Object &codec, std::string &reason) {
  CodecAttrInterface attribute = parseCodec(context, assemblyOf(codec), reason);
  if (!attribute)
    reason = "expected a codec, got " + assemblyOf(codec) + (reason.empty() ? "" : ": ") + reason;
  return attribute;
}

namespace {

bool mayBeCompressed(CollectiveOpInterface op, unsigned operand) {
  auto reasons = op->getAttrOfType<ArrayAttr>(kExactReasonAttrName);
  return !reasons || cast<StringAttr>(reasons[operand]).empty();
}

} // namespace

PlannedCodecs::Key PlannedCodecs::keyOf(LayerAttr layer) {
  return {layer.getName().str(), stringifyLayerKind(layer.getKind()).str()};
}

FailureOr<PlannedCodecs> PlannedCodecs::read(ModuleOp module, StringRef path) {
  auto refuse = [&] { return mlir::emitError(module.getLoc(), "plan '") << path << "': "; };
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return refuse() << "cannot read it: " << file.getError().message();
  llvm::Expected<json::Value> parsed = json::parse((*file)->getBuffer());
  if (!parsed)
    return refuse() << "expected JSON: " << llvm::toString(parsed.takeError());
  const json::Object *plan = parsed->getAsObject();
  if (!plan || !plan->get("cgx_plan"))
    return refuse() << "expected 'cgx_plan': this is another kind of file";
  if (plan->getInteger("cgx_plan") != 1)
    return refuse() << "expected 'cgx_plan' of version 1, got " << textOf(*plan->get("cgx_plan"));
  const json::Array *layers = plan->getArray("layers");
  if (!layers)
    return refuse() << "expected a list as 'layers'";
  PlannedCodecs codecs;
  codecs.path = path.str();
  for (auto [index, value] : llvm::enumerate(*layers)) {
    const json::Object *layer = value.getAsObject();
    auto name = layer ? layer->getString("layer") : std::nullopt;
    auto kind = layer ? layer->getString("kind") : std::nullopt;
    auto dtype = layer ? layer->getString("dtype") : std::nullopt;
    auto elements = layer ? layer->getInteger("elements") : std::nullopt;
    const json::Object *codec = layer ? layer->getObject("codec") : nullptr;
    if (!name || !kind || !dtype || !elements || !codec)
      return refuse() << "expected 'layer', 'kind', 'dtype', 'elements' and 'codec' of the layer at position "
                      << index;
    std::string reason;
    CodecAttrInterface attribute = parseJsonCodec(module.getContext(), *codec, reason);
    if (!attribute)
      return refuse() << "layer '" << *name << "': " << reason;
    if (!codecs.entries.try_emplace({name->str(), kind->str()}, Entry{dtype->str(), *elements, attribute})
             .second)
      return refuse() << "layer '" << *name << "' is there twice with kind " << *kind;
  }
  return codecs;
}

LogicalResult PlannedCodecs::verifyFits(ModuleOp module) const {
  std::vector<std::string> differences;
  std::set<Key> seen;
  module.walk([&](CollectiveOpInterface op) {
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      Key key = keyOf(op.getLayer(i));
      seen.insert(key);
      auto entry = entries.find(key);
      RankedTensorType type = op.getInputType(i);
      std::string place = "layer '" + key.first + "' (" + key.second + ")";
      if (entry == entries.end()) {
        if (mayBeCompressed(op, i))
          differences.push_back(place + " is not in the plan");
        continue;
      }
      std::string dtype = getElementTypeName(type.getElementType()).str();
      if (entry->second.elements != type.getNumElements() || entry->second.dtype != dtype)
        differences.push_back(place + " was " + std::to_string(entry->second.elements) + " elements of " +
                              entry->second.dtype + ", is " + std::to_string(type.getNumElements()) + " of " +
                              dtype);
    }
  });
  for (const auto &[key, entry] : entries)
    if (!seen.count(key))
      differences.push_back("layer '" + key.first + "' (" + key.second + ") is not in the module");
  if (differences.empty())
    return success();
  InFlightDiagnostic error = mlir::emitError(module.getLoc(), "plan '")
                             << path << "' was made for another program: " << differences.size()
                             << " differences";
  for (const std::string &difference : differences)
    error.attachNote() << difference;
  return error;
}

bool PlannedCodecs::namesLayersOf(LayerAttr stack) const {
  Key key = keyOf(stack);
  return !entries.count(key) && entries.count({key.first + "[0]", key.second});
}

CodecAttrInterface PlannedCodecs::lookup(LayerAttr layer) const {
  auto entry = entries.find(keyOf(layer));
  return entry == entries.end() ? CodecAttrInterface() : entry->second.codec;
}

} // namespace cgx
