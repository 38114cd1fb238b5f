//===-- PayloadTest.cpp - Payloads are as expected, or rejected -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "cgx/arithmetic/checksum.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

/// Returns a payload of 1000 gradients.
Bytes makePayload(const cgx_codec &codec, cgx_element_type type, uint64_t elements = 1000) {
  std::mt19937_64 random(testSeed());
  const std::vector<uint8_t> input = toElements(type, makeFloats(Shape::gradient, elements, random));
  Bytes payload(cgx_payload_bytes(&codec, type, elements));
  encode(codec, type, input.data(), elements, RandomKey{1}, 0, payload.data());
  return payload;
}

/// Decodes into f32, and checks that a refusal writes nothing.
DecodeError tryDecode(const cgx_codec &codec, cgx_element_type type, const Bytes &payload, uint64_t elements,
                      const Implementation &with = defaultImplementation()) {
  Bytes output(elements * cgx_element_bytes(type));
  const std::vector<uint8_t> before = output.copy();
  const DecodeError error =
      decode(codec, type, payload.data(), payload.size(), elements, output.data(), with);
  if (error != DecodeError::ok) {
    EXPECT_EQ(output.copy(), before);
  }
  std::vector<float> sum(elements);
  EXPECT_EQ(decodeAccumulate(codec, type, payload.data(), payload.size(), elements, sum.data(), with), error);
  return error;
}

TEST(PayloadTest, HasExactlyTheBytesOfTheFormula) {
  // Buffers end with the payload, so that the sanitizer sees a write past it, and the payload is written to
  // its last byte.
  for (const Implementation *implementation : supportedImplementations())
    for (cgx_scale_type scale : {CGX_SCALE_BF16, CGX_SCALE_F32})
      for (bool checksum : {false, true})
        for (uint32_t bits = 1; bits <= 8; ++bits)
          for (uint64_t elements : {0, 1, 7, 8, 9, 100, 129, 1000, 4097}) {
            const cgx_codec codec = quantizeCodec(bits, 100, CGX_ROUND_NEAREST, scale, checksum);
            const uint64_t buckets = (elements + 99) / 100;
            const uint64_t expected = elements == 0 ? 0
                                                    : 8 + buckets * (scale == CGX_SCALE_F32 ? 8 : 4) +
                                                          (elements * bits + 7) / 8 + (checksum ? 8 : 0);
            ASSERT_EQ(cgx_payload_bytes(&codec, CGX_F32, elements), expected);
            const std::vector<float> values(elements, 1.5f);
            Bytes first(expected, 0, 0x00), second(expected, 0, 0xff);
            encode(codec, CGX_F32, values.data(), elements, RandomKey{1}, 0, first.data(), *implementation);
            encode(codec, CGX_F32, values.data(), elements, RandomKey{1}, 0, second.data(), *implementation);
            ASSERT_EQ(first.copy(), second.copy()) << describe(codec) << ", " << elements << " elements";
          }
}

TEST(PayloadTest, EmptyTensorIsEmptyPayload) {
  const cgx_codec codec = quantizeCodec(4, 128, CGX_ROUND_STOCHASTIC, CGX_SCALE_BF16, true);
  encode(codec, CGX_F32, nullptr, 0, RandomKey{1}, 0, nullptr);
  EXPECT_EQ(decode(codec, CGX_F32, nullptr, 0, 0, nullptr), DecodeError::ok);
  const uint8_t byte = 0;
  EXPECT_EQ(decode(codec, CGX_F32, &byte, 1, 0, nullptr), DecodeError::wrongLength);
}

TEST(PayloadTest, RefusesEveryTruncation) {
  for (bool checksum : {false, true}) {
    const cgx_codec codec = quantizeCodec(3, 100, CGX_ROUND_NEAREST, CGX_SCALE_BF16, checksum);
    const Bytes payload = makePayload(codec, CGX_F32);
    for (uint64_t size = 0; size < payload.size(); ++size) {
      std::vector<uint8_t> bytes = payload.copy();
      bytes.resize(size);
      ASSERT_EQ(tryDecode(codec, CGX_F32, Bytes(bytes, 0), 1000), DecodeError::truncated) << size << " bytes";
    }
    std::vector<uint8_t> longer = payload.copy();
    longer.push_back(0);
    EXPECT_EQ(tryDecode(codec, CGX_F32, Bytes(longer, 0), 1000), DecodeError::wrongLength);
  }
}

