//===-- Report.h - What travels, layer by layer -----------------*- C++ -*-===//
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
  /// The op: "all_reduce".
  std::string operation;
  /// The parameter's path; empty for an operand that belongs to none.
  std::string layer;
  std::string kind;
  std::vector<int64_t> shape;
  /// For people: the parameter's own, where as many elements travel in another order or with other
  /// dimensions.
  std::vector<int64_t> shownShape;
  std::string elementType;
  /// With all of its parameters, and for people: those that are usual left out; empty where elements travel
  /// as they are.
  std::string codec, shortCodec;
  /// Why it stays exact; empty for what is compressed.
  std::string reason;
  /// How often it runs in a step, in loops; nothing where the step decides that while it runs.
  std::optional<uint64_t> runs = 1;
  /// It does so every so many steps, in which of these, and the bytes that leave each rank then.
  uint64_t every = 1, turn = 1;
  std::vector<uint64_t> turnBytes;
  /// Bytes that leave each rank in one step, the mean of `every`, encoded and as the elements are; in one run
  /// where `runs` is not known.
  std::vector<uint64_t> wireBytes;
  std::vector<uint64_t> rawBytes;
  /// It is started ahead of where its results are used.
  bool isStarted = false;
  /// How many other gathers of the same value it stands for (cgx-reuse-gathers), how many of these are in
  /// later loops, the bytes that a rank keeps for that, and whether the others of its own block decode kept
  /// payloads again.
  uint64_t reuses = 0, loopReuses = 0, heldBytes = 0;
  bool keepsPayloads = false;
  /// Of changes: bytes of messages that each rank keeps, and what rows of samples not sent before add to
  /// `wireBytes` in each run, at most.
  std::vector<uint64_t> messageBytes;
  uint64_t firstVisitBytes = 0;
  /// Of an edge of a pipeline: how many stages it leads through.
  uint64_t stages = 0;
  bool isInterleaved = false; ///< in one loop with the other direction (1F1B)
  /// Of a permute that sends nothing in some runs: in how many each rank sends, and all of them without that.
  std::vector<uint64_t> sendingRuns;
  uint64_t messages = 0, mostMessages = 0;
  /// Payloads vary in size: wireBytes are the most that they can be.
  bool isMost = false;
};

/// An operand of a reduction that was taken away, since its ranks hold the same anyway.
struct FoldedReduction {
  std::string layer, kind, operation;
  std::string reason; ///< why they do: "computed from the result of all_reduce 'params/w'"
};

struct ReportTable {
  int64_t ranks = 1;
  std::vector<ReportRow> rows;
  std::vector<FoldedReduction> folded;

  bool takesTurns() const;
  /// The most bytes that leave each rank in a step, where not all are alike.
  std::vector<uint64_t> mostInAStep() const;
};

/// What bytes that are sent every so many steps are in one of them, to the nearest byte.
constexpr uint64_t meanOfSteps(uint64_t bytes, uint64_t every) { return (bytes + every / 2) / every; }

/// What a row says of an operand, whatever collective it is in.
void describe(ReportRow &row, const Operand &operand);

/// What ranks of a gather keep of each other's parts, where it sends changes.
void describeGather(ReportRow &row, const Collective &collective, const Operand &operand, int64_t ranks);

/// The report of a table of which nothing else is known.
ReportTable reportOf(const Table &table, std::vector<FoldedReduction> folded);

/// For people: columns, and totals below. Bytes are means over the ranks.
std::string reportText(const ReportTable &table);

/// For programs: everything, bytes for each rank.
std::string reportJson(const ReportTable &table);

} // namespace cgx::layers

#endif // CGX_LAYERS_REPORT_H
