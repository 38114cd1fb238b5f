//===-- Report.h - Sent bytes, layer by layer -------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_REPORT_H
#define CGX_LAYERS_REPORT_H

#include "cgx/layers/Table.h"

namespace cgx::layers {

/// One operand of one collective.
struct ReportRow {
  int64_t collective = 0;
  /// The op, such as "all_reduce".
  std::string operation;
  /// The parameter's path; empty for an operand that belongs to no parameter.
  std::string layer;
  std::string kind;
  std::vector<int64_t> shape;
  /// The shape shown to people: the parameter's own, if as many elements travel in another order or with
  /// other dimensions.
  std::vector<int64_t> shownShape;
  std::string elementType;
  /// The codec with all of its parameters, and without the usual ones for people; empty if elements travel
  /// uncompressed.
  std::string codec, shortCodec;
  /// Why the operand stays uncompressed; empty for a compressed one.
  std::string reason;
  /// The number of runs in a step, in loops; nothing if the step decides that while it runs.
  std::optional<uint64_t> runs = 1;
  /// The period in steps, the turn within a period in which it runs, and the bytes that leave each rank then.
  uint64_t every = 1, turn = 1;
  std::vector<uint64_t> turnBytes;
  /// The bytes that leave each rank in one step, averaged over `every`, encoded and uncompressed; in one run
  /// if `runs` is not known.
  std::vector<uint64_t> wireBytes;
  std::vector<uint64_t> rawBytes;
  /// True if it is started before its results are used.
  bool isStarted = false;
  /// The number of other gathers of the same value that it replaces (cgx-reuse-gathers), how many of these
  /// are in later loops, the bytes that a rank keeps for that, and whether the others of its own block decode
  /// kept payloads again.
  uint64_t reuses = 0, loopReuses = 0, heldBytes = 0;
  bool keepsPayloads = false;
  /// The bytes of message buffers that each rank keeps, if changes are sent, and the most bytes that rows of
  /// samples not sent before add to `wireBytes` in each run.
  std::vector<uint64_t> messageBytes;
  uint64_t firstVisitBytes = 0;
  /// The number of stages of an edge of a pipeline.
  uint64_t stages = 0;
  bool isInterleaved = false; ///< true if it is in one loop with the other direction (1F1B)
  /// The runs in which each rank of a permute sends something, if not in all; the messages of all ranks, and
  /// their number without that.
  std::vector<uint64_t> sendingRuns;
  uint64_t messages = 0, mostMessages = 0;
  /// True if payloads vary in size; wireBytes is then the maximum.
  bool isMost = false;
};

/// An operand of a reduction that was removed, since its ranks have equal values anyway.
struct FoldedReduction {
  std::string layer, kind, operation;
  std::string reason; ///< why they are equal: "computed from the result of all_reduce 'params/w'"
};

struct ReportTable {
  int64_t ranks = 1;
  std::vector<ReportRow> rows;
  std::vector<FoldedReduction> folded;

  bool takesTurns() const;
  /// Returns the most bytes that leave each rank in a step, since steps may differ.
  std::vector<uint64_t> mostInAStep() const;
};

/// Returns the bytes per step of bytes that are sent every `every` steps, to the nearest byte.
constexpr uint64_t meanOfSteps(uint64_t bytes, uint64_t every) { return (bytes + every / 2) / every; }

/// Fills in the fields of a row that depend on the operand, whatever collective it is in.
void describe(ReportRow &row, const Operand &operand);

/// Fills in the memory that ranks of a gather keep of each other's parts, if it sends changes.
void describeGather(ReportRow &row, const Collective &collective, const Operand &operand, int64_t ranks);

/// Returns the report of a table about which nothing else is known.
ReportTable reportOf(const Table &table, std::vector<FoldedReduction> folded);

/// Returns the report for people: columns, and totals below. Bytes are means over the ranks.
std::string reportText(const ReportTable &table);

/// Returns the report for programs: everything, with bytes for each rank.
std::string reportJson(const ReportTable &table);

} // namespace cgx::layers

#endif // CGX_LAYERS_REPORT_H
