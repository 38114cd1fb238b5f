//===-- MachineFile.h - What cgx-bench measured of a machine ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_PASSES_REWRITE_MACHINEFILE_H
#define CGX_PASSES_REWRITE_MACHINEFILE_H

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/cost.h"

#include <string>
#include <utility>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace cgx {

/// The machine of `cgx-bench calibrate`, described in tools/bench/README.md.
class MachineFile {
public:
  /// Failure, after an error at the module, if the file is none.
  static llvm::FailureOr<MachineFile> read(mlir::ModuleOp module, llvm::StringRef path);

  const cgx_machine &machine() const { return measured; }

  /// Older files do not say how fast ranks compute, and on how many cores.
  bool saysComputing() const { return cores > 0 && flops > 0; }
  bool hasCoreToSpare() const { return cores >= kTwoCores; }
  double flopsPerSecond() const { return flops; }
  /// Of the time that a collective waits for the link, how much passes while a rank computes.
  double overlappedShare() const { return share; }

  /// The rates of a codec, or of the first one measured of its family, or else of the slowest one
  /// measured.
  cgx_codec_rates ratesOf(CodecAttrInterface codec) const;

private:
  /// Of two cores a rank gets a little less, since it is not alone.
  static constexpr double kTwoCores = 1.8;

  cgx_machine measured{};
  double cores = 0, flops = 0, share = 0;
  std::vector<std::pair<CodecAttrInterface, cgx_codec_rates>> codecs;
};

} // namespace cgx

#endif // CGX_PASSES_REWRITE_MACHINEFILE_H
