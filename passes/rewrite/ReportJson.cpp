//===-- ReportJson.cpp - The report for programs --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportTable.h"

#include "llvm/Support/JSON.h"

using llvm::json::OStream;

static void printBytes(OStream &json, llvm::StringRef key, const std::vector<uint64_t> &bytes) {
  json.attributeArray(key, [&] {
    for (uint64_t value : bytes)
      json.value(value);
  });
}

static void printRow(OStream &json, const cgx::ReportRow &row) {
  json.object([&] {
    json.attribute("collective", row.collective);
    json.attribute("operation", row.operation);
    if (row.isStarted)
      json.attribute("started_early", true);
    json.attribute("layer", row.layer);
    json.attribute("kind", row.kind);
    json.attributeArray("shape", [&] {
      for (int64_t dimension : row.shape)
        json.value(dimension);
    });
    json.attribute("dtype", row.elementType);
    json.attribute("codec", row.codec);
    json.attribute("exact_reason", row.reason);
    if (row.runs)
      json.attribute("runs_per_step", *row.runs);
    else
      json.attribute("runs_per_step", nullptr);
    if (row.every != 1) {
      json.attribute("every", static_cast<int64_t>(row.every));
      json.attribute("turn", static_cast<int64_t>(row.turn));
    }
    printBytes(json, "raw_bytes_by_rank", row.rawBytes);
    printBytes(json, "wire_bytes_by_rank", row.wireBytes);
    if (row.reuses != 0) {
      json.attribute("reuses", row.reuses);
      if (row.loopReuses != 0)
        json.attribute("reuses_in_loops", row.loopReuses);
      json.attribute("held_bytes", row.heldBytes);
      json.attribute("keeps_payloads", row.keepsPayloads);
    }
    if (row.stages >= 2)
      json.attribute("stages", row.stages);
    if (!row.sendingRuns.empty())
      printBytes(json, "sending_runs_by_rank", row.sendingRuns);
    if (!row.messageBytes.empty()) {
      printBytes(json, "message_bytes_by_rank", row.messageBytes);
      json.attribute("first_visit_bytes_are_at_most", row.firstVisitBytes);
    }
    if (row.isMost)
      json.attribute("wire_bytes_are_most", true);
  });
}

void cgx::printJson(const ReportTable &table, llvm::raw_ostream &os) {
  std::vector<uint64_t> raw(table.ranks), wire(table.ranks);
  for (const ReportRow &row : table.rows)
    for (int64_t rank = 0; rank < table.ranks; ++rank) {
      raw[rank] += row.rawBytes[rank];
      wire[rank] += row.wireBytes[rank];
    }
  OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("cgx_report", 1);
    json.attribute("ranks", table.ranks);
    json.attributeArray("layers", [&] {
      for (const ReportRow &row : table.rows)
        printRow(json, row);
    });
    if (!table.folded.empty())
      json.attributeArray("folded", [&] {
        for (const FoldedReduction &one : table.folded)
          json.object([&] {
            json.attribute("layer", one.layer);
            json.attribute("kind", one.kind);
            json.attribute("operation", one.operation);
            json.attribute("reason", one.reason);
          });
      });
    printBytes(json, "raw_bytes_by_rank", raw);
    printBytes(json, "wire_bytes_by_rank", wire);
    if (table.takesTurns())
      printBytes(json, "most_wire_bytes_in_a_step_by_rank", table.getMostInAStep());
  });
  os << '\n';
}
