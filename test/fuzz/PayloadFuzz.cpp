//===-- test/fuzz/PayloadFuzz.cpp - Any body behind a right header ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Covers every codec that a manifest can name. A decoder must reject the bytes or decode them, within the
// payload and the output, and equally on every instruction set of this machine; and it must decode an
// encoder's payload.

#include "Bytes.h"

#include "cgx/codec_table.h"
#include "cgx/kernels/codecs.h"

#include <bit>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

using namespace cgx;

static cgx_codec takeCodec(Bytes &bytes) {
  auto families = codecFamilies();
  const CodecFamilyEntry &family = families[bytes.take<uint8_t>() % families.size()];
  cgx_codec codec{};
  codec.family = family.family;
  codec.checksum = bytes.take<uint8_t>() & 1;
  for (const CodecParameter &field : family.parameters) {
    if (field.real)
      codec.*field.real = float(bytes.between(0, 1000)) / 1000;
    else if (field.isFlag)
      codec.*field.number = bytes.take<uint8_t>() & 1;
    else if (!field.cases.empty())
      codec.*field.number = bytes.take<uint8_t>() % uint32_t(field.cases.size());
    else
      codec.*field.number = bytes.between(field.least, std::min(field.most, field.least + 2047));
  }
  return codec;
}

static void require(bool holds, const char *what, const cgx_codec &codec) {
  if (holds)
    return;
  std::cerr << describeCodec(codec) << ": expected " << what << "\n";
  std::abort();
}

/// Returns a buffer of exactly `bytes` bytes, so that sanitizers see an access one byte too far.
static std::unique_ptr<uint8_t[]> makeBuffer(uint64_t bytes) { return std::make_unique<uint8_t[]>(bytes); }

static void decodeEverywhere(const cgx_codec &codec, cgx_element_type type, const uint8_t *payload,
                             uint64_t payloadBytes, uint64_t elements, bool mustDecode) {
  uint64_t outputBytes = elements * cgx_element_bytes(type);
  auto first = makeBuffer(outputBytes);
  DecodeError expected = DecodeError::ok;
  bool isFirst = true;
  for (const Implementation *implementation : implementations()) {
    if (!implementation->isSupported())
      continue;
    auto output = makeBuffer(outputBytes);
    auto accumulator = std::make_unique<float[]>(elements);
    DecodeError error = decode(codec, type, payload, payloadBytes, elements, output.get(), *implementation);
    DecodeError added =
        decodeAccumulate(codec, type, payload, payloadBytes, elements, accumulator.get(), *implementation);
    require(error == added, "decode and decodeAccumulate to agree", codec);
    require(!mustDecode || error == DecodeError::ok, "what was encoded to decode", codec);
    if (std::exchange(isFirst, false)) {
      expected = error;
      std::memcpy(first.get(), output.get(), outputBytes);
    }
    require(error == expected, "one verdict of all implementations", codec);
    require(error != DecodeError::ok || outputBytes == 0 ||
                std::memcmp(first.get(), output.get(), outputBytes) == 0,
            "one result of all implementations", codec);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes bytes(data, size);
  cgx_codec codec = takeCodec(bytes);
  auto type = cgx_element_type(bytes.between(CGX_F32, CGX_BF16));
  if (!checkCodec(codec, type).empty() || !cgx_codec_has_payloads(&codec))
    return 0;
  // Few elements are the rule, because more seldom reach other code and cost time in every implementation.
  uint64_t elements = bytes.between(0, bytes.take<uint8_t>() % 32 ? 130 : 2000);
  RandomKey key{bytes.take<uint64_t>()};
  std::span<const uint8_t> material = bytes.rest();
  uint64_t most = cgx_payload_bytes(&codec, type, elements);

  // First, arbitrary numbers are encoded.
  uint64_t inputBytes = elements * cgx_element_bytes(type);
  auto input = makeBuffer(inputBytes);
  for (uint64_t i = 0; i < inputBytes; ++i)
    input[i] = material.empty() ? 0 : material[i % material.size()];
  auto encoded = makeBuffer(most);
  // The tensors of an optimizer may hold arbitrary numbers too.
  OptimizerTensors optimizer{.update = 1 + key.value % 1000};
  optimizer.kept.fill({input.get(), type});
  const auto rate = std::bit_cast<float>(uint32_t(key.value >> 32));
  optimizer.kept[CGX_KEPT_LEARNING_RATE] = {&rate, CGX_F32};
  uint64_t encodedBytes =
      encode(codec, type, input.get(), elements, key, 0, encoded.get(), defaultImplementation(), &optimizer);
  require(encodedBytes <= most && (!cgx_payload_is_fixed(&codec) || encodedBytes == most),
          "as many bytes as predicted", codec);
  auto payload = makeBuffer(encodedBytes);
  std::memcpy(payload.get(), encoded.get(), encodedBytes);
  decodeEverywhere(codec, type, payload.get(), encodedBytes, elements, true);

  // Next, arbitrary bytes follow a valid header; there are as many as encoding gave, or any number.
  uint64_t begin = cgx_payload_body_begin(&codec);
  uint64_t anyBytes = cgx_payload_is_fixed(&codec) ? most : begin + material.size();
  if (elements == 0 || codec.family == CGX_CODEC_IDENTITY || codec.checksum)
    return 0;
  auto any = makeBuffer(anyBytes);
  for (uint64_t i = begin; i < anyBytes; ++i)
    any[i] = material.empty() ? 0xff : material[(i - begin) % material.size()];
  writePayloadHeader(codec, type, elements, any.get());
  (void)endPayload(codec, any.get(), anyBytes); // ends with its length
  decodeEverywhere(codec, type, any.get(), anyBytes, elements, false);

  // Finally, the header and the length are arbitrary too.
  auto raw = makeBuffer(material.size());
  std::copy(material.begin(), material.end(), raw.get());
  decodeEverywhere(codec, type, raw.get(), material.size(), elements, false);
  return 0;
}
