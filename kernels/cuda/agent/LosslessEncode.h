//===-- LosslessEncode.h - Exponents to codes ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_LOSSLESSENCODE_H
#define CGX_KERNELS_CUDA_AGENT_LOSSLESSENCODE_H

#include "Encode.h"
#include "Lossless.h"
#include "Scan.h"

namespace cgx::cuda {

struct LosslessEncodeTable : EncodeTable {
  const LosslessWorkspace *workspaces;
};

/// Returns the bits of an element, in the upper half if they are 16. A sum is rounded to its element type
/// first.
CGX_AGENT uint32_t bitsOf(const EncodeDescriptor &desc, uint64_t index) {
  if (desc.source == Source::f32ToF16)
    return uint32_t(float16FromFloat(loadF32(desc.input, index))) << 16;
  if (desc.source == Source::f32ToBf16)
    return uint32_t(bfloat16FromFloat(loadF32(desc.input, index))) << 16;
  return lossless::bitsAt(desc.type, static_cast<const uint8_t *>(desc.input), index);
}

struct ClearCounts {
  static constexpr uint32_t sharedBytes = 0;
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    threads.once([&] { *table.workspaces[range.desc].counted = {}; });
  }
};

/// Counts the exponents of runs [begin, end) among the runs that are counted.
struct CountExponents {
  static constexpr uint32_t sharedBytes = sizeof(ExponentCounts);
  static constexpr uint32_t counters = sizeof(ExponentCounts) / sizeof(uint32_t);
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const uint64_t stride = exponentStride(desc.elements);
    ExponentCounts &counted = *threads.template shared<ExponentCounts>();
    uint32_t *own = threads.template shared<uint32_t>();
    threads.forEachIndex(0, counters, [&](uint64_t i) { own[i] = 0; });
    threads.wait();
    threads.forEachIndex(range.begin * exponentRun, range.end * exponentRun, [&](uint64_t number) {
      const uint64_t i = number / exponentRun * exponentRun * stride + number % exponentRun;
      if (i >= desc.elements)
        return;
      const uint32_t bits = bitsOf(desc, i);
      threads.atomicAdd(counted.exponents.data() + exponentOf(bits), 1u);
      if (isZeroBits(bits))
        threads.atomicAdd(counted.zeros + (bits >> 31), 1u);
    });
    threads.wait();
    uint32_t *all = reinterpret_cast<uint32_t *>(table.workspaces[range.desc].counted);
    threads.forEachIndex(0, counters, [&](uint64_t i) {
      if (own[i] != 0)
        threads.atomicAdd(all + i, own[i]);
    });
  }
};

/// Makes the code of a descriptor and writes its table.
struct MakeCode {
  struct Work {
    ExponentCode code;
    HuffmanCounts counts;
    HuffmanOrder order;
    HuffmanTree tree;
    uint32_t used, longest;
  };
  static constexpr uint32_t sharedBytes = sizeof(Work);
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    Work &work = *threads.template shared<Work>();
    threads.once([&] {
      chooseSymbols(*workspace.counted, exponentStride(desc.elements) == 1, work.code, work.counts);
      work.used = 0;
      for (uint32_t s = 0; s < huffmanSymbols; ++s) {
        work.code.lengths[s] = 0;
        work.used += work.counts[s] != 0;
      }
    });
    fitLengths(threads, work);
    threads.forEachIndex(0, huffmanSymbols, [&](uint64_t symbol) {
      const uint32_t length = work.code.lengths[symbol];
      workspace.words[symbol] =
          uint16_t(length == 0 ? 0 : length << 12 | codeOf(work.code.lengths, uint32_t(symbol)));
    });
    threads.once([&] {
      *workspace.code = work.code;
      if (table.wereSound(desc))
        writeExponentCode(work.code, desc.body + 8 * cgx_lossless_block_count(desc.elements));
    });
  }

