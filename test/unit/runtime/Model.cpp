//===-- Model.cpp - Collectives, computed in one place -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "ModelParts.h"

#include "cgx/arithmetic/float16.h"
#include "cgx/kernels/codecs.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>

namespace cgx::test {

namespace {

template <typename T> T load(const std::byte *data, uint64_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T> void store(std::byte *data, uint64_t i, T value) {
  std::memcpy(data + i * sizeof(T), &value, sizeof(T));
}

template <typename T> T combine(const std::string &reduction, T a, T b) {
  if (reduction == "max")
    return a > b ? a : b;
  if (reduction == "min")
    return a < b ? a : b;
  return reduction == "product" ? T(a * b) : T(a + b);
}

/// Reduces element i of all inputs. `Stored` is the type in memory, `Wide` the one of the computation.
template <typename Wide, typename Load, typename Store>
void reduceAs(const std::vector<const std::byte *> &inputs, uint64_t elements, const std::string &reduction,
              std::byte *output, Load loadElement, Store storeElement) {
  for (uint64_t i = 0; i < elements; ++i) {
    Wide value = loadElement(inputs[0], i);
    for (size_t rank = 1; rank < inputs.size(); ++rank)
      value = combine<Wide>(reduction, value, loadElement(inputs[rank], i));
    if constexpr (std::is_floating_point_v<Wide>)
      if (reduction == "mean")
        value /= Wide(inputs.size());
    storeElement(output, i, value);
  }
}

template <typename T>
void reducePlain(const std::vector<const std::byte *> &inputs, uint64_t elements,
                 const std::string &reduction, std::byte *output) {
  reduceAs<T>(inputs, elements, reduction, output, load<T>, store<T>);
}

/// The sum is computed in 64 bits, where no overflow is undefined.
template <typename T>
void reduceInteger(const std::vector<const std::byte *> &inputs, uint64_t elements,
                   const std::string &reduction, std::byte *output) {
  bool ordered = reduction == "max" || reduction == "min";
  if (ordered)
    return reducePlain<T>(inputs, elements, reduction, output);
  reduceAs<uint64_t>(
      inputs, elements, reduction, output,
      [](const std::byte *data, uint64_t i) { return uint64_t(load<T>(data, i)); },
      [](std::byte *data, uint64_t i, uint64_t value) { store<T>(data, i, T(value)); });
}

} // namespace

void reduceExact(cgx_element_type type, const std::vector<const std::byte *> &inputs, uint64_t elements,
                 const std::string &reduction, std::byte *output) {
  switch (type) {
  case CGX_F32:
    return reducePlain<float>(inputs, elements, reduction, output);
  case CGX_F64:
    return reducePlain<double>(inputs, elements, reduction, output);
  case CGX_F16:
    return reduceAs<float>(
        inputs, elements, reduction, output,
        [](const std::byte *data, uint64_t i) { return floatFromFloat16(load<uint16_t>(data, i)); },
        [](std::byte *data, uint64_t i, float value) { store(data, i, float16FromFloat(value)); });
  case CGX_BF16:
    return reduceAs<float>(
        inputs, elements, reduction, output,
        [](const std::byte *data, uint64_t i) { return floatFromBfloat16(load<uint16_t>(data, i)); },
        [](std::byte *data, uint64_t i, float value) { store(data, i, bfloat16FromFloat(value)); });
  case CGX_I8:
    return reduceInteger<int8_t>(inputs, elements, reduction, output);
  case CGX_I16:
    return reduceInteger<int16_t>(inputs, elements, reduction, output);
  case CGX_I32:
    return reduceInteger<int32_t>(inputs, elements, reduction, output);
  case CGX_I64:
    return reduceInteger<int64_t>(inputs, elements, reduction, output);
  case CGX_U8:
    return reduceInteger<uint8_t>(inputs, elements, reduction, output);
  case CGX_U16:
    return reduceInteger<uint16_t>(inputs, elements, reduction, output);
  case CGX_U32:
    return reduceInteger<uint32_t>(inputs, elements, reduction, output);
  case CGX_U64:
    return reduceInteger<uint64_t>(inputs, elements, reduction, output);
  case CGX_BOOL: // sum and max are `or`, product and min are `and`
    return reducePlain<uint8_t>(inputs, elements,
                                reduction == "sum"       ? "max"
                                : reduction == "product" ? "min"
                                                         : reduction,
                                output);
  case CGX_ELEMENT_TYPE_COUNT:
    break;
  }
  throw std::logic_error("no element type");
}

static RandomKey keyOf(const OperandSpec &operand, const ModelKey &key, uint32_t encoder, uint64_t phase) {
  if (operand.codec.family == CGX_CODEC_RANDK)
    return makeRandomKey(key.seed, key.step, key.layerId, 0, 2 * key.runs);
  return makeRandomKey(key.seed, key.step, key.layerId, encoder, 2 * key.runs + phase);
}

OptimizerTensors optimizerOf(const OperandSpec &operand, const ModelKey &key) {
  OptimizerTensors optimizer{.update = key.step + 1};
  for (uint32_t i = 0; i < operand.kept.size(); ++i)
    if (!operand.kept[i].empty())
      optimizer.kept[i].elements = operand.kept[i].data() + (i == CGX_KEPT_LEARNING_RATE ? 0 : operand.first);
  return optimizer;
}

Bytes encodePart(const OperandSpec &operand, const std::byte *input, uint64_t first, uint64_t elements,
                 const ModelKey &key, uint32_t encoder, uint64_t phase) {
  Bytes payload(cgx_payload_bytes(&operand.codec, operand.type, elements));
  const OptimizerTensors optimizer = optimizerOf(operand, key);
  payload.resize(encode(operand.codec, operand.type, input, elements, keyOf(operand, key, encoder, phase),
                        first, payload.data(), *findImplementation("reference"), &optimizer));
  return payload;
}

static void decodePart(const OperandSpec &operand, const Bytes &payload, uint64_t elements,
                       std::byte *output) {
  if (elements == 0)
    return;
  if (decode(operand.codec, operand.type, payload.data(), payload.size(), elements, output,
             *findImplementation("reference")) != DecodeError::ok)
    throw std::logic_error("the model cannot decode its own payload");
}

Bytes roundTrip(const OperandSpec &operand, const std::byte *input, uint64_t first, uint64_t elements,
                const ModelKey &key, uint32_t encoder, uint64_t phase) {
  Bytes output(elements * cgx_element_bytes(operand.type));
  if (cgx_codec_is_exact(&operand.codec))
    std::copy_n(input, output.size(), output.begin());
  else
    decodePart(operand, encodePart(operand, input, first, elements, key, encoder, phase), elements,
               output.data());
  return output;
}

std::vector<float> reduceLossy(const OperandSpec &operand, const std::vector<const std::byte *> &inputs,
                               uint64_t first, uint64_t elements, const std::string &reduction,
                               const ModelKey &key, const std::vector<uint32_t> &row) {
  std::vector<float> sum(elements, 0.0f);
  for (size_t i = 0; i < row.size() && elements != 0; ++i) {
    Bytes payload = encodePart(operand, inputs[i], first, elements, key, key.encoder(row, i), /*phase=*/0);
    if (decodeAccumulate(operand.codec, operand.type, payload.data(), payload.size(), elements, sum.data(),
                         *findImplementation("reference")) != DecodeError::ok)
      throw std::logic_error("the model cannot decode its own payload");
  }
  if (reduction == "mean")
    for (float &value : sum)
      value /= float(row.size());
  return sum;
}

Bytes rounded(cgx_element_type type, const std::vector<float> &values) {
  Bytes bytes(values.size() * cgx_element_bytes(type));
  for (uint64_t i = 0; i < values.size(); ++i)
    if (type == CGX_F32)
      store(bytes.data(), i, values[i]);
    else
      store(bytes.data(), i, type == CGX_F16 ? float16FromFloat(values[i]) : bfloat16FromFloat(values[i]));
  return bytes;
}

std::vector<uint32_t> rowOf(const std::vector<std::vector<uint32_t>> &groups, uint32_t rank) {
  for (const std::vector<uint32_t> &row : groups)
    if (std::find(row.begin(), row.end(), rank) != row.end())
      return row;
  return {rank};
}

namespace {

/// Copies slice k of n along a dimension between a tensor and a dense slice.
template <typename Copy>
void forSlice(const std::vector<uint64_t> &shape, uint64_t dim, uint64_t n, uint64_t k, uint64_t elementBytes,
              Copy copy) {
  uint64_t outer = 1, inner = elementBytes;
  for (uint64_t i = 0; i < shape.size(); ++i)
    (i < dim ? outer : inner) *= i == dim ? shape[i] / n : shape[i];
  for (uint64_t row = 0; row < outer; ++row)
    copy((row * n + k) * inner, row * inner, inner);
}

Bytes sliceOf(const Bytes &tensor, const std::vector<uint64_t> &shape, uint64_t dim, uint64_t n, uint64_t k,
              uint64_t elementBytes) {
  Bytes dense(tensor.size() / n);
  forSlice(shape, dim, n, k, elementBytes, [&](uint64_t from, uint64_t to, uint64_t bytes) {
    std::copy_n(tensor.begin() + from, bytes, dense.begin() + to);
  });
  return dense;
}

void putSlice(Bytes &tensor, const Bytes &dense, const std::vector<uint64_t> &shape, uint64_t dim, uint64_t n,
              uint64_t k, uint64_t elementBytes) {
  forSlice(shape, dim, n, k, elementBytes, [&](uint64_t to, uint64_t from, uint64_t bytes) {
    std::copy_n(dense.begin() + from, bytes, tensor.begin() + to);
  });
}

} // namespace

Bytes randomTensor(cgx_element_type type, uint64_t elements, std::mt19937_64 &random) {
  Bytes bytes(elements * cgx_element_bytes(type));
  std::normal_distribution<float> normal;
  for (uint64_t i = 0; i < elements; ++i) {
    if (type == CGX_F32)
      store(bytes.data(), i, normal(random));
    else if (type == CGX_F64)
      store(bytes.data(), i, double(normal(random)) * 1.000000001);
    else if (type == CGX_F16)
      store(bytes.data(), i, float16FromFloat(normal(random)));
    else if (type == CGX_BF16)
      store(bytes.data(), i, bfloat16FromFloat(normal(random)));
    else if (type == CGX_BOOL)
      store(bytes.data(), i, uint8_t(random() & 1));
    else
      for (uint64_t j = 0, word = random(); j < cgx_element_bytes(type); ++j, word >>= 8)
        bytes[i * cgx_element_bytes(type) + j] = std::byte(word & 0xff);
  }
  return bytes;
}

PerRank modelAllReduce(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                       const OperandSpec &operand, const std::string &reduction, const ModelKey &key) {
  PerRank outputs = inputs;
  const Implementation &reference = *findImplementation("reference");
  uint64_t elementBytes = cgx_element_bytes(operand.type), elements = operand.elements();
  for (uint32_t rank = 0; rank < inputs.size(); ++rank) {
    std::vector<uint32_t> row = rowOf(groups, rank);
    if (row.size() == 1)
      continue;
    for (uint64_t chunk = 0; chunk < row.size(); ++chunk) {
      uint64_t begin = cgx_chunk_begin(&operand.codec, elements, row.size(), chunk);
      uint64_t count = cgx_chunk_begin(&operand.codec, elements, row.size(), chunk + 1) - begin;
      std::byte *output = outputs[rank].data() + begin * elementBytes;
      if (count == 0)
        continue;
      std::vector<const std::byte *> contributions;
      for (uint32_t member : row)
        contributions.push_back(inputs[member].data() + begin * elementBytes);
      OperandSpec result = operand;
      result.codec = operand.back.value_or(operand.codec);
      if (cgx_codec_is_exact(&operand.codec)) {
        reduceExact(operand.type, contributions, count, reduction, output);
      } else {
        std::vector<float> sum = reduceLossy(operand, contributions, begin, count, reduction, key, row);
        // This rounds to the type, without a codec's error.
        encodeFromF32(cgx_codec{}, operand.type, sum.data(), count, RandomKey{}, begin, output, reference);
      }
      if (cgx_codec_is_exact(&result.codec))
        continue;
      Bytes sum(output, output + count * elementBytes),
          payload(cgx_payload_bytes(&result.codec, operand.type, count));
      const OptimizerTensors optimizer = optimizerOf(operand, key);
      payload.resize(encode(result.codec, operand.type, sum.data(), count,
                            keyOf(result, key, key.encoder(row, chunk), 1), begin, payload.data(), reference,
                            &optimizer));
      decodePart(result, payload, count, output);
    }
  }
  return outputs;
}

PerRank modelOneShot(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                     const OperandSpec &operand, const std::string &reduction, const ModelKey &key) {
  PerRank outputs = inputs;
  for (uint32_t rank = 0; rank < inputs.size(); ++rank) {
    std::vector<uint32_t> row = rowOf(groups, rank);
    if (row.size() == 1 || operand.elements() == 0)
      continue;
    std::vector<const std::byte *> contributions;
    for (uint32_t member : row)
      contributions.push_back(inputs[member].data());
    if (cgx_codec_is_exact(&operand.codec)) {
      reduceExact(operand.type, contributions, operand.elements(), reduction, outputs[rank].data());
      continue;
    }
    std::vector<float> sum =
        reduceLossy(operand, contributions, /*begin=*/0, operand.elements(), reduction, key, row);
    encodeFromF32(cgx_codec{}, operand.type, sum.data(), operand.elements(), RandomKey{}, /*first=*/0,
                  outputs[rank].data(), *findImplementation("reference"));
  }
  return outputs;
}

PerRank modelAllGather(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                       const OperandSpec &operand, uint64_t dim, const ModelKey &key) {
  PerRank outputs(inputs.size());
  uint64_t elementBytes = cgx_element_bytes(operand.type);
  for (uint32_t rank = 0; rank < inputs.size(); ++rank) {
    std::vector<uint32_t> row = rowOf(groups, rank);
    std::vector<uint64_t> shape = operand.shape;
    shape[dim] *= row.size();
    outputs[rank].resize(inputs[rank].size() * row.size());
    for (uint64_t k = 0; k < row.size(); ++k) {
      Bytes part = row.size() == 1 ? inputs[rank]
                                   : roundTrip(operand, inputs[row[k]].data(), 0, operand.elements(), key,
                                               key.encoder(row, k), 0);
      putSlice(outputs[rank], part, shape, dim, row.size(), k, elementBytes);
    }
  }
  return outputs;
}

PerRank modelReduceScatter(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                           const OperandSpec &operand, const std::string &reduction, uint64_t dim,
                           const ModelKey &key) {
  PerRank outputs = inputs;
  uint64_t elementBytes = cgx_element_bytes(operand.type);
  for (uint32_t rank = 0; rank < inputs.size(); ++rank) {
    std::vector<uint32_t> row = rowOf(groups, rank);
    if (row.size() == 1)
      continue;
    uint64_t self = uint64_t(std::find(row.begin(), row.end(), rank) - row.begin());
    uint64_t elements = operand.elements() / row.size();
    std::vector<Bytes> slices;
    std::vector<const std::byte *> contributions;
    for (uint32_t member : row)
      slices.push_back(sliceOf(inputs[member], operand.shape, dim, row.size(), self, elementBytes));
    for (const Bytes &slice : slices)
      contributions.push_back(slice.data());
    outputs[rank].assign(elements * elementBytes, std::byte(0));
    if (cgx_codec_is_exact(&operand.codec)) {
      reduceExact(operand.type, contributions, elements, reduction, outputs[rank].data());
      continue;
    }
    std::vector<float> sum =
        reduceLossy(operand, contributions, self * elements, elements, reduction, key, row);
    outputs[rank] = rounded(operand.type, sum);
  }
  return outputs;
}

PerRank modelAllToAll(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                      const OperandSpec &operand, uint64_t splitDim, uint64_t concatDim,
                      const ModelKey &key) {
  PerRank outputs = inputs;
  uint64_t elementBytes = cgx_element_bytes(operand.type);
  for (uint32_t rank = 0; rank < inputs.size(); ++rank) {
    std::vector<uint32_t> row = rowOf(groups, rank);
    if (row.size() == 1)
      continue;
    uint64_t self = uint64_t(std::find(row.begin(), row.end(), rank) - row.begin());
    std::vector<uint64_t> shape = operand.shape;
    shape[splitDim] /= row.size();
    shape[concatDim] *= row.size();
    uint64_t elements = operand.elements() / row.size();
    for (uint64_t k = 0; k < row.size(); ++k) {
      Bytes slice = sliceOf(inputs[row[k]], operand.shape, splitDim, row.size(), self, elementBytes);
      Bytes part = roundTrip(operand, slice.data(), self * elements, elements, key, key.encoder(row, k), 0);
      putSlice(outputs[rank], part, shape, concatDim, row.size(), k, elementBytes);
    }
  }
  return outputs;
}

PerRank modelBroadcast(const PerRank &inputs, const std::vector<std::vector<uint32_t>> &groups,
                       const OperandSpec &operand, uint32_t root, const ModelKey &key) {
  PerRank outputs = inputs;
  for (uint32_t rank = 0; rank < inputs.size(); ++rank)
    if (std::vector<uint32_t> row = rowOf(groups, rank); row.size() != 1)
      outputs[rank] =
          roundTrip(operand, inputs[row[root]].data(), 0, operand.elements(), key, key.encoder(row, root), 0);
  return outputs;
}

PerRank modelPermute(const PerRank &inputs, const std::vector<std::pair<uint32_t, uint32_t>> &pairs,
                     const OperandSpec &operand, const ModelKey &key) {
  PerRank outputs(inputs.size(), Bytes(inputs[0].size(), std::byte(0)));
  // The lowest of the ranks that pairs connect is the name of the set.
  std::vector<uint32_t> names(inputs.size());
  std::iota(names.begin(), names.end(), 0u);
  for (size_t turn = 0; turn < names.size(); ++turn)
    for (auto [source, target] : pairs)
      names[source] = names[target] = std::min(names[source], names[target]);
  std::map<uint32_t, uint32_t> senders; // the number of senders so far, by name
  for (auto [source, target] : pairs)
    outputs[target] =
        roundTrip(operand, inputs[source].data(), 0, operand.elements(), key, senders[names[source]]++, 0);
  return outputs;
}

} // namespace cgx::test
