//===-- SparseEncode.h - Choosing elements, and writing them ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_SPARSEENCODE_H
#define CGX_KERNELS_CUDA_AGENT_SPARSEENCODE_H

#include "Encode.h"
#include "Scan.h"
#include "Sparse.h"

namespace cgx::cuda {

/// The data that the steps of sparse encoders share. A descriptor and its workspace have the same index.
struct SparseEncodeTable : EncodeTable {
  const SparseWorkspace *workspaces;
};

CGX_AGENT uint32_t magnitudeAt(const EncodeDescriptor &desc, uint64_t index) {
  return magnitudeBits(TensorInput::load(desc, index));
}

/// Clears the counters before each pass of the search for topk's cut; before the first pass, also the
/// selection.
struct ClearSelection {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;
  uint32_t pass;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    if (pass == 0)
      threads.once([&] {
        *workspace.selection = {};
        workspace.selection->count =
            isThreshold(desc.codec) ? 0 : cgx_sparse_count(&desc.codec, desc.elements);
        workspace.selection->ties = uint32_t(workspace.selection->count);
      });
    if (workspace.histogram)
      threads.forEachIndex(0, digitCount, [&](uint64_t digit) { workspace.histogram[digit] = 0; });
  }
};

/// Counts digits of the magnitudes whose higher digits equal those of the cut.
struct CountDigits {
  static constexpr uint32_t sharedBytes = digitCount * sizeof(uint32_t);
  SparseEncodeTable table;
  uint32_t pass;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    uint32_t *counts = threads.template shared<uint32_t>();
    const uint32_t shift = digitShift(pass), bits = digitBits(pass);
    const uint32_t prefix = pass == 0 ? 0 : workspace.selection->magnitude >> (shift + bits);
    threads.forEachIndex(0, digitCount, [&](uint64_t digit) { counts[digit] = 0; });
    threads.wait();
    // Sums of sparse tensors are mostly zeros. Threads count the digit 0 in a register, because lanes that
    // add to one counter would wait for each other.
    uint32_t lowest = 0;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      const uint32_t magnitude = magnitudeAt(desc, i), digit = (magnitude >> shift) & ((1u << bits) - 1u);
      if (pass != 0 && magnitude >> (shift + bits) != prefix)
        return;
      if (digit == 0)
        ++lowest;
      else
        threads.atomicAdd(counts + digit, 1u);
    });
    if (lowest != 0)
      threads.atomicAdd(counts, lowest);
    threads.wait();
    threads.forEachIndex(0, digitCount, [&](uint64_t digit) {
      if (counts[digit] != 0)
        threads.atomicAdd(workspace.histogram + digit, counts[digit]);
    });
  }
};

/// Finds the digit of the wanted magnitude; `ties` becomes its place among those of that digit. A warp adds
/// up the counters, each lane a part of them and the first lane the highest; then one lane searches its part.
struct FindDigit {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;
  uint32_t pass;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    const uint32_t *histogram = workspace.histogram;
    const uint32_t each = (1u << digitBits(pass)) / laneCount;
    threads.forEachWarp(0, 1, [&](const auto &lanes, uint64_t) {
      PerLane<std::remove_cvref_t<decltype(lanes)>, uint32_t> own;
      lanes.forEach([&](uint32_t lane) {
        own[lane] = 0;
        for (uint32_t i = 0; i < each; ++i)
          own[lane] += histogram[(laneCount - 1 - lane) * each + i];
      });
      const uint32_t wanted = workspace.selection->ties; // at least 1, and read before a lane replaces it
      auto all = own;
      const auto above = sumBefore(lanes, all);
      lanes.forEach([&](uint32_t lane) {
        if (above[lane] >= wanted || above[lane] + own[lane] < wanted)
          return;
        uint32_t ties = wanted - above[lane], digit = (laneCount - lane) * each - 1;
        for (; digit > (laneCount - 1 - lane) * each && histogram[digit] < ties; --digit)
          ties -= histogram[digit];
        workspace.selection->ties = ties;
        workspace.selection->magnitude |= digit << digitShift(pass);
      });
    });
  }
};

