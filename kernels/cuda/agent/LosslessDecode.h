//===-- LosslessDecode.h - Codes to elements -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_AGENT_LOSSLESSDECODE_H
#define CGX_KERNELS_CUDA_AGENT_LOSSLESSDECODE_H

#include "Decode.h"
#include "Lossless.h"

namespace cgx::cuda {

struct LosslessDecodeTable : DecodeTable {
  const LosslessWorkspace *workspaces;
};

CGX_AGENT uint64_t bodyBytesOf(const DecodeDescriptor &desc) {
  return boundedBytes(*desc.payload) - desc.payload->bodyBegin -
         (desc.codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0);
}

/// A block of a payload: its bytes, and its header if it is coded. `Parts` measures and reads its mantissas.
template <typename Parts> struct FoundBlock {
  const uint8_t *begin;
  uint64_t bytes;
  uint32_t elements;
  bool isRaw;
  lossless::Block coded;

  /// Finds the bytes of a block. Returns false if there are none.
  CGX_AGENT bool locate(const DecodeDescriptor &desc, uint64_t block) {
    const uint64_t blocks = cgx_lossless_block_count(desc.elements), bodyBytes = bodyBytesOf(desc),
                   from = lossless::blockBegin(desc.body, block),
                   to = block + 1 < blocks ? lossless::blockBegin(desc.body, block + 1) : bodyBytes;
    if (from % 8 != 0 || from > bodyBytes || to > bodyBytes || to < from + 8)
      return false;
    begin = desc.body + from;
    bytes = to - from;
    elements = uint32_t(elementsFrom(desc.elements, block * blockElements, blockElements));
    isRaw = lossless::isRaw(begin);
    return true;
  }

  /// Reads a block. Returns false if no encoder wrote it.
  CGX_AGENT bool read(const DecodeDescriptor &desc, const LosslessWorkspace &workspace, uint64_t block) {
    if (!locate(desc, block))
      return false;
    return isRaw ? bytes == cgx_lossless_raw_block_bytes(desc.type, elements)
                 : lossless::readBlock(begin, bytes, elements, Parts::measure(desc, workspace, block), coded);
  }
};

/// The parts of a block of lossless: sign and mantissa of all elements, first the lowest 16 bits of all, then
/// the rest of all.
struct PlainParts {
  CGX_AGENT static lossless::PlainMeasure measure(const DecodeDescriptor &desc, const LosslessWorkspace &,
                                                  uint64_t /*block*/) {
    return {desc.type};
  }

  /// Reads the mantissas of a stream, row by row, with sign and mantissa in 24 bits. `before` elements of the
  /// block precede the stream.
  template <typename Warp> struct Reader {
    const DecodeDescriptor &desc;
    lossless::Block block;
    uint32_t before;

    CGX_AGENT Reader(const Warp &, const DecodeDescriptor &desc, const LosslessWorkspace &,
                     uint64_t /*stream*/, const lossless::Block &found, uint32_t before)
        : desc(desc), block(found), before(before) {
      lossless::openPlain(desc.type, block);
    }

    CGX_AGENT PerLane<Warp, uint32_t> next(const Warp &lanes, const PerLane<Warp, bool> &isThere) {
      const uint32_t there = lanes.ballot(isThere);
      PerLane<Warp, uint32_t> mantissas;
      lanes.forEach([&](uint32_t lane) {
        const uint32_t place = before + countBits(there & ((1u << lane) - 1u));
        mantissas[lane] = 0;
        if (isThere[lane])
          mantissas[lane] =
              uint32_t(block.rest[place]) << 16 | (desc.type == CGX_F32 ? loadBits16(block.low, place) : 0);
      });
      before += countBits(there);
      return mantissas;
    }
  };
};

/// Checks the envelope and the table of codes, and makes the table of symbols. The next step may add an
/// error.
struct BeginLossless {
  static constexpr uint32_t sharedBytes = sizeof(DecodeError);
  LosslessDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    DecodeError &error = *threads.template shared<DecodeError>();
    threads.once([&] {
      error = checkPayload(*desc.payload);
      if (error == DecodeError::ok && !readCode(desc, *workspace.code))
        error = DecodeError::malformed;
      table.say(desc, error);
    });
    if (error != DecodeError::ok)
      return;
    const ExponentCode &code = *workspace.code;
    threads.forEachIndex(0, huffmanSymbols, [&](uint64_t symbol) {
      const uint32_t length = code.lengths[symbol];
      if (length == 0)
        return;
      for (uint32_t i = codeOf(code.lengths, uint32_t(symbol)); i < huffmanTableSize; i += 1u << length)
        workspace.words[i] = uint16_t(length << 8 | symbol);
    });
  }

private:
  CGX_AGENT static bool readCode(const DecodeDescriptor &desc, ExponentCode &code) {
    const uint64_t offsets = 8 * cgx_lossless_block_count(desc.elements), bytes = bodyBytesOf(desc);
    return bytes >= offsets && readExponentCode(desc.body + offsets, bytes - offsets, code) &&
           lossless::blockBegin(desc.body, 0) == blocksBegin(desc.elements, code);
  }
};

template <typename Parts> struct CheckBlocks {
  static constexpr uint32_t sharedBytes = 0;
  LosslessDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    if (!table.wasSound(desc))
      return;
    threads.forEachIndex(range.begin, range.end, [&](uint64_t block) {
      FoundBlock<Parts> found;
      if (!found.read(desc, table.workspaces[range.desc], block))
        table.say(desc, DecodeError::malformed);
    });
  }
};

