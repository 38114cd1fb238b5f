//===-- Machine.h - What cgx-bench measured of a machine --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_MACHINE_H
#define CGX_LAYERS_MACHINE_H

#include "cgx/cost.h"
#include "cgx/layers/Diagnostics.h"
#include "cgx/layers/Table.h"

namespace cgx::layers {

/// The machine of `cgx-bench calibrate`, described in tools/bench/README.md.
class Machine {
public:
  /// Nothing, after an error, if the file is none.
  static std::optional<Machine> read(const std::string &path, Diagnostics &diagnostics);

  const cgx_machine &model() const { return measured; }

  /// Older files do not say how fast ranks compute, and on how many cores.
  bool saysComputing() const { return cores > 0 && flops > 0; }
  bool hasCoreToSpare() const { return cores >= kTwoCores; }
  double flopsPerSecond() const { return flops; }
  /// Of the time that a collective waits for the link, how much passes while a rank computes.
  double overlappedShare() const { return share; }

  /// The rates of a codec, or of the first one measured of its family, or else of the slowest one
  /// measured.
  cgx_codec_rates ratesOf(Codec codec) const;

private:
  /// Of two cores a rank gets a little less, since it is not alone.
  static constexpr double kTwoCores = 1.8;

  cgx_machine measured{};
  double cores = 0, flops = 0, share = 0;
  std::vector<std::pair<Codec, cgx_codec_rates>> codecs;
};

/// How an all-reduce goes.
struct AllReduceChoice {
  cgx_algorithm algorithm = CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER;
  std::optional<Hierarchy> hierarchy;
  double seconds = 0;
};

/// As the cost model has its operands, if these codecs encode them.
std::vector<cgx_costed_operand> costedOperands(const Collective &collective, const std::vector<Codec> &codecs,
                                               const std::optional<Hierarchy> &hierarchy,
                                               const Machine &machine);

/// Of an all-reduce by an algorithm.
double secondsOf(const Collective &collective, const std::vector<Codec> &codecs, cgx_algorithm algorithm,
                 const std::optional<Hierarchy> &hierarchy, const Machine &machine);

/// The fastest way if these codecs encode the operands; by hosts only where there is a `hierarchy` and it
/// divides the groups.
AllReduceChoice fastestOf(const Collective &collective, const std::vector<Codec> &codecs,
                          const std::optional<Hierarchy> &hierarchy, const Machine &machine);

/// One of these for each operand.
std::vector<Codec> codecsOf(const Collective &collective);
std::vector<Codec> exactCodecsOf(const Collective &collective);

} // namespace cgx::layers

#endif // CGX_LAYERS_MACHINE_H
