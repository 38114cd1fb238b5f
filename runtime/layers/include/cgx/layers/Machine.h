//===-- Machine.h - Measurements of a machine -------------------*- C++ -*-===//
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
  /// Reads a machine file. Returns nothing, after an error, if it is invalid.
  static std::optional<Machine> read(const std::string &path, Diagnostics &diagnostics);

  const cgx_machine &model() const { return measured; }

  /// Returns true if the file has the speed and the cores of ranks; older files do not.
  bool saysComputing() const { return cores > 0 && flops > 0; }
  bool hasCoreToSpare() const { return cores >= kTwoCores; }
  double flopsPerSecond() const { return flops; }
  /// Returns the share of the time that a collective waits for the link during which a rank computes.
  double overlappedShare() const { return share; }

  /// Returns the rates of a codec; if it was not measured, of the first one measured of its family, or else
  /// of the slowest one measured.
  cgx_codec_rates ratesOf(Codec codec) const;

private:
  /// A rank that has two cores measures a little less, since it is not alone.
  static constexpr double kTwoCores = 1.8;

  cgx_machine measured{};
  double cores = 0, flops = 0, share = 0;
  std::vector<std::pair<Codec, cgx_codec_rates>> codecs;
};

/// The algorithm of an all-reduce, and its time.
struct AllReduceChoice {
  cgx_algorithm algorithm = CGX_ALGORITHM_SCATTER_REDUCE_ALLGATHER;
  std::optional<Hierarchy> hierarchy;
  double seconds = 0;
};

/// Returns the operands for the cost model if these codecs encode them.
std::vector<cgx_costed_operand> costedOperands(const Collective &collective, const std::vector<Codec> &codecs,
                                               const std::optional<Hierarchy> &hierarchy,
                                               const Machine &machine);

/// Returns the seconds of an all-reduce with an algorithm.
double secondsOf(const Collective &collective, const std::vector<Codec> &codecs, cgx_algorithm algorithm,
                 const std::optional<Hierarchy> &hierarchy, const Machine &machine);

/// Returns the fastest choice if these codecs encode the operands. Hierarchical algorithms are considered
/// only if there is a `hierarchy` and it divides the groups.
AllReduceChoice fastestOf(const Collective &collective, const std::vector<Codec> &codecs,
                          const std::optional<Hierarchy> &hierarchy, const Machine &machine);

/// Return a codec for each operand: its own, or identity.
std::vector<Codec> codecsOf(const Collective &collective);
std::vector<Codec> uncompressedCodecsOf(const Collective &collective);

} // namespace cgx::layers

#endif // CGX_LAYERS_MACHINE_H
