//===-- AlgorithmModel.cpp - All-reduces by hops and hosts -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "cgx/kernels/codecs.h"

#include <algorithm>
#include <stdexcept>

namespace cgx::test {

namespace {

/// The elements [begin, begin + size) of an operand that pass through a group.
struct Part {
  const PerRank &inputs;
  const OperandSpec &operand;
  const std::string &reduction;
  const ModelKey &key;
  const std::vector<uint32_t> &row;
  uint64_t begin, size;

  uint64_t bytes() const { return size * cgx_element_bytes(operand.type); }
  const std::byte *input(uint64_t position) const {
    return inputs[row[position]].data() + begin * cgx_element_bytes(operand.type);
  }
  Bytes own(uint64_t position) const { return Bytes(input(position), input(position) + bytes()); }

  /// Returns the sum of the position's own contribution and the partial results that others encode for it, in
  /// their order.
  Bytes add(uint64_t position, const std::vector<std::pair<uint64_t, Bytes>> &partial, bool isLast) const {
    uint64_t divisor = isLast && reduction == "mean" ? row.size() : 1;
    std::string kind = reduction == "mean" ? "sum" : reduction;
    if (cgx_codec_is_exact(&operand.codec))
      return addExactly(position, partial, kind, divisor);
    std::vector<float> sum(size, 0.0f);
    OperandSpec exact{.type = operand.type, .shape = {size}};
    accumulate(exact, own(position), sum);
    for (const auto &[sender, bits] : partial)
      accumulate(operand, encodePart(operand, bits.data(), begin, size, key, key.encoder(row, sender), 0),
                 sum);
    for (float &value : sum)
      value = divisor > 1 ? value / float(divisor) : value;
    return rounded(operand.type, sum);
  }

  /// Returns a result that `position` encodes once and all decode.
  Bytes result(uint64_t position, const Bytes &sum) const {
    return roundTrip(operand, sum.data(), begin, size, key, key.encoder(row, position), 1);
  }

private:
  void accumulate(const OperandSpec &as, const Bytes &payload, std::vector<float> &sum) const {
    if (size != 0 && decodeAccumulate(as.codec, as.type, payload.data(), payload.size(), size, sum.data(),
                                      *findImplementation("reference")) != DecodeError::ok)
      throw std::logic_error("the model cannot decode its own payload");
  }

