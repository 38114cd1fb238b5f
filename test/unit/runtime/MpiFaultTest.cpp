//===-- MpiFaultTest.cpp - Faults of MPI and of other ranks -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are two ranks under mpirun. Rank 0 forges messages that a transport would not send, with
// MPI calls over the communicator of rank 1's transport. test/integration/mpi runs each test as a
// job of its own.
//
//===----------------------------------------------------------------------===//

#include "Job.h"
#include "transport/MessageBatch.h"
#include "transport/mpi/linked/MpiSession.h"
#include "transport/mpi/linked/MpiTransport.h"

#include <array>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>

/// Lets MPI_Init_thread hang, as it does where another rank has died during its own.
static std::atomic<bool> hangs{false};

extern "C" int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  while (hangs)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return PMPI_Init_thread(argc, argv, required, provided);
}

namespace cgx::test {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

constexpr int kNoteTag = 1 << 27;
constexpr int kOther = 1; ///< the rank that has a transport
const Tag kTag{.step = 4, .collective = 1, .phase = 0, .part = 0};

testing::AssertionResult failsWith(const Status &status, cgx_status code, const std::string &text) {
  if (status.getCode() == code && status.message().find(text) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << status.getCode() << ": " << status.message();
}

class MpiFaultTest : public testing::Test {
protected:
  void SetUp() override {
    if (!isUnderMpi())
      GTEST_SKIP() << "needs two ranks under mpirun: test/integration/mpi";
  }

  /// Runs `forge` on rank 0 and `victim` on rank 1.
  void runRanks(const std::function<void(MPI_Comm)> &forge,
                const std::function<void(MpiTransport &)> &victim) {
    runMpiRank(2, [&](uint32_t rank) {
      ASSERT_TRUE(startMpi(20000ms).ok());
      Result<MPI_Comm> communicator = makeCommunicator(20000ms);
      ASSERT_TRUE(communicator.ok()) << communicator.status().message();
      if (rank != kOther) {
        forge(*communicator);
      } else {
        MpiTransport transport(*communicator, rank, 2, 20000ms, /*takesGpuMemory=*/false,
                               /*hasHeartbeat=*/false);
        victim(transport);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    });
  }

  void expectFailureOf(uint32_t code, cgx_status expected);

  /// Receives a whole message in the form in which MPI carries it.
  static Bytes take(MPI_Comm communicator, int &tag) {
    MPI_Status status;
    int count = 0;
    MPI_Probe(kOther, MPI_ANY_TAG, communicator, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    Bytes bytes(static_cast<size_t>(count));
    tag = status.MPI_TAG;
    MPI_Recv(bytes.data(), count, MPI_BYTE, kOther, tag, communicator, MPI_STATUS_IGNORE);
    return bytes;
  }

  static void send(const Bytes &bytes, int tag, MPI_Comm communicator) {
    MPI_Request request;
    MPI_Isend(bytes.data(), int(bytes.size()), MPI_BYTE, kOther, tag, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
};

TEST_F(MpiFaultTest, AStartOfMpiThatHangsEndsAfterTheTimeout) {
  hangs = true;
  const auto begin = Clock::now();
  const Status status = joinMpiWorld({.ranks = 1, .timeout = 500ms}).status();
  EXPECT_TRUE(failsWith(status, CGX_TIMEOUT, "MPI_Init_thread did not return within 500 ms"));
  EXPECT_LT(Clock::now() - begin, deadlineOf(500ms));
}

// No receive can have the length that the count claims, and MPI's int counts are smaller still.
TEST_F(MpiFaultTest, AMessageOfThreeGibibytesFromAnotherStepIsAMismatch) {
  constexpr size_t kBytes = size_t{3} << 30;
  runMpiRank(2, [&](uint32_t rank) {
    Result<std::unique_ptr<Transport>> transport =
        joinMpiWorld({.rank = rank, .ranks = 2, .timeout = 20000ms});
    ASSERT_TRUE(transport.ok()) << transport.status().message();
    MessageBatch exchange(**transport, 20000ms);
    Bytes received(100);
    if (rank == kOther) {
      Tag later = kTag;
      ++later.step;
      exchange.receive(0, later, {received});
      // The size includes the header.
      EXPECT_TRUE(failsWith(exchange.finish(), CGX_MISMATCH, "with a message of 3221225504 bytes"));
      return;
    }
    // The memory is never written, so that it takes no space.
    void *memory = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    exchange.send(kOther, kTag, {std::span(static_cast<const std::byte *>(memory), kBytes)});
    EXPECT_TRUE(failsWith(exchange.finish(), CGX_MISMATCH, "rank 1 gave up"));
  });
}

// The rank that waited frees the memory next, so MPI must not write there later, whichever thread calls it.
TEST_F(MpiFaultTest, WhatComesAfterAFailureDoesNotReachTheMemoryOfItsReceive) {
  runRanks(
      [](MPI_Comm communicator) {
        int tag = 0, noteTag = 0;
        const Bytes message =
            take(communicator, tag);       // including the header that rank 1 expects of this rank
        (void)take(communicator, noteTag); // rank 1 has failed
        MPI_Barrier(MPI_COMM_WORLD);       // and may use its memory again
        send(message, tag, communicator);
      },
      [](MpiTransport &transport) {
        Bytes sent(1000, std::byte{0x11}), room(1000, std::byte{0x22});
        Incoming waited{.peer = 0, .tag = kTag, .pieces = {room}};
        transport.post(waited);
        MessageBatch exchange(transport, 20000ms);
        exchange.send(0, kTag, {sent});
        ASSERT_TRUE(exchange.finish().ok());
        transport.fail(Status(CGX_TIMEOUT, "another rank is late"));
        MPI_Barrier(MPI_COMM_WORLD);
        for (const auto end = Clock::now() + 300ms; Clock::now() < end;) { // the host program continues
          int there = 0;
          MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        }
        EXPECT_EQ(room, Bytes(1000, std::byte{0x22}));
      });
}

/// Lets rank 0 report a failure with an arbitrary status.
void MpiFaultTest::expectFailureOf(uint32_t code, cgx_status expected) {
  runRanks(
      [&](MPI_Comm communicator) {
        struct {
          uint32_t kind = 2, code = 0;
          std::array<char, 1016> text{"broken"};
        } note;
        note.code = code;
        Bytes bytes(sizeof note);
        std::memcpy(bytes.data(), &note, sizeof note);
        send(bytes, kNoteTag, communicator);
      },
      [&](MpiTransport &transport) {
        Bytes room(10);
        MessageBatch exchange(transport, 10000ms);
        exchange.receive(0, kTag, {room});
        EXPECT_TRUE(failsWith(exchange.finish(), expected, "rank 0 gave up: broken"));
      });
}

TEST_F(MpiFaultTest, AFailureOfAKnownStatusKeepsIt) { expectFailureOf(CGX_BAD_PAYLOAD, CGX_BAD_PAYLOAD); }
TEST_F(MpiFaultTest, AFailureOfStatusZeroIsAFailure) { expectFailureOf(CGX_OK, CGX_INTERNAL); }
TEST_F(MpiFaultTest, AFailureOfAnUnknownStatusIsAFailure) { expectFailureOf(77, CGX_INTERNAL); }

} // namespace
} // namespace cgx::test
