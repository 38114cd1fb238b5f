//===-- Document.cpp - Report about the collectives of a module -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers are those of `--cgx-report`. Collectives of an exported step are imported first, in
// a copy, where each is marked at its location, by which its rows are found afterwards.
//
//===----------------------------------------------------------------------===//

#include "Document.h"

#include "Reference.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Stablehlo/StablehloDialect.h"
#include "cgx/Passes/Report.h"
#include "cgx/Tools/SourceText.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <set>

using namespace mlir;

namespace cgx::lsp {

/// The most operands in a hover box.
static constexpr size_t kMostRows = 12;

/// The attribute that marks the location of a collective, so that its rewritten form can be found.
static constexpr StringRef kMark = "cgx.lsp.mark";

/// The rows of the report, by the id of their collective.
using Rows = std::map<int64_t, std::vector<llvm::json::Object>>;

static Rows readRows(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  writeReport(module, ReportFormat::Json, stream);
  Rows rows;
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(text);
  if (!report) {
    llvm::consumeError(report.takeError());
    return rows;
  }
  if (const llvm::json::Array *entries = report->getAsObject()->getArray("layers"))
    for (const llvm::json::Value &entry : *entries)
      if (const llvm::json::Object *row = entry.getAsObject())
        rows[row->getInteger("collective").value_or(-1)].push_back(*row);
  return rows;
}

/// Returns the collective's id, or nothing for another op.
static std::optional<int64_t> getId(Operation *op) {
  if (auto start = dyn_cast<StartOp>(op))
    op = start.getCollective();
  if (auto collective = dyn_cast<CommunicationOpInterface>(op))
    return collective.getId();
  if (auto payload = dyn_cast<PayloadOpInterface>(op))
    return payload.getId();
  return std::nullopt;
}

/// A module between two lines of `// -----`.
struct Document::Chunk {
  Chunk(StringRef text, const DialectRegistry &registry)
      : context(registry, MLIRContext::Threading::DISABLED) {
    // MLIR's own server reports the errors to the editor.
    context.getDiagEngine().registerHandler([](Diagnostic &) { return success(); });
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, "document");
    if (explainUnreadable(*buffer))
      return;
    sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
    Block block;
    if (failed(parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
      return;
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto found = dyn_cast<ModuleOp>(op)) {
        op.remove();
        module = found;
        break;
      }
    block.clear();
  }

  /// Returns the op at a place, and true if the place is on its name.
  std::pair<Operation *, bool> find(Place place) {
    if (!module)
      return {nullptr, false};
    const SMLoc at =
        sources.FindLocForLineAndColumn(sources.getMainFileID(), place.line + 1, place.column + 1);
    const AsmParserState::OperationDefinition *innermost = nullptr;
    auto contains = [&](SMRange range) {
      return range.isValid() && range.Start.getPointer() <= at.getPointer() &&
             at.getPointer() < range.End.getPointer();
    };
    for (const AsmParserState::OperationDefinition &definition : state.getOpDefs()) {
      if (contains(definition.loc))
        return {definition.op, true};
      if (contains(definition.scopeLoc) &&
          (!innermost || innermost->scopeLoc.Start.getPointer() <= definition.scopeLoc.Start.getPointer()))
        innermost = &definition;
    }
    return {innermost ? innermost->op : nullptr, false};
  }

  /// Returns the rows about a collective's operands; nothing for another op.
  std::vector<const llvm::json::Object *> rowsOf(Operation *op) {
    std::vector<const llvm::json::Object *> found;
    std::set<int64_t> ids;
    Rows *rows = nullptr;
    if (std::optional<int64_t> id = getId(op)) {
      if (!own)
        own = readRows(*module);
      rows = &*own;
      ids.insert(*id);
    } else if (stablehlo::isCollective(op)) {
      if (!imported)
        import();
      rows = &*imported;
      ids = importedAs[op];
    }
    for (int64_t id : ids)
      for (const llvm::json::Object &row : (*rows)[id])
        found.push_back(&row);
    return found;
  }

private:
  void import() {
    imported.emplace();
    std::vector<Operation *> marked;
    IRMapping mapping;
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->getOperation()->clone(mapping));
    module->walk([&](Operation *op) {
      if (!stablehlo::isCollective(op))
        return;
      Operation *twin = mapping.lookup(op);
      auto mark = StringAttr::get(&context, kMark + Twine(marked.size()));
      twin->setLoc(FusedLoc::get(&context, {twin->getLoc()}, mark));
      marked.push_back(op);
    });
    PassManager passes(&context);
    std::string ignored;
    llvm::raw_string_ostream errors(ignored);
    if (failed(parsePassPipeline("cgx-import", passes, errors)) || failed(passes.run(*copy)))
      return;
    imported = readRows(*copy);
    copy->walk([&](Operation *op) {
      std::optional<int64_t> id = getId(op);
      if (!id)
        return;
      op->getLoc()->walk([&](Location part) {
        size_t index = 0;
        auto fused = dyn_cast<FusedLoc>(part);
        auto mark = fused ? dyn_cast_if_present<StringAttr>(fused.getMetadata()) : StringAttr();
        StringRef text = mark ? mark.getValue() : StringRef();
        if (text.consume_front(kMark) && !text.getAsInteger(10, index) && index < marked.size())
          importedAs[marked[index]].insert(*id);
        return WalkResult::advance();
      });
    });
  }

