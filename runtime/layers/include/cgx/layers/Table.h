//===-- Table.h - Collectives and the layers that travel in them --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What decisions are made about. The compiler fills one in from a program, where it follows how data flow;
// frameworks that know their layers fill one in themselves.
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

/// As manifests and reports call element types: "f32", "bool".
std::string_view nameOf(cgx_element_type type);
std::optional<cgx_element_type> elementTypeNamed(std::string_view name);

/// How the operands of ranks are combined. The numbers are those of the dialect's Reduction.
enum class Reduction : uint32_t { Sum, Mean, Max, Min, Product };
std::string_view nameOf(Reduction reduction);
std::optional<Reduction> reductionNamed(std::string_view name);

std::string_view nameOf(cgx_collective_kind kind);
std::optional<cgx_collective_kind> collectiveNamed(std::string_view name);

std::optional<cgx_algorithm> algorithmNamed(std::string_view name);
std::string_view nameOf(cgx_algorithm algorithm);
std::optional<cgx_leaders> leadersNamed(std::string_view name);
std::string_view nameOf(cgx_leaders leaders);

/// The parameter that an operand is communicated for.
struct Layer {
  std::string name;
  Kind kind = Kind::Other;
  std::optional<std::vector<int64_t>> shape; ///< the parameter's own
  int64_t stacked = 0;                       ///< leading dimensions that count layers

  int64_t countOfLayers() const;
};

/// What one rank has of a layer in a collective.
struct Operand {
  Layer layer;
  std::vector<int64_t> shape;
  cgx_element_type type = CGX_F32;
  Codec codec;
  std::string reason;                   ///< why it stays exact; "" where it may be compressed
  bool isDecided = false;               ///< `reason` says what was decided
  std::pair<int64_t, int64_t> origin{}; ///< where it came from, by which random numbers are selected

  int64_t elements() const;
};

struct Hierarchy {
  int64_t local = 0; ///< consecutive ranks of a group that are one host
  Codec inside;
  cgx_leaders leaders = CGX_LEADERS_ALL;
};

struct Collective {
  int64_t id = 0;
  cgx_collective_kind kind = CGX_ALL_REDUCE;
  std::optional<Reduction> reduction;
  std::vector<std::vector<int64_t>> groups;
  std::vector<Operand> operands;
  std::optional<uint64_t> runs = 1; ///< in a step; nothing where the step decides that while it runs
  uint64_t every = 1;               ///< and every how many steps

  // What only one kind of collective has.
  cgx_algorithm algorithm = CGX_ALGORITHM_AUTO; ///< of an all_reduce
  std::optional<Hierarchy> hierarchy;
  int64_t dim = 0;                                ///< that a gather or a scatter joins or cuts
  int64_t splitDim = 0, concatDim = 0;            ///< that an all_to_all cuts and joins
  int64_t root = 0;                               ///< of a broadcast
  std::vector<std::pair<int64_t, int64_t>> pairs; ///< of a permute: sources and targets
  std::optional<std::vector<std::string>> sends;  ///< of each pair, in which runs: digits 0 and 1
  std::optional<int64_t> decodesAgain;            ///< the gather whose payloads another one decodes

  /// Only sums and means go with lossy codecs, and what only moves.
  bool acceptsLossyCodecs() const {
    return !reduction || *reduction == Reduction::Sum || *reduction == Reduction::Mean;
  }
  int64_t largestGroup() const;
  bool isTrivial() const { return largestGroup() == 1; }
};

/// What is wrong with hosts of `local` ranks, between which a codec encodes; "" if nothing.
std::string checkHierarchy(int64_t local, const Codec &inside);

/// What is wrong with the algorithm of an all_reduce for its groups and codecs; "" if nothing.
std::string checkAlgorithm(const Collective &collective);

/// An algorithm as the runtime and the tools know it.
cgx_schedule scheduleOf(cgx_algorithm algorithm, const std::optional<Hierarchy> &hierarchy);

/// Bytes that leave a rank in one run for an operand, if `codec` encodes it.
uint64_t wireBytesOf(const Collective &collective, const Operand &operand, const Codec &codec, int64_t rank);

/// Whether a plan that comes while the step runs may compress an operand that is exact.
bool mayBeCompressed(const Collective &collective, const Operand &operand);

/// The ranks as a grid: named axes, the last of which is the fastest.
struct Mesh {
  std::vector<std::string> axes;
  std::vector<int64_t> sizes;
};

struct Table {
  int64_t ranks = 1;
  Mesh mesh; ///< without axes: the ranks are one, "rank"
  std::vector<Collective> collectives;

  // What follows from how data flow, where somebody knows.

  /// The rank of what most elements of a vector are, of several parameters that travel as one.
  std::function<std::optional<int64_t>(const Collective &, const Operand &)> raveledRank = {};
  /// Whether rows of a result go to other places in the next step.
  std::function<bool(const Collective &, const Operand &)> movesRows = {};
};

} // namespace cgx::layers

#endif // CGX_LAYERS_TABLE_H
