//===-- test/fuzz/HandshakeFuzz.cpp - First messages of other ranks -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The messages come from a rank of another build or job, or from another program: identities, and the sizes
// that precede gathered data.
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "context/CompareConfigs.h"
#include "context/Gather.h"

using namespace cgx;

namespace {

/// A transport that answers each receive with the next bytes of the input.
class Told final : public Transport {
public:
  explicit Told(Bytes &input) : input(input) {}

  uint32_t rank() const override { return 0; }
  uint32_t ranks() const override { return 3; }
  void post(Outgoing &message) override { message.done = true; }
  void post(Incoming &message) override {
    for (std::span<std::byte> piece : message.pieces)
      for (std::byte &byte : piece.first(std::min<size_t>(piece.size(), 4096)))
        byte = std::byte(input.take<uint8_t>());
    // Sizes are small enough for memory, or larger than any vector; AddressSanitizer reports those in between
    // as errors.
    if (messageBytes(message) == sizeof(uint64_t) && input.take<uint8_t>() % 2)
      std::memset(message.pieces[0].data() + 2, 0, sizeof(uint64_t) - 2);
    else if (messageBytes(message) == sizeof(uint64_t))
      message.pieces[0][7] |= std::byte(0x80);
    message.done = true;
  }
  Status progress(bool &moved) override {
    moved = true;
    return failed;
  }
  void idle(std::chrono::microseconds) override {}
  Status checkPeers() override { return failed; }
  std::vector<Clock::duration> sinceProgress() override { return std::vector<Clock::duration>(ranks()); }
  void fail(const Status &reason) override { failed = reason; }
  const Status &failure() const override { return failed; }
  uint64_t bytesSent() const override { return 0; }

private:
  Bytes &input;
  Status failed;
};

void expectReason(const Status &status) {
  if (!status.ok() && status.message().empty())
    __builtin_trap();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Bytes input(data, size);
  const bool greets = input.take<uint8_t>() % 2;
  Told transport(input);
  if (greets) {
    Program program;
    program.hash = "0123456789abcdef";
    expectReason(compareConfigs(transport, std::chrono::milliseconds(10), {.abiVersion = 1}, program));
    return 0;
  }
  auto gathered = gather(transport, std::chrono::milliseconds(10), 1, {});
  expectReason(gathered.ok() ? Status() : gathered.status());
  return 0;
}