/// Finds the smallest magnitude that each bucket sends, as in Threshold.cpp.
struct FindCuts {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t bucket) {
      const uint64_t begin = bucket * desc.codec.bucket, end = bucketEnd(desc, begin);
      PerLane<std::remove_cvref_t<decltype(lanes)>, uint32_t> largest;
      lanes.forEach([&](uint32_t lane) {
        largest[lane] = 0;
        for (uint64_t i = begin + lane; i < end; i += laneCount) {
          const uint32_t bits = magnitudeAt(desc, i);
          largest[lane] = bits > largest[lane] && bits < infinityBits ? bits : largest[lane];
        }
      });
      largest = combineLanes(lanes, largest, laneCount, [](uint32_t a, uint32_t b) { return a > b ? a : b; });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          workspace.cuts[bucket] = cutOf(desc.codec.threshold * floatFromBits(largest[lane]));
      });
    });
  }

  CGX_AGENT static uint32_t cutOf(float threshold) {
    const uint32_t bits = magnitudeBits(threshold);
    return bits == 0 ? 1 : bits;
  }
};

/// The place of an element relative to the smallest magnitude that is sent.
struct Choice {
  bool above, tie;
};

CGX_AGENT Choice choose(const EncodeDescriptor &desc, const SparseWorkspace &workspace, uint64_t index) {
  const uint32_t magnitude = magnitudeAt(desc, index);
  if (desc.codec.family == CGX_CODEC_THRESHOLD)
    return {magnitude >= FindCuts::cutOf(desc.codec.threshold), false};
  if (desc.codec.family == CGX_CODEC_ADAPTIVE_THRESHOLD)
    return {magnitude >= workspace.cuts[uint32_t(index) / desc.codec.bucket], false};
  return {magnitude > workspace.selection->magnitude, magnitude == workspace.selection->magnitude};
}

/// Goes through elements [begin, end) in rows of lanes, with choiceOf(index) for each. Calls step(mask of
/// elements above, mask of ties, first element of the row).
template <typename Warp, typename ChoiceOf, typename Step>
CGX_AGENT void forEachRow(const Warp &lanes, uint64_t begin, uint64_t end, const ChoiceOf &choiceOf,
                          const Step &step) {
  for (uint64_t row = begin; row < end; row += laneCount) {
    PerLane<Warp, bool> above, tie;
    lanes.forEach([&](uint32_t lane) {
      const Choice choice = row + lane < end ? choiceOf(row + lane) : Choice{false, false};
      above[lane] = choice.above;
      tie[lane] = choice.tie;
    });
    step(lanes.ballot(above), lanes.ballot(tie), row);
  }
}

/// Goes through the rows of a chunk.
template <typename Warp, typename Step>
CGX_AGENT void forEachRowOf(const Warp &lanes, const EncodeDescriptor &desc, const SparseWorkspace &workspace,
                            uint64_t chunk, const Step &step) {
  const uint64_t begin = chunk * chunkElements, left = desc.elements - begin;
  forEachRow(
      lanes, begin, begin + (left < chunkElements ? left : chunkElements),
      [&](uint64_t i) { return choose(desc, workspace, i); }, step);
}

/// Calls take(lane, rank) for the elements of a row that are sent: all above, and the first `most` ties of
/// all rows. `before` holds the counts of the rows before it.
template <typename Warp, typename Take>
CGX_AGENT void forEachSentOfRow(const Warp &lanes, uint32_t above, uint32_t ties, uint32_t most,
                                ChunkCount &before, const Take &take) {
  lanes.forEach([&](uint32_t lane) {
    const uint32_t below = (1u << lane) - 1u, bit = 1u << lane;
    const uint32_t tiesBefore = before.ties + countBits(ties & below);
    if (above & bit || (ties & bit && tiesBefore < most))
      take(lane, before.above + countBits(above & below) + (tiesBefore < most ? tiesBefore : most));
  });
  before = before + ChunkCount{countBits(above), countBits(ties)};
}

struct CountChosen {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t chunk) {
      ChunkCount count = {0, 0};
      forEachRowOf(lanes, desc, workspace, chunk, [&](uint32_t above, uint32_t ties, uint64_t) {
        count.above += countBits(above);
        count.ties += countBits(ties);
      });
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          workspace.chunks[chunk] = count;
      });
    });
  }
};

struct ScanChosen {
  static constexpr uint32_t sharedBytes = scanBytes<ChunkCount>;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    scan(threads, workspace.chunks, workspace.chunkCount, [&](ChunkCount all) {
      if (isThreshold(desc.codec))
        workspace.selection->count = all.above;
    });
  }
};

