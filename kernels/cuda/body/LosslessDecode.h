//===-- LosslessDecode.h - Codes to elements -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_KERNELS_CUDA_BODY_LOSSLESSDECODE_H
#define CGX_KERNELS_CUDA_BODY_LOSSLESSDECODE_H

#include "Decode.h"
#include "Lossless.h"

namespace cgx::cuda {

struct LosslessDecodeTable : DecodeTable {
  const LosslessRoom *rooms;
};

CGX_BODY uint64_t bodyBytesOf(const DecodeItem &item) {
  return boundedBytes(*item.payload) - item.payload->bodyBegin -
         (item.codec.checksum ? CGX_PAYLOAD_CHECKSUM_BYTES : 0);
}

/// A block of a payload: its bytes, and its header if it is coded. `Parts` says how many of its bytes are
/// mantissas, and reads them.
template <typename Parts> struct FoundBlock {
  const uint8_t *begin;
  uint64_t bytes;
  uint32_t elements;
  bool isRaw;
  lossless::Block coded;

  /// Finds its bytes; false if there are none.
  CGX_BODY bool locate(const DecodeItem &item, uint64_t block) {
    const uint64_t blocks = cgx_lossless_block_count(item.elements), bodyBytes = bodyBytesOf(item),
                   from = lossless::blockBegin(item.body, block),
                   to = block + 1 < blocks ? lossless::blockBegin(item.body, block + 1) : bodyBytes;
    if (from % 8 != 0 || from > bodyBytes || to > bodyBytes || to < from + 8)
      return false;
    begin = item.body + from;
    bytes = to - from;
    elements = uint32_t(elementsFrom(item.elements, block * blockElements, blockElements));
    isRaw = lossless::isRaw(begin);
    return true;
  }

  /// False if no encoder wrote it.
  CGX_BODY bool read(const DecodeItem &item, const LosslessRoom &room, uint64_t block) {
    if (!locate(item, block))
      return false;
    return isRaw ? bytes == cgx_lossless_raw_block_bytes(item.type, elements)
                 : lossless::readBlock(begin, bytes, elements, Parts::measure(item, room, block), coded);
  }
};

/// Sign and mantissa of all elements as they are: the lowest 16 bits of all, then the rest of all.
struct PlainParts {
  CGX_BODY static lossless::PlainMeasure measure(const DecodeItem &item, const LosslessRoom &,
                                                 uint64_t /*block*/) {
    return {item.type};
  }

  /// Reads those of a stream, row by row, each sign and mantissa in 24 bits. `before` elements of the block
  /// come before it.
  template <typename Lanes> struct Reader {
    const DecodeItem &item;
    lossless::Block block;
    uint32_t before;

    CGX_BODY Reader(const Lanes &, const DecodeItem &item, const LosslessRoom &, uint64_t /*stream*/,
                    const lossless::Block &found, uint32_t before)
        : item(item), block(found), before(before) {
      lossless::openPlain(item.type, block);
    }

    CGX_BODY PerLane<Lanes, uint32_t> next(const Lanes &lanes, const PerLane<Lanes, bool> &isThere) {
      const uint32_t there = lanes.ballot(isThere);
      PerLane<Lanes, uint32_t> mantissas;
      lanes.forEach([&](uint32_t lane) {
        const uint32_t place = before + countBits(there & ((1u << lane) - 1u));
        mantissas[lane] = 0;
        if (isThere[lane])
          mantissas[lane] =
              uint32_t(block.rest[place]) << 16 | (item.type == CGX_F32 ? loadBits16(block.low, place) : 0);
      });
      before += countBits(there);
      return mantissas;
    }
  };
};

/// Checks the envelope and the table of codes, and makes the table of symbols. What the next step finds is
/// added to the error.
struct BeginLossless {
  static constexpr uint32_t sharedBytes = sizeof(DecodeError);
  LosslessDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    const LosslessRoom &room = table.rooms[slice.item];
    DecodeError &error = *crew.template shared<DecodeError>();
    crew.once([&] {
      error = checkPayload(*item.payload);
      if (error == DecodeError::ok && !readCode(item, *room.code))
        error = DecodeError::malformed;
      table.say(item, error);
    });
    if (error != DecodeError::ok)
      return;
    const ExponentCode &code = *room.code;
    crew.forEachIndex(0, huffmanSymbols, [&](uint64_t symbol) {
      const uint32_t length = code.lengths[symbol];
      if (length == 0)
        return;
      for (uint32_t i = codeOf(code.lengths, uint32_t(symbol)); i < huffmanTableSize; i += 1u << length)
        room.words[i] = uint16_t(length << 8 | symbol);
    });
  }

private:
  CGX_BODY static bool readCode(const DecodeItem &item, ExponentCode &code) {
    const uint64_t offsets = 8 * cgx_lossless_block_count(item.elements), bytes = bodyBytesOf(item);
    return bytes >= offsets && readExponentCode(item.body + offsets, bytes - offsets, code) &&
           lossless::blockBegin(item.body, 0) == blocksBegin(item.elements, code);
  }
};

template <typename Parts> struct CheckBlocks {
  static constexpr uint32_t sharedBytes = 0;
  LosslessDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    if (!table.wasSound(item))
      return;
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t block) {
      FoundBlock<Parts> found;
      if (!found.read(item, table.rooms[slice.item], block))
        table.say(item, DecodeError::malformed);
    });
  }
};

