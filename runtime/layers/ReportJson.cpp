//===-- ReportJson.cpp - The report for programs --------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonWriter.h"

#include "cgx/layers/Report.h"

namespace cgx::layers {

static void write(JsonWriter &json, const ReportRow &row) {
  json.object([&] {
    json.member("collective", row.collective);
    json.member("operation", row.operation);
    if (row.isStarted)
      json.member("started_early", true);
    json.member("layer", row.layer);
    json.member("kind", row.kind);
    json.numbers("shape", row.shape);
    json.member("dtype", row.elementType);
    json.member("codec", row.codec);
    json.member("exact_reason", row.reason);
    json.name("runs_per_step");
    if (row.runs)
      json.value(*row.runs);
    else
      json.null();
    if (row.every != 1) {
      json.member("every", row.every);
      json.member("turn", row.turn);
    }
    json.numbers("raw_bytes_by_rank", row.rawBytes);
    json.numbers("wire_bytes_by_rank", row.wireBytes);
    if (row.reuses != 0) {
      json.member("reuses", row.reuses);
      if (row.loopReuses != 0)
        json.member("reuses_in_loops", row.loopReuses);
      json.member("held_bytes", row.heldBytes);
      json.member("keeps_payloads", row.keepsPayloads);
    }
    if (row.stages >= 2)
      json.member("stages", row.stages);
    if (!row.sendingRuns.empty())
      json.numbers("sending_runs_by_rank", row.sendingRuns);
    if (!row.messageBytes.empty()) {
      json.numbers("message_bytes_by_rank", row.messageBytes);
      json.member("first_visit_bytes_are_at_most", row.firstVisitBytes);
    }
    if (row.isMost)
      json.member("wire_bytes_are_most", true);
  });
}

std::string reportJson(const ReportTable &table) {
  std::vector<uint64_t> raw(size_t(table.ranks), 0), wire = raw;
  for (const ReportRow &row : table.rows)
    for (size_t rank = 0; rank < raw.size(); ++rank) {
      raw[rank] += row.rawBytes[rank];
      wire[rank] += row.wireBytes[rank];
    }
  JsonWriter json(/*isCompact=*/false);
  json.object([&] {
    json.member("cgx_report", 1);
    json.member("ranks", table.ranks);
    json.name("layers");
    json.array([&] {
      for (const ReportRow &row : table.rows)
        write(json, row);
    });
    if (!table.folded.empty()) {
      json.name("folded");
      json.array([&] {
        for (const FoldedReduction &one : table.folded)
          json.object([&] {
            json.member("layer", one.layer);
            json.member("kind", one.kind);
            json.member("operation", one.operation);
            json.member("reason", one.reason);
          });
      });
    }
    json.numbers("raw_bytes_by_rank", raw);
    json.numbers("wire_bytes_by_rank", wire);
    if (table.takesTurns())
      json.numbers("most_wire_bytes_in_a_step_by_rank", table.mostInAStep());
  });
  return json.text() + "\n";
}

} // namespace cgx::layers