/// Reads codes into a table of symbols, a thread for each stream.
template <typename Parts> struct ReadStreams {
  static constexpr uint32_t sharedBytes = sizeof(SymbolTable);
  LosslessDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wasSound(desc))
      return;
    uint16_t *entries = threads.template shared<uint16_t>();
    threads.forEachIndex(0, huffmanTableSize, [&](uint64_t i) { entries[i] = workspace.words[i]; });
    threads.wait();
    threads.forEachIndex(range.begin, range.end, [&](uint64_t stream) {
      FoundBlock<Parts> found;
      found.read(desc, workspace, stream / blockStreams);
      if (!found.isRaw)
        workspace.streams[stream] = readStream(found.coded, uint32_t(stream % blockStreams), entries,
                                               workspace.symbols + stream * streamElements);
    });
  }

private:
  CGX_AGENT static StreamMeasure readStream(const lossless::Block &block, uint32_t stream,
                                            const uint16_t *entries, uint8_t *symbols) {
    const uint8_t *next = block.streams;
    for (uint32_t before = 0; before < stream; ++before)
      next += block.streamBytes[before];
    const uint8_t *end = next + block.streamBytes[stream];
    uint32_t waiting = 0, waitingBits = 0, notZero = 0;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < block.inStream(stream); ++i) {
      for (; waitingBits < huffmanMostBits; waitingBits += 8) // after the end any bits will do
        waiting |= (next < end ? uint32_t(*next++) : 0u) << waitingBits;
      const uint32_t entry = entries[waiting % huffmanTableSize], length = entry >> 8;
      waiting >>= length;
      waitingBits -= length;
      bits += length;
      symbols[i] = uint8_t(entry);
      notZero += (entry & 0xff) >= zeroSymbols;
    }
    return {block.streamBytes[stream], uint16_t(notZero), (bits + 7) / 8 != block.streamBytes[stream]};
  }
};

/// Puts elements together from their symbols and mantissas, a warp for each stream.
template <Sink sink, typename Parts> struct MergeStreams {
  static constexpr uint32_t sharedBytes = 0;
  LosslessDecodeTable table;

  template <typename ThreadBlock>
  CGX_AGENT void operator()(const ThreadBlock &threads, TileRange range) const {
    const DecodeDescriptor &desc = table.descs[range.desc];
    const LosslessWorkspace &workspace = table.workspaces[range.desc];
    if (!table.wasSound(desc))
      return;
    threads.forEachWarp(range.begin, range.end, [&](const auto &lanes, uint64_t stream) {
      FoundBlock<Parts> found;
      found.read(desc, workspace, stream / blockStreams);
      if (found.isRaw)
        copy(lanes, desc, stream, found);
      else
        merge(lanes, desc, workspace, stream, found.coded);
    });
  }

private:
  template <typename Warp>
  CGX_AGENT static void copy(const Warp &lanes, const DecodeDescriptor &desc, uint64_t stream,
                             const FoundBlock<Parts> &found) {
    const uint64_t first = stream / blockStreams * blockElements;
    forEachRowOfStream(desc.elements, stream, [&](uint64_t row) {
      lanes.forEach([&](uint32_t lane) {
        if (row + lane < desc.elements)
          put(desc, row + lane, lossless::bitsAt(desc.type, found.begin + 8, row + lane - first));
      });
    });
  }

  template <typename Warp>
  CGX_AGENT static void merge(const Warp &lanes, const DecodeDescriptor &desc,
                              const LosslessWorkspace &workspace, uint64_t stream,
                              const lossless::Block &block) {
    const uint64_t firstOfBlock = stream / blockStreams * blockStreams;
    uint32_t before = 0, all = 0;
    bool isBroken = false;
    for (uint64_t s = firstOfBlock; s < firstOfBlock + lossless::streamCount(block.elements); ++s) {
      before += s < stream ? workspace.streams[s].notZero : 0;
      all += workspace.streams[s].notZero;
      isBroken = isBroken || workspace.streams[s].isBroken;
    }
    isBroken = isBroken || all != block.notZero;
    typename Parts::template Reader<Warp> reader(lanes, desc, workspace, stream, block,
                                                 isBroken ? 0 : before);
    forEachRowOfStream(desc.elements, stream, [&](uint64_t row) {
      PerLane<Warp, uint32_t> symbols;
      PerLane<Warp, bool> isThere;
      lanes.forEach([&](uint32_t lane) {
        symbols[lane] = row + lane < desc.elements ? workspace.symbols[row + lane] : 0;
        isThere[lane] = symbols[lane] >= zeroSymbols && !isBroken;
      });
      const PerLane<Warp, uint32_t> mantissas = reader.next(lanes, isThere);
      lanes.forEach([&](uint32_t lane) {
        if (row + lane >= desc.elements)
          return;
        uint32_t bits = isBroken ? brokenBits(desc.type) : zeroBits(symbols[lane]);
        if (isThere[lane])
          bits = elementBits(workspace.code->first + symbols[lane] - zeroSymbols, mantissas[lane] >> 16,
                             mantissas[lane] & 0xffff);
        put(desc, row + lane, bits);
      });
    });
  }

  CGX_AGENT static uint32_t brokenBits(cgx_element_type type) {
    return type == CGX_F16 ? uint32_t(float16FromFloat(quietNan())) << 16 : floatBits(quietNan());
  }

  CGX_AGENT static void put(const DecodeDescriptor &desc, uint64_t index, uint32_t bits) {
    if constexpr (sink == Sink::add)
      addTo(desc.output, index,
            desc.type == CGX_F16 ? floatFromFloat16(uint16_t(bits >> 16)) : floatFromBits(bits));
    else if (desc.type == CGX_F32)
      storeTo(static_cast<uint32_t *>(desc.output) + index, bits);
    else
      storeTo(static_cast<uint16_t *>(desc.output) + index, uint16_t(bits >> 16));
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_AGENT_LOSSLESSDECODE_H
