//===-- cgx/run/Manifest.h - What a compiled program says of itself ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON text `cgx_program_manifest` of a compiled step as a structure: its
// mesh, arguments, results (with the argument that each feeds in the next step)
// and collectives.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_MANIFEST_H
#define CGX_RUN_MANIFEST_H

#include "cgx/run/Tensor.h"
#include "cgx/wire.h"

namespace cgx::run {

/// A named dimension of the grid of ranks. Rank numbers are row-major over it.
struct MeshAxis {
  std::string name;
  int64_t size;
};
using Mesh = std::vector<MeshAxis>;

/// For each dimension of a tensor, the mesh axes that split it, major first.
using Sharding = std::vector<std::vector<std::string>>;

/// An argument or a result of the step, as one rank sees it.
struct Value {
  std::string name;
  ElementType type = CGX_F32;
  Shape shape;       ///< of one rank's block
  Shape globalShape; ///< of the whole
  Sharding sharding; ///< as many entries as dimensions
  /// Of a result: the argument that takes it in the next step.
  std::optional<size_t> feeds;
  /// Of a result that feeds nothing: the argument whose next value it seems to be.
  std::optional<size_t> updates;
  /// Of an argument: what it begins with where a state file has nothing of its name. "0": zeros; else the
  /// tensor of that name, for each rank if it has a dimension less.
  std::optional<std::string> initial;

  uint64_t bytes() const { return *elementCount(shape) * elementBytes(type); }
};

struct Operand {
  std::string layer; ///< empty when it belongs to no parameter
  std::string kind;  ///< gradient, weight, activation, outer_gradient, other
  ElementType type = CGX_F32;
  uint64_t elements = 0;
  std::vector<uint64_t> shape;
  cgx_codec codec = {};
  std::optional<cgx_codec> back; ///< of an all_reduce's results, if that is another one
  bool sendsChanges = false;     ///< of samples, which are sent exactly where they were not before
  bool isPlannable = false;      ///< compressed, or exact until a plan says otherwise

  /// A codec as it is used for this operand.
  cgx_codec used(const cgx_codec &wanted) const {
    return cgx_codec_for_shape(&wanted, shape.data(), shape.size());
  }
};

struct Collective {
  int64_t id = 0;
  uint32_t kind = 0;              ///< cgx_collective_kind
  cgx_schedule schedule{};        ///< the algorithm of an all_reduce
  uint32_t root = 0;              ///< of a broadcast: a position in its group
  std::vector<cgx_pair> pairs;    ///< of a permute, whose group is all ranks
  std::vector<std::string> sends; ///< whether each pair does in each run of a step: digits; none: all do
  std::vector<std::vector<uint32_t>> groups;
  std::vector<Operand> operands;
  bool decodesAgain = false; ///< payloads that another one keeps: it sends nothing
};

struct Manifest {
  std::string hash;
  uint32_t ranks = 1;
  Mesh mesh;
  std::vector<Value> arguments, results;
  std::vector<Collective> collectives;

  /// Throws Error when the text is malformed or contradicts itself.
  static Manifest parse(std::string_view text);

  /// Makes `result` feed `argument`, or nothing. Throws Error when their types differ.
  void feed(size_t result, std::optional<size_t> argument);

  /// For messages: `data=4, model=2`.
  std::string meshString() const;
};

/// A codec as manifests and plans have it. Throws Error.
cgx_codec parseCodec(const std::string &json);

} // namespace cgx::run

#endif // CGX_RUN_MANIFEST_H
