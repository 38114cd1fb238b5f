//===-- LayerCodec.cpp - Conversion of codecs for decisions ---------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/LayerCodec.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace cgx;

static_assert(getMaxEnumValForLayerKind() + 1 == layers::kKindCount, "kinds have one number in both");
static_assert(getMaxEnumValForResidualStorage() == uint64_t(layers::Storage::Int8), "so has storage");

layers::Codec cgx::toLayerCodec(CodecAttrInterface attribute) {
  layers::Codec codec;
  if (auto feedback = dyn_cast<ErrorFeedbackAttr>(attribute)) {
    codec = toLayerCodec(feedback.getInner());
    codec.feedback = {feedback.getDecay().getValueAsDouble(), layers::Storage(feedback.getStorage())};
  } else if (auto changes = dyn_cast<DeltaAttr>(attribute)) {
    codec = toLayerCodec(changes.getInner());
    codec.changes = {changes.getSamples(), layers::Storage(changes.getStorage())};
  } else if (auto ways = dyn_cast<TwoWayAttr>(attribute)) {
    codec = toLayerCodec(ways.getThere());
    codec.returned = toLayerCodec(ways.getBack()).forward;
  } else {
    codec.forward = cast<CodecAttr>(attribute).getValues();
  }
  return codec;
}

CodecAttrInterface cgx::getCodecAttr(MLIRContext *context, const layers::Codec &codec) {
  CodecAttrInterface attribute = CodecAttr::get(context, codec.forward);
  if (codec.returned)
    attribute = TwoWayAttr::get(context, attribute, CodecAttr::get(context, *codec.returned));
  if (codec.feedback)
    attribute =
        ErrorFeedbackAttr::get(context, attribute, Builder(context).getF64FloatAttr(codec.feedback->decay),
                               ResidualStorage(codec.feedback->storage));
  if (codec.changes)
    attribute =
        DeltaAttr::get(context, attribute, codec.changes->samples, ResidualStorage(codec.changes->storage));
  return attribute;
}

std::optional<layers::Hierarchy> cgx::toLayerHierarchy(std::optional<HierarchyAttr> hierarchy) {
  if (!hierarchy)
    return std::nullopt;
  return layers::Hierarchy{hierarchy->getLocal(), toLayerCodec(hierarchy->getInside()),
                           cgx_leaders(hierarchy->getLeaders())};
}
