//===-- Table.h - Collectives and the layers in them ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The table is what decisions are made about. The compiler fills it in from a program, whose data flow it
// follows; frameworks that know their layers fill it in themselves.
#ifndef CGX_LAYERS_TABLE_H
#define CGX_LAYERS_TABLE_H

#include "cgx/layers/Codec.h"
#include "cgx/layers/Kind.h"
#include "cgx/wire.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cgx::layers {

/// Returns the name of an element type in manifests and reports: "f32", "bool".
std::string_view nameOf(cgx_element_type type);
std::optional<cgx_element_type> elementTypeNamed(std::string_view name);

/// The way in which a collective combines the operands of ranks. The numbers are those of the dialect's
/// Reduction.
enum class Reduction : uint32_t { Sum, Mean, Max, Min, Product };
std::string_view nameOf(Reduction reduction);
std::optional<Reduction> reductionNamed(std::string_view name);

std::string_view nameOf(cgx_collective_kind kind);
std::optional<cgx_collective_kind> collectiveNamed(std::string_view name);

std::optional<cgx_algorithm> algorithmNamed(std::string_view name);
std::string_view nameOf(cgx_algorithm algorithm);
std::optional<cgx_leaders> leadersNamed(std::string_view name);
std::string_view nameOf(cgx_leaders leaders);

/// The parameter for which an operand is communicated.
struct Layer {
  std::string name;
  Kind kind = Kind::Other;
  std::optional<std::vector<int64_t>> shape; ///< the parameter's own shape
  int64_t stacked = 0;                       ///< leading dimensions that count layers

  int64_t countOfLayers() const;
};

/// One rank's tensor of a layer in a collective.
struct Operand {
  Layer layer;
  std::vector<int64_t> shape;
  cgx_element_type type = CGX_F32;
  Codec codec;
  std::string reason;                   ///< why it stays uncompressed; "" if it may be compressed
  bool isDecided = false;               ///< true once `codec` and `reason` are decided
  std::pair<int64_t, int64_t> origin{}; ///< its place of origin, which selects random numbers

  int64_t elements() const;
};

struct Hierarchy {
  int64_t local = 0; ///< number of consecutive ranks of a group on one host
  Codec intraHost;
  cgx_leaders leaders = CGX_LEADERS_ALL;
};

struct Collective {
  int64_t id = 0;
  cgx_collective_kind kind = CGX_ALL_REDUCE;
  std::optional<Reduction> reduction;
  std::vector<std::vector<int64_t>> groups;
  std::vector<Operand> operands;
  std::optional<uint64_t> runs = 1; ///< runs in a step; nothing if the step decides that while it runs
  uint64_t every = 1;               ///< it runs every so many steps

  // The fields of single kinds of collectives.
  cgx_algorithm algorithm = CGX_ALGORITHM_AUTO; ///< all_reduce
  std::optional<Hierarchy> hierarchy;
  int64_t dim = 0;                                ///< the dimension that a gather joins or a scatter divides
  int64_t splitDim = 0, concatDim = 0;            ///< the dimensions that an all_to_all divides and joins
  int64_t root = 0;                               ///< broadcast
  std::vector<std::pair<int64_t, int64_t>> pairs; ///< permute: sources and targets
  std::optional<std::vector<std::string>> sends;  ///< permute: the runs of each pair, as digits 0 and 1
  std::optional<int64_t> decodesAgain;            ///< the gather whose payloads this one decodes

  /// Returns true for sums, means, and collectives without a reduction, for which lossy codecs are defined.
  bool acceptsLossyCodecs() const {
    return !reduction || *reduction == Reduction::Sum || *reduction == Reduction::Mean;
  }
  int64_t largestGroup() const;
  bool isTrivial() const { return largestGroup() == 1; }
};

/// Returns what is wrong with hosts of `local` ranks and their intra-host codec; "" if nothing.
std::string checkHierarchy(int64_t local, const Codec &intraHost);

/// Returns what is wrong with the algorithm of an all_reduce for its groups and codecs; "" if nothing.
std::string checkAlgorithm(const Collective &collective);

/// Returns an algorithm in the form of the C ABI.
cgx_schedule scheduleOf(cgx_algorithm algorithm, const std::optional<Hierarchy> &hierarchy);

/// Returns the bytes that leave a rank in one run for an operand, if `codec` encodes it.
uint64_t wireBytesOf(const Collective &collective, const Operand &operand, const Codec &codec, int64_t rank);

/// Returns true if a plan may compress an uncompressed operand while the step runs.
bool mayBeCompressed(const Collective &collective, const Operand &operand);

/// The ranks as a grid: named axes, the last of which varies fastest.
struct Mesh {
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;
};

struct Table {
  int64_t ranks = 1;
  Mesh mesh; ///< if it has no axes, the ranks form one axis, "rank"
  std::vector<Collective> collectives;

  // Questions that need the data flow; empty functions if nobody knows it.

  /// Returns the rank of the parameter to which most elements of a vector belong, if several parameters
  /// travel as one.
  std::function<std::optional<int64_t>(const Collective &, const Operand &)> raveledRank = {};
  /// Returns true if rows of a result go to other places in the next step.
  std::function<bool(const Collective &, const Operand &)> movesRows = {};
};

} // namespace cgx::layers

#endif // CGX_LAYERS_TABLE_H
