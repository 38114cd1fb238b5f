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
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace {

/// Layer, kind, tensor, raw bytes, wire bytes, ratio; after them, the codec or why a tensor is exact.
constexpr unsigned columns = 7;
constexpr unsigned last = columns - 1;
using TextLine = std::array<std::string, columns>;
constexpr std::array<bool, columns> rightAligned = {false, false, false, true, true, true, false};

/// How wide the report is: a line is longer only where a word is.
constexpr size_t lineLimit = 100;
/// What the last column has at least: its title, and most reasons to stay exact.
constexpr size_t leastForLast = 16;
constexpr size_t leastForLayer = 16;
constexpr size_t gap = 2;

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
  for (int64_t dimension : row.shownShape)
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

std::string codecOrReason(const cgx::ReportRow &row) {
  if (row.shortCodec.empty())
    return row.reason.empty() ? "exact" : row.reason;
  return row.reason.empty() ? row.shortCodec : row.shortCodec + ": " + row.reason;
}

TextLine textLineOf(const cgx::ReportRow &row) {
  uint64_t raw = meanOf(row.rawBytes), wire = meanOf(row.wireBytes);
  return {row.layer.empty() ? "(unnamed)" : row.layer,
          row.kind,
          typeText(row),
          std::to_string(raw),
          (row.isMost ? "<= " : "") + std::to_string(wire),
          ratioText(raw, wire),
          codecOrReason(row)};
}

/// The sums over all rows.
TextLine totalOf(const cgx::ReportTable &table) {
  std::vector<uint64_t> raw(table.ranks), wire(table.ranks);
  for (const cgx::ReportRow &row : table.rows)
    for (int64_t rank = 0; rank < table.ranks; ++rank) {
      raw[rank] += row.rawBytes[rank];
      wire[rank] += row.wireBytes[rank];
    }
  return {"total",
          "",
          "",
          std::to_string(meanOf(raw)),
          std::to_string(meanOf(wire)),
          ratioText(meanOf(raw), meanOf(wire)),
          ""};
}

void breakLine(std::string &line, size_t indent, llvm::raw_ostream &os) {
  os << llvm::StringRef(line).rtrim() << '\n';
  line.assign(indent, ' ');
}

/// Goes on with `line` by words, in as many lines as they need, which begin at `indent`.
void printWords(std::string line, llvm::StringRef text, size_t indent, llvm::raw_ostream &os) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(text, words, " ");
  for (llvm::StringRef word : words) {
    if (line.size() > indent && line.size() + 1 + word.size() > lineLimit)
      breakLine(line, indent, os);
    if (line.size() > indent)
      line += ' ';
    line += word;
  }
  os << llvm::StringRef(line).rtrim() << '\n';
}

/// A sentence under the table, or above it.
void printSentence(const std::string &text, llvm::raw_ostream &os) { printWords("", text, 0, os); }

/// Prints rows in columns that fit: what has no room in the last one is a note below, where it stands once,
/// and what has none in the first stands above its row.
class Table {
public:
  explicit Table(llvm::ArrayRef<TextLine> lines) {
    for (const TextLine &line : lines)
      for (unsigned column = 0; column < columns; ++column)
        widths[column] = std::max(widths[column], line[column].size());
    size_t between = gap;
    for (unsigned column = 1; column < last; ++column)
      between += widths[column] + gap;
    const size_t beside = between + std::min(widths[last], leastForLast);
    widths[0] = std::min(widths[0], std::max(beside < lineLimit ? lineLimit - beside : 0, leastForLayer));
    widths[last] = std::max(lineLimit - std::min(lineLimit, widths[0] + between), leastForLast);
  }

  void print(const TextLine &line, llvm::raw_ostream &os) {
    std::string text = line[0];
    if (text.size() > widths[0]) {
      printSentence(text, os);
      text.clear();
    }
    text.resize(widths[0] + gap, ' ');
    for (unsigned column = 1; column < last; ++column) {
      std::string padding(widths[column] - line[column].size(), ' ');
      text += rightAligned[column] ? padding + line[column] : line[column] + padding;
      text.append(gap, ' ');
    }
    text += line[last].size() <= widths[last] ? line[last] : noteOf(line[last]);
    os << llvm::StringRef(text).rtrim() << '\n';
  }

  void printNotes(llvm::raw_ostream &os) const {
    for (auto [i, note] : llvm::enumerate(notes)) {
      std::string number = '[' + std::to_string(i + 1) + "] ";
      size_t indent = number.size();
      printWords(std::move(number), note, indent, os);
    }
  }

private:
  std::string noteOf(const std::string &text) {
    auto found = llvm::find(notes, text);
    const size_t number = found - notes.begin();
    if (found == notes.end())
      notes.push_back(text);
    return '[' + std::to_string(number + 1) + ']';
  }

  std::array<size_t, columns> widths = {};
  std::vector<std::string> notes;
};

