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
#include "cgx/Passes/CodecOptions.h"
#include "cgx/Passes/Rewrite.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace cgx {
#define GEN_PASS_DEF_ASSIGNCODECSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

struct AssignCodecs : impl::AssignCodecsPassBase<AssignCodecs> {
  using AssignCodecsPassBase::AssignCodecsPassBase;
  AssignCodecs(const AssignCodecs &other) : AssignCodecsPassBase(other) {}

  void runOnOperation() override {
    if (!plan.empty())
      return assignPlanned();
    CodecAttrInterface assigned = withErrorFeedback(buildCodec());
    if (!assigned)
      return signalPassFailure();
    getOperation().walk([&](CollectiveOpInterface op) { assign(op, [&](LayerAttr) { return assigned; }); });
  }

private:
  CodecParameterOptions<Option<std::string>, Option<bool>, Pass> parameters{*this};

  void assignPlanned() {
    FailureOr<PlannedCodecs> planned = PlannedCodecs::read(getOperation(), plan);
    if (failed(planned) || failed(planned->verifyFits(getOperation())))
      return signalPassFailure();
    bool isWrong = false;
    getOperation().walk([&](CollectiveOpInterface op) {
      assign(op, [&](LayerAttr layer) {
        CodecAttrInterface codec = planned->lookup(layer);
        if (!codec.isExact() && !isa<ErrorFeedbackAttr>(codec) && !isWrong)
          codec = withErrorFeedback(codec);
        isWrong |= !codec;
        return codec ? codec : CodecAttrInterface(getIdentityCodec(&getContext()));
      });
    });
    if (isWrong)
      signalPassFailure();
  }

  /// The codec of the options; null, after an error, if they describe none.
  CodecAttrInterface buildCodec() {
    std::string reason;
    CodecAttrInterface built = parseCodecText(&getContext(), parameters.addTo(codec.getValue()), reason);
    CodecAttrInterface back = built;
    if (built && !backCodec.empty())
      back = parseCodecText(&getContext(), backCodec, reason);
    if (!built || !back)
      mlir::emitError(getOperation().getLoc()) << reason;
    if (!built || !back || backCodec.empty())
      return back;
    return orNull(TwoWayAttr::getChecked([&] { return mlir::emitError(getOperation().getLoc()); },
                                         &getContext(), built, back));
  }

  /// As an interface; null stays null.
  static CodecAttrInterface orNull(Attribute codec) {
    return codec ? cast<CodecAttrInterface>(codec) : CodecAttrInterface();
  }

  /// The codec with the error feedback of the options; null, after an error, if there is no such.
  CodecAttrInterface withErrorFeedback(CodecAttrInterface assigned) {
    if (!assigned || errorFeedback == "none")
      return assigned;
    auto emitError = [&] { return mlir::emitError(getOperation().getLoc()); };
    std::optional<ResidualStorage> storage = symbolizeResidualStorage(errorFeedback);
    if (!storage) {
      emitError() << "expected error-feedback to be none, f32, bf16 or int8, got " << errorFeedback;
      return {};
    }
    return orNull(ErrorFeedbackAttr::getChecked(emitError, &getContext(), assigned,
                                                Builder(&getContext()).getF64FloatAttr(decay.getValue()),
                                                *storage));
  }

  /// `codecOf` is asked for the layers of operands that have no reason to stay exact.
  void assign(CollectiveOpInterface op, function_ref<CodecAttrInterface(LayerAttr)> codecOf) {
    Builder builder(&getContext());
    auto given = op->getAttrOfType<ArrayAttr>(kExactReasonAttrName);
    SmallVector<Attribute> codecs, reasons;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      std::string reason = given ? cast<StringAttr>(given[i]).str() : "";
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
    return codec.getShapeRefusal(op.getInputType(operand));
  }
};

} // namespace
} // namespace cgx
