//===-- MachineFile.cpp - What cgx-bench measured of a machine ------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineFile.h"

#include "PlannedCodecs.h"
#include "cgx/formats/Machine.h"
#include "cgx/formats/TextFile.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace cgx {

FailureOr<MachineFile> MachineFile::read(ModuleOp module, StringRef path) {
  auto refuse = [&] { return mlir::emitError(module.getLoc(), "machine '") << path << "': "; };
  std::string text;
  if (std::string wrong = formats::readTextFile(path.str(), text); !wrong.empty())
    return refuse() << "cannot read it: " << wrong;
  formats::Machine machine;
  if (std::string wrong = formats::readMachine(text, machine); !wrong.empty())
    return refuse() << wrong;
  MachineFile result;
  result.measured = machine.model;
  result.cores = machine.coresPerRank;
  result.flops = machine.flopsPerSecond;
  result.share = machine.overlappedShare;
  for (auto [index, entry] : llvm::enumerate(machine.codecs)) {
    std::string reason;
    CodecAttrInterface attribute = parseCodec(module.getContext(), entry.codec, reason);
    if (!attribute)
      return refuse() << "codec at position " << index << ": " << reason;
    result.codecs.emplace_back(attribute, entry.rates);
  }
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
