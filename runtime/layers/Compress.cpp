//===-- Compress.cpp - All decisions about a table ------------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/Compress.h"

#include "cgx/layers/Glob.h"
#include "cgx/layers/KindCodecs.h"
#include "cgx/layers/Manifest.h"
#include "cgx/layers/PlannedCodecs.h"
#include "cgx/layers/Text.h"
#include "cgx/layers/WarnOfUncompressed.h"

#include <algorithm>

namespace cgx::layers {

std::string describeMissingState(std::string_view family) {
  return "codec " + std::string(family) +
         " reads what the optimizer keeps of it: expected an argument of that name that a result of the step "
         "updates, found none";
}

namespace {

/// Rejects options about things that a table states itself, or about a step that computes.
bool rejectMeaningless(const CompressOptions &options, Diagnostics &diagnostics) {
  const auto reject = [&](const std::string &option, const std::string &why) {
    return diagnostics.fail("--cgx-compress: " + option + " has no meaning for a table of layers: " + why);
  };
  if (options.groupBytes)
    return reject("group-bytes", "it says which layers travel together");
  if (options.scope != "layer-wise")
    return reject("scope", "it says which layers travel together");
  if (options.overlap)
    return reject("overlap", "whoever sends the layers knows when they are there");
  if (!options.prefetch.empty())
    return reject("prefetch", "whoever gathers the layers knows when they are needed");
  if (options.decompose)
    return reject("decompose", "no program runs whose collectives could be seen");
  return true;
}

/// Removes all-reduces in which each rank is a group of its own.
std::vector<FoldedReduction> foldTrivial(Table &table) {
  std::vector<FoldedReduction> folded;
  const auto isFolded = [](const Collective &collective) {
    return collective.kind == CGX_ALL_REDUCE && collective.isTrivial() &&
           collective.reduction != Reduction::Product;
  };
  for (const Collective &collective : table.collectives)
    if (isFolded(collective))
      for (const Operand &operand : collective.operands)
        folded.push_back({operand.layer.name, std::string(nameOf(operand.layer.kind)),
                          std::string(nameOf(collective.kind)), "each rank is a group of its own"});
  std::erase_if(table.collectives, isFolded);
  return folded;
}

/// Checks the patterns of split-layers, and warns that they match nothing: the layers of a table travel one
/// by one, so none is a stack to be split.
bool splitLayers(const CompressOptions &options, Diagnostics &diagnostics) {
  for (const std::string &text : options.splitLayers) {
    std::string reason;
    if (!Glob::parse(text, reason))
      return diagnostics.fail("expected split-layers to be a glob, got " + text + ": " + reason);
  }
  if (!options.codecs.plan.empty() && !PlannedCodecs::read(options.codecs.plan, diagnostics))
    return false;
  for (const std::string &text : options.splitLayers)
    diagnostics.warn("split-layers=" + text + " matches the name of no stack of layers");
  return true;
}

/// Rejects codecs that read optimizer tensors: frameworks update parameters outside of the table.
bool rejectOptimizers(const Table &table, Diagnostics &diagnostics) {
  for (const Collective &collective : table.collectives)
    for (size_t i = 0; i < collective.operands.size(); ++i)
      if (const Operand &operand = collective.operands[i]; operand.codec.readsOptimizer())
        return diagnostics.fail("'cgx." + std::string(nameOf(collective.kind)) + "' op operand " +
                                std::to_string(i) + ", layer '" + operand.layer.name +
                                "': " + describeMissingState(operand.codec.family()));
  return true;
}

/// Returns true if the table has anything that a step could train.
bool trains(const Table &table) {
  return std::ranges::any_of(table.collectives, [](const Collective &collective) {
    return std::ranges::any_of(collective.operands, [](const Operand &operand) {
      return !operand.shape.empty() && (operand.type == CGX_F64 || operand.type <= CGX_BF16);
    });
  });
}

bool decide(Table &table, CompressOptions &options, bool isTraining, Diagnostics &diagnostics) {
  if (std::string wrong = checkDivergentCollectives(options.divergentCollectives); !wrong.empty())
    return diagnostics.fail(wrong);
  options.codecs.ofKinds =
      completeKindCodecs(options.codecs.ofKinds, options.qsdp, options.codecs.along, options.filter.kinds);
  options.filter.kinds = kindsToCompress(options.filter.kinds, options.codecs.ofKinds);
  if (!splitLayers(options, diagnostics) || !filterLayers(table, options.filter, diagnostics) ||
      !assignCodecs(table, options.codecs, diagnostics))
    return false;
  warnOfUncompressed(table, asksForIdentity(options.codecs), [&] { return isTraining; }, diagnostics);
  if (!options.reuseGathers.empty())
    if (std::string wrong = checkReuseGathers(options.reuseGathers); !wrong.empty())
      return diagnostics.fail(wrong);
  const auto reject = [&](const Collective &collective, const std::string &why) {
    diagnostics.fail("'cgx." + std::string(nameOf(collective.kind)) + "' op " + why);
  };
  return chooseAlgorithms(table, options.algorithms, reject, diagnostics) &&
         rejectOptimizers(table, diagnostics);
}

} // namespace

std::optional<Compressed> compress(Table table, std::string_view text, Diagnostics &diagnostics) {
  CompressOptions options;
  if (!readOptions(text, options, diagnostics) || !rejectMeaningless(options, diagnostics))
    return std::nullopt;
  const Signature signature = signatureOf(table);
  const bool isTraining = trains(table);
  std::vector<FoldedReduction> folded = foldTrivial(table);
  if (!decide(table, options, isTraining, diagnostics))
    return std::nullopt;
  const ReportTable report = reportOf(table, std::move(folded));
  return Compressed{manifestOf(table, signature), reportText(report), reportJson(report)};
}

} // namespace cgx::layers
