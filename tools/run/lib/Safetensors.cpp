//===-- Safetensors.cpp - Files of named tensors ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Safetensors.h"

#include "cgx/formats/Json.h"
#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace cgx::run;
using Json = nlohmann::json;

// Tensors are mapped in the form in which they are stored, and the format is little-endian.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr size_t kLengthBytes = 8;
constexpr const char *kMetadataKey = "__metadata__";

/// The position of a tensor in the data section.
struct Extent {
  uint64_t begin, end;
  size_t tensor;
};

class Parser {
public:
  Parser(std::span<const std::byte> bytes, std::string path) : bytes_(bytes), path_(std::move(path)) {}

  void run(std::vector<TensorView> &tensors, Metadata &metadata) {
    Json header = parseHeader(splitHeader());
    for (const auto &[name, entry] : header.items()) {
      if (name == kMetadataKey)
        parseMetadata(entry, metadata);
      else
        tensors.push_back(parseTensor(name, entry, tensors.size()));
    }
    checkCoverage(tensors);
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw Error("'" + path_ + "' is not a valid safetensors file: " + what);
  }

  [[noreturn]] void fail(const std::string &tensor, const std::string &what) const {
    fail("tensor '" + tensor + "': " + what);
  }

  /// Returns the header's text and leaves the data section in `data_`.
  std::string_view splitHeader() {
    if (bytes_.size() < kLengthBytes)
      fail("expected at least 8 bytes, got " + std::to_string(bytes_.size()));
    uint64_t length;
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > SafetensorsFile::kMaxHeaderBytes)
      fail("expected a header of at most " + std::to_string(SafetensorsFile::kMaxHeaderBytes) +
           " bytes, got " + std::to_string(length));
    if (length > bytes_.size() - kLengthBytes)
      fail("the header needs " + std::to_string(length) + " bytes, but only " +
           std::to_string(bytes_.size() - kLengthBytes) + " follow its length");
    data_ = bytes_.subspan(kLengthBytes + length);
    return {reinterpret_cast<const char *>(bytes_.data()) + kLengthBytes, length};
  }

  Json parseHeader(std::string_view text) const {
    Json header;
    try {
      header = cgx::formats::parseJson(text, {.bytes = SafetensorsFile::kMaxHeaderBytes});
    } catch (const cgx::formats::Error &error) {
      fail(std::string("malformed header: ") + error.what());
    }
    if (!header.is_object())
      fail("expected the header to be a JSON object");
    return header;
  }

  void parseMetadata(const Json &entry, Metadata &metadata) const {
    if (!entry.is_object())
      fail("expected __metadata__ to be a JSON object");
    for (const auto &[key, value] : entry.items()) {
      if (!value.is_string())
        fail("expected the value of __metadata__ '" + key + "' to be a string");
      metadata[key] = value.get<std::string>();
    }
  }

  TensorView parseTensor(const std::string &name, const Json &entry, size_t index) {
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets"))
      fail(name, "expected an object with dtype, shape and data_offsets");
    TensorView tensor;
    tensor.name = name;
    if (!entry["dtype"].is_string())
      fail(name, "expected dtype to be a string");
    std::string dtype = entry["dtype"].get<std::string>();
    std::optional<ElementType> type = parseSafetensorsName(dtype);
    if (!type)
      fail(name, "dtype " + dtype + " is not supported" +
                     (dtype.starts_with("F4") || dtype.starts_with("F6")
                          ? ": write the bits of each element as one of U8" // the format packs these
                          : ""));
    tensor.type = *type;
    if (!entry["shape"].is_array() || entry["shape"].size() > kMaxDimensions)
      fail(name, "expected shape to be an array of at most " + std::to_string(kMaxDimensions) + " numbers");
    for (const Json &dim : entry["shape"])
      tensor.shape.push_back(static_cast<int64_t>(parseSize(name, "shape", dim)));
    const Json &offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2)
      fail(name, "expected data_offsets to be an array of two numbers");
    uint64_t begin = parseSize(name, "data_offsets", offsets[0]),
             end = parseSize(name, "data_offsets", offsets[1]);
    if (begin > end || end > data_.size())
      fail(name, "data_offsets [" + std::to_string(begin) + ", " + std::to_string(end) +
                     "] are outside of the file's " + std::to_string(data_.size()) + " bytes of data");
    std::optional<uint64_t> count = elementCount(tensor.shape);
    if (!count || *count * elementBytes(tensor.type) != end - begin)
      fail(name, typeString(tensor.type, tensor.shape) + " does not fill " + std::to_string(end - begin) +
                     " bytes");
    tensor.bytes = data_.subspan(begin, end - begin);
    extents_.push_back({begin, end, index});
    return tensor;
  }

  uint64_t parseSize(const std::string &tensor, const char *field, const Json &value) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t{INT64_MAX})
      fail(tensor, std::string("expected the numbers of ") + field + " to be sizes, got " + value.dump());
    return value.get<uint64_t>();
  }

  /// Checks that every byte of data belongs to exactly one tensor.
  void checkCoverage(const std::vector<TensorView> &tensors) {
    std::sort(extents_.begin(), extents_.end(), [](const Extent &a, const Extent &b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    uint64_t covered = 0;
    for (const Extent &extent : extents_) {
      if (extent.begin < covered)
        fail(tensors[extent.tensor].name, "overlaps the tensor before it");
      if (extent.begin > covered)
        fail(tensors[extent.tensor].name, "starts at " + std::to_string(extent.begin) +
                                              ", but the data before it ends at " + std::to_string(covered));
      covered = extent.end;
    }
    if (covered != data_.size())
      fail("expected " + std::to_string(covered) + " bytes of data, got " + std::to_string(data_.size()));
  }

  std::span<const std::byte> bytes_, data_;
  std::string path_;
  std::vector<Extent> extents_;
};

} // namespace

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, const std::string &path) {
  SafetensorsFile file;
  file.path_ = path;
  Parser(bytes, path).run(file.tensors_, file.metadata_);
  return file;
}

SafetensorsFile SafetensorsFile::open(const std::string &path) {
  MappedFile mapped = mapFile(path);
  SafetensorsFile file = parse(mapped.bytes, path);
  file.mapping_ = std::move(mapped.mapping);
  return file;
}

const TensorView *SafetensorsFile::find(std::string_view name) const {
  auto position =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const TensorView &tensor, std::string_view key) { return tensor.name < key; });
  return position != tensors_.end() && position->name == name ? &*position : nullptr;
}

void cgx::run::writeSafetensors(const std::string &path, std::vector<TensorView> tensors,
                                const Metadata &metadata) {
  // Wider elements come first, so that every tensor is aligned to its element size.
  std::sort(tensors.begin(), tensors.end(), [](const TensorView &a, const TensorView &b) {
    uint64_t widthA = elementBytes(a.type), widthB = elementBytes(b.type);
    return widthA != widthB ? widthA > widthB : a.name < b.name;
  });
  Json header = Json::object();
  if (!metadata.empty())
    header[kMetadataKey] = metadata;
  std::vector<std::span<const std::byte>> pieces(2);
  uint64_t offset = 0;
  for (const TensorView &tensor : tensors) {
    uint64_t end = offset + tensor.bytes.size();
    header[tensor.name] = {
        {"dtype", safetensorsName(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    pieces.push_back(tensor.bytes);
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t length = text.size();
  pieces[0] = std::as_bytes(std::span(&length, 1));
  pieces[1] = std::as_bytes(std::span(text));
  replaceFile(path, pieces);
}
