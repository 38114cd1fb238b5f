//===-- MachineFile.cpp - What cgx-bench measured of a machine ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineFile.h"

#include "PlannedCodecs.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
namespace json = llvm::json;

namespace cgx {

namespace {

/// The number if it is above 0.
std::optional<double> positive(const json::Object *object, StringRef name) {
  std::optional<double> value = object ? object->getNumber(name) : std::nullopt;
  return value && *value > 0 ? value : std::nullopt;
}

std::optional<cgx_link> linkOf(const json::Object *object) {
  std::optional<double> latency = positive(object, "latency_seconds"),
                        message = positive(object, "message_seconds"),
                        bytes = positive(object, "bytes_per_second");
  if (!latency || !message || !bytes)
    return std::nullopt;
  return cgx_link{*latency, *message, *bytes};
}

} // namespace

FailureOr<MachineFile> MachineFile::read(ModuleOp module, StringRef path) {
  auto refuse = [&] { return mlir::emitError(module.getLoc(), "machine '") << path << "': "; };
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return refuse() << "cannot read it: " << file.getError().message();
  llvm::Expected<json::Value> parsed = json::parse((*file)->getBuffer());
  if (!parsed)
    return refuse() << "expected JSON: " << llvm::toString(parsed.takeError());
  const json::Object *object = parsed->getAsObject();
  if (!object || object->getInteger("cgx_machine") != 1)
    return refuse() << "expected 'cgx_machine' of version 1, as cgx-bench calibrate writes it";
  std::optional<cgx_link> link = linkOf(object->getObject("link")),
                          inside = linkOf(object->getObject("inside"));
  std::optional<int64_t> local = object->getInteger("local");
  std::optional<double> reduce = positive(object, "reduce_bytes_per_second");
  const json::Array *codecs = object->getArray("codecs");
  if (!link || !inside || !local || *local < 1 || !reduce || !codecs)
    return refuse() << "expected 'link' and 'inside' with latency_seconds, message_seconds and "
                       "bytes_per_second, 'local', 'reduce_bytes_per_second' and a list as 'codecs'";
  MachineFile result;
  result.measured = {*link, *inside, static_cast<uint64_t>(*local), *reduce};
  for (auto [index, value] : llvm::enumerate(*codecs)) {
    const json::Object *entry = value.getAsObject();
    const json::Object *codec = entry ? entry->getObject("codec") : nullptr;
    std::optional<double> encode = positive(entry, "encode_bytes_per_second"),
                          decode = positive(entry, "decode_bytes_per_second");
    std::string reason = "expected 'codec', 'encode_bytes_per_second' and 'decode_bytes_per_second'";
    CodecAttrInterface attribute =
        codec && encode && decode ? parseJsonCodec(module.getContext(), *codec, reason) : nullptr;
    if (!attribute)
      return refuse() << "codec at position " << index << ": " << reason;
    result.codecs.emplace_back(attribute, cgx_codec_rates{*encode, *decode});
  }
  if (result.codecs.empty())
    return refuse() << "expected rates of at least one codec";
  return result;
}

cgx_codec_rates MachineFile::ratesOf(CodecAttrInterface codec) const {
  if (auto feedback = dyn_cast<ErrorFeedbackAttr>(codec))
    codec = feedback.getInner();
  if (codec.isExact())
    return {};
  const cgx_codec_rates *slowest = &codecs.front().second, *ofFamily = nullptr;
  for (const auto &[measured, rates] : codecs) {
    if (measured == codec)
      return rates;
    if (!ofFamily && measured.getFamily() == codec.getFamily())
      ofFamily = &rates;
    if (rates.encode_bytes_per_second < slowest->encode_bytes_per_second)
      slowest = &rates;
  }
  return ofFamily ? *ofFamily : *slowest;
}

} // namespace cgx