TEST(PayloadTest, RefusesWhatIsNotTheExpectedPayload) {
  const cgx_codec codec = quantizeCodec(4, 128);
  const Bytes payload = makePayload(codec, CGX_F32);
  Bytes wrong = makePayload(codec, CGX_F32);
  wrong.data()[0] ^= 1;
  EXPECT_EQ(tryDecode(codec, CGX_F32, wrong, 1000), DecodeError::badMagic);
  wrong = makePayload(codec, CGX_F32);
  wrong.data()[1] ^= 2;
  EXPECT_EQ(tryDecode(codec, CGX_F32, wrong, 1000), DecodeError::badVersion);
  wrong.data()[1] ^= 2 | 16;
  EXPECT_EQ(tryDecode(codec, CGX_F32, wrong, 1000), DecodeError::wrongCodec);
  EXPECT_EQ(tryDecode(codec, CGX_F32, payload, 999), DecodeError::wrongLength);
  EXPECT_EQ(tryDecode(codec, CGX_BF16, payload, 1000), DecodeError::wrongCodec);
  for (const cgx_codec &other :
       {quantizeCodec(5, 128), quantizeCodec(4, 64), quantizeCodec(4, 128, CGX_ROUND_NEAREST),
        quantizeCodec(4, 128, CGX_ROUND_STOCHASTIC, CGX_SCALE_F32),
        quantizeCodec(4, 128, CGX_ROUND_STOCHASTIC, CGX_SCALE_BF16, true)})
    EXPECT_EQ(tryDecode(other, CGX_F32, payload, 1000), DecodeError::wrongCodec) << describe(other);
  EXPECT_EQ(tryDecode(codec, CGX_F32, payload, 1000), DecodeError::ok);
}

TEST(PayloadTest, ChecksumSeesEveryFlippedBit) {
  const cgx_codec codec = quantizeCodec(4, 128, CGX_ROUND_STOCHASTIC, CGX_SCALE_BF16, true);
  Bytes payload = makePayload(codec, CGX_F32, 300);
  for (uint64_t bit = CGX_PAYLOAD_HEADER_BYTES * 8; bit < payload.size() * 8; ++bit) {
    payload.data()[bit / 8] ^= uint8_t(1u << bit % 8);
    ASSERT_EQ(tryDecode(codec, CGX_F32, payload, 300), DecodeError::badChecksum) << "bit " << bit;
    payload.data()[bit / 8] ^= uint8_t(1u << bit % 8);
  }
  EXPECT_EQ(tryDecode(codec, CGX_F32, payload, 300), DecodeError::ok);
}

TEST(PayloadTest, ChecksumSeesWordsThatChangedPlaces) {
  uint64_t words[4] = {1, 2, 3, 4}, swapped[4] = {1, 3, 2, 4};
  EXPECT_NE(checksum(words, 32), checksum(swapped, 32));
  EXPECT_NE(checksum(words, 31), checksum(words, 32));
  const uint8_t zeros[16] = {};
  EXPECT_NE(checksum(zeros, 15), checksum(zeros, 16));
}

TEST(PayloadTest, ChecksumIsThatOfTheFormat) {
  // These values are part of the wire format and never change.
  const char text[] = "the quick brown fox";
  EXPECT_EQ(checksum(text, 0), 0x0000000000000000ull);
  EXPECT_EQ(checksum(text, 19), 0x2d6c464b24a13dabull);
}

TEST(PayloadTest, AnyBytesAreDecodedOrRefusedInBounds) {
  // The sections may hold any bytes; a damaged envelope is rejected.
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 3000; ++round) {
    const uint64_t draw = random();
    const cgx_codec codec = quantizeCodec(1 + draw % 8, 1 + draw / 8 % 300, CGX_ROUND_NEAREST,
                                          draw & (1 << 20) ? CGX_SCALE_F32 : CGX_SCALE_BF16);
    const cgx_element_type type = cgx_element_type(draw >> 24 & 1 ? draw >> 25 & 1 : 2);
    const uint64_t elements = draw / (1ull << 32) % 3000;
    const uint64_t exact = cgx_payload_bytes(&codec, type, elements);
    Bytes payload(draw >> 60 ? exact : random() % (exact + 20));
    for (uint64_t i = 0; i < payload.size(); ++i)
      payload.data()[i] = uint8_t(random());
    if (draw >> 60 && elements > 0)
      writePayloadHeader(codec, type, elements, payload.data());
    for (const Implementation *implementation : supportedImplementations()) {
      const DecodeError error = tryDecode(codec, type, payload, elements, *implementation);
      if (draw >> 60) {
        ASSERT_EQ(error, DecodeError::ok) << describe(codec) << ", CGX_TEST_SEED=" << testSeed();
      }
    }
  }
}

