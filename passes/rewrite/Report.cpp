//===-- Report.cpp - The report of each layer -----------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects one row per operand of each collective, in whichever form the program
// has it (collective or explicit payloads), and leaves the printing to
// cgx/layers/Report.h.
//
//===----------------------------------------------------------------------===//

#include "FoldedReductions.h"
#include "MemorySize.h"
#include "ReuseGathers.h"
#include "cgx/Passes/LayerTable.h"
#include "cgx/Passes/StepRuns.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Report.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/output/OutputFile.h"
#include "cgx/wire.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace cgx {
#define GEN_PASS_DEF_REPORTPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// Returns the stages that the longest chain of pairs leads through; of a ring, as many as it has.
uint64_t stagesOf(PermuteOp op) {
  std::map<int64_t, int64_t> next;
  for (auto [source, target] : op.getPairs())
    next[source] = target;
  uint64_t longest = 0;
  for (auto [source, target] : next) {
    uint64_t stages = 1;
    for (auto at = next.find(source); at != next.end() && at->second != source; at = next.find(at->second))
      ++stages;
    longest = std::max(longest, stages);
  }
  return longest;
}

/// Returns whether the loop of an edge has the other edge of its pipeline, too.
bool isInterleaved(PermuteOp op) {
  auto loop = op->getParentOfType<stablehlo::WhileOp>();
  StringRef name = CollectiveOpInterface(op).getLayer(0).getName();
  const std::string other = name.consume_back("/forward")    ? (name + "/backward").str()
                            : name.consume_back("/backward") ? (name + "/forward").str()
                                                             : "";
  return loop && loop.walk([&](PermuteOp each) {
                       return WalkResult(failure(CollectiveOpInterface(each).getLayer(0).getName() == other));
                     })
                     .wasInterrupted();
}

/// Describes the memory that an edge of a pipeline holds, and the length of the pipeline.
void describeEdge(layers::ReportRow &row, CollectiveOpInterface op, unsigned operand, int64_t ranks) {
  auto permute = dyn_cast<PermuteOp>(op.getOperation());
  StringRef name = op.getLayer(operand).getName();
  if (!permute)
    return;
  if (name.starts_with("pipeline") && (name.ends_with("/forward") || name.ends_with("/backward")))
    row.stages = stagesOf(permute);
  row.isInterleaved = row.stages != 0 && isInterleaved(permute);
  auto changes = dyn_cast<DeltaAttr>(op.getCodec(operand));
  if (!changes)
    return;
  RankedTensorType type = op.getInputType(operand);
  row.firstVisitBytes = getTensorBytes(type);
  row.messageBytes.resize(ranks);
  for (auto [source, target] : permute.getPairs()) {
    row.messageBytes[source] += changes.getStateBytes(type);
    row.messageBytes[target] += changes.getStateBytes(type);
  }
}

/// Returns in how many of its runs in a step a rank sends.
uint64_t sendingRunsOf(CollectiveOpInterface op, int64_t rank, uint64_t runs) {
  auto permute = dyn_cast<PermuteOp>(op.getOperation());
  return permute ? permute.getSendingRuns(rank, runs) : runs;
}

/// Bubbles of a pipeline, in which nothing is sent.
void describeSilence(layers::ReportRow &row, CollectiveOpInterface op, int64_t ranks) {
  auto permute = dyn_cast<PermuteOp>(op.getOperation());
  if (!permute || !permute.getSends() || !row.runs)
    return;
  row.sendingRuns.resize(ranks);
  for (auto [source, target] : permute.getPairs()) {
    row.sendingRuns[source] = permute.getSendingRuns(source, *row.runs);
    row.messages += row.sendingRuns[source];
    row.mostMessages += *row.runs;
  }
}

bool keepsPayloads(CollectiveOpInterface op) {
  auto gather = dyn_cast<AllGatherOp>(op.getOperation());
  return gather && gather.getKeepsPayloads();
}

/// Adds the rows of a collective, one per operand.
void addCollective(CollectiveOpInterface op, layers::ReportTable &table) {
  auto exact = getIdentityCodec(op->getContext());
  const layers::Collective collective = toLayerCollective(op);
  std::optional<uint64_t> runs = collective.runs;
  for (unsigned operand = 0; operand < op.getInputs().size(); ++operand) {
    layers::ReportRow &row = table.rows.emplace_back();
    row.collective = op.getId();
    row.operation = op.getKind().str();
    row.isStarted = op.isStarted();
    describe(row, collective.operands[operand]);
    row.reason = collective.operands[operand].reason;
    row.runs = runs;
    row.every = collective.every;
    row.turn = getTurn(op);
    if (row.reuses = uint64_t(getReuses(op)); row.reuses != 0) {
      row.loopReuses = uint64_t(getReuses(op, kLoopReusesAttrName));
      row.keepsPayloads = keepsPayloads(op);
      const uint64_t value = getTensorBytes(op->getResultTypes()[operand]);
      row.heldBytes = value * uint64_t(getReuses(op, kKeptTripsAttrName));
      if (row.reuses != row.loopReuses)
        row.heldBytes += row.keepsPayloads ? getKeptPayloadBytes(op, operand) : value;
    }
    describeEdge(row, op, operand, table.ranks);
    describeSilence(row, op, table.ranks);
    describeGather(row, collective, collective.operands[operand], table.ranks);
    for (int64_t rank = 0; rank < table.ranks; ++rank) {
      const uint64_t sending = sendingRunsOf(op, rank, runs.value_or(1));
      row.turnBytes.push_back(sending * op.getOperandWireBytes(operand, rank));
      row.wireBytes.push_back(layers::meanOfSteps(row.turnBytes.back(), row.every));
      row.rawBytes.push_back(
          layers::meanOfSteps(sending * op.getOperandWireBytesAs(exact, operand, rank), row.every));
    }
  }
}

