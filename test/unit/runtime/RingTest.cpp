//===-- RingTest.cpp - Reading memory that another rank wrote -------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These faults were found by the fuzz target of segments: values in shared memory that no correct
// rank writes.
//
//===----------------------------------------------------------------------===//

#include "transport/ring/RingTransport.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>

namespace cgx::test {
namespace {

constexpr uint32_t kRanks = 2;
constexpr uint64_t kRingBytes = 4096;

/// A membership in which both ranks of a segment are always present.
class Everyone final : public Membership {
public:
  explicit Everyone(Segment segment) : held(segment) {}
  Segment segment() const override { return held; }
  bool isAlive(uint32_t) const override { return true; }

private:
  Segment held;
};

/// The header of each message, as RingTransport writes it.
struct MessageHeader {
  uint32_t magic = 0x4d584743, reserved = 0;
  Tag tag;
  uint64_t bytes = 0;
};

class RingTest : public ::testing::Test {
protected:
  RingTest() {
    std::memset(static_cast<void *>(memory.get()), 0, Segment::totalBytes(kRanks, kRingBytes));
    segment = Segment::initialize(memory.get(), kRanks, kRingBytes);
    transport = std::make_unique<RingTransport>(std::make_unique<Everyone>(segment),
                                                TransportConfig{.job = "job", .rank = 0, .ranks = kRanks});
    told = RingWriter(segment.ringControl(1, 0), segment.ringData(1, 0), kRingBytes);
  }

  void tell(std::span<const std::byte> bytes) {
    ASSERT_EQ(told.write(bytes), bytes.size());
    told.publish();
  }

  Status progress() {
    bool moved = false;
    return transport->progress(moved);
  }

  std::unique_ptr<std::byte, decltype(&std::free)> memory{
      static_cast<std::byte *>(
          std::aligned_alloc(4096, (Segment::totalBytes(kRanks, kRingBytes) + 4095) / 4096 * 4096)),
      &std::free};
  Segment segment;
  std::unique_ptr<RingTransport> transport;
  RingWriter told;
};

// A rank that is not notified is not woken, so each end reports if there is something new.
TEST_F(RingTest, NothingIsShownOrGivenBackTwice) {
  RingReader reader(segment.ringControl(1, 0), segment.ringData(1, 0), kRingBytes);
  std::array<std::byte, 8> bytes{};
  EXPECT_FALSE(told.publish());
  ASSERT_EQ(told.write(bytes), bytes.size());
  EXPECT_EQ(reader.available(), 0u);
  EXPECT_TRUE(told.publish());
  EXPECT_FALSE(told.publish());
  EXPECT_FALSE(reader.release());
  ASSERT_EQ(reader.read(bytes), bytes.size());
  EXPECT_TRUE(reader.release());
  EXPECT_FALSE(reader.release());
}

TEST_F(RingTest, AMessageTakesTheMemoryOfWhatHasComeAndNotOfWhatItsHeaderSays) {
  std::vector<std::byte> bytes(100);
  Incoming wanted{.peer = 1, .tag = {.step = 1, .collective = 2}, .pieces = {std::span(bytes)}};
  transport->post(wanted);
  const MessageHeader header{.tag = {.step = 1, .collective = 3}, .bytes = uint64_t(1) << 39};
  tell(std::as_bytes(std::span(&header, 1)));
  tell(std::vector<std::byte>(1000));
  EXPECT_TRUE(progress().ok()) << progress().message();
  EXPECT_FALSE(wanted.done);
}

TEST_F(RingTest, AMessageThatComesEarlyIsWholeWhenItIsAskedFor) {
  std::vector<std::byte> first(1), sent(100000), received(sent.size());
  for (size_t i = 0; i < sent.size(); ++i)
    sent[i] = std::byte(i * 7 / 3);
  Incoming wanted{.peer = 1, .tag = {.step = 1, .collective = 2}, .pieces = {std::span(first)}};
  transport->post(wanted);
  const MessageHeader early{.tag = {.step = 1, .collective = 3}, .bytes = sent.size()};
  tell(std::as_bytes(std::span(&early, 1)));
  for (std::span<const std::byte> left = sent; !left.empty();) {
    const size_t count = told.write(left);
    told.publish();
    left = left.subspan(count);
    ASSERT_TRUE(progress().ok());
  }
  const MessageHeader late{.tag = wanted.tag, .bytes = 1};
  tell(std::as_bytes(std::span(&late, 1)));
  tell(std::span(sent).first(1));
  ASSERT_TRUE(progress().ok());
  EXPECT_TRUE(wanted.done);
  // The message arrives in two parts, because its receive was posted after it came.
  Incoming asked{.peer = 1,
                 .tag = early.tag,
                 .pieces = {std::span(received).first(33), std::span(received).subspan(33)}};
  transport->post(asked);
  EXPECT_TRUE(asked.done);
  EXPECT_EQ(received, sent);
}

// The header of the previous message must not be taken for a new one.
TEST_F(RingTest, APositionThatCannotBeIsDamage) {
  std::vector<std::byte> bytes(100);
  Incoming wanted{.peer = 1, .tag = {.step = 1, .collective = 2}, .pieces = {std::span(bytes)}};
  transport->post(wanted);
  const MessageHeader empty{.tag = {.step = 1, .collective = 3}};
  tell(std::as_bytes(std::span(&empty, 1)));
  ASSERT_TRUE(progress().ok());
  segment.ringControl(1, 0).tail.fetch_add(10 * kRingBytes);
  EXPECT_EQ(progress().message(), "the ring from rank 1 is damaged");
}

// This test simulates a rank that was stopped while it joined.
TEST_F(RingTest, ARankThatStopsWhileItJoinsIsNamed) {
  const TransportConfig config{.job = "job", .rank = 0, .ranks = kRanks};
  ASSERT_TRUE(takePlace(segment, config, [] { FAIL() << "one of two is not the last"; }).ok());
  segment.record(1).state.store(uint32_t(RankState::Joining));
  const Status status = awaitRanks(Everyone(segment), config, Clock::now());
  EXPECT_EQ(status.getCode(), CGX_TIMEOUT);
  EXPECT_NE(status.message().find("rank 1 did not join"), std::string::npos) << status.message();
}

// The last rank to join may be killed, and must not leave the name behind.
TEST_F(RingTest, TheNameOfAJobIsGoneBeforeAllAreThere) {
  uint32_t calls = 0;
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    ASSERT_TRUE(takePlace(segment, {.job = "job", .rank = rank, .ranks = kRanks}, [&] {
                  ++calls;
                  EXPECT_EQ(segment.header().joined.load(), kRanks - 1);
                }).ok());
  EXPECT_EQ(calls, 1u);
  EXPECT_EQ(segment.header().joined.load(), kRanks);
}

TEST_F(RingTest, AFailureWithoutAReasonSaysSo) {
  for (uint32_t index : {0u, 1u, 2u, 77u}) {
    segment.header().failed.store(index + 1);
    EXPECT_NE(segment.failure().message().find("its reason is not in the shared memory"), std::string::npos)
        << segment.failure().message();
  }
}

} // namespace
} // namespace cgx::test
