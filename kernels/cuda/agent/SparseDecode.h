//===-- SparseDecode.h - Elements back to their positions ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_SPARSEDECODE_H
#define CGX_KERNELS_CUDA_AGENT_SPARSEDECODE_H

#include "Decode.h"
#include "Scan.h"
#include "Sparse.h"

namespace cgx::cuda {

struct SparseDecodeTable : DecodeTable {
  const SparseWorkspace *workspaces;
};

/// Checks the envelope and reads the number of elements sent. Later steps may add an error.
struct BeginSparse {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    Selection &selection = *table.workspaces[range.desc].selection;
    threads.once([&] {
      selection = {};
      DecodeError error = checkPayload(*desc.payload);
      if (error == DecodeError::ok)
        error = readCount(desc, selection.count);
      table.say(desc, error);
    });
  }

private:
  CGX_AGENT static DecodeError readCount(const DecodeDescriptor &desc, uint64_t &count) {
    if (!isThreshold(desc.codec)) {
      count = cgx_sparse_count(&desc.codec, desc.elements);
      return DecodeError::ok;
    }
    const uint64_t bodyBytes = boundedBytes(*desc.payload) - desc.payload->bodyBegin -
                               (desc.codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0);
    if (bodyBytes < 8)
      return DecodeError::malformed;
    const uint64_t stated = loadWord(desc.body);
    if (stated > desc.elements)
      return DecodeError::malformed;
    const uint64_t expected =
        partsOf(desc.codec, desc.elements, stated).values + stated * cgx_element_bytes(desc.type);
    if (bodyBytes != expected)
      return DecodeError::malformed;
    count = stated;
    return DecodeError::ok;
  }
};

/// The bytes in which every position sets a bit.
struct HighBytes {
  const uint8_t *bytes;
  uint64_t count;

  CGX_AGENT HighBytes(const DecodeDescriptor &desc, const CodedPositions &coded, uint64_t sent)
      : bytes(desc.body + partsOf(desc.codec, desc.elements, sent).positions + coded.highBegin()),
        count(coded.bytes() - coded.highBegin()) {}

  /// Calls step(bit) for the bits that are set in a lane's part of a chunk.
  template <typename Step> CGX_AGENT void forEachBit(uint64_t chunk, uint32_t lane, const Step &step) const {
    constexpr uint64_t each = chunkBytes / laneCount;
    const uint64_t begin = chunk * chunkBytes + lane * each;
    for (uint64_t byte = begin; byte < begin + each && byte < count; ++byte)
      for (uint32_t bits = bytes[byte], bit = 0; bits != 0; bits >>= 1, ++bit)
        if (bits & 1)
          step(byte * 8 + bit);
  }
};

struct CountPositions {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    const uint64_t sent = workspace.selection->count;
    const bool isRead = table.wasSound(desc) && sent != 0;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t chunk) {
      PerLane<std::remove_cvref_t<decltype(lanes)>, uint32_t> counts;
      lanes.forEach([&](uint32_t lane) {
        counts[lane] = 0;
        if (isRead)
          HighBytes(desc, CodedPositions(desc.elements, sent), sent).forEachBit(chunk, lane, [&](uint64_t) {
            ++counts[lane];
          });
      });
      counts = combineLanes(lanes, counts, laneCount, [](uint32_t a, uint32_t b) { return a + b; });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          workspace.chunks[chunk] = {counts[lane], 0};
      });
    });
  }
};

struct ScanPositions {
  static constexpr uint32_t sharedBytes = scanBytes<ChunkCount>;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    scan(threads, workspace.chunks, workspace.chunkCount, [&](ChunkCount all) {
      if (table.wasSound(desc) && all.above != workspace.selection->count)
        table.say(desc, DecodeError::malformed);
    });
  }
};

/// Stores positions in their table.
struct ReadPositions {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    const uint64_t sent = workspace.selection->count;
    if (!table.wasSound(desc) || sent == 0)
      return;
    const CodedPositions coded(desc.elements, sent);
    const HighBytes high(desc, coded, sent);
    const uint8_t *codedBytes = desc.body + partsOf(desc.codec, desc.elements, sent).positions;
    // One thread reads a chunk, because ranks continue from bit to bit.
    threads.forEachIndex(range.begin, range.end, [&](uint64_t chunk) {
      uint64_t rank = workspace.chunks[chunk].above;
      for (uint32_t lane = 0; lane < laneCount; ++lane)
        high.forEachBit(chunk, lane, [&](uint64_t bit) {
          const uint64_t position = coded.positionOf(rank, bit, codedBytes);
          workspace.positions[rank] = position < desc.elements ? uint32_t(position) : 0xffffffffu;
          ++rank;
        });
    });
  }
};

/// Checks that positions rise and are those of elements.
struct CheckPositions {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wasSound(desc))
      return;
    const uint64_t sent = workspace.selection->count, end = range.end < sent ? range.end : sent;
    threads.forEachIndex(range.begin, end, [&](uint64_t i) {
      const uint32_t position = workspace.positions[i];
      if (position == 0xffffffffu || (i > 0 && position <= workspace.positions[i - 1]))
        table.say(desc, DecodeError::malformed);
    });
  }
};

template <Sink sink> struct FillRest {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    if (!table.wasSound(desc))
      return;
    const float rest = restOf(desc.codec, desc.body);
    if (sink == Sink::add && rest == 0.0f)
      return;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      if constexpr (sink == Sink::add)
        static_cast<float *>(desc.output)[i] = rest;
      else
        storeElement(desc.type, desc.output, i, rest);
    });
  }
};

template <Sink sink> struct PlaceSent {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    if (!table.wasSound(desc))
      return;
    forEachSent(threads, desc, desc.body, table.workspaces[range.desc], range,
                [&](uint64_t position, const uint8_t *values, uint64_t i) {
                  if constexpr (sink == Sink::add)
                    addTo(desc.output, position, loadUnaligned(desc.type, values, i));
                  else
                    copyBits(desc, values, i, position);
                });
  }

private:
  /// Copies the bits of an element, also those of a NaN.
  CGX_AGENT static void copyBits(const DecodeDescriptor &desc, const uint8_t *values, uint64_t from,
                                 uint64_t to) {
    const uint64_t bytes = cgx_element_bytes(desc.type);
    for (uint64_t i = 0; i < bytes; ++i)
      static_cast<uint8_t *>(desc.output)[to * bytes + i] = values[from * bytes + i];
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_SPARSEDECODE_H