TEST(PayloadTest, EveryErrorHasAText) {
  for (int error = 0; error <= int(DecodeError::badChecksum); ++error)
    EXPECT_STRNE(decodeErrorText(DecodeError(error)), "unknown decode error");
}

TEST(PayloadTest, BytesOfAKnownPayload) {
  // This is the format on the wire, bit by bit, as FORMAT.md explains it. It never changes within a version.
  const cgx_codec codec = quantizeCodec(4, 4, CGX_ROUND_NEAREST, CGX_SCALE_BF16);
  const float values[] = {0.0f, 15.0f, 7.0f, 3.0f, -1.0f, -1.0f};
  for (const Implementation *implementation : supportedImplementations()) {
    std::vector<uint8_t> payload(cgx_payload_bytes(&codec, CGX_F32, 6));
    encode(codec, CGX_F32, values, 6, RandomKey{0}, 0, payload.data(), *implementation);
    const std::vector<uint8_t> expected = {0xc6, 0x11, 0x07, 0x19, 6, 0, 0, 0, // header
                                           0x00, 0x00, 0x80, 0x3f,             // minimum 0, unit 1
                                           0x80, 0xbf, 0x00, 0x00,             // minimum -1, unit 0
                                           0xf0, 0x37, 0x00};                  // levels 0 15 7 3 0 0
    EXPECT_EQ(payload, expected);
  }
}

TEST(CodecTest, ChecksItsParameters) {
  EXPECT_EQ(checkCodec(cgx_codec{}, CGX_I64), "");
  EXPECT_EQ(checkCodec(quantizeCodec(4, 128), CGX_BF16), "");
  EXPECT_NE(checkCodec(quantizeCodec(4, 128), CGX_I32), "");
  EXPECT_NE(checkCodec(quantizeCodec(0, 128), CGX_F32), "");
  EXPECT_NE(checkCodec(quantizeCodec(9, 128), CGX_F32), "");
  EXPECT_NE(checkCodec(quantizeCodec(4, 0), CGX_F32), "");
  EXPECT_NE(checkCodec(cgx_codec{.family = CGX_CODEC_FAMILY_COUNT}, CGX_F32), "");
  EXPECT_NE(checkCodec(cgx_codec{.checksum = 1}, CGX_F32), "");
  EXPECT_NE(checkCodec(quantizeCodec(4, 128), CGX_ELEMENT_TYPE_COUNT), "");
}

TEST(CodecTest, IdentityKeepsEveryBit) {
  std::mt19937_64 random(testSeed());
  const cgx_codec identity = {};
  for (int type = 0; type < CGX_ELEMENT_TYPE_COUNT; ++type) {
    const uint64_t bytes = 37 * cgx_element_bytes(type);
    Bytes input(bytes), payload(bytes, 1), output(bytes, 3);
    for (uint64_t i = 0; i < bytes; ++i)
      input.data()[i] = uint8_t(random());
    encode(identity, cgx_element_type(type), input.data(), 37, RandomKey{1}, 0, payload.data());
    ASSERT_EQ(decode(identity, cgx_element_type(type), payload.data(), bytes, 37, output.data()),
              DecodeError::ok);
    EXPECT_EQ(output.copy(), input.copy());
    EXPECT_EQ(decode(identity, cgx_element_type(type), payload.data(), bytes - 1, 37, output.data()),
              DecodeError::truncated);
  }
}

TEST(CodecTest, IdentityAccumulatesInF32) {
  const cgx_codec identity = {};
  for (cgx_element_type type : {CGX_F32, CGX_F16, CGX_BF16}) {
    const std::vector<uint8_t> payload = toElements(type, {1.0f, -2.0f, 0.5f});
    std::vector<float> sum = {0x1p-20f, 1.0f, 2.0f};
    ASSERT_EQ(decodeAccumulate(identity, type, payload.data(), payload.size(), 3, sum.data()),
              DecodeError::ok);
    EXPECT_EQ(sum, (std::vector<float>{1.0f + 0x1p-20f, -1.0f, 2.5f}));
  }
}

} // namespace
} // namespace cgx::test
