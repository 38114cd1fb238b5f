//===-- FilterLayers.cpp - Operands that must stay uncompressed -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/FilterLayers.h"

#include "cgx/formats/Closest.h"
#include "cgx/layers/Glob.h"
#include "cgx/layers/PlannedCodecs.h"
#include "cgx/layers/Text.h"
#include "cgx/layers/UncompressedReasons.h"

#include <algorithm>
#include <set>

namespace cgx::layers {

namespace {

/// A pattern of `exclude`, and whether it has matched a layer.
struct Exclusion {
  std::string text;
  Glob pattern;
  bool isMatched = false;
};

int64_t countLargerThanOne(std::span<const int64_t> shape) {
  return std::count_if(shape.begin(), shape.end(), [](int64_t size) { return size != 1; });
}

/// Returns the number of dimensions that matter for a parameter. A vector may be stored with dimensions of
/// one element: a bias [16, 1, 1] that is added to feature maps, or a scale [1, 1, 1, 16]. A matrix of one
/// column is a matrix.
int64_t parameterRankOf(std::span<const int64_t> shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const bool isVector = countLargerThanOne(shape) <= 1;
  const bool isColumn = rank == 2 && shape[0] != 1;
  return isVector && !isColumn ? std::min<int64_t>(rank, 1) : rank;
}

class Filter {
public:
  Filter(const Table &table, const FilterOptions &options) : table(table), options(options) {}

  bool read(Diagnostics &diagnostics) { return readKinds(diagnostics) && readExclusions(diagnostics); }

  /// Returns why the operand must stay uncompressed; "" if it may be compressed.
  std::string reasonFor(const Collective &collective, const Operand &operand) {
    const Layer &layer = operand.layer;
    const Exclusion *excluding = nullptr;
    for (Exclusion &exclusion : exclusions) // tries all, so that each one that matches counts as used
      if (exclusion.pattern.matches(layer.name)) {
        exclusion.isMatched = true;
        excluding = excluding ? excluding : &exclusion;
      }
    if (excluding)
      return kExcluded.of("'exclude=" + excluding->text + "'");
    if (std::ranges::none_of(coveringKinds(layer.kind), [&](Kind kind) { return kinds.contains(kind); }))
      return kOfKind.of(nameOf(layer.kind));
    const int64_t layers = layer.countOfLayers();
    const std::string of = layers == 1 ? "" : ", each of " + std::to_string(layers) + " stacked layers";
    if (layer.shape) {
      const int64_t rank = parameterRankOf(std::span(*layer.shape).subspan(size_t(layer.stacked)));
      if (rank < options.minRank &&
          (layer.shape->size() != 1 || raveledRankOf(collective, operand, rank) < options.minRank))
        return kParameterRank.after(rank) + of;
    } else if (const int64_t rank = countLargerThanOne(operand.shape);
               rank < options.minRank && raveledRankOf(collective, operand, rank) < options.minRank) {
      return kOperandRank.after(rank);
    }
    if (operand.elements() / layers < options.minElements)
      return kFewElements.of(std::to_string(options.minElements) + " elements" + of);
    return "";
  }

  void warnOfUnmatched(Diagnostics &diagnostics) const {
    for (const Exclusion &exclusion : exclusions)
      if (!exclusion.isMatched)
        diagnostics.warn("exclude=" + exclusion.text + " matches the name of no layer of the program" +
                         suggest(exclusion.text));
  }

private:
  bool readKinds(Diagnostics &diagnostics) {
    if (options.kinds.empty())
      kinds = {Kind::Gradient, Kind::OuterGradient};
    if (options.kinds.empty() && !options.plan.empty()) {
      const std::optional<PlannedCodecs> planned = PlannedCodecs::read(options.plan, diagnostics);
      if (!planned)
        return false;
      kinds.merge(planned->compressedKinds());
    }
    for (const std::string &name : options.kinds) {
      const std::optional<Kind> kind = kindNamed(name);
      if (!kind)
        return diagnostics.fail("expected kinds to be " + describeKinds() + ", got " + name);
      kinds.insert(*kind);
    }
    return true;
  }

  bool readExclusions(Diagnostics &diagnostics) {
    for (const std::string &text : options.exclude) {
      std::string reason;
      std::optional<Glob> pattern = Glob::parse(text, reason);
      if (!pattern)
        return diagnostics.fail("expected exclude to be a glob, got " + text + ": " + reason);
      exclusions.push_back({text, std::move(*pattern)});
    }
    return true;
  }

  int64_t raveledRankOf(const Collective &collective, const Operand &operand, int64_t rank) const {
    return table.raveledRank ? std::max(rank, table.raveledRank(collective, operand).value_or(rank)) : rank;
  }

  /// Returns the glob that was probably meant, if a name contains the text of this one.
  std::string suggest(std::string_view part) const {
    constexpr std::string_view signs = "*/";
    while (!part.empty() && signs.find(part.front()) != std::string_view::npos)
      part.remove_prefix(1);
    while (!part.empty() && signs.find(part.back()) != std::string_view::npos)
      part.remove_suffix(1);
    std::set<std::string> names; // names of layers, and of their parts
    for (const Collective &collective : table.collectives)
      for (const Operand &operand : collective.operands) {
        const std::string &name = operand.layer.name;
        if (!part.empty() && name.find(part) != std::string::npos)
          return "; *" + std::string(part) + "* would match " + name;
        names.insert(name);
        for (std::string &component : split(name, '/'))
          names.insert(std::move(component));
      }
    return formats::askMeant(part, {names.begin(), names.end()});
  }

  const Table &table;
  const FilterOptions &options;
  std::set<Kind> kinds;
  std::vector<Exclusion> exclusions;
};

} // namespace

bool filterLayers(Table &table, const FilterOptions &options, Diagnostics &diagnostics) {
  Filter filter(table, options);
  if (!filter.read(diagnostics))
    return false;
  for (Collective &collective : table.collectives)
    for (Operand &operand : collective.operands) {
      operand.reason = filter.reasonFor(collective, operand);
      operand.isDecided = true;
    }
  filter.warnOfUnmatched(diagnostics);
  return true;
}

} // namespace cgx::layers
