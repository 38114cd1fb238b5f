//===-- SparseEncode.h - Choosing elements, and writing them ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_SPARSEENCODE_H
#define CGX_KERNELS_CUDA_BODY_SPARSEENCODE_H

#include "Encode.h"
#include "Scan.h"
#include "Sparse.h"

namespace cgx::cuda {

/// What the steps of sparse encoders have in common: an item's memory has its number.
struct SparseEncodeTable : EncodeTable {
  const SparseRoom *rooms;
};

CGX_BODY uint32_t magnitudeAt(const EncodeItem &item, uint64_t index) {
  return magnitudeBits(TensorInput::load(item, index));
}

/// Before each pass of the search for topk's cut, and before everything: counters at 0.
struct ClearSelection {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;
  uint32_t pass;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    if (pass == 0)
      crew.once([&] {
        *room.selection = {};
        room.selection->count = isThreshold(item.codec) ? 0 : cgx_sparse_count(&item.codec, item.elements);
        room.selection->ties = uint32_t(room.selection->count);
      });
    if (room.histogram)
      crew.forEachIndex(0, digitCount, [&](uint64_t digit) { room.histogram[digit] = 0; });
  }
};

/// Counts the digits of magnitudes whose digits before are those of the cut.
struct CountDigits {
  static constexpr uint32_t sharedBytes = digitCount * sizeof(uint32_t);
  SparseEncodeTable table;
  uint32_t pass;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    uint32_t *counts = crew.template shared<uint32_t>();
    const uint32_t shift = digitShift(pass), bits = digitBits(pass);
    const uint32_t prefix = pass == 0 ? 0 : room.selection->magnitude >> (shift + bits);
    crew.forEachIndex(0, digitCount, [&](uint64_t digit) { counts[digit] = 0; });
    crew.wait();
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      const uint32_t magnitude = magnitudeAt(item, i);
      if (pass == 0 || magnitude >> (shift + bits) == prefix)
        crew.atomicAdd(counts + ((magnitude >> shift) & ((1u << bits) - 1u)), 1u);
    });
    crew.wait();
    crew.forEachIndex(0, digitCount, [&](uint64_t digit) {
      if (counts[digit] != 0)
        crew.atomicAdd(room.histogram + digit, counts[digit]);
    });
  }
};

/// Takes the digit in which the wanted magnitude lies; `ties` is its place among those of that digit.
struct FindDigit {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;
  uint32_t pass;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const SparseRoom &room = table.rooms[slice.item];
    crew.once([&] {
      Selection &selection = *room.selection;
      uint32_t digit = (1u << digitBits(pass)) - 1u;
      for (; digit > 0 && room.histogram[digit] < selection.ties; --digit)
        selection.ties -= room.histogram[digit];
      selection.magnitude |= digit << digitShift(pass);
    });
  }
};

/// The smallest magnitude that is sent of each bucket, as in Threshold.cpp.
struct FindCuts {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t bucket) {
      const uint64_t begin = bucket * item.codec.bucket, end = bucketEnd(item, begin);
      PerLane<std::remove_cvref_t<decltype(lanes)>, uint32_t> largest;
      lanes.forEach([&](uint32_t lane) {
        largest[lane] = 0;
        for (uint64_t i = begin + lane; i < end; i += laneCount) {
          const uint32_t bits = magnitudeAt(item, i);
          largest[lane] = bits > largest[lane] && bits < infinityBits ? bits : largest[lane];
        }
      });
      largest = combineLanes(lanes, largest, laneCount, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          room.cuts[bucket] = cutOf(item.codec.threshold * floatFromBits(largest[lane]));
      });
    });
  }

  CGX_BODY static uint32_t cutOf(float threshold) {
    const uint32_t bits = magnitudeBits(threshold);
    return bits == 0 ? 1 : bits;
  }
};

/// Whether an element is above what is sent at least, or ties with it.
struct Choice {
  bool above, tie;
};

CGX_BODY Choice choose(const EncodeItem &item, const SparseRoom &room, uint64_t index) {
  const uint32_t magnitude = magnitudeAt(item, index);
  if (item.codec.family == CGX_CODEC_THRESHOLD)
    return {magnitude >= FindCuts::cutOf(item.codec.threshold), false};
  if (item.codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD)
    return {magnitude >= room.cuts[uint32_t(index) / item.codec.bucket], false};
  return {magnitude > room.selection->magnitude, magnitude == room.selection->magnitude};
}

/// Elements of a chunk in rows of lanes: step(lanes, mask of those above, of ties, first element of the row).
template <typename Lanes, typename Step>
CGX_BODY void forEachRow(const Lanes &lanes, const EncodeItem &item, const SparseRoom &room, uint64_t chunk,
                         const Step &step) {
  const uint64_t end = chunk * chunkElements + chunkElements;
  for (uint64_t row = chunk * chunkElements; row < end && row < item.elements; row += laneCount) {
    PerLane<Lanes, bool> above, tie;
    lanes.forEach([&](uint32_t lane) {
      const Choice choice =
          row + lane < item.elements ? choose(item, room, row + lane) : Choice{false, false};
      above[lane] = choice.above;
      tie[lane] = choice.tie;
    });
    step(lanes.ballot(above), lanes.ballot(tie), row);
  }
}

