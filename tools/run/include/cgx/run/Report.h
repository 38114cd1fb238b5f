//===-- cgx/run/Report.h - Report of a run ----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_REPORT_H
#define CGX_RUN_REPORT_H

#include "cgx/run/Replicas.h"

namespace cgx::run {

/// Returns a hash of the whole state, equal for equal tensors.
std::string stateHash(const Job &job, const std::vector<Outcome> &outcomes);

/// The report as JSON (schema in tools/run/README.md), and the places where the bytes that the transport
/// counted differ from those that the manifest promised.
struct Report {
  std::string text;
  std::vector<std::string> problems;
};
Report makeReport(const Job &job, const std::vector<Outcome> &outcomes,
                  std::span<const Disagreement> disagreements);

/// Returns a few lines for the terminal, made from the report's text.
std::string summarize(const std::string &report);

/// Formats a number of bytes for people: `1.23 MB`.
std::string bytesString(double bytes);

} // namespace cgx::run

#endif // CGX_RUN_REPORT_H