/// Rows of collectives in explicit form: the steps of one operand share a row.
class PayloadRows {
public:
  explicit PayloadRows(layers::ReportTable &table) : table(table) {}

  void add(PayloadOpInterface op) {
    auto [entry, isNew] =
        rowOf.try_emplace({op.getId(), op.getOperandNumber()}, static_cast<unsigned>(table.rows.size()));
    if (isNew) {
      layers::ReportRow &row = table.rows.emplace_back();
      row.collective = op.getId();
      row.operation = "all_reduce (explicit)";
      row.runs = getRunsPerStep(op);
      row.every = getStepsPerRun(op);
      row.turn = getTurn(op);
      row.turnBytes.resize(table.ranks);
      row.wireBytes.resize(table.ranks);
      row.rawBytes.resize(table.ranks);
    }
    layers::ReportRow &row = table.rows[entry->second];
    if (auto compress = dyn_cast<CompressOp>(*op))
      describe(row, toLayerOperand(compress.getLayer(), op.getPayloadType().getTensorType(),
                                   op.getPayloadType().getCodec()));
    if (auto exchange = dyn_cast<CommunicationOpInterface>(*op))
      addBytes(row, op.getPayloadType(), exchange);
  }

private:
  void addBytes(layers::ReportRow &row, PayloadType payload, CommunicationOpInterface exchange) {
    bool first = row.rawBytes.front() == 0 && row.wireBytes.front() == 0;
    cgx_codec raw = getIdentityCodec(payload.getContext()).getCodec();
    uint32_t type = *getCodecElementType(payload.getElementType());
    for (int64_t rank = 0; rank < table.ranks; ++rank) {
      const uint64_t bytes = row.runs.value_or(1) * exchange.getWireBytes(rank);
      row.turnBytes[rank] += bytes;
      row.wireBytes[rank] += layers::meanOfSteps(bytes, row.every);
      auto membership = exchange.getGroups().getMembership(rank);
      if (first && membership)
        row.rawBytes[rank] = layers::meanOfSteps(
            row.runs.value_or(1) * cgx_all_reduce_wire_bytes(&raw, type, payload.getNumElements(),
                                                             membership->group.size(), membership->position),
            row.every);
    }
  }

  layers::ReportTable &table;
  llvm::MapVector<std::pair<int64_t, int64_t>, unsigned> rowOf;
};

/// Warns if all collectives are still those of the exported step: then nothing was counted, and most likely
/// the passes are in the wrong order.
void warnOfExportedCollectives(ModuleOp module) {
  SmallVector<Operation *> exported;
  module.walk([&](Operation *op) {
    if (stablehlo::isCollective(op))
      exported.push_back(op);
  });
  if (exported.empty())
    return;
  bool isOne = exported.size() == 1;
  exported.front()->emitWarning() << "the report does not count the " << exported.size()
                                  << (isOne ? " collective" : " collectives")
                                  << " of stablehlo in the module, which " << (isOne ? "is" : "are")
                                  << " not imported yet; expected --cgx-import or --cgx-compress before "
                                     "--cgx-report";
}

int64_t ranksOf(ModuleOp module) {
  if (auto ranks = module->getAttrOfType<IntegerAttr>(kNumRanksAttrName))
    return ranks.getInt();
  int64_t ranks = 1;
  module.walk([&](CommunicationOpInterface op) { ranks = std::max(ranks, op.getGroups().getNumRanks()); });
  return ranks;
}

layers::ReportTable makeTable(ModuleOp module) {
  layers::ReportTable table;
  table.ranks = ranksOf(module);
  PayloadRows payloads(table);
  module.walk([&](Operation *op) {
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      addCollective(collective, table);
    else if (auto payload = dyn_cast<PayloadOpInterface>(op))
      payloads.add(payload);
  });
  table.folded = getFoldedReductions(module);
  if (table.rows.empty())
    warnOfExportedCollectives(module);
  return table;
}

std::string print(const layers::ReportTable &table, ReportFormat format) {
  return format == ReportFormat::Json ? layers::reportJson(table) : layers::reportText(table);
}

struct Report : impl::ReportPassBase<Report> {
  using ReportPassBase::ReportPassBase;

  void runOnOperation() override {
    if (format != "text" && format != "json") {
      getOperation()->emitError("expected 'text' or 'json' as format of the report, got '") << format << "'";
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
    layers::ReportTable table = makeTable(getOperation());
    if (failed(put(print(table, getFormat()))))
      signalPassFailure();
  }

  ReportFormat getFormat() const { return format == "json" ? ReportFormat::Json : ReportFormat::Text; }

  LogicalResult put(const std::string &text) {
    if (output.empty()) {
      llvm::errs() << text;
      return success();
    }
    if (std::string error = cgx::writeOutput(output, text); !error.empty())
      return getOperation()->emitError("the report: ") << error;
    return success();
  }
};

} // namespace

void writeReport(ModuleOp module, ReportFormat format, llvm::raw_ostream &os) {
  os << print(makeTable(module), format);
}

} // namespace cgx