private:
  /// Computes huffmanLengths(), with all threads sorting.
  template <typename ThreadBlock> CGX_AGENT static void fitLengths(const ThreadBlock &threads, Work &work) {
    do {
      threads.forEachIndex(0, huffmanSymbols, [&](uint64_t symbol) {
        if (work.counts[symbol] != 0)
          work.order[placeOf(work.counts, uint32_t(symbol))] = uint16_t(symbol);
      });
      threads.once([&] {
        work.longest = 1;
        if (work.used == 1)
          setLengthsOfOne(work.order[0], work.code.lengths);
        else
          work.longest = huffmanDepths(work.counts, work.order, work.used, work.code.lengths, work.tree);
        if (work.longest > huffmanMostBits)
          halveCounts(work.counts, work.order, work.used);
      });
    } while (work.longest > huffmanMostBits);
  }

  CGX_AGENT static uint32_t placeOf(const HuffmanCounts &counts, uint32_t symbol) {
    uint32_t rarer = 0;
    for (uint32_t other = 0; other < huffmanSymbols; ++other)
      rarer += counts[other] != 0 && isRarer(counts, other, symbol);
    return rarer;
  }
};

/// Adds up the lengths of the codes of streams, a warp for each.
struct MeasureStreams {
  static constexpr uint32_t sharedBytes = 0;
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t stream) {
      using Warp = std::remove_cvref_t<decltype(lanes)>;
      PerLane<Warp, uint32_t> bits, notZero;
      PerLane<Warp, bool> isBroken;
      lanes.forEach([&](uint32_t lane) {
        bits[lane] = notZero[lane] = 0;
        isBroken[lane] = false;
        forEachRowOfStream(desc.elements, stream, [&](uint64_t row) {
          if (row + lane >= desc.elements)
            return;
          const uint32_t symbol = symbolOf(bitsOf(desc, row + lane), workspace.code->first);
          if (symbol >= workspace.code->symbols) {
            isBroken[lane] = true;
            return;
          }
          bits[lane] += workspace.words[symbol] >> 12;
          notZero[lane] += symbol >= zeroSymbols;
        });
      });
      const auto add = [](uint32_t a, uint32_t b) { return a + b; };
      bits = combineLanes(lanes, bits, laneCount, add);
      notZero = combineLanes(lanes, notZero, laneCount, add);
      const bool anyBroken = lanes.ballot(isBroken) != 0;
      lanes.forEach([&](uint32_t lane) {
        if (lane == 0)
          workspace.streams[stream] = {(bits[lane] + 7) / 8, uint16_t(notZero[lane]), anyBroken};
      });
    });
  }
};

/// The layout of a block: uncompressed, or its parts one after the other. `Mantissas` measures and stores its
/// mantissas.
template <typename Mantissas> struct BlockPlan {
  uint32_t elements, streams, notZero;
  uint64_t mantissaBytes, bytes;
  bool isRaw;
  const StreamMeasure *measured; ///< the measures of its streams

  CGX_AGENT BlockPlan(const EncodeDescriptor &desc, const LosslessWorkspace &workspace, uint64_t block)
      : elements(uint32_t(elementsFrom(desc.elements, block * blockElements, blockElements))),
        streams(lossless::streamCount(elements)), notZero(0), isRaw(false),
        measured(workspace.streams + block * blockStreams) {
    uint64_t codeBytes = 0;
    for (uint32_t s = 0; s < streams; ++s) {
      notZero += measured[s].notZero;
      codeBytes += measured[s].bytes;
      isRaw = isRaw || measured[s].isBroken;
    }
    mantissaBytes = Mantissas::bytes(desc, workspace, block * blockStreams, streams, notZero);
    bytes = lossless::upTo8(streamsBegin() + codeBytes);
    const uint64_t rawBytes = cgx_lossless_raw_block_bytes(desc.type, elements);
    if (isRaw || bytes >= rawBytes) {
      isRaw = true;
      bytes = rawBytes;
    }
  }

  CGX_AGENT uint32_t mantissasBegin() const { return 2 + 2 * streams; }
  CGX_AGENT uint64_t streamsBegin() const { return mantissasBegin() + mantissaBytes; }
};

