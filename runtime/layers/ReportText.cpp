//===-- ReportText.cpp - The report for people ----------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Report.h"
#include "cgx/layers/Text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <set>

namespace cgx::layers {

namespace {

/// The columns: layer, kind, tensor, raw bytes, wire bytes, ratio; then the codec, or why a tensor is
/// uncompressed.
constexpr unsigned columns = 7;
constexpr unsigned last = columns - 1;
using TextLine = std::array<std::string, columns>;
constexpr std::array<bool, columns> rightAligned = {false, false, false, true, true, true, false};

/// The width of the report: a line is longer only if a word is.
constexpr size_t lineLimit = 100;
/// The least width of the last column, which fits its title and most reasons.
constexpr size_t leastForLast = 16;
constexpr size_t leastForLayer = 16;
constexpr size_t gap = 2;

/// Returns the mean over the ranks, to the nearest byte. Ranks own chunks of different sizes and so send
/// slightly different amounts; their sum, and with it the ratio, does not depend on who owns what.
uint64_t meanOf(const std::vector<uint64_t> &bytes) {
  uint64_t sum = std::accumulate(bytes.begin(), bytes.end(), uint64_t(0));
  return bytes.empty() ? 0 : (sum + bytes.size() / 2) / bytes.size();
}

std::string ratioText(uint64_t raw, uint64_t wire) {
  if (wire == 0)
    return "-";
  std::array<char, 128> text;
  const double ratio = static_cast<double>(raw) / static_cast<double>(wire);
  return std::string(text.data(),
                     std::to_chars(text.begin(), text.end(), ratio, std::chars_format::fixed, 2).ptr) +
         "x";
}

std::string typeText(const ReportRow &row) {
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

std::string codecOrReason(const ReportRow &row) {
  if (row.shortCodec.empty())
    return row.reason.empty() ? "exact" : row.reason;
  return row.reason.empty() ? row.shortCodec : row.shortCodec + ": " + row.reason;
}

TextLine textLineOf(const ReportRow &row) {
  uint64_t raw = meanOf(row.rawBytes), wire = meanOf(row.wireBytes);
  return {row.layer.empty() ? "(unnamed)" : row.layer,
          row.kind,
          typeText(row),
          std::to_string(raw),
          (row.isMost ? "<= " : "") + std::to_string(wire),
          ratioText(raw, wire),
          codecOrReason(row)};
}

/// Returns the line with the sums over all rows.
TextLine totalOf(const ReportTable &table) {
  std::vector<uint64_t> raw(table.ranks), wire(table.ranks);
  for (const ReportRow &row : table.rows)
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

/// Writes a line, without spaces at its end.
void writeLine(std::string_view line, std::string &out) {
  while (!line.empty() && isSpace(line.back()))
    line.remove_suffix(1);
  out.append(line).append("\n");
}

void breakLine(std::string &line, size_t indent, std::string &out) {
  writeLine(line, out);
  line.assign(indent, ' ');
}

/// Continues `line` word by word, on as many lines as needed, which begin at `indent`.
void printWords(std::string line, std::string_view text, size_t indent, std::string &out) {
  for (const std::string &word : split(text, ' ')) {
    if (word.empty())
      continue;
    if (line.size() > indent && line.size() + 1 + word.size() > lineLimit)
      breakLine(line, indent, out);
    if (line.size() > indent)
      line += ' ';
    line += word;
  }
  writeLine(line, out);
}

/// Prints a sentence above or below the table.
void printSentence(const std::string &text, std::string &out) { printWords("", text, 0, out); }

/// Prints rows in columns that fit. Text too long for the last column becomes a note below the table, where
/// it stands once; text too long for the first stands above its row.
class Columns {
public:
  explicit Columns(const std::vector<TextLine> &lines) {
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

  void print(const TextLine &line, std::string &out) {
    std::string text = line[0];
    if (text.size() > widths[0]) {
      printSentence(text, out);
      text.clear();
    }
    text.resize(widths[0] + gap, ' ');
    for (unsigned column = 1; column < last; ++column) {
      std::string padding(widths[column] - line[column].size(), ' ');
      text += rightAligned[column] ? padding + line[column] : line[column] + padding;
      text.append(gap, ' ');
    }
    text += line[last].size() <= widths[last] ? line[last] : noteOf(line[last]);
    writeLine(text, out);
  }

  void printNotes(std::string &out) const {
    for (size_t i = 0; i < notes.size(); ++i) {
      std::string number = '[' + std::to_string(i + 1) + "] ";
      size_t indent = number.size();
      printWords(std::move(number), notes[i], indent, out);
    }
  }

private:
  std::string noteOf(const std::string &text) {
    const auto found = std::ranges::find(notes, text);
    const auto number = size_t(found - notes.begin());
    if (found == notes.end())
      notes.push_back(text);
    return '[' + std::to_string(number + 1) + ']';
  }

  std::array<size_t, columns> widths = {};
  std::vector<std::string> notes;
};

/// Prints what `cgx-reuse-gathers` saved, and what it cost.
void printReuse(const ReportTable &table, std::string &out) {
  uint64_t gathers = 0, decoded = 0, inLoops = 0, saved = 0, held = 0;
  for (const ReportRow &row : table.rows) {
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
        out);
}

/// Prints the reductions that were removed, one sentence for each reason.
void printFolded(const ReportTable &table, std::string &out) {
  constexpr size_t listed = 4;
  std::vector<std::pair<std::string, std::vector<std::string>>> byReason;
  for (const FoldedReduction &one : table.folded) {
    auto found = std::ranges::find(byReason, one.reason, [](const auto &entry) { return entry.first; });
    if (found == byReason.end())
      found = byReason.insert(byReason.end(), {one.reason, {}});
    found->second.push_back(one.operation + " of " +
                            (one.layer.empty() ? "(unnamed)" : "'" + one.layer + "'"));
  }
  for (const auto &[reason, operations] : byReason) {
    std::string text = "folded, since ranks hold the same already: ";
    text += join({operations.begin(), operations.begin() + long(std::min(listed, operations.size()))}, ", ");
    if (operations.size() > listed)
      text += " and " + std::to_string(operations.size() - listed) + " more";
    printSentence(text + ", " + reason, out);
  }
}

/// Prints the shape of pipelines, as far as their loops show it.
void printPipelines(const ReportTable &table, std::string &out) {
  for (const ReportRow &row : table.rows) {
    if (row.stages < 2 || !row.runs)
      continue;
    out += row.layer + ": " + std::to_string(row.stages) + " stages, " + std::to_string(*row.runs) + " ticks";
    if (row.isInterleaved)
      out += ", forward and backward in one loop (1F1B)";
    else if (*row.runs >= row.stages)
      out += " of " + std::to_string(*row.runs - row.stages + 1) + " microbatches, with bubbles in " +
             std::to_string(row.stages - 1) + (row.stages == 2 ? " tick" : " ticks") + " of each stage";
    out += '\n';
  }
  for (const ReportRow &row : table.rows) {
    if (row.stages < 2 || !row.runs)
      continue;
    out += row.layer + ": ";
    if (row.mostMessages != 0)
      out += "nothing is sent in bubbles, " + std::to_string(row.messages) + " messages in place of " +
             std::to_string(row.mostMessages);
    else
      out += "bubbles are sent as well";
    out += '\n';
  }
}

/// Prints the memory of message buffers: at both ends of edges for each sample, and on ranks of gathers for
/// each part.
void printMessages(const ReportTable &table, std::string &out) {
  for (const ReportRow &row : table.rows) {
    if (row.messageBytes.empty())
      continue;
    uint64_t most = *std::ranges::max_element(row.messageBytes);
    if (row.operation == "all_gather")
      printSentence(row.layer + ": a rank keeps " + std::to_string(most) +
                        " bytes of messages of what was gathered, saved with checkpoints; what was not "
                        "gathered before adds " +
                        std::to_string(row.firstVisitBytes) + " bytes to a gather",
                    out);
    else
      printSentence(row.layer + ": a rank keeps up to " + std::to_string(most) +
                        " bytes of messages of samples, saved with checkpoints; samples that were not sent "
                        "before add up to " +
                        std::to_string(row.firstVisitBytes) + " bytes to a message",
                    out);
  }
}

} // namespace

std::string reportText(const ReportTable &table) {
  std::string out;
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
  printSentence("cgx report: " + count(size_t(table.ranks), "rank") + ", " +
                    count(collectives.size(), "collective") + early + ", " +
                    count(table.rows.size(), "operand") + "; bytes per rank and step (mean over ranks)",
                out);
  if (table.rows.empty()) {
    printFolded(table, out);
    return out;
  }

  std::vector<TextLine> lines = {
      {"layer", "kind", "tensor", "raw bytes", "wire bytes", "ratio", "codec, why exact"}};
  for (const ReportRow &row : table.rows)
    lines.push_back(textLineOf(row));
  lines.push_back(totalOf(table));

  Columns printed(lines);
  for (const TextLine &line : lines)
    printed.print(line, out);
  printed.printNotes(out);
  printFolded(table, out);
  printReuse(table, out);
  printPipelines(table, out);
  printMessages(table, out);
  if (std::ranges::any_of(table.rows, [](const ReportRow &row) { return row.runs && *row.runs != 1; }))
    out += "xN: runs N times in a step, in a loop; bytes are those of all runs\n";
  if (table.takesTurns())
    printSentence("/N: sent every Nth step; bytes are the mean of N steps, and at most " +
                      std::to_string(meanOf(table.mostInAStep())) + " in one",
                  out);
  if (std::ranges::any_of(table.rows, [](const ReportRow &row) { return row.isMost; }))
    out += "<=: how many depends on the data; these are the most, and counted as such in the total\n";
  if (std::ranges::any_of(table.rows, [](const ReportRow &row) { return !row.runs; }))
    out += "x?: the step decides how often this runs; bytes are those of one run\n";
  return out;
}

} // namespace cgx::layers