  MLIRContext context;
  llvm::SourceMgr sources;
  AsmParserState state;
  OwningOpRef<ModuleOp> module;
  std::optional<Rows> own, imported;
  std::map<Operation *, std::set<int64_t>> importedAs;
};

static double meanOf(const llvm::json::Object &row, StringRef key) {
  const llvm::json::Array *bytes = row.getArray(key);
  if (!bytes || bytes->empty())
    return 0;
  double sum = 0;
  for (const llvm::json::Value &value : *bytes)
    sum += value.getAsNumber().value_or(0);
  return sum / double(bytes->size());
}

static std::string shapeOf(const llvm::json::Object &row) {
  std::string text;
  if (const llvm::json::Array *shape = row.getArray("shape"))
    for (const llvm::json::Value &dimension : *shape)
      text += std::to_string(dimension.getAsInteger().value_or(0)) + "x";
  return text + row.getString("dtype").value_or("").str();
}

static std::string textOf(const std::vector<const llvm::json::Object *> &rows) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "| layer | kind | tensor | codec, why exact | raw bytes | wire bytes |\n|:--|:--|:--|:--|--:|--:|\n";
  double raw = 0, wire = 0;
  auto bytes = [](double number) { return llvm::format("%.0f", number); };
  for (auto [i, row] : llvm::enumerate(rows)) {
    raw += meanOf(*row, "raw_bytes_by_rank");
    wire += meanOf(*row, "wire_bytes_by_rank");
    if (i >= kMostRows)
      continue;
    StringRef layer = row->getString("layer").value_or(""),
              reason = row->getString("exact_reason").value_or("");
    os << "| " << (layer.empty() ? "-" : layer) << " | " << row->getString("kind").value_or("") << " | "
       << shapeOf(*row) << " | " << row->getString("codec").value_or("") << (reason.empty() ? "" : ": ")
       << reason << " | " << bytes(meanOf(*row, "raw_bytes_by_rank")) << " | "
       << bytes(meanOf(*row, "wire_bytes_by_rank")) << " |\n";
  }
  if (rows.size() > kMostRows)
    os << "| and " << rows.size() - kMostRows << " more | | | | | |\n";
  if (rows.size() > 1)
    os << "| total | | | | " << bytes(raw) << " | " << bytes(wire) << " |\n";
  os << "\nBytes that leave a rank in a step, mean over the ranks";
  if (wire > 0 && wire != raw)
    os << "; ratio " << llvm::format("%.2f", raw / wire);
  os << ".\n";
  return text;
}

Document::Document(std::string text, const DialectRegistry &registry)
    : text(std::move(text)), registry(registry) {}
Document::~Document() = default;

/// Returns the module that contains a line, and makes the line relative to the module.
Document::Chunk *Document::chunkAt(unsigned &line) {
  unsigned first = 0, next = 0;
  StringRef rest = text;
  const char *begin = rest.data(), *end = rest.end();
  for (unsigned number = 0; !rest.empty(); ++number) {
    auto [current, behind] = rest.split('\n');
    rest = behind;
    next = number + 1;
    if (!current.starts_with("// -----"))
      continue;
    if (number >= line) {
      end = current.data();
      break;
    }
    first = next;
    begin = rest.data();
  }
  std::unique_ptr<Chunk> &chunk = chunks[first];
  if (!chunk)
    chunk = std::make_unique<Chunk>(StringRef(begin, begin ? size_t(end - begin) : 0), registry);
  line -= first;
  return chunk.get();
}

std::string Document::describe(Place place) {
  Chunk *chunk = chunkAt(place.line);
  auto [op, isName] = chunk->find(place);
  if (!op)
    return {};
  std::vector<const llvm::json::Object *> rows = chunk->rowsOf(op);
  std::string parts = rows.empty() ? "" : textOf(rows);
  std::string reference = isName ? getReference(op->getName().getStringRef()) : "";
  if (!parts.empty() && !reference.empty())
    parts += "\n---\n\n";
  return parts + reference;
}

std::vector<std::string> Document::completeLayers(Place place) const {
  StringRef line = text;
  for (unsigned number = 0; number < place.line; ++number)
    line = line.split('\n').second;
  line = line.split('\n').first.take_front(place.column);
  StringRef behind = line.rsplit("layer").second.ltrim();
  if (!behind.consume_front("(") && !behind.consume_front("<"))
    return {};
  behind = behind.ltrim();
  if (!behind.consume_front("\"") || behind.contains('"'))
    return {};
  std::set<std::string> names;
  for (StringRef word : {"layer(\"", "layer<\""})
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      StringRef name = StringRef(text).drop_front(at + word.size());
      name = name.take_front(name.find_first_of("\"\n"));
      if (!name.empty() && name.data() != behind.data())
        names.insert(name.str());
    }
  return {names.begin(), names.end()};
}

} // namespace cgx::lsp
