//===-- cgx/run/OutcomeStream.h - Outcomes between processes ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a rank hands its outcome to the process that writes the report: over a
// pipe or a socket, once, then end of file. An end of file before that means
// that the rank died.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_OUTCOMESTREAM_H
#define CGX_RUN_OUTCOMESTREAM_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// The bytes of an outcome, as they are sent.
std::vector<std::byte> packOutcome(uint32_t rank, const Outcome &outcome);

/// False with errno set when the reader is gone.
bool sendOutcome(int fd, uint32_t rank, const Outcome &outcome);

/// The reading end: collects bytes as they come.
class OutcomeReader {
public:
  /// Reads what is there; false at the end of the file or on an error.
  bool read(int fd);

  /// Adds bytes that came in another way.
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  /// Whether anything has come.
  bool isEmpty() const { return bytes_.empty(); }

  /// The rank and its outcome. Throws Error when the bytes so far are not one of the job, whole: whoever sent
  /// them, every length, type and number in them is checked.
  std::pair<uint32_t, Outcome> take(const Job &job) const;

private:
  std::vector<std::byte> bytes_;
};

/// Brings the outcomes of all ranks to rank 0 over the job's own transport, between steps; what is wrong with
/// one is its error. On the other ranks `outcomes` stays as it is. Throws Error when the job has failed.
void gatherOutcomes(const Job &job, cgx_context *context, uint32_t rank, const Outcome &own,
                    std::vector<Outcome> &outcomes);

} // namespace cgx::run

#endif // CGX_RUN_OUTCOMESTREAM_H