/// Records where blocks begin, in a table and in the payload, and the payload's length.
template <typename Mantissas> struct PlaceBlocks {
  static constexpr uint32_t sharedBytes = scanBytes<uint64_t>;
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    const uint64_t blocks = cgx_lossless_block_count(desc.elements),
                   first = blocksBegin(desc.elements, *workspace.code);
    const bool isWritten = table.wereSound(desc);
    threads.forEachIndex(0, blocks, [&](uint64_t block) {
      workspace.begins[block] = BlockPlan<Mantissas>(desc, workspace, block).bytes;
    });
    threads.wait();
    scan(threads, workspace.begins, blocks, [&](uint64_t all) {
      if (!isWritten)
        return;
      storeTo(desc.payload, desc.header);
      storeTo(desc.payload + CGX_PAYLOAD_HEADER_BYTES,
              uint64_t(desc.body - desc.payload) + first + all +
                  (desc.codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0));
    });
    threads.wait();
    threads.forEachIndex(0, isWritten ? blocks : 0, [&](uint64_t block) {
      workspace.begins[block] += first;
      storeTo(desc.body + 8 * block, workspace.begins[block]);
    });
  }
};

/// Writes codes and their lengths, a thread for each stream.
template <typename Mantissas> struct StoreStreams {
  static constexpr uint32_t sharedBytes = sizeof(CodeWords);
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wereSound(desc))
      return;
    uint16_t *words = threads.template shared<uint16_t>();
    threads.forEachIndex(0, huffmanSymbols,
                         [&](uint64_t symbol) { words[symbol] = workspace.words[symbol]; });
    threads.wait();
    threads.forEachIndex(range.begin, range.end,
                         [&](uint64_t stream) { storeStream(desc, workspace, words, stream); });
  }

private:
  CGX_AGENT static void storeStream(const EncodeDescriptor &desc, const LosslessWorkspace &workspace,
                                    const uint16_t *words, uint64_t stream) {
    const uint64_t block = stream / blockStreams;
    const auto inBlock = uint32_t(stream % blockStreams);
    const BlockPlan<Mantissas> plan(desc, workspace, block);
    if (plan.isRaw)
      return;
    uint8_t *begin = desc.body + workspace.begins[block];
    if (inBlock == 0)
      storeTo(begin, uint16_t(plan.notZero));
    storeTo(begin + 2 + 2 * inBlock, uint16_t(plan.measured[inBlock].bytes));
    uint8_t *to = begin + plan.streamsBegin();
    for (uint32_t before = 0; before < inBlock; ++before)
      to += plan.measured[before].bytes;
    to = storeCodes(desc, workspace.code->first, words, stream, to);
    if (inBlock + 1 == plan.streams)
      while (to < begin + plan.bytes)
        *to++ = 0;
  }

  CGX_AGENT static uint8_t *storeCodes(const EncodeDescriptor &desc, uint32_t first, const uint16_t *words,
                                       uint64_t stream, uint8_t *to) {
    const uint64_t begin = stream * streamElements,
                   end = begin + elementsFrom(desc.elements, begin, streamElements);
    uint32_t waiting = 0, waitingBits = 0;
    for (uint64_t i = begin; i < end; ++i) {
      const uint32_t word = words[symbolOf(bitsOf(desc, i), first)];
      waiting |= (word & 0xfff) << waitingBits;
      for (waitingBits += word >> 12; waitingBits >= 8; waitingBits -= 8, waiting >>= 8)
        *to++ = uint8_t(waiting);
    }
    if (waitingBits != 0)
      *to++ = uint8_t(waiting);
    return to;
  }
};

