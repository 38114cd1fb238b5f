//===-- ReportText.cpp - The report for people ----------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace {

constexpr unsigned columns = 8;
using Line = std::array<std::string, columns>;
constexpr std::array<bool, columns> rightAligned = {false, false, false, false, true, true, true, false};

/// Mean over the ranks, to the nearest byte. Ranks own chunks of different sizes, so that they send
/// slightly different amounts; their sum, and with it the ratio, does not depend on who owns what.
uint64_t meanOf(const std::vector<uint64_t> &bytes) {
  uint64_t sum = std::accumulate(bytes.begin(), bytes.end(), uint64_t(0));
  return bytes.empty() ? 0 : (sum + bytes.size() / 2) / bytes.size();
}

std::string ratioText(uint64_t raw, uint64_t wire) {
  if (wire == 0)
    return "-";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2fx",
                                                 static_cast<double>(raw) / static_cast<double>(wire));
  return text;
}

std::string typeText(const cgx::ReportRow &row) {
  std::string text;
  for (int64_t dimension : row.shape)
    text += std::to_string(dimension) + "x";
  text += row.elementType;
  if (!row.runs)
    text += " x?";
  else if (*row.runs != 1)
    text += " x" + std::to_string(*row.runs);
  if (row.every != 1)
    text += " /" + std::to_string(row.every);
  return text;
}

Line lineOf(const cgx::ReportRow &row) {
  uint64_t raw = meanOf(row.rawBytes), wire = meanOf(row.wireBytes);
  return {row.layer.empty() ? "(unnamed)" : row.layer,
          row.kind,
          typeText(row),
          row.codec,
          std::to_string(raw),
          (row.isMost ? "<= " : "") + std::to_string(wire),
          ratioText(raw, wire),
          row.reason};
}

/// The sums over all rows.
Line totalOf(const cgx::ReportTable &table) {
  std::vector<uint64_t> raw(table.ranks), wire(table.ranks);
  for (const cgx::ReportRow &row : table.rows)
    for (int64_t rank = 0; rank < table.ranks; ++rank) {
      raw[rank] += row.rawBytes[rank];
      wire[rank] += row.wireBytes[rank];
    }
  return {"total",
          "",
          "",
          "",
          std::to_string(meanOf(raw)),
          std::to_string(meanOf(wire)),
          ratioText(meanOf(raw), meanOf(wire)),
          ""};
}

void printLine(const Line &line, const std::array<size_t, columns> &widths, llvm::raw_ostream &os) {
  std::string text;
  for (unsigned column = 0; column < columns; ++column) {
    std::string padding(widths[column] - line[column].size(), ' ');
    text += rightAligned[column] ? padding + line[column] : line[column] + padding;
    text += "  ";
  }
  os << llvm::StringRef(text).rtrim() << '\n';
}

/// What `cgx-reuse-gathers` saved, and at what price.
void printReuse(const cgx::ReportTable &table, llvm::raw_ostream &os) {
  uint64_t gathers = 0, saved = 0, held = 0;
  for (const cgx::ReportRow &row : table.rows) {
    gathers += row.reuses;
    saved += row.reuses * meanOf(row.wireBytes);
    held += row.heldBytes;
  }
  if (gathers != 0)
    os << "gathered once: " << gathers << (gathers == 1 ? " gather takes" : " gathers take")
       << " the value of an earlier one, which saves " << saved << " bytes on the wire and keeps " << held
       << " bytes in memory\n";
}

/// The shape of pipelines, as far as their loops say it.
void printPipelines(const cgx::ReportTable &table, llvm::raw_ostream &os) {
  for (const cgx::ReportRow &row : table.rows) {
    if (row.stages < 2 || !row.runs)
      continue;
    os << row.layer << ": " << row.stages << " stages, " << *row.runs << " ticks";
    if (*row.runs >= row.stages)
      os << " of " << *row.runs - row.stages + 1 << " microbatches, with bubbles in " << row.stages - 1
         << (row.stages == 2 ? " tick" : " ticks") << " of each stage";
    os << '\n';
  }
}

/// What both ends of edges keep of each sample.
void printMessages(const cgx::ReportTable &table, llvm::raw_ostream &os) {
  for (const cgx::ReportRow &row : table.rows) {
    if (row.messageBytes.empty())
      continue;
    uint64_t most = *llvm::max_element(row.messageBytes);
    os << row.layer << ": a rank keeps up to " << most
       << " bytes of messages of samples, saved with checkpoints; "
       << "samples that were not sent before add up to " << row.firstVisitBytes << " bytes to a message\n";
  }
}

} // namespace

void cgx::printText(const ReportTable &table, llvm::raw_ostream &os) {
  std::set<int64_t> collectives, started;
  for (const ReportRow &row : table.rows) {
    collectives.insert(row.collective);
    if (row.isStarted)
      started.insert(row.collective);
  }
  os << "cgx report: " << table.ranks << (table.ranks == 1 ? " rank, " : " ranks, ") << collectives.size()
     << (collectives.size() == 1 ? " collective" : " collectives");
  if (!started.empty())
    os << " (" << started.size() << " started early)";
  os << ", " << table.rows.size() << (table.rows.size() == 1 ? " operand" : " operands")
     << "; bytes per rank and step (mean over ranks)\n";
  if (table.rows.empty())
    return;

  llvm::SmallVector<Line> lines = {
      {"layer", "kind", "tensor", "codec", "raw bytes", "wire bytes", "ratio", "why exact"}};
  for (const ReportRow &row : table.rows)
    lines.push_back(lineOf(row));
  lines.push_back(totalOf(table));

  std::array<size_t, columns> widths = {};
  for (const Line &line : lines)
    for (unsigned column = 0; column < columns; ++column)
      widths[column] = std::max(widths[column], line[column].size());
  for (const Line &line : lines)
    printLine(line, widths, os);
  printReuse(table, os);
  printPipelines(table, os);
  printMessages(table, os);
  if (llvm::any_of(table.rows, [](const ReportRow &row) { return row.runs && *row.runs != 1; }))
    os << "xN: runs N times in a step, in a loop; bytes are those of all runs\n";
  if (llvm::any_of(table.rows, [](const ReportRow &row) { return row.every != 1; }))
    os << "/N: sent every Nth step; bytes are the mean of N steps\n";
  if (llvm::any_of(table.rows, [](const ReportRow &row) { return row.isMost; }))
    os << "<=: how many depends on the data; these are the most, and counted as such in the total\n";
  if (llvm::any_of(table.rows, [](const ReportRow &row) { return !row.runs; }))
    os << "x?: the step decides how often this runs; bytes are those of one run\n";
}
