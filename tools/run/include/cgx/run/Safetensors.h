//===-- cgx/run/Safetensors.h - Files of named tensors ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the safetensors format: eight bytes, the length N of the
// header, little-endian; N bytes of JSON
//
//     {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
//      "__metadata__": {"key": "value"}}
//
// and the tensors one after the other, without holes. A file is untrusted: it
// is checked completely before the first view of it is returned.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_SAFETENSORS_H
#define CGX_RUN_SAFETENSORS_H

#include "cgx/run/Tensor.h"

#include <map>
#include <memory>

namespace cgx::run {

using Metadata = std::map<std::string, std::string>;

/// The tensors of one file, mapped into memory. Views of them are valid as long as this object lives.
class SafetensorsFile {
public:
  /// The longest header that is accepted, as in the format's reference implementation.
  static constexpr uint64_t kMaxHeaderBytes = 100'000'000;

  /// Maps and checks a file. Throws Error.
  static SafetensorsFile open(const std::string &path);

  /// Checks `bytes`, which must outlive the result. `path` is the name that errors give them.
  static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string &path);

  const std::string &path() const { return path_; }
  const Metadata &metadata() const { return metadata_; }
  /// Returns the tensors in order of their names.
  const std::vector<TensorView> &tensors() const { return tensors_; }
  /// Returns the tensor of exactly this name, or null.
  const TensorView *find(std::string_view name) const;

private:
  std::shared_ptr<const void> mapping_;
  std::string path_;
  Metadata metadata_;
  std::vector<TensorView> tensors_;
};

/// Writes a file that appears complete or not at all. Throws Error.
void writeSafetensors(const std::string &path, std::vector<TensorView> tensors, const Metadata &metadata);

} // namespace cgx::run

#endif // CGX_RUN_SAFETENSORS_H
