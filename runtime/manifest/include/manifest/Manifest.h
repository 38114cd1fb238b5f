//===-- manifest/Manifest.h - What a program communicates --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's view of cgx_program_manifest: its collectives. Arguments and
// results are the host's business and are not read here.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_MANIFEST_MANIFEST_H
#define CGX_RUNTIME_MANIFEST_MANIFEST_H

#include "cgx/arithmetic/residual.h"
#include "cgx/wire.h"
#include "status/Status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cgx {

/// Whether a rank adds to what it encodes what earlier encodings lost, and how it keeps that.
struct ErrorFeedback {
  float decay = 1.0f; ///< the share of a loss that is made up for, in (0, 1]
  ResidualStorage storage = ResidualStorage::F32;
};

/// Whether ranks send how a row changed since its sample was last sent, and how they keep what was sent. The
/// ids of the rows' samples are the last operand of the collective.
struct Changes {
  uint64_t samples = 0; ///< ids are below
  ResidualStorage storage = ResidualStorage::F32;

  /// Rows that are kept of an operand of `rows` rows: of every sample, and of rows that are of none.
  uint64_t slots(uint64_t rows) const { return samples + rows; }
};

enum class CollectiveKind : uint32_t {
  AllReduce = CGX_ALL_REDUCE,
  AllGather = CGX_ALL_GATHER,
  ReduceScatter = CGX_REDUCE_SCATTER,
  AllToAll = CGX_ALL_TO_ALL,
  Broadcast = CGX_BROADCAST,
  Permute = CGX_PERMUTE
};
/// What a collective does with the contributions. (ReduceOp of the kernels knows
/// no mean.)
enum class ReduceKind { Sum, Mean, Max, Min, Product };
/// A sum, or a mean, which is one until it is divided: what lossy codecs are for.
constexpr bool isLinear(ReduceKind kind) { return kind == ReduceKind::Sum || kind == ReduceKind::Mean; }

const char *kindName(CollectiveKind kind);
/// As in a manifest: f32, bf16, ...
const char *elementTypeName(cgx_element_type type);

/// A codec as a manifest has it.
Result<cgx_codec> parseCodec(const std::string &json);

/// Ranks up to this one may take the place of each other while a program runs.
inline constexpr uint32_t kAdoptableRank = 8;

/// One operand of a collective.
struct OperandInfo {
  std::string layer;
  uint64_t layerId = 0; ///< goes into the random numbers
  std::string kind;     ///< gradient, weight, activation, outer_gradient, other
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0;       ///< of the input
  uint64_t first = 0;          ///< where these are a part of a larger operand: the first one's place there
  std::vector<uint64_t> shape; ///< of the input; present where the kind has a dimension
  cgx_codec codec{};
  /// Of learned levels where a plan has them; null where each payload is fitted its own.
  std::shared_ptr<const std::vector<float>> levels;
  std::optional<cgx_codec> back; ///< all_reduce: of the result, if that is encoded otherwise
  std::optional<ErrorFeedback> errorFeedback;
  std::optional<Changes> changes; ///< permute
  bool mayBeCompressed = false;   ///< though the program sends it exactly
  uint32_t mostRank = 0;          ///< of lowrank's factors that there is room for; 0 where it cannot be used
  uint32_t provided = 0;          ///< what the step lends of its optimizer, a bit for each cgx_kept

  bool isExact() const { return cgx_codec_is_exact(&codec) && (!back || cgx_codec_is_exact(&*back)); }
  /// Payloads are the elements as they are.
  bool isRaw() const {
    return codec.family == CGX_CODEC_IDENTITY && (!back || back->family == CGX_CODEC_IDENTITY);
  }
  /// The codec of contributions (phase 0), or of results (phase 1).
  const cgx_codec &codecOf(uint32_t phase) const { return phase != 0 && back ? *back : codec; }
  /// Whether profiles measure codecs on it and plans may change its codec.
  bool isPlannable() const { return (!isExact() || mayBeCompressed) && !back && !changes; }
  /// A row for each sample of the batch: what the first dimension counts.
  uint64_t rows() const { return shape.empty() ? 0 : shape[0]; }
  uint64_t rowElements() const { return rows() == 0 ? 0 : elements / rows(); }
  /// Whether encoding reads a tensor of the optimizer.
  bool needs(uint32_t kept) const {
    return cgx_codec_needs(&codec, kept) || (back && cgx_codec_needs(&*back, kept));
  }
  bool hasFactors() const { return !cgx_codec_has_payloads(&codec); }
  /// What is wrong with the codec for this operand, whose mostRank and provided are known; "" if nothing.
  std::string refuse(const cgx_codec &codec) const;
};

struct CollectiveInfo {
  uint32_t id = 0;
  CollectiveKind kind = CollectiveKind::AllReduce;
  ReduceKind reduction = ReduceKind::Sum;
  cgx_schedule schedule{}; ///< all_reduce
  std::vector<std::vector<uint32_t>> groups;
  std::vector<OperandInfo> operands;
  uint64_t dim = 0;            ///< all_gather, reduce_scatter
  uint64_t splitDim = 0;       ///< all_to_all
  uint64_t concatDim = 0;      ///< all_to_all
  uint32_t root = 0;           ///< broadcast: position in the group
  std::vector<cgx_pair> pairs; ///< permute
  /// permute: those that take part in each run of a step, if not all do; behind the last it begins again.
  std::vector<std::vector<cgx_pair>> pairsOfRuns;
  /// all_gather: the id of the one before it whose payloads it decodes, in place of an exchange.
  std::optional<uint32_t> decodesAgain;
  bool isDecodedAgain = false; ///< by another, for which it keeps its payloads

  /// In a group of that size: what its schedule and its bytes are counted from. `pairs` stays here.
  cgx_collective inGroupOf(uint32_t ranks) const {
    return {uint32_t(kind), ranks, root, schedule, pairs.data(), pairs.size()};
  }
  /// The same in a run of a step, counted from 0.
  cgx_collective inGroupOf(uint32_t ranks, uint64_t run) const {
    cgx_collective collective = inGroupOf(ranks);
    if (!pairsOfRuns.empty()) {
      const std::vector<cgx_pair> &ofRun = pairsOfRuns[run % pairsOfRuns.size()];
      collective.pairs = ofRun.data();
      collective.pair_count = ofRun.size();
    }
    return collective;
  }

  /// The first run of a step in which the same pairs take part as in one.
  uint64_t firstRunLike(uint64_t run) const {
    uint64_t first = 0;
    if (!pairsOfRuns.empty())
      while (!haveSamePairs(first, run))
        ++first;
    return first;
  }
  bool haveSamePairs(uint64_t run, uint64_t other) const;

  /// "collective 3 (all_reduce of params/l1/w and 2 more)", for messages.
  std::string describe() const;
};

/// The collectives of one program.
struct Program {
  std::string hash;    ///< as the compiler computed it
  uint64_t digest = 0; ///< of what the runtime reads: catches a manifest edited by hand
  uint32_t ranks = 0;
  std::vector<CollectiveInfo> collectives;

  const CollectiveInfo *find(int64_t id) const;

  /// Reads and checks a manifest for a job of `ranks` ranks.
  static Result<Program> parse(const char *json, uint32_t ranks);
};

} // namespace cgx

#endif // CGX_RUNTIME_MANIFEST_MANIFEST_H