/// Writes all other parts, a warp for each stream; for uncompressed blocks, the elements.
template <typename Mantissas> struct StoreRests {
  static constexpr uint32_t sharedBytes = 0;
  LosslessEncodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const EncodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wereSound(desc))
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t stream) {
      const uint64_t block = stream / blockStreams;
      const BlockPlan<Mantissas> plan(desc, workspace, block);
      uint8_t *begin = desc.body + workspace.begins[block];
      if (plan.isRaw)
        storeRaw(lanes, desc, stream, plan, begin);
      else
        Mantissas::store(threads, lanes, desc, workspace, stream, plan, begin + plan.mantissasBegin());
    });
  }

private:
  template <typename Warp>
  CGX_AGENT static void storeRaw(const Warp &lanes, const EncodeDescriptor &desc, uint64_t stream,
                                 const BlockPlan<Mantissas> &plan, uint8_t *begin) {
    const uint64_t first = stream / blockStreams * blockElements;
    const auto size = uint32_t(cgx_element_bytes(desc.type));
    uint8_t *to = begin + 8;
    forEachRowOfStream(desc.elements, stream, [&](uint64_t row) {
      lanes.forEach([&](uint32_t lane) {
        const uint64_t i = row + lane;
        if (i >= desc.elements)
          return;
        const uint32_t bits = bitsOf(desc, i);
        if (desc.type == CGX_F32)
          storeTo(to + 4 * (i - first), bits);
        else
          storeTo(to + 2 * (i - first), uint16_t(bits >> 16));
      });
    });
    lanes.forEach([&](uint32_t lane) {
      if (lane == 0 && stream % blockStreams == 0)
        storeTo(begin, uint64_t(lossless::rawMark));
      if (lane == 0 && stream % blockStreams + 1 == plan.streams)
        for (uint8_t *at = to + uint64_t(plan.elements) * size; at < begin + plan.bytes; ++at)
          *at = 0;
    });
  }
};

/// The mantissas of lossless: sign and mantissa of all elements, first the lowest 16 bits of all, then the
/// rest of all.
struct PlainMantissas {
  CGX_AGENT static uint64_t bytes(const EncodeDescriptor &desc, const LosslessWorkspace &,
                                  uint64_t /*firstStream*/, uint32_t /*streams*/, uint32_t notZero) {
    return lossless::plainMantissaBytes(desc.type, notZero);
  }

  template <typename ThreadBlock, typename Warp>
  CGX_AGENT static void store(const ThreadBlock &, const Warp &lanes, const EncodeDescriptor &desc,
                              const LosslessWorkspace &, uint64_t stream,
                              const BlockPlan<PlainMantissas> &plan, uint8_t *low) {
    uint8_t *rest = low + lossless::lowBytes(desc.type, plan.notZero);
    uint32_t before = 0;
    for (uint32_t s = 0; s < stream % blockStreams; ++s)
      before += plan.measured[s].notZero;
    forEachRowOfStream(desc.elements, stream, [&](uint64_t row) {
      PerLane<Warp, uint32_t> bits;
      PerLane<Warp, bool> isThere;
      lanes.forEach([&](uint32_t lane) {
        bits[lane] = row + lane < desc.elements ? bitsOf(desc, row + lane) : 0;
        isThere[lane] = !isZeroBits(bits[lane]);
      });
      const uint32_t there = lanes.ballot(isThere);
      lanes.forEach([&](uint32_t lane) {
        if (!isThere[lane])
          return;
        const uint32_t place = before + countBits(there & ((1u << lane) - 1u));
        if (desc.type == CGX_F32)
          storeTo(low + 2 * place, uint16_t(bits[lane]));
        rest[place] = uint8_t(cgx::restOf(bits[lane]));
      });
      before += countBits(there);
    });
  }
};

/// The value of an element in a lossless payload: the sum, rounded to its type.
struct SentWhole {
  CGX_AGENT static float load(const EncodeDescriptor &desc, uint64_t index) {
    return 0.0f + roundTo(desc.type, desc.sums[index]);
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_LOSSLESSENCODE_H
