//===-- Report.cpp - Sent bytes, layer by layer ---------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Report.h"

#include <algorithm>
#include <map>

namespace cgx::layers {

bool ReportTable::takesTurns() const {
  return std::ranges::any_of(rows, [](const ReportRow &row) { return row.every != 1; });
}

std::vector<uint64_t> ReportTable::mostInAStep() const {
  std::vector<uint64_t> most(size_t(ranks), 0);
  for (size_t rank = 0; rank < most.size(); ++rank) {
    std::map<uint64_t, std::map<uint64_t, uint64_t>> turns; // bytes of each turn, by period
    for (const ReportRow &row : rows)
      turns[row.every][row.turn] += row.turnBytes[rank];
    for (const auto &[every, bytes] : turns)
      most[rank] += std::ranges::max_element(bytes, {}, [](const auto &turn) { return turn.second; })->second;
  }
  return most;
}

void describe(ReportRow &row, const Operand &operand) {
  row.layer = operand.layer.name;
  row.kind = nameOf(operand.layer.kind);
  row.shape = row.shownShape = operand.shape;
  if (const auto &own = operand.layer.shape) {
    int64_t elements = 1;
    for (int64_t size : *own)
      elements *= size;
    if (elements == operand.elements())
      row.shownShape = *own;
  }
  row.elementType = nameOf(operand.type);
  row.codec = fullTextOf(operand.codec);
  row.shortCodec = operand.codec.isUncompressed() ? "" : shortTextOf(operand.codec);
  row.isMost = !operand.codec.isFixedSize();
}

void describeGather(ReportRow &row, const Collective &collective, const Operand &operand, int64_t ranks) {
  const int64_t size = collective.largestGroup();
  if (!operand.codec.changes || collective.kind != CGX_ALL_GATHER || size == 1)
    return;
  const Delta &changes = *operand.codec.changes;
  const auto elements = uint64_t(operand.elements());
  const uint64_t message = elements * (changes.storage == Storage::BF16 ? 2 : 4) + /*was it sent*/ 1;
  row.firstVisitBytes = elements * cgx_element_bytes(operand.type) * uint64_t(size - 1);
  row.messageBytes.assign(size_t(ranks), uint64_t(changes.samples) * uint64_t(size) * message);
}

ReportTable reportOf(const Table &table, std::vector<FoldedReduction> folded) {
  ReportTable report{table.ranks, {}, std::move(folded)};
  for (const Collective &collective : table.collectives)
    for (const Operand &operand : collective.operands) {
      ReportRow &row = report.rows.emplace_back();
      row.collective = collective.id;
      row.operation = nameOf(collective.kind);
      describe(row, operand);
      row.reason = operand.reason;
      row.runs = collective.runs;
      row.every = collective.every;
      describeGather(row, collective, operand, table.ranks);
      const uint64_t runs = collective.runs.value_or(1);
      for (int64_t rank = 0; rank < table.ranks; ++rank) {
        row.turnBytes.push_back(runs * wireBytesOf(collective, operand, operand.codec, rank));
        row.wireBytes.push_back(meanOfSteps(row.turnBytes.back(), row.every));
        row.rawBytes.push_back(
            meanOfSteps(runs * wireBytesOf(collective, operand, Codec(), rank), row.every));
      }
    }
  return report;
}

} // namespace cgx::layers
