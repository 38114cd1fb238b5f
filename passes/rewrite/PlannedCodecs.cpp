//===-- PlannedCodecs.cpp - The codecs of a plan -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlannedCodecs.h"

#include "CodecText.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/formats/Plan.h"
#include "cgx/formats/TextFile.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace cgx {

namespace {

/// The attribute's assembly. A parameter without a value is a flag.
std::string assemblyOf(const formats::Codec &codec) {
  std::string text;
  for (const formats::CodecParameter &parameter : codec.parameters)
    text += (text.empty() ? "" : ", ") + parameter.name +
            (parameter.value.empty() ? "" : " = " + parameter.value);
  std::string assembly = "#cgx." + codec.family + (text.empty() ? "" : "<" + text + ">");
  // How each rank makes up for losses is a wrapper in the IR and a member in JSON.
  if (!codec.errorFeedback.empty())
    assembly = "#cgx.error_feedback<" + assembly + ", decay = " + codec.decay +
               ", storage = " + codec.errorFeedback + ">";
  return assembly;
}

} // namespace

CodecAttrInterface parseCodec(MLIRContext *context, const formats::Codec &codec, std::string &reason) {
  CodecAttrInterface attribute = parseCodec(context, assemblyOf(codec), reason);
  if (!attribute)
    reason = "expected a codec, got " + assemblyOf(codec) + (reason.empty() ? "" : ": ") + reason;
  return attribute;
}

PlannedCodecs::Key PlannedCodecs::keyOf(LayerAttr layer) {
  return {layer.getName().str(), stringifyLayerKind(layer.getKind()).str()};
}

FailureOr<PlannedCodecs> PlannedCodecs::read(ModuleOp module, StringRef path) {
  auto refuse = [&] { return mlir::emitError(module.getLoc(), "plan '") << path << "': "; };
  std::string text;
  if (std::string wrong = formats::readTextFile(path.str(), text); !wrong.empty())
    return refuse() << "cannot read it: " << wrong;
  std::vector<formats::PlannedLayer> layers;
  if (std::string wrong = formats::readPlan(text, layers); !wrong.empty())
    return refuse() << wrong;
  PlannedCodecs codecs;
  codecs.path = path.str();
  for (const formats::PlannedLayer &layer : layers) {
    std::string reason;
    CodecAttrInterface attribute = parseCodec(module.getContext(), layer.codec, reason);
    if (!attribute)
      return refuse() << "layer '" << layer.layer << "': " << reason;
    codecs.entries[{layer.layer, layer.kind}] = {layer.dtype, static_cast<int64_t>(layer.elements),
                                                 attribute};
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
        if (getExactReason(op, i).empty())
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

std::set<LayerKind> PlannedCodecs::getCompressedKinds() const {
  std::set<LayerKind> kinds;
  for (const auto &[key, entry] : entries)
    if (std::optional<LayerKind> kind = symbolizeLayerKind(key.second); kind && !entry.codec.isRaw())
      kinds.insert(*kind);
  return kinds;
}

CodecAttrInterface PlannedCodecs::lookup(LayerAttr layer) const {
  auto entry = entries.find(keyOf(layer));
  return entry == entries.end() ? CodecAttrInterface() : entry->second.codec;
}

} // namespace cgx
