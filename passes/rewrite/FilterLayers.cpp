//===-- FilterLayers.cpp - Which operands must stay exact, and why --------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExactReasons.h"
#include "Meant.h"
#include "PlannedCodecs.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Passes/RaveledParameters.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/GlobPattern.h"

#include <set>

namespace cgx {
#define GEN_PASS_DEF_FILTERLAYERSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// A pattern of `exclude`, and whether a layer matched it.
struct Exclusion {
  std::string text;
  llvm::GlobPattern pattern;
  bool matched = false;
};

/// A vector may be stored with dimensions of one element: a bias [16, 1, 1] that is added to feature maps, or
/// a scale [1, 1, 1, 16]. A matrix of one column is a matrix.
int64_t getParameterRank(ArrayRef<int64_t> shape) {
  auto rank = static_cast<int64_t>(shape.size());
  bool isVector = llvm::count_if(shape, [](int64_t size) { return size != 1; }) <= 1;
  bool isColumn = rank == 2 && shape[0] != 1;
  return isVector && !isColumn ? std::min<int64_t>(rank, 1) : rank;
}

struct FilterLayers : impl::FilterLayersPassBase<FilterLayers> {
  using FilterLayersPassBase::FilterLayersPassBase;

  void runOnOperation() override {
    if (failed(readKinds()) || failed(readExclusions()))
      return signalPassFailure();
    raveled.clear();
    Builder builder(&getContext());
    getOperation().walk([&](CollectiveOpInterface op) {
      SmallVector<Attribute> reasons;
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        reasons.push_back(builder.getStringAttr(getReason(op, op.getLayer(i), op.getInputType(i))));
      op.setExactReasonsAttr(builder.getArrayAttr(reasons));
    });
    for (const Exclusion &exclusion : exclusions)
      if (!exclusion.matched)
        warnOfUnmatched(exclusion);
  }

private:
  LogicalResult readKinds() {
    compressedKinds.clear();
    if (kinds.empty())
      compressedKinds = {LayerKind::Gradient, LayerKind::OuterGradient};
    if (kinds.empty() && !plan.empty()) {
      FailureOr<PlannedCodecs> planned = PlannedCodecs::read(getOperation(), plan);
      if (failed(planned))
        return failure();
      for (LayerKind kind : planned->getCompressedKinds())
        compressedKinds.insert(kind);
    }
    for (StringRef name : kinds) {
      std::optional<LayerKind> kind = symbolizeLayerKind(name);
      if (!kind)
        return emitError(getOperation().getLoc())
               << "expected kinds to be " << describeLayerKinds() << ", got " << name;
      compressedKinds.insert(*kind);
    }
    return success();
  }

  LogicalResult readExclusions() {
    exclusions.clear();
    for (const std::string &text : exclude) {
      llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text, /*MaxSubPatterns=*/1024);
      if (!pattern)
        return emitError(getOperation().getLoc()) << "expected exclude to be a glob, got " << text << ": "
                                                  << llvm::toString(pattern.takeError());
      exclusions.push_back({text, std::move(*pattern)});
    }
    return success();
  }

  /// With the glob that was probably meant, where a name contains the text of this one.
  void warnOfUnmatched(const Exclusion &exclusion) {
    InFlightDiagnostic warning = emitWarning(getOperation().getLoc());
    warning << "exclude=" << exclusion.text << " matches the name of no layer of the program";
    StringRef part = StringRef(exclusion.text).trim("*/");
    std::set<std::string> names; // of layers, and of what they are in
    const WalkResult walked = getOperation().walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
        StringRef name = op.getLayer(i).getName();
        if (!part.empty() && name.contains(part)) {
          warning << "; *" << part << "* would match " << name;
          return WalkResult::interrupt();
        }
        SmallVector<StringRef> components;
        name.split(components, '/');
        names.insert(name.str());
        names.insert(components.begin(), components.end());
      }
      return WalkResult::advance();
    });
    if (!walked.wasInterrupted())
      warning << askMeant(part, names);
  }

  /// The rank of what most elements of a vector are: several parameters may travel as one.
  int64_t getRaveledRank(Operation *op, StringRef layer, int64_t rank) {
    auto step = op->getParentOfType<func::FuncOp>();
    if (!step)
      return rank;
    auto known = raveled.find(step);
    if (known == raveled.end())
      known = raveled.insert({step, RaveledParameters(step)}).first;
    return std::max(rank, known->second.getRank(layer).value_or(rank));
  }

  /// Why the operand of this type must stay exact; "" if it may be compressed.
  std::string getReason(Operation *op, LayerAttr layer, RankedTensorType type) {
    for (Exclusion &exclusion : exclusions) // All of them: a later one that matches is of use, too.
      exclusion.matched |= exclusion.pattern.match(layer.getName());
    for (const Exclusion &exclusion : exclusions)
      if (exclusion.pattern.match(layer.getName()))
        return kExcluded.of("'exclude=" + exclusion.text + "'");
    if (llvm::none_of(getCoveringKinds(layer.getKind()),
                      [&](LayerKind kind) { return compressedKinds.contains(kind); }))
      return kOfKind.of(stringifyLayerKind(layer.getKind()));
    const int64_t layers = layer.getLayerCount();
    const std::string of = layers == 1 ? "" : ", each of " + std::to_string(layers) + " stacked layers";
    if (layer.getShape()) {
      if (int64_t rank = getParameterRank(layer.getLayerShape());
          rank < minRank &&
          (layer.getShape().size() != 1 || getRaveledRank(op, layer.getName(), rank) < minRank))
        return kParameterRank.behind(rank) + of;
    } else if (int64_t rank = llvm::count_if(type.getShape(), [](int64_t size) { return size != 1; });
               rank < minRank && getRaveledRank(op, layer.getName(), rank) < minRank) {
      return kOperandRank.behind(rank);
    }
    if (type.getNumElements() / layers < minElements)
      return kFewElements.of(llvm::Twine(minElements) + " elements" + of);
    return "";
  }

  std::set<LayerKind> compressedKinds;
  SmallVector<Exclusion> exclusions;
  llvm::MapVector<Operation *, RaveledParameters> raveled; ///< of each step that has vectors
};

} // namespace
} // namespace cgx
