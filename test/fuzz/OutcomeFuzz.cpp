//===-- test/fuzz/OutcomeFuzz.cpp - Outcomes that ranks send ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "cgx/run/Error.h"
#include "cgx/run/OutcomeStream.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

using namespace cgx::run;

static Job makeJob() {
  Job job;
  job.manifest.ranks = 2;
  job.manifest.mesh = {{"data", 2}};
  job.manifest.arguments = {{"w", CGX_F32, {3}, {3}, {{}}, std::nullopt}};
  job.stateArguments = {0};
  job.scalars.all = {{0, "loss"}};
  job.firstStep = 5;
  job.steps = 2;
  return job;
}

/// Returns the header's text with its length before it, as a rank writes it, and the rest of the input after
/// it. Without that, no input would have a header.
static std::vector<std::byte> withLength(Bytes input) {
  const uint32_t behind = input.take<uint8_t>();
  std::string_view text = input.text();
  const uint64_t length = text.size() - std::min<uint64_t>(behind, text.size());
  std::vector<std::byte> bytes(sizeof length + text.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::ranges::copy(std::as_bytes(std::span(text)), bytes.begin() + sizeof length); // the text may be empty
  return bytes;
}

static void take(std::span<const std::byte> bytes) {
  static const Job job = makeJob();
  OutcomeReader reader;
  reader.append(bytes);
  try {
    auto [rank, outcome] = reader.take(job);
    OutcomeReader again;
    again.append(packOutcome(rank, outcome));
    if (again.take(job).first != rank)
      __builtin_trap();
  } catch (const Error &error) {
    if (!*error.what())
      __builtin_trap(); // rejected without a reason
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  take(std::as_bytes(std::span(data, size)));
  take(withLength(Bytes(data, size)));
  return 0;
}
