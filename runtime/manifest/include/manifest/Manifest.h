//===-- manifest/Manifest.h - The collectives of a program ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's view of cgx_program_manifest: its collectives. Arguments and results concern the host program
// and are not read here.
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

/// The parameters of error feedback, with which a rank adds what earlier encodings lost to what it encodes
/// next.
struct ErrorFeedback {
  float decay = 1.0f; ///< the share of a loss that is compensated, in (0, 1]
  ResidualStorage storage = ResidualStorage::F32;
};

/// The parameters of sending changes: ranks send how a row changed since its sample was last sent. The ids of
/// the rows' samples are the last operand of the collective.
struct Delta {
  uint64_t samples = 0; ///< ids are below this number
  ResidualStorage storage = ResidualStorage::F32;

  /// Returns the number of rows kept for an operand of `rows` rows: one of every sample, and one for each row
  /// without a sample.
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
/// The way in which a collective combines contributions. (ReduceOp of the kernels has no mean.)
enum class ReduceKind { Sum, Mean, Max, Min, Product };
/// Returns true for a sum or a mean (a sum that is divided at the end), the reductions for which lossy codecs
/// are defined.
constexpr bool isLinear(ReduceKind kind) { return kind == ReduceKind::Sum || kind == ReduceKind::Mean; }

const char *kindName(CollectiveKind kind);
/// Returns the name in a manifest: f32, bf16, ...
const char *elementTypeName(cgx_element_type type);

/// Reads a codec as a manifest spells it.
Result<cgx_codec> parseCodec(const std::string &json);

/// Plans may change the rank of lowrank up to this one while a program runs.
inline constexpr uint32_t kAdoptableRank = 8;

/// One operand of a collective.
struct OperandInfo {
  std::string layer;
  uint64_t layerId = 0; ///< enters the random numbers
  std::string kind;     ///< gradient, weight, activation, outer_gradient, other
  cgx_element_type type = CGX_F32;
  uint64_t elements = 0;       ///< elements of the input
  uint64_t first = 0;          ///< of a part of a larger operand: the index of its first element there
  std::vector<uint64_t> shape; ///< of the input; present if the kind has a dimension
  cgx_codec codec{};
  /// The learned levels of a plan; null if levels are fitted to each payload.
  std::shared_ptr<const std::vector<float>> levels;
  std::optional<cgx_codec> returnCodec; ///< all_reduce: the codec of the result, if it is another one
  std::optional<ErrorFeedback> errorFeedback;
  std::optional<Delta> changes; ///< permute and all_gather: present if changes are sent
  bool mayBeCompressed = false; ///< although the program sends it uncompressed
  uint32_t mostRank = 0;        ///< the largest rank of lowrank that has buffer space; 0 if it cannot be used
  uint32_t provided = 0;        ///< the optimizer tensors that the step binds, a bit for each cgx_kept

  bool isLossless() const {
    return cgx_codec_is_exact(&codec) && (!returnCodec || cgx_codec_is_exact(&*returnCodec));
  }
  /// Returns true if payloads are the uncompressed elements.
  bool isUncompressed() const {
    return codec.family == CGX_CODEC_IDENTITY && (!returnCodec || returnCodec->family == CGX_CODEC_IDENTITY);
  }
  /// Returns the codec of contributions (phase 0), or of results (phase 1).
  const cgx_codec &codecOf(uint32_t phase) const { return phase != 0 && returnCodec ? *returnCodec : codec; }
  /// Returns true if profiles measure codecs on it and plans may change its codec.
  bool isPlannable() const { return (!isLossless() || mayBeCompressed) && !returnCodec && !changes; }
  /// Returns the size of the first dimension, which has a row for each sample of the batch.
  uint64_t rows() const { return shape.empty() ? 0 : shape[0]; }
  uint64_t rowElements() const { return rows() == 0 ? 0 : elements / rows(); }
  /// Returns true if encoding reads this optimizer tensor.
  bool needs(uint32_t kept) const {
    return cgx_codec_needs(&codec, kept) || (returnCodec && cgx_codec_needs(&*returnCodec, kept));
  }
  bool hasFactors() const { return !cgx_codec_has_payloads(&codec); }
  /// Returns why the codec cannot be used for this operand, whose mostRank and provided are known; "" if it
  /// can.
  std::string reject(const cgx_codec &codec) const;
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
  /// permute: the pairs that take part in each run of a step, if not all do. After the last run the list
  /// begins again.
  std::vector<std::vector<cgx_pair>> pairsOfRuns;
  /// all_gather: the id of the earlier gather whose payloads it decodes instead of an exchange.
  std::optional<uint32_t> decodesAgain;
  bool isDecodedAgain = false; ///< a later gather decodes its payloads again, so it keeps them

  /// Returns the collective for a group of that size, from which its schedule and its bytes are counted. It
  /// refers to `pairs` of this object.
  cgx_collective inGroupOf(uint32_t ranks) const {
    return {uint32_t(kind), ranks, root, schedule, pairs.data(), pairs.size()};
  }
  /// Returns the collective for a group of that size, in one run of a step, counted from 0.
  cgx_collective inGroupOf(uint32_t ranks, uint64_t run) const {
    cgx_collective collective = inGroupOf(ranks);
    if (!pairsOfRuns.empty()) {
      const std::vector<cgx_pair> &ofRun = pairsOfRuns[run % pairsOfRuns.size()];
      collective.pairs = ofRun.data();
      collective.pair_count = ofRun.size();
    }
    return collective;
  }

  /// Returns the first run of a step in which the same pairs take part as in `run`.
  uint64_t firstRunLike(uint64_t run) const {
    uint64_t first = 0;
    if (!pairsOfRuns.empty())
      while (!haveSamePairs(first, run))
        ++first;
    return first;
  }
  bool haveSamePairs(uint64_t run, uint64_t other) const;

  /// Returns text such as "collective 3 (all_reduce of params/l1/w and 2 more)", for messages.
  std::string describe() const;
};

/// The collectives of one program.
struct Program {
  std::string hash;    ///< as the compiler computed it
  uint64_t digest = 0; ///< digest of what the runtime reads; detects a manifest edited by hand
  uint32_t ranks = 0;
  std::vector<CollectiveInfo> collectives;

  const CollectiveInfo *find(int64_t id) const;

  /// Reads and checks a manifest for a job of `ranks` ranks.
  static Result<Program> parse(const char *json, uint32_t ranks);
};

} // namespace cgx

#endif // CGX_RUNTIME_MANIFEST_MANIFEST_H