  Bytes addExactly(uint64_t position, const std::vector<std::pair<uint64_t, Bytes>> &partial,
                   const std::string &kind, uint64_t divisor) const {
    std::vector<const std::byte *> addends = {input(position)};
    for (const auto &[sender, bits] : partial)
      addends.push_back(bits.data());
    Bytes sum(bytes());
    if (divisor == 1) {
      reduceExact(operand.type, addends, size, kind, sum.data());
      return sum;
    }
    // A mean divides by the number of ranks in the group. Missing addends are -0, which changes no sum.
    Bytes zeros(bytes());
    uint64_t elementBytes = cgx_element_bytes(operand.type);
    for (uint64_t i = 0; i < size; ++i)
      zeros[(i + 1) * elementBytes - 1] = std::byte(0x80);
    addends.resize(row.size(), zeros.data());
    reduceExact(operand.type, addends, size, "mean", sum.data());
    return sum;
  }
};

Bytes ringResult(const Part &part, uint64_t chunk) {
  uint64_t n = part.row.size(), at = (chunk + 1) % n;
  Bytes partial = part.own(at);
  for (uint64_t hop = 1; hop < n; ++hop) {
    uint64_t next = (at + 1) % n;
    partial = part.add(next, {{at, partial}}, /*isLast=*/next == chunk);
    at = next;
  }
  return part.result(chunk, partial);
}

Bytes treeSum(const Part &part, uint64_t position) {
  std::vector<std::pair<uint64_t, Bytes>> children;
  for (uint64_t distance = 1; position % (2 * distance) == 0 && position + distance < part.row.size();
       distance *= 2)
    children.emplace_back(position + distance, treeSum(part, position + distance));
  return children.empty() ? part.own(position) : part.add(position, children, /*isLast=*/position == 0);
}

/// What a position has of a chunk before it exchanges with the one at `distance`; at 0, in the end.
Bytes halvingSum(const Part &part, uint64_t power, uint64_t position, uint64_t distance) {
  std::vector<std::pair<uint64_t, Bytes>> partial;
  if (position + power < part.row.size())
    partial.emplace_back(position + power, part.own(position + power));
  for (uint64_t farther = power / 2; farther > distance; farther /= 2)
    partial.emplace_back(position ^ farther, halvingSum(part, power, position ^ farther, farther));
  return partial.empty() ? part.own(position) : part.add(position, partial, /*isLast=*/distance == 0);
}

} // namespace

PerRank modelHalvingDoubling(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                             const OperandSpec &operand, const std::string &reduction, const ModelKey &key) {
  PerRank outputs = inputs;
  for (const std::vector<uint32_t> &row : groups) {
    uint64_t power = 1;
    while (2 * power <= row.size())
      power *= 2;
    for (uint64_t chunk = 0; chunk < power && row.size() > 1; ++chunk) {
      uint64_t begin = cgx_chunk_begin(&operand.codec, operand.elements(), power, chunk);
      uint64_t end = cgx_chunk_begin(&operand.codec, operand.elements(), power, chunk + 1);
      Part part{inputs, operand, reduction, key, row, begin, end - begin};
      Bytes result = part.result(chunk, halvingSum(part, power, chunk, /*distance=*/0));
      for (uint32_t rank : row)
        std::copy(result.begin(), result.end(),
                  outputs[rank].begin() + begin * cgx_element_bytes(operand.type));
    }
  }
  return outputs;
}

PerRank modelRing(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                  const OperandSpec &operand, const std::string &reduction, const ModelKey &key) {
  PerRank outputs = inputs;
  for (const std::vector<uint32_t> &row : groups)
    for (uint64_t chunk = 0; chunk < row.size() && row.size() > 1; ++chunk) {
      uint64_t begin = cgx_chunk_begin(&operand.codec, operand.elements(), row.size(), chunk);
      uint64_t end = cgx_chunk_begin(&operand.codec, operand.elements(), row.size(), chunk + 1);
      Bytes result = ringResult({inputs, operand, reduction, key, row, begin, end - begin}, chunk);
      for (uint32_t rank : row)
        std::copy(result.begin(), result.end(),
                  outputs[rank].begin() + begin * cgx_element_bytes(operand.type));
    }
  return outputs;
}

PerRank modelTree(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                  const OperandSpec &operand, const std::string &reduction, const ModelKey &key) {
  PerRank outputs = inputs;
  for (const std::vector<uint32_t> &row : groups) {
    if (row.size() == 1)
      continue;
    Part part{inputs, operand, reduction, key, row, 0, operand.elements()};
    Bytes result = part.result(0, treeSum(part, 0));
    for (uint32_t rank : row)
      outputs[rank] = result;
  }
  return outputs;
}

PerRank modelHierarchical(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                          const OperandSpec &operand, const std::string &reduction, const ModelKey &key,
                          const Hosts &hosts) {
  PerRank outputs = inputs;
  OperandSpec inside = operand;
  if (operand.codec.family != CGX_CODEC_IDENTITY)
    inside.codec = hosts.inside;
  bool isExactInside = inside.codec.family == CGX_CODEC_IDENTITY;
  uint64_t elementBytes = cgx_element_bytes(operand.type), elements = operand.elements();
  // Random numbers at every stage use the position in the whole group.
  ModelKey wholeKey = key;
  wholeKey.encoders.assign(inputs.size(), 0);
  for (const std::vector<uint32_t> &row : groups)
    for (uint32_t position = 0; position < row.size(); ++position)
      wholeKey.encoders[row[position]] = position;
  ModelKey insideKey = wholeKey;
  insideKey.runs += uint64_t(1) << 40;
  for (const std::vector<uint32_t> &row : groups)
    for (uint32_t place = 0; place < hosts.local && row.size() > 1; ++place) {
      uint64_t begin = cgx_chunk_begin(&inside.codec, elements, hosts.local, place);
      uint64_t end = cgx_chunk_begin(&inside.codec, elements, hosts.local, place + 1);
      if (hosts.oneLeader) {
        begin = place == 0 ? 0 : elements;
        end = elements;
      }
      uint64_t size = end - begin;
      PerRank reduced = inputs; // the chunk that `place` owns on each host
      std::vector<uint32_t> peers;
      for (uint64_t first = 0; first < row.size(); first += hosts.local) {
        std::vector<uint32_t> host(row.begin() + first, row.begin() + first + hosts.local);
        std::vector<const std::byte *> contributions;
        for (uint32_t rank : host)
          contributions.push_back(inputs[rank].data() + begin * elementBytes);
        peers.push_back(host[place]);
        Bytes &sum = reduced[host[place]];
        sum.assign(size * elementBytes, std::byte(0));
        if (hosts.local == 1 && size != 0)
          std::copy_n(contributions[0], sum.size(), sum.begin());
        else if (isExactInside)
          reduceExact(operand.type, contributions, size, reduction, sum.data());
        else
          sum = rounded(operand.type,
                        reduceLossy(inside, contributions, begin, size, reduction, insideKey, host));
      }
      OperandSpec chunk = operand;
      chunk.shape = {size};
      chunk.first = begin;
      Bytes result = modelAllReduce(reduced, {peers}, chunk, reduction, wholeKey)[peers[0]];
      if (hosts.local > 1)
        result = roundTrip(inside, result.data(), begin, size, insideKey, place, 1);
      for (uint32_t rank : row)
        std::copy(result.begin(), result.end(), outputs[rank].begin() + begin * elementBytes);
    }
  return outputs;
}

} // namespace cgx::test
