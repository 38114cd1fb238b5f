//===-- cgx/run/Manifest.h - Manifest of a compiled program -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structure for the JSON text `cgx_program_manifest` of a compiled step: its mesh, arguments,
// results (with the argument that each feeds in the next step) and collectives.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_MANIFEST_H
#define CGX_RUN_MANIFEST_H

#include "cgx/run/Tensor.h"
#include "cgx/wire.h"

namespace cgx::run {

/// A named dimension of the grid of ranks. Ranks are numbered in row-major order over it.
struct MeshAxis {
  std::string name;
  int64_t size;
};
using Mesh = std::vector<MeshAxis>;

/// The mesh axes that split each dimension of a tensor, major first.
using Sharding = std::vector<std::vector<std::string>>;

/// An argument or a result of the step, as one rank sees it.
struct Value {
  std::string name;
  ElementType type = CGX_F32;
  Shape shape;       ///< the shape of one rank's block
  Shape globalShape; ///< the shape of the whole tensor
  Sharding sharding; ///< one entry per dimension
  /// The argument that takes this result in the next step.
  std::optional<size_t> feeds;
  /// The argument whose next value this result seems to be, if it feeds none.
  std::optional<size_t> updates;
  /// The value that an argument starts with where a state file has no tensor of its name. "0" means zeros;
  /// any other text names a tensor, which is repeated for each rank if it has one dimension less.
  std::optional<std::string> initial;

  uint64_t bytes() const { return *elementCount(shape) * elementBytes(type); }
};

struct Operand {
  std::string layer; ///< empty when the operand belongs to no parameter
  std::string kind;  ///< gradient, weight, activation, outer_gradient, other
  ElementType type = CGX_F32;
  uint64_t elements = 0;
  std::vector<uint64_t> shape;
  cgx_codec codec = {};
  std::optional<cgx_codec> back; ///< the codec of an all_reduce's results, if it is another one
  /// Samples that were not sent before are sent uncompressed, the others as differences.
  bool sendsChanges = false;
  bool isPlannable = false; ///< the operand is compressed, or uncompressed until a plan says otherwise

  /// Returns the codec with the parameters that it gets for this operand's shape.
  cgx_codec used(const cgx_codec &wanted) const {
    return cgx_codec_for_shape(&wanted, shape.data(), shape.size());
  }
};

struct Collective {
  int64_t id = 0;
  uint32_t kind = 0;           ///< cgx_collective_kind
  cgx_schedule schedule{};     ///< the algorithm of an all_reduce
  uint32_t root = 0;           ///< the root of a broadcast, as a position in its group
  std::vector<cgx_pair> pairs; ///< the pairs of a permute, whose group is all ranks
  /// For each pair, one digit per run of a step that says if it sends; empty: every run sends.
  std::vector<std::string> sends;
  std::vector<std::vector<uint32_t>> groups;
  std::vector<Operand> operands;
  bool decodesAgain = false; ///< it decodes payloads that another collective keeps, and sends nothing
};

struct Manifest {
  std::string hash;
  uint32_t ranks = 1;
  Mesh mesh;
  std::vector<Value> arguments, results;
  std::vector<Collective> collectives;

  /// Parses a manifest. Throws Error when the text is malformed or contradicts itself.
  static Manifest parse(std::string_view text);

  /// Makes `result` feed `argument`, or no argument. Throws Error when their types differ.
  void feed(size_t result, std::optional<size_t> argument);

  /// Returns the mesh for messages: `data=4, model=2`.
  std::string meshString() const;
};

/// Parses a codec in the form that manifests and plans have. Throws Error.
cgx_codec parseCodec(const std::string &json);

} // namespace cgx::run

#endif // CGX_RUN_MANIFEST_H