struct CountChosen {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t chunk) {
      ChunkCount count = {0, 0};
      forEachRow(lanes, item, room, chunk, [&](uint32_t above, uint32_t ties, uint64_t) {
        count.above += countBits(above);
        count.ties += countBits(ties);
      });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          room.chunks[chunk] = count;
      });
    });
  }
};

struct ScanChosen {
  static constexpr uint32_t sharedBytes = scanBytes<ChunkCount>;
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    scan(crew, room.chunks, room.chunkCount, [&](ChunkCount all) {
      if (isThreshold(item.codec))
        room.selection->count = all.above;
    });
  }
};

/// Writes the chosen elements, each at its rank, and keeps their positions.
struct StoreChosen {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    if (!table.wereSound(item))
      return;
    uint8_t *values = item.body + partsOf(item.codec, item.elements, room.selection->count).values;
    const uint32_t most = room.selection->ties;
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t chunk) {
      ChunkCount before = room.chunks[chunk];
      forEachRow(lanes, item, room, chunk, [&](uint32_t above, uint32_t ties, uint64_t row) {
        lanes.forEach([&](uint32_t lane) {
          const uint32_t below = (1u << lane) - 1u, bit = 1u << lane;
          const uint32_t tiesBefore = before.ties + countBits(ties & below);
          const bool isSent = above & bit || (ties & bit && tiesBefore < most);
          if (!isSent)
            return;
          const uint32_t rank =
              before.above + countBits(above & below) + (tiesBefore < most ? tiesBefore : most);
          room.positions[rank] = uint32_t(row) + lane;
          storeUnaligned(item.type, values, rank, TensorInput::load(item, row + lane));
        });
        before = {before.above + countBits(above), before.ties + countBits(ties)};
      });
    });
  }
};

/// Writes header, what is before the positions, and the positions byte by byte.
struct StorePositions {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const SparseRoom &room = table.rooms[slice.item];
    if (!table.wereSound(item))
      return;
    const uint64_t count = room.selection->count;
    writeHeader(crew, item, slice);
    crew.forEachIndex(0, slice.begin == 0 ? 1 : 0, [&](uint64_t) { storeBeginning(item, *room.selection); });
    if (count == 0)
      return;
    const CodedPositions coded(item.elements, count);
    const uint64_t bytes = coded.bytes();
    uint8_t *to = item.body + partsOf(item.codec, item.elements, count).positions;
    crew.forEachIndex(slice.begin, slice.end < bytes ? slice.end : bytes,
                      [&](uint64_t byte) { to[byte] = coded.byteAt(byte, room.positions); });
  }

private:
  CGX_BODY static void storeBeginning(const EncodeItem &item, const Selection &selection) {
    if (!isThreshold(item.codec))
      return storeTo(item.body, selection.magnitude < infinityBits ? 0.0f : quietNan());
    storeTo(item.body, selection.count);
    const uint64_t values = partsOf(item.codec, item.elements, selection.count).values;
    storeTo(item.payload + CGX_PAYLOAD_HEADER_BYTES,
            uint64_t(item.body - item.payload) + values + selection.count * cgx_element_bytes(item.type) +
                (item.codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0));
  }
};

/// randk: whether an element is not finite.
struct FindSpoiled {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      if (magnitudeAt(item, i) >= infinityBits)
        crew.atomicAdd(&table.rooms[slice.item].selection->spoiled, 1u);
    });
  }
};

/// randk: draws elements, and writes all of the payload.
struct StoreDrawn {
  static constexpr uint32_t sharedBytes = sizeof(RandomKey);
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    const Selection &selection = *table.rooms[slice.item].selection;
    if (!table.wereSound(item))
      return;
    RandomKey *key = crew.template shared<RandomKey>();
    crew.once([&] { *key = RandomKey{mixBits(table.keyOf(item).value + item.firstElement)}; });
    writeHeader(crew, item, slice);
    const RandomStream stream = makeRandomStream(*key, 0);
    crew.forEachIndex(0, slice.begin == 0 ? 1 : 0, [&](uint64_t) {
      storeTo(item.body, selection.spoiled ? quietNan() : 0.0f);
      storeWord(item.body + 4, key->value);
    });
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t i) {
      const uint64_t position = drawPosition(stream, item.elements, selection.count, i);
      storeUnaligned(item.type, item.body + 12, i, TensorInput::load(item, position));
    });
  }
};

/// Takes what was sent from the sums: what is lost of the others is all of them.
struct TakeSent {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const EncodeItem &item = table.items[slice.item];
    if (table.wereSound(item))
      forEachSent(crew, item, item.body, table.rooms[slice.item], slice,
                  [&](uint64_t position, const uint8_t *values, uint64_t i) {
                    item.sums[position] -= 0.0f + loadUnaligned(item.type, values, i);
                  });
  }
};

/// What a sparse payload says of elements that it does not send.
struct SentRest {
  CGX_BODY static float load(const EncodeItem &item, uint64_t) { return restOf(item.codec, item.body); }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_SPARSEENCODE_H