/// What `cgx-reuse-gathers` saved, and at what price.
void printReuse(const cgx::ReportTable &table, llvm::raw_ostream &os) {
  uint64_t gathers = 0, decoded = 0, inLoops = 0, saved = 0, held = 0;
  for (const cgx::ReportRow &row : table.rows) {
    gathers += row.reuses;
    decoded += row.keepsPayloads ? row.reuses - row.loopReuses : 0;
    inLoops += row.loopReuses;
    saved += row.reuses * meanOf(row.wireBytes);
    held += row.heldBytes;
  }
  if (gathers != 0)
    printSentence(
        "gathered once: " + std::to_string(gathers) + (gathers == 1 ? " gather takes" : " gathers take") +
            " the value of an earlier one" +
            (decoded == 0 ? "" : ", " + std::to_string(decoded) + " by decoding its payloads again") +
            (inLoops == 0 ? "" : ", " + std::to_string(inLoops) + " in each trip of another loop") +
            ", which saves " + std::to_string(saved) + " bytes on the wire and keeps " +
            std::to_string(held) + " bytes in memory",
        os);
}

/// The reductions that are gone, a sentence for each reason.
void printFolded(const cgx::ReportTable &table, llvm::raw_ostream &os) {
  constexpr size_t listed = 4;
  std::vector<std::pair<std::string, std::vector<std::string>>> byReason;
  for (const cgx::FoldedReduction &one : table.folded) {
    auto found = llvm::find_if(byReason, [&](const auto &entry) { return entry.first == one.reason; });
    if (found == byReason.end())
      found = byReason.insert(byReason.end(), {one.reason, {}});
    found->second.push_back(one.operation + " of " +
                            (one.layer.empty() ? "(unnamed)" : "'" + one.layer + "'"));
  }
  for (const auto &[reason, operations] : byReason) {
    std::string text = "folded, since ranks hold the same already: ";
    text += llvm::join(llvm::ArrayRef(operations).take_front(listed), ", ");
    if (operations.size() > listed)
      text += " and " + std::to_string(operations.size() - listed) + " more";
    printSentence(text + ", " + reason, os);
  }
}

/// The shape of pipelines, as far as their loops say it.
void printPipelines(const cgx::ReportTable &table, llvm::raw_ostream &os) {
  for (const cgx::ReportRow &row : table.rows) {
    if (row.stages < 2 || !row.runs)
      continue;
    os << row.layer << ": " << row.stages << " stages, " << *row.runs << " ticks";
    if (row.isInterleaved)
      os << ", forward and backward in one loop (1F1B)";
    else if (*row.runs >= row.stages)
      os << " of " << *row.runs - row.stages + 1 << " microbatches, with bubbles in " << row.stages - 1
         << (row.stages == 2 ? " tick" : " ticks") << " of each stage";
    os << '\n';
  }
  for (const cgx::ReportRow &row : table.rows) {
    if (row.stages < 2 || !row.runs)
      continue;
    os << row.layer << ": ";
    if (row.mostMessages != 0)
      os << "nothing is sent in bubbles, " << row.messages << " messages in place of " << row.mostMessages;
    else
      os << "bubbles are sent as well";
    os << '\n';
  }
}

/// What both ends of edges keep of each sample, and ranks of gathers of each part.
void printMessages(const cgx::ReportTable &table, llvm::raw_ostream &os) {
  for (const cgx::ReportRow &row : table.rows) {
    if (row.messageBytes.empty())
      continue;
    uint64_t most = *llvm::max_element(row.messageBytes);
    if (row.operation == "all_gather")
      printSentence(row.layer + ": a rank keeps " + std::to_string(most) +
                        " bytes of messages of what was gathered, saved with checkpoints; what was not "
                        "gathered before adds " +
                        std::to_string(row.firstVisitBytes) + " bytes to a gather",
                    os);
    else
      printSentence(row.layer + ": a rank keeps up to " + std::to_string(most) +
                        " bytes of messages of samples, saved with checkpoints; samples that were not sent "
                        "before add up to " +
                        std::to_string(row.firstVisitBytes) + " bytes to a message",
                    os);
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
  auto count = [](size_t number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string early = started.empty() ? "" : " (" + std::to_string(started.size()) + " started early)";
  printSentence("cgx report: " + count(table.ranks, "rank") + ", " + count(collectives.size(), "collective") +
                    early + ", " + count(table.rows.size(), "operand") +
                    "; bytes per rank and step (mean over ranks)",
                os);
  if (table.rows.empty())
    return printFolded(table, os);

  llvm::SmallVector<TextLine> lines = {
      {"layer", "kind", "tensor", "raw bytes", "wire bytes", "ratio", "codec, why exact"}};
  for (const ReportRow &row : table.rows)
    lines.push_back(textLineOf(row));
  lines.push_back(totalOf(table));

  Table printed(lines);
  for (const TextLine &line : lines)
    printed.print(line, os);
  printed.printNotes(os);
  printFolded(table, os);
  printReuse(table, os);
  printPipelines(table, os);
  printMessages(table, os);
  if (llvm::any_of(table.rows, [](const ReportRow &row) { return row.runs && *row.runs != 1; }))
    os << "xN: runs N times in a step, in a loop; bytes are those of all runs\n";
  if (table.takesTurns())
    printSentence("/N: sent every Nth step; bytes are the mean of N steps, and at most " +
                      std::to_string(meanOf(table.getMostInAStep())) + " in one",
                  os);
  if (llvm::any_of(table.rows, [](const ReportRow &row) { return row.isMost; }))
    os << "<=: how many depends on the data; these are the most, and counted as such in the total\n";
  if (llvm::any_of(table.rows, [](const ReportRow &row) { return !row.runs; }))
    os << "x?: the step decides how often this runs; bytes are those of one run\n";
}
