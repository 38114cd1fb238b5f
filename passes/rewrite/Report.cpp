//===-- Report.cpp - What travels, layer by layer -------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects one row per operand of each collective, in whichever form the program
// has it (collective or explicit payloads), and leaves the printing to ReportText
// and ReportJson.
//
//===----------------------------------------------------------------------===//

#include "MemorySize.h"
#include "ReportTable.h"
#include "ReuseGathers.h"
#include "cgx/Passes/StepRuns.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Report.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/codec_table.h"
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

/// "quantize bits=4 bucket=128 ...": the family and its parameters in the manifest's words.
std::string codecText(DictionaryAttr codec) {
  std::string text = codec.getAs<StringAttr>("family").str();
  llvm::raw_string_ostream stream(text);
  for (NamedAttribute entry : codec) {
    if (entry.getName() == "family")
      continue;
    if (auto other = dyn_cast<DictionaryAttr>(entry.getValue())) {
      stream << ' ' << entry.getName().getValue() << "=(" << codecText(other) << ')';
    } else if (auto flag = dyn_cast<BoolAttr>(entry.getValue())) {
      if (flag.getValue())
        stream << ' ' << entry.getName().getValue();
    } else if (auto number = dyn_cast<IntegerAttr>(entry.getValue())) {
      stream << ' ' << entry.getName().getValue() << '=' << number.getInt();
    } else if (auto real = dyn_cast<FloatAttr>(entry.getValue())) {
      stream << ' ' << entry.getName().getValue() << '=' << realText(float(real.getValueAsDouble()));
    } else if (auto word = dyn_cast<StringAttr>(entry.getValue())) {
      stream << ' ' << entry.getName().getValue() << '=' << word.getValue();
    }
  }
  return text;
}

/// The same for people: the first parameter, and of the others those that are not what they are where nobody
/// says.
std::string shortText(const cgx_codec &codec) {
  CodecValues values = valuesOf(codec);
  std::string text(values.entry().name);
  for (auto [i, parameter] : llvm::enumerate(values.parameters())) {
    double value = values.values[i];
    if (parameter.isFlag && value != 0)
      text += " " + std::string(parameter.name);
    else if (!parameter.isFlag && ((i == 0 && !parameter.isQuiet) || value != values.usual(parameter)))
      text += " " + std::string(parameter.name) + "=" +
              (parameter.real ? realText(float(value)) : codec_table::textOf(parameter, value));
  }
  return text;
}

/// What other codecs wrap around it.
std::string shortText(CodecAttrInterface codec) {
  std::string text = shortText(codec.getCodec());
  llvm::raw_string_ostream stream(text);
  DictionaryAttr entry = codec.getManifestEntry();
  if (entry.get("back"))
    stream << " back=(" << shortText(codec.getBackCodec()) << ')';
  for (StringRef name : {"delta", "error_feedback"})
    if (auto storage = entry.getAs<StringAttr>(name))
      stream << ' ' << name << '=' << storage.getValue();
  if (auto samples = entry.getAs<IntegerAttr>("samples"))
    stream << " samples=" << samples.getInt();
  if (auto decay = entry.getAs<FloatAttr>("decay"); decay && decay.getValueAsDouble() != 1)
    stream << " decay=" << realText(float(decay.getValueAsDouble()));
  return text;
}

void describe(ReportRow &row, LayerAttr layer, RankedTensorType type, CodecAttrInterface codec) {
  row.layer = layer.getName().str();
  row.kind = stringifyLayerKind(layer.getKind()).str();
  row.shape.assign(type.getShape().begin(), type.getShape().end());
  row.shownShape = row.shape;
  if (DenseI64ArrayAttr own = layer.getShape();
      own && llvm::product_of(own.asArrayRef()) == type.getNumElements())
    row.shownShape.assign(own.asArrayRef().begin(), own.asArrayRef().end());
  row.elementType = getElementTypeName(type.getElementType()).str();
  row.codec = codecText(codec.getManifestEntry());
  row.shortCodec = codec.isRaw() ? "" : shortText(codec);
  row.isMost = !codec.isFixedSize();
}

/// The stages that the longest chain of pairs leads through; of a ring, as many as it has.
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

/// Whether the loop of an edge has the other edge of its pipeline, too.
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

/// What the ranks of a gather keep of each other's parts.
void describeGather(ReportRow &row, CollectiveOpInterface op, unsigned operand, int64_t ranks) {
  auto changes = dyn_cast<DeltaAttr>(op.getCodec(operand));
  if (!changes || !isa<AllGatherOp>(op))
    return;
  const int64_t size = op.getGroups().getLargestSize();
  if (size == 1)
    return;
  RankedTensorType type = op.getInputType(operand);
  const uint64_t message =
      type.getNumElements() * (changes.getStorage() == ResidualStorage::BF16 ? 2 : 4) + /*was it sent*/ 1;
  row.firstVisitBytes = getTensorBytes(type) * (size - 1);
  row.messageBytes.assign(ranks, uint64_t(changes.getSamples()) * size * message);
}