/// Writes the chosen elements, each at its rank, and records their positions.
struct StoreChosen {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wereSound(desc))
      return;
    uint8_t *values = desc.body + partsOf(desc.codec, desc.elements, workspace.selection->count).values;
    const uint32_t most = workspace.selection->ties;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t chunk) {
      ChunkCount before = workspace.chunks[chunk];
      forEachRowOf(lanes, desc, workspace, chunk, [&](uint32_t above, uint32_t ties, uint64_t row) {
        forEachSentOfRow(lanes, above, ties, most, before, [&](uint32_t lane, uint32_t rank) {
          workspace.positions[rank] = uint32_t(row) + lane;
          storeUnaligned(desc.type, values, rank, TensorInput::load(desc, row + lane));
        });
      });
    });
  }
};

/// Writes the header, the part before the positions, and the positions byte by byte.
struct StorePositions {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const SparseWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wereSound(desc))
      return;
    const uint64_t count = workspace.selection->count;
    writeHeader(threads, desc, range);
    threads.forEachIndex(0, range.begin == 0 ? 1 : 0,
                         [&](uint64_t) { storeBeginning(desc, *workspace.selection); });
    if (count == 0)
      return;
    const CodedPositions coded(desc.elements, count);
    const uint64_t bytes = coded.bytes();
    uint8_t *to = desc.body + partsOf(desc.codec, desc.elements, count).positions;
    threads.forEachIndex(range.begin, range.end < bytes ? range.end : bytes,
                         [&](uint64_t byte) { to[byte] = coded.byteAt(byte, workspace.positions); });
  }

private:
  CGX_AGENT static void storeBeginning(const EncodeDescriptor &desc, const Selection &selection) {
    if (!isThreshold(desc.codec))
      return storeTo(desc.body, selection.magnitude < infinityBits ? 0.0f : quietNan());
    storeTo(desc.body, selection.count);
    const uint64_t values = partsOf(desc.codec, desc.elements, selection.count).values;
    storeTo(desc.payload + CGX_PAYLOAD_HEADER_BYTES,
            uint64_t(desc.body - desc.payload) + values + selection.count * cgx_element_bytes(desc.type) +
                (desc.codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0));
  }
};

/// Finds elements that are not finite, for randk.
struct FindSpoiled {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      if (magnitudeAt(desc, i) >= infinityBits)
        threads.atomicAdd(&table.workspaces[range.desc].selection->spoiled, 1u);
    });
  }
};

/// Draws elements for randk and writes the whole payload.
struct StoreDrawn {
  static constexpr uint32_t sharedBytes = sizeof(RandomKey);
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const Selection &selection = *table.workspaces[range.desc].selection;
    if (!table.wereSound(desc))
      return;
    RandomKey *key = threads.template shared<RandomKey>();
    threads.once([&] { *key = RandomKey{mixBits(table.keyOf(desc).value + desc.firstElement)}; });
    writeHeader(threads, desc, range);
    const RandomStream stream = makeRandomStream(*key, 0);
    threads.forEachIndex(0, range.begin == 0 ? 1 : 0, [&](uint64_t) {
      storeTo(desc.body, selection.spoiled ? quietNan() : 0.0f);
      storeWord(desc.body + 4, key->value);
    });
    threads.forEachIndex(range.begin, range.end, [&](uint64_t i) {
      const uint64_t position = drawPosition(stream, desc.elements, selection.count, i);
      storeUnaligned(desc.type, desc.body + 12, i, TensorInput::load(desc, position));
    });
  }
};

/// Subtracts the values that were sent from the sums. Elements that were not sent lose their whole sum.
struct TakeSent {
  static constexpr uint32_t sharedBytes = 0;
  SparseEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    if (table.wereSound(desc))
      forEachSent(threads, desc, desc.body, table.workspaces[range.desc], range,
                  [&](uint64_t position, const uint8_t *values, uint64_t i) {
                    desc.sums[position] -= 0.0f + loadUnaligned(desc.type, values, i);
                  });
  }
};

/// The value of elements that a sparse payload does not send.
struct SentRest {
  CGX_AGENT static float load(const EncodeDescriptor &desc, uint64_t) {
    return restOf(desc.codec, desc.body);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_SPARSEENCODE_H
