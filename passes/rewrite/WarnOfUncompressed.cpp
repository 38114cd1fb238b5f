//===-- WarnOfUncompressed.cpp - Why nothing, or too little, is compressed ===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExactReasons.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace cgx {
#define GEN_PASS_DEF_WARNOFUNCOMPRESSEDPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct WarnOfUncompressed : impl::WarnOfUncompressedPassBase<WarnOfUncompressed> {
  using WarnOfUncompressedPassBase::WarnOfUncompressedPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    count();
    if (operands == 0 && trains())
      warnOfSilence();
    else if (operands == 0 || identity)
      return; // An evaluation need not send anything, and who asked for that knows.
    else if (compressed == 0 && gradients == 0 && !reasons.empty())
      warnOfNoGradient();
    else if (compressed == 0 && !reasons.empty())
      warnOfExactGradients();
    if (!doubles.empty())
      warnOfDoubles();
    if (compressed > 0 && scattered > 0)
      warnOfScattered();
  }

private:
  void count() {
    operands = gradients = compressed = scattered = 0;
    firstScattered = {};
    doubles.clear();
    reasons.clear();
    otherReasons.clear();
    getOperation().walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
        bool isGradient = isGradientKind(op.getLayer(i).getKind());
        StringRef reason = getExactReason(op, i);
        ++operands;
        gradients += isGradient;
        compressed += !op.getCodec(i).isRaw();
        if (isGradient && op.getInputType(i).getElementType().isF64()) {
          doubles.insert(op.getLayer(i).getName());
        }
        if (isGradient && isOfAnotherCollective(op, reason)) {
          ++scattered;
          firstScattered = firstScattered.empty() ? op.getLayer(i).getName() : firstScattered;
        }
        // Without any gradient, what the others are is all there is to say.
        if (!reason.empty() && isGradient)
          ++reasons[reason];
        else if (!reason.empty())
          ++otherReasons[reason];
      }
    });
    if (gradients == 0)
      reasons = otherReasons;
  }

  /// The step updates state, or, where nothing is said to be state, returns something of an argument's type:
  /// its next value, or a gradient.
  bool trains() {
    auto step = dyn_cast_or_null<FunctionOpInterface>(SymbolTable::lookupSymbolIn(getOperation(), "main"));
    if (!step || step.isExternal() || !step.getFunctionBody().hasOneBlock())
      return true;
    Block &body = step.getFunctionBody().front();
    bool hasState = false, returnsLike = false;
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      returnsLike |= type && type.getRank() > 0 && isa<FloatType>(type.getElementType()) &&
                     llvm::is_contained(body.getArgumentTypes(), type);
      auto feeds = step.getResultAttrOfType<IntegerAttr>(i, kFeedsAttrName);
      if (!feeds)
        continue;
      hasState = true;
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || argument.getOwner() != &body || argument.getArgNumber() != feeds.getInt())
        return true;
    }
    return !hasState && returnsLike;
  }

  int64_t getRanks() {
    auto ranks = getOperation()->getAttrOfType<IntegerAttr>(kNumRanksAttrName);
    return ranks ? ranks.getInt() : 1;
  }

  InFlightDiagnostic warn() { return mlir::emitWarning(getOperation().getLoc()); }

  void warnOfSilence() {
    if (int64_t ranks = getRanks(); ranks > 1) {
      warn() << "nothing is compressed: the step has no collective, so that its " << ranks
             << " ranks work alone; average gradients over the axis of the mesh, "
                "lax.pmean(gradients, axis_name)";
      return;
    }
    warn() << "nothing is compressed: the step is for one device and sends nothing; export it over a mesh of "
              "several, which a machine without them has with "
              "XLA_FLAGS=--xla_force_host_platform_device_count=4, set before JAX starts, and "
              "jax.make_mesh((4,), (\"data\",))";
  }

  void listReasons(InFlightDiagnostic &warning) {
    llvm::interleave(
        reasons, [&](auto &reason) { warning << reason.first << " (" << reason.second << ")"; },
        [&] { warning << ", "; });
    llvm::SmallVector<StringRef> cures;
    for (const auto &[reason, number] : reasons)
      if (StringRef cure = getCure(reason); !cure.empty() && !llvm::is_contained(cures, cure))
        cures.push_back(cure);
    for (StringRef cure : cures)
      warning << "; " << cure;
  }

  void warnOfNoGradient() {
    InFlightDiagnostic warning = warn();
    warning << "nothing is compressed: none of " << operands
            << " operands of collectives was found to be the gradient of a parameter that the step updates: ";
    listReasons(warning);
  }

  void warnOfExactGradients() {
    InFlightDiagnostic warning = warn();
    warning << "nothing is compressed, though " << gradients
            << (gradients == 1 ? " gradient travels: " : " gradients travel: ");
    listReasons(warning);
  }

  void warnOfDoubles() {
    constexpr size_t most = 8; // names that a line has
    InFlightDiagnostic warning = warn();
    warning << doubles.size()
            << (doubles.size() == 1 ? " gradient of f64 stays exact, " : " gradients of f64 stay exact, ");
    llvm::interleave(
        doubles.getArrayRef().take_front(most), [&](StringRef name) { warning << "'" << name << "'"; },
        [&] { warning << ", "; });
    if (doubles.size() > most)
      warning << " and " << doubles.size() - most << " more";
    warning << ": codecs take f32, f16 and bf16; cast gradients before they are reduced, or train in f32";
  }

  static bool isOfAnotherCollective(CollectiveOpInterface op, StringRef reason) {
    return reason.starts_with(codecOfOtherCollectives(op.getKind(), /*codec=*/""));
  }

  void warnOfScattered() {
    warn()
        << scattered << (scattered == 1 ? " gradient stays" : " gradients stay") << " exact, such as '"
        << firstScattered
        << "': the codec is one of all-reduces, and each rank gets no more than the slice of the sum that it "
           "keeps; give these layers another codec in the plan";
  }

  int64_t operands = 0, gradients = 0, compressed = 0, scattered = 0;
  StringRef firstScattered;
  llvm::SetVector<StringRef> doubles; ///< layers whose gradients are of f64
  llvm::MapVector<StringRef, int64_t> reasons, otherReasons;
};

} // namespace
} // namespace cgx