/// What an edge of a pipeline keeps, and how long the pipeline is.
void describeEdge(ReportRow &row, CollectiveOpInterface op, unsigned operand, int64_t ranks) {
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

/// In how many of its runs in a step a rank sends.
uint64_t sendingRunsOf(CollectiveOpInterface op, int64_t rank, uint64_t runs) {
  auto permute = dyn_cast<PermuteOp>(op.getOperation());
  return permute ? permute.getSendingRuns(rank, runs) : runs;
}

/// Bubbles of a pipeline, in which nothing is sent.
void describeSilence(ReportRow &row, CollectiveOpInterface op, int64_t ranks) {
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

/// What bytes that are sent every so many steps are in one of them, to the nearest byte.
uint64_t meanOfSteps(uint64_t bytes, uint64_t every) { return (bytes + every / 2) / every; }

bool keepsPayloads(CollectiveOpInterface op) {
  auto gather = dyn_cast<AllGatherOp>(op.getOperation());
  return gather && gather.getKeepsPayloads();
}

/// Rows of a collective as written: one per operand.
void addCollective(CollectiveOpInterface op, ReportTable &table) {
  auto exact = getIdentityCodec(op->getContext());
  std::optional<uint64_t> runs = getRunsPerStep(op);
  for (unsigned operand = 0; operand < op.getInputs().size(); ++operand) {
    ReportRow &row = table.rows.emplace_back();
    row.collective = op.getId();
    row.operation = op.getKind().str();
    row.isStarted = op.isStarted();
    describe(row, op.getLayer(operand), op.getInputType(operand), op.getCodec(operand));
    row.reason = getExactReason(op, operand).str();
    row.runs = runs;
    row.every = getStepsPerRun(op);
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
    describeGather(row, op, operand, table.ranks);
    for (int64_t rank = 0; rank < table.ranks; ++rank) {
      const uint64_t sending = sendingRunsOf(op, rank, runs.value_or(1));
      row.turnBytes.push_back(sending * op.getOperandWireBytes(operand, rank));
      row.wireBytes.push_back(meanOfSteps(row.turnBytes.back(), row.every));
      row.rawBytes.push_back(
          meanOfSteps(sending * op.getOperandWireBytesAs(exact, operand, rank), row.every));
    }
  }
}

/// Rows of collectives in explicit form: the steps of one operand share a row.
class PayloadRows {
public:
  explicit PayloadRows(ReportTable &table) : table(table) {}

  void add(PayloadOpInterface op) {
    auto [entry, isNew] =
        rowOf.try_emplace({op.getId(), op.getOperandNumber()}, static_cast<unsigned>(table.rows.size()));
    if (isNew) {
      ReportRow &row = table.rows.emplace_back();
      row.collective = op.getId();
      row.operation = "all_reduce (explicit)";
      row.runs = getRunsPerStep(op);
      row.every = getStepsPerRun(op);
      row.turn = getTurn(op);
      row.turnBytes.resize(table.ranks);
      row.wireBytes.resize(table.ranks);
      row.rawBytes.resize(table.ranks);
    }
    ReportRow &row = table.rows[entry->second];
    if (auto compress = dyn_cast<CompressOp>(*op))
      describe(row, compress.getLayer(), op.getPayloadType().getTensorType(), op.getPayloadType().getCodec());
    if (auto exchange = dyn_cast<CommunicationOpInterface>(*op))
      addBytes(row, op.getPayloadType(), exchange);
  }

private:
  void addBytes(ReportRow &row, PayloadType payload, CommunicationOpInterface exchange) {
    bool first = row.rawBytes.front() == 0 && row.wireBytes.front() == 0;
    cgx_codec raw = getIdentityCodec(payload.getContext()).getCodec();
    uint32_t type = *getCodecElementType(payload.getElementType());
    for (int64_t rank = 0; rank < table.ranks; ++rank) {
      const uint64_t bytes = row.runs.value_or(1) * exchange.getWireBytes(rank);
      row.turnBytes[rank] += bytes;
      row.wireBytes[rank] += meanOfSteps(bytes, row.every);
      auto membership = exchange.getGroups().getMembership(rank);
      if (first && membership)
        row.rawBytes[rank] = meanOfSteps(
            row.runs.value_or(1) * cgx_all_reduce_wire_bytes(&raw, type, payload.getNumElements(),
                                                             membership->group.size(), membership->position),
            row.every);
    }
  }

  ReportTable &table;
  llvm::MapVector<std::pair<int64_t, int64_t>, unsigned> rowOf;
};

/// Says so if all collectives are still those of the exported step: then nothing was counted, and
/// most likely the passes are in the wrong order.
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

ReportTable makeTable(ModuleOp module) {
  ReportTable table;
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

void write(const ReportTable &table, ReportFormat format, llvm::raw_ostream &os) {
  if (format == ReportFormat::Json)
    printJson(table, os);
  else
    printText(table, os);
}

struct Report : impl::ReportPassBase<Report> {
  using ReportPassBase::ReportPassBase;

  void runOnOperation() override {
    if (format != "text" && format != "json") {
      getOperation()->emitError("expected 'text' or 'json' as format of the report, got '") << format << "'";
      return signalPassFailure();
    }
    markAllAnalysesPreserved();
    ReportTable table = makeTable(getOperation());
    if (failed(print(table)))
      signalPassFailure();
  }

  ReportFormat getFormat() const { return format == "json" ? ReportFormat::Json : ReportFormat::Text; }

  LogicalResult print(const ReportTable &table) {
    if (output.empty()) {
      write(table, getFormat(), llvm::errs());
      return success();
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    write(table, getFormat(), stream);
    if (std::string error = cgx::writeOutput(output, text); !error.empty())
      return getOperation()->emitError("the report: ") << error;
    return success();
  }
};

} // namespace

std::vector<uint64_t> ReportTable::getMostInAStep() const {
  std::vector<uint64_t> most(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::map<uint64_t, std::map<uint64_t, uint64_t>> turns; // by how often
    for (const ReportRow &row : rows)
      turns[row.every][row.turn] += row.turnBytes[rank];
    for (const auto &[every, bytes] : turns)
      most[rank] += llvm::max_element(bytes, llvm::less_second())->second;
  }
  return most;
}

void writeReport(ModuleOp module, ReportFormat format, llvm::raw_ostream &os) {
  write(makeTable(module), format, os);
}

} // namespace cgx
