//===-- SparseDecode.h - Elements back to their positions ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_SPARSEDECODE_H
#define CGX_KERNELS_CUDA_BODY_SPARSEDECODE_H

#include "Decode.h"
#include "Scan.h"
#include "Sparse.h"

namespace cgx::cuda {

struct SparseDecodeTable : DecodeTable {
  const SparseRoom *rooms;
};

/// Checks the envelope, and how many elements were sent. What the later steps find is added to the error.
struct BeginSparse {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    Selection &selection = *table.rooms[slice.item].selection;
    crew.once([&] {
      selection = {};
      DecodeError error = checkPayload(*item.payload);
      if (error == DecodeError::ok)
        error = readCount(item, selection.count);
      table.say(item, error);
    });
  }

private:
  CGX_BODY static DecodeError readCount(const DecodeItem &item, uint64_t &count) {
    if (!isThreshold(item.codec)) {
      count = cgx_sparse_count(&item.codec, item.elements);
      return DecodeError::ok;
    }
    const uint64_t bodyBytes = boundedBytes(*item.payload) - item.payload->bodyBegin -
                               (item.codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0);
    if (bodyBytes < 8)
      return DecodeError::malformed;
    const uint64_t stated = loadWord(item.body);
    if (stated > item.elements)
      return DecodeError::malformed;
    const uint64_t expected =
        partsOf(item.codec, item.elements, stated).values + stated * cgx_element_bytes(item.type);
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

  CGX_BODY HighBytes(const DecodeItem &item, const CodedPositions &coded, uint64_t sent)
      : bytes(item.body + partsOf(item.codec, item.elements, sent).positions + coded.highBegin()),
        count(coded.bytes() - coded.highBegin()) {}

  /// Bytes of a lane's part of a chunk.
  template <typename Step> CGX_BODY void forEachBit(uint64_t chunk, uint32_t lane, const Step &step) const {
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

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    const uint64_t sent = room.selection->count;
    const bool isRead = table.wasSound(item) && sent != 0;
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t chunk) {
      PerLane<std::remove_cvref_t<decltype(lanes)>, uint32_t> counts;
      lanes.forEach([&](uint32_t lane) {
        counts[lane] = 0;
        if (isRead)
          HighBytes(item, CodedPositions(item.elements, sent), sent).forEachBit(chunk, lane, [&](uint64_t) {
            ++counts[lane];
          });
      });
      counts = combineLanes(lanes, counts, laneCount, [](uint32_t a, uint32_t b) { return a + b; });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          room.chunks[chunk] = {counts[lane], 0};
      });
    });
  }
};

struct ScanPositions {
  static constexpr uint32_t sharedBytes = scanBytes<ChunkCount>;
  SparseDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    scan(crew, room.chunks, room.chunkCount, [&](ChunkCount all) {
      if (table.wasSound(item) && all.above != room.selection->count)
        table.say(item, DecodeError::malformed);
    });
  }
};

/// Puts positions in their table.
struct ReadPositions {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    const uint64_t sent = room.selection->count;
    if (!table.wasSound(item) || sent == 0)
      return;
    const CodedPositions coded(item.elements, sent);
    const HighBytes high(item, coded, sent);
    const uint8_t *codedBytes = item.body + partsOf(item.codec, item.elements, sent).positions;
    // One thread for each chunk: ranks go on from bit to bit.
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t chunk) {
      uint64_t rank = room.chunks[chunk].above;
      for (uint32_t lane = 0; lane < laneCount; ++lane)
        high.forEachBit(chunk, lane, [&](uint64_t bit) {
          const uint64_t position = coded.positionOf(rank, bit, codedBytes);
          room.positions[rank] = position < item.elements ? uint32_t(position) : 0xffffffffu;
          ++rank;
        });
    });
  }
};

/// Positions must rise, and be those of elements.
struct CheckPositions {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    if (!table.wasSound(item))
      return;
    const uint64_t sent = room.selection->count, end = slice.end < sent ? slice.end : sent;
    crew.forEachIndex(slice.begin, end, [&](uint64_t i) {
      const uint32_t position = room.positions[i];
      if (position == 0xffffffffu || (i > 0 && position <= room.positions[i - 1]))
        table.say(item, DecodeError::malformed);
    });
  }
};

template <Sink sink> struct FillRest {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    if (!table.wasSound(item))
      return;
    const float rest = restOf(item.codec, item.body);
    if (sink == Sink::add && rest == 0.0f)
      return;
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      if constexpr (sink == Sink::add)
        static_cast<float *>(item.output)[i] = rest;
      else
        storeElement(item.type, item.output, i, rest);
    });
  }
};

template <Sink sink> struct PlaceSent {
  static constexpr uint32_t sharedBytes = 0;
  SparseDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    if (!table.wasSound(item))
      return;
    forEachSent(crew, item, item.body, table.rooms[slice.item], slice,
                [&](uint64_t position, const uint8_t *values, uint64_t i) {
                  if constexpr (sink == Sink::add)
                    addTo(item.output, position, loadUnaligned(item.type, values, i));
                  else
                    copyBits(item, values, i, position);
                });
  }

private:
  /// The bits of an element, also of a NaN.
  CGX_BODY static void copyBits(const DecodeItem &item, const uint8_t *values, uint64_t from, uint64_t to) {
    const uint64_t bytes = cgx_element_bytes(item.type);
    for (uint64_t i = 0; i < bytes; ++i)
      static_cast<uint8_t *>(item.output)[to * bytes + i] = values[from * bytes + i];
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_SPARSEDECODE_H
