//===-- AssignCodecs.cpp - A codec for all that may be compressed -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecText.h"
#include "PlannedCodecs.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/CodecOptions.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <map>

namespace cgx {
#define GEN_PASS_DEF_ASSIGNCODECSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct AssignCodecs : impl::AssignCodecsPassBase<AssignCodecs> {
  using AssignCodecsPassBase::AssignCodecsPassBase;
  AssignCodecs(const AssignCodecs &other) : AssignCodecsPassBase(other) {}

  void runOnOperation() override {
    if (failed(readKinds()))
      return signalPassFailure();
    if (!plan.empty())
      return assignPlanned();
    if (isGiven() && failed(refuseUnused()))
      return signalPassFailure();
    CodecAttrInterface assigned = build(wordsOfOptions());
    if (!assigned)
      return signalPassFailure();
    getOperation().walk([&](CollectiveOpInterface op) {
      assign(op, [&](LayerAttr layer) {
        auto own = ofKinds.find(layer.getKind());
        return own == ofKinds.end() ? assigned : own->second;
      });
    });
  }

private:
  CodecParameterOptions<Option<std::string>, Option<bool>, Pass> parameters{*this};

  /// The options that name the codec of a kind.
  std::array<std::pair<LayerKind, const Option<std::string> *>, 6> kindOptions() {
    return {{{LayerKind::Gradient, &gradient},
             {LayerKind::OuterGradient, &outerGradient},
             {LayerKind::Weight, &weight},
             {LayerKind::Activation, &activation},
             {LayerKind::ActivationGradient, &activationGradient},
             {LayerKind::Other, &other}}};
  }

  LogicalResult readKinds() {
    ofKinds.clear();
    for (auto [kind, option] : kindOptions()) {
      if (option->empty())
        continue;
      if (!plan.empty())
        return emitError(getOperation().getLoc())
               << "expected a plan or codecs of kinds, got both: plan=" << plan << " and "
               << option->getArgStr() << "=" << option->getValue();
      CodecWords words;
      std::string wrong = splitCodecWords(*option, "quantize", words);
      if (CodecAttrInterface built = wrong.empty() ? cgx::buildCodec(&getContext(), words, wrong) : nullptr) {
        ofKinds[kind] = built;
        continue;
      }
      return emitError(getOperation().getLoc())
             << option->getArgStr() << "=" << option->getValue() << ": " << wrong;
    }
    return success();
  }

  CodecWords wordsOfOptions() {
    CodecWords words;
    words.codec = parameters.addTo(codec.getValue());
    words.backCodec = backCodec;
    words.errorFeedback = errorFeedback;
    words.decay = decay;
    return words;
  }

  /// Whether an option says something of the codec of kinds without their own.
  bool isGiven() {
    return parameters.addTo(codec.getValue()) != "quantize" || !backCodec.empty() || errorFeedback != "none";
  }

  /// Where gradients have their own codec, and so has every other operand that may be compressed.
  LogicalResult refuseUnused() {
    if (!ofKinds.count(LayerKind::Gradient))
      return success();
    bool isUsed = false;
    getOperation().walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        isUsed |= getExactReason(op, i).empty() && !ofKinds.count(op.getLayer(i).getKind());
    });
    if (isUsed)
      return success();
    CodecWords words = wordsOfOptions();
    return emitError(getOperation().getLoc())
           << "nothing has the codec " << words.codec
           << (words.errorFeedback == "none" ? "" : " error-feedback=" + words.errorFeedback)
           << (words.backCodec.empty() ? "" : " back-codec=" + words.backCodec)
           << ", since each kind that is compressed has its own; write it into gradient='"
           << gradient.getValue() << "'";
  }

  void assignPlanned() {
    FailureOr<PlannedCodecs> planned = PlannedCodecs::read(getOperation(), plan);
    if (failed(planned) || failed(planned->verifyFits(getOperation())))
      return signalPassFailure();
    bool isWrong = false;
    getOperation().walk([&](CollectiveOpInterface op) {
      assign(op, [&](LayerAttr layer) {
        CodecAttrInterface codec = planned->lookup(layer);
        std::string reason;
        if (!codec.isExact() && !isa<ErrorFeedbackAttr>(codec) && !isWrong)
          codec = addErrorFeedback(codec, errorFeedback, decay, reason);
        if (!codec && !isWrong)
          emitError(getOperation().getLoc()) << reason;
        isWrong |= !codec;
        return codec ? codec : CodecAttrInterface(getIdentityCodec(&getContext()));
      });
    });
    if (isWrong)
      signalPassFailure();
  }

  /// Null, after an error, if the words describe no codec.
  CodecAttrInterface build(const CodecWords &words) {
    std::string reason;
    CodecAttrInterface built = cgx::buildCodec(&getContext(), words, reason);
    if (!built)
      emitError(getOperation().getLoc()) << reason;
    return built;
  }

  /// `codecOf` is asked for the layers of operands that have no reason to stay exact.
  void assign(CollectiveOpInterface op, function_ref<CodecAttrInterface(LayerAttr)> codecOf) {
    Builder builder(&getContext());
    SmallVector<Attribute> codecs, reasons;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      std::string reason = getExactReason(op, i).str();
      CodecAttrInterface assigned = getIdentityCodec(&getContext());
      if (reason.empty()) {
        CodecAttrInterface wanted = codecOf(op.getLayer(i));
        reason = getRefusal(op, i, wanted);
        if (reason.empty() && wanted.isRaw() && !plan.empty())
          reason = "exact in the plan";
        if (reason.empty())
          assigned = wanted;
      }
      codecs.push_back(assigned);
      reasons.push_back(builder.getStringAttr(reason));
    }
    op.setCodecsAttr(builder.getArrayAttr(codecs));
    op->setAttr(kExactReasonAttrName, builder.getArrayAttr(reasons));
  }

  /// Why the codec cannot encode an operand; "" if it can.
  static std::string getRefusal(CollectiveOpInterface op, unsigned operand, CodecAttrInterface codec) {
    if (!codec.isExact() && !op.acceptsLossyCodecs())
      return "reduction " + stringifyReduction(*op.getReductionKind()).str();
    Type elementType = op.getInputType(operand).getElementType();
    if (!codec.takesElementType(elementType))
      return "element type " + getElementTypeName(elementType).str();
    if (codec.needsAllReduce() && !op.isAllReduce())
      return op.getKind().str() + " with " + codec.getFamily().str();
    if (isa<DeltaAttr>(codec) && !isa<PermuteOp>(op))
      return op.getKind().str() + " with delta";
    return codec.getShapeRefusal(op.getInputType(operand));
  }

  std::map<LayerKind, CodecAttrInterface> ofKinds;
};

} // namespace
} // namespace cgx
