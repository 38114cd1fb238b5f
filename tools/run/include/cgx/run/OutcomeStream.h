//===-- cgx/run/OutcomeStream.h - Sending outcomes between processes -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank sends its outcome once, over a pipe or a socket, to the process that writes the report,
// and then ends the stream. If the stream ends before that, the rank has died.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_OUTCOMESTREAM_H
#define CGX_RUN_OUTCOMESTREAM_H

#include "cgx/run/Job.h"

namespace cgx::run {

/// Returns the bytes in which an outcome is sent.
std::vector<std::byte> packOutcome(uint32_t rank, const Outcome &outcome);

/// Sends an outcome. Returns false and sets errno when the reader is gone.
bool sendOutcome(int fd, uint32_t rank, const Outcome &outcome);

/// The reading end, which collects bytes as they arrive.
class OutcomeReader {
public:
  /// Reads the bytes that are available. Returns false at the end of the file or on an error.
  bool read(int fd);

  /// Adds bytes that arrived in another way.
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  /// Returns true if no bytes have arrived.
  bool isEmpty() const { return bytes_.empty(); }

  /// Returns the rank and its outcome. Throws Error unless the bytes so far are one complete outcome of the
  /// job: every length, type and number is checked, because any process may have sent them.
  std::pair<uint32_t, Outcome> take(const Job &job) const;

private:
  std::vector<std::byte> bytes_;
};

/// Brings the outcomes of all ranks to rank 0 over the job's own transport, between steps. An outcome that is
/// malformed becomes an outcome with that error. On the other ranks `outcomes` stays unchanged. Throws Error
/// when the job has failed.
void gatherOutcomes(const Job &job, cgx_context *context, uint32_t rank, const Outcome &own,
                    std::vector<Outcome> &outcomes);

} // namespace cgx::run

#endif // CGX_RUN_OUTCOMESTREAM_H