/// Reads codes, a thread for each stream, into a table of symbols.
template <typename Parts> struct ReadStreams {
  static constexpr uint32_t sharedBytes = sizeof(SymbolTable);
  LosslessDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    const LosslessRoom &room = table.rooms[slice.item];
    if (!table.wasSound(item))
      return;
    uint16_t *entries = crew.template shared<uint16_t>();
    crew.forEachIndex(0, huffmanTableSize, [&](uint64_t i) { entries[i] = room.words[i]; });
    crew.wait();
    crew.forEachIndex(slice.begin, slice.end, [&](uint64_t stream) {
      FoundBlock<Parts> found;
      found.read(item, room, stream / blockStreams);
      if (!found.isRaw)
        room.streams[stream] = readStream(found.coded, uint32_t(stream % blockStreams), entries,
                                          room.symbols + stream * streamElements);
    });
  }

private:
  CGX_BODY static StreamMeasure readStream(const lossless::Block &block, uint32_t stream,
                                           const uint16_t *entries, uint8_t *symbols) {
    const uint8_t *next = block.streams;
    for (uint32_t before = 0; before < stream; ++before)
      next += block.streamBytes[before];
    const uint8_t *end = next + block.streamBytes[stream];
    uint32_t waiting = 0, waitingBits = 0, notZero = 0;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < block.inStream(stream); ++i) {
      for (; waitingBits < huffmanMostBits; waitingBits += 8) // behind the end, any bits will do
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

/// Puts elements together from symbols and what is beside them, a warp for each stream.
template <Sink sink, typename Parts> struct MergeStreams {
  static constexpr uint32_t sharedBytes = 0;
  LosslessDecodeTable table;

  template <typename Crew> CGX_BODY void operator()(const Crew &crew, Slice slice) const {
    const DecodeItem &item = table.items[slice.item];
    const LosslessRoom &room = table.rooms[slice.item];
    if (!table.wasSound(item))
      return;
    crew.forEachWarp(slice.begin, slice.end, [&](const auto &lanes, uint64_t stream) {
      FoundBlock<Parts> found;
      found.read(item, room, stream / blockStreams);
      if (found.isRaw)
        copy(lanes, item, stream, found);
      else
        merge(lanes, item, room, stream, found.coded);
    });
  }

private:
  template <typename Lanes>
  CGX_BODY static void copy(const Lanes &lanes, const DecodeItem &item, uint64_t stream,
                            const FoundBlock<Parts> &found) {
    const uint64_t first = stream / blockStreams * blockElements;
    forEachRowOfStream(item.elements, stream, [&](uint64_t row) {
      lanes.forEach([&](uint32_t lane) {
        if (row + lane < item.elements)
          put(item, row + lane, lossless::bitsAt(item.type, found.begin + 8, row + lane - first));
      });
    });
  }

  template <typename Lanes>
  CGX_BODY static void merge(const Lanes &lanes, const DecodeItem &item, const LosslessRoom &room,
                             uint64_t stream, const lossless::Block &block) {
    const uint64_t firstOfBlock = stream / blockStreams * blockStreams;
    uint32_t before = 0, all = 0;
    bool isBroken = false;
    for (uint64_t s = firstOfBlock; s < firstOfBlock + lossless::streamCount(block.elements); ++s) {
      before += s < stream ? room.streams[s].notZero : 0;
      all += room.streams[s].notZero;
      isBroken = isBroken || room.streams[s].isBroken;
    }
    isBroken = isBroken || all != block.notZero;
    typename Parts::template Reader<Lanes> reader(lanes, item, room, stream, block, isBroken ? 0 : before);
    forEachRowOfStream(item.elements, stream, [&](uint64_t row) {
      PerLane<Lanes, uint32_t> symbols;
      PerLane<Lanes, bool> isThere;
      lanes.forEach([&](uint32_t lane) {
        symbols[lane] = row + lane < item.elements ? room.symbols[row + lane] : 0;
        isThere[lane] = symbols[lane] >= zeroSymbols && !isBroken;
      });
      const PerLane<Lanes, uint32_t> mantissas = reader.next(lanes, isThere);
      lanes.forEach([&](uint32_t lane) {
        if (row + lane >= item.elements)
          return;
        uint32_t bits = isBroken ? brokenBits(item.type) : zeroBits(symbols[lane]);
        if (isThere[lane])
          bits = elementBits(room.code->first + symbols[lane] - zeroSymbols, mantissas[lane] >> 16,
                             mantissas[lane] & 0xffff);
        put(item, row + lane, bits);
      });
    });
  }

  CGX_BODY static uint32_t brokenBits(cgx_element_type type) {
    return type == CGX_F16 ? uint32_t(float16FromFloat(quietNan())) << 16 : floatBits(quietNan());
  }

  CGX_BODY static void put(const DecodeItem &item, uint64_t index, uint32_t bits) {
    if constexpr (sink == Sink::add)
      addTo(item.output, index,
            item.type == CGX_F16 ? floatFromFloat16(uint16_t(bits >> 16)) : floatFromBits(bits));
    else if (item.type == CGX_F32)
      storeTo(static_cast<uint32_t *>(item.output) + index, bits);
    else
      storeTo(static_cast<uint16_t *>(item.output) + index, uint16_t(bits >> 16));
  }
};

} // namespace cgx::cuda

#endif // CGX_KERNELS_CUDA_BODY_LOSSLESSDECODE_H
