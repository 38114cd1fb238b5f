//===-- AssignCodecs.cpp - A codec for all that may be compressed -------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecText.h"
#include "ExactReasons.h"
#include "PlannedCodecs.h"
#include "RankGrid.h"
#include "cgx/Passes/StepRuns.h"

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "cgx/Dialect/Cgx/CollectiveOperands.h"
#include "cgx/Passes/CodecOptions.h"
#include "cgx/Passes/Rewrite.h"
#include "cgx/Passes/ScatteredRows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>
#include <map>
#include <set>

namespace cgx {
#define GEN_PASS_DEF_ASSIGNCODECSPASS
#include "cgx/Passes/RewritePasses.h.inc"

namespace {

using namespace mlir;

/// A codec as options name it: one for all, or one for each length of rows.
class KindCodec {
public:
  KindCodec() = default;
  /// `reason` is why the words are no codec, or as it was.
  KindCodec(MLIRContext *context, const CodecWords &words, std::string &reason)
      : context(context), words(words), hasRows(words.isOfRows()) {
    build(/*row=*/1, reason);
  }

  CodecAttrInterface ofRows(int64_t length) {
    std::string none;
    return build(hasRows ? length : 1, none);
  }

private:
  CodecAttrInterface build(int64_t row, std::string &reason) {
    auto [entry, isNew] = built.try_emplace(row);
    if (isNew)
      entry->second = buildCodec(context, words.ofRows(row), reason);
    return entry->second;
  }

  MLIRContext *context = nullptr;
  CodecWords words;
  bool hasRows = false;
  std::map<int64_t, CodecAttrInterface> built;
};

/// The elements that stand in a row of what one rank gets of an operand, and at least one.
int64_t getRowLength(CollectiveOpInterface op, unsigned operand) {
  RankedTensorType type = op.getInputType(operand);
  if (type.getRank() == 0)
    return 1;
  int64_t length = type.getShape().back(), split = -1;
  if (auto exchange = dyn_cast<AllToAllOp>(*op))
    split = exchange.getSplitDim();
  else if (auto scatter = dyn_cast<ReduceScatterOp>(*op))
    split = scatter.getDim();
  if (split == type.getRank() - 1)
    length /= op.getGroups().getLargestSize();
  return std::max<int64_t>(length, 1);
}

struct AssignCodecs : impl::AssignCodecsPassBase<AssignCodecs> {
  using AssignCodecsPassBase::AssignCodecsPassBase;
  AssignCodecs(const AssignCodecs &other) : AssignCodecsPassBase(other) {}

  void runOnOperation() override {
    replaced = 0;
    rows.reset();
    RankGrid grid(getOperation());
    if (failed(readKinds()) || failed(readAlong(grid)))
      return signalPassFailure();
    if (!plan.empty())
      return assignPlanned();
    if (isGiven() && failed(refuseUnused()))
      return signalPassFailure();
    std::string reason;
    usual = KindCodec(&getContext(), wordsOfOptions(), reason);
    if (!reason.empty()) {
      emitError(getOperation().getLoc()) << reason;
      return signalPassFailure();
    }
    getOperation().walk([&](CollectiveOpInterface op) {
      const AxisSet axes = grid.getVaryingAxes(op.getGroups());
      assign(op, [&](unsigned i) {
        return codecFor(op.getLayer(i).getKind(), axes).ofRows(getRowLength(op, i));
      });
    });
    warnOfReplaced();
    warnOfMissingKinds();
    warnOfMissingAxes(grid);
    warnOfLostElements();
  }

  KindCodecOptions<Option<std::string>, Pass> codecsOfKinds{*this};

private:
  CodecParameterOptions<Option<std::string>, Option<bool>, Pass> parameters{*this};

  /// As it was given: `activation-gradient=bits=8`.
  static std::string describeOption(LayerKind kind, StringRef codec) {
    std::string argument = stringifyLayerKind(kind).str();
    std::replace(argument.begin(), argument.end(), '_', '-');
    return argument + "=" + codec.str();
  }

  LogicalResult readKinds() {
    ofKinds.clear();
    for (const auto &[kind, codec] : codecsOfKinds.get()) {
      if (!plan.empty())
        return emitError(getOperation().getLoc())
               << "expected a plan or codecs of kinds, got both: plan=" << plan << " and "
               << describeOption(kind, codec);
      std::string wrong;
      ofKinds[kind] = readCodec(kind, codec, wrong);
      if (!wrong.empty())
        return emitError(getOperation().getLoc()) << describeOption(kind, codec) << ": " << wrong;
    }
    return success();
  }

  /// What the text says, or why not in `wrong`. Tokens have a scale each, in families with buckets, unless it
  /// says what a bucket is.
  KindCodec readCodec(LayerKind kind, StringRef text, std::string &wrong) {
    CodecWords words;
    wrong = splitCodecWords(text, "quantize", words);
    if (wrong.empty() && words.delta != "none" && (words.samples == 0) != (kind == LayerKind::Weight))
      wrong = kind == LayerKind::Weight
                  ? "expected delta of weights without samples: they are of none"
                  : "expected delta with samples=N, how many samples the data has, got delta=" + words.delta;
    if (words.delta != "none" && kind == LayerKind::Weight)
      words.samples = 1; // until it is known how often a gather runs
    if (!wrong.empty())
      return {};
    const bool isOfTokens =
        isActivationKind(kind) && kind != LayerKind::Activation && kind != LayerKind::ActivationGradient;
    if (isOfTokens && !StringRef(words.codec).contains("bucket")) {
      CodecWords ofRows = words;
      ofRows.codec = addCodecParameters(words.codec, {"bucket=row"});
      std::string hasNoBuckets;
      if (KindCodec codec(&getContext(), ofRows, hasNoBuckets); hasNoBuckets.empty())
        return codec;
    }
    return KindCodec(&getContext(), words, wrong);
  }

  LogicalResult readAlong(const RankGrid &grid) {
    ofAxes.clear();
    std::vector<CodecAlong> codecs;
    std::string wrong = splitCodecsAlong(along, codecs);
    if (wrong.empty() && !codecs.empty() && !plan.empty())
      wrong = "expected a plan or codecs along axes, got both";
    for (const CodecAlong &one : codecs) {
      std::optional<LayerKind> kind = symbolizeLayerKind(one.kind);
      std::optional<AxisSet> axes = grid.getAxes(one.axes);
      if (!wrong.empty())
        break;
      if (!kind)
        wrong = "expected the kind to be " + describeLayerKinds() + ", got " + one.kind;
      else if (!axes)
        wrong =
            "expected axes of the mesh, which has " + grid.describe(grid.getAllAxes()) + ", got " + one.axes;
      else
        ofAxes[{*axes, *kind}] = readCodec(*kind, one.codec, wrong);
    }
    if (wrong.empty())
      return success();
    return emitError(getOperation().getLoc()) << "along=" << along << ": " << wrong;
  }

  /// That of the kind along the axes, or along any, or of the nearest that it is some of, or of all.
  KindCodec &codecFor(LayerKind kind, AxisSet axes) {
    for (LayerKind covering : getCoveringKinds(kind)) {
      if (auto own = ofAxes.find({axes, covering}); own != ofAxes.end())
        return own->second;
      if (auto own = ofKinds.find(covering); own != ofKinds.end())
        return own->second;
    }
    return usual;
  }

  void warnOfMissingAxes(RankGrid &grid) {
    std::set<AxisSet> present;
    getOperation().walk(
        [&](CollectiveOpInterface op) { present.insert(grid.getVaryingAxes(op.getGroups())); });
    std::set<AxisSet> said;
    for (const auto &[place, codec] : ofAxes)
      if (!present.count(place.first) && said.insert(place.first).second)
        emitWarning(getOperation().getLoc())
            << "along=" << along << " compresses nothing along " << grid.describe(place.first)
            << ": no collective has groups along exactly that";
  }

  /// What was to be compressed travels as something else, or not at all.
  void warnOfMissingKinds() {
    std::set<LayerKind> present;
    getOperation().walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        for (LayerKind kind : getCoveringKinds(op.getLayer(i).getKind()))
          present.insert(kind);
    });
    for (const auto &[kind, codec] : codecsOfKinds.get())
      if (isActivationKind(kind) && !present.count(kind))
        emitWarning(getOperation().getLoc())
            << describeOption(kind, codec)
            << " compresses nothing: no collective of the step carries anything of kind "
            << stringifyLayerKind(kind) << "; --cgx-report shows what they carry";
  }

  /// A sparse codec sends few elements of a gradient. Without error feedback the others are lost for good,
  /// and training suffers in a way that no step shows.
  void warnOfLostElements() {
    std::string first, family;
    unsigned others = 0;
    getOperation().walk([&](CollectiveOpInterface op) {
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
        if (!isGradientKind(op.getLayer(i).getKind()) || !isSparse(op.getCodec(i)))
          continue;
        if (first.empty())
          first = op.getLayer(i).getName().str(), family = op.getCodec(i).getFamily().str();
        else
          ++others;
      }
    });
    if (first.empty())
      return;
    if (others != 0)
      first += others == 1 ? " and one other" : " and " + std::to_string(others) + " others";
    emitWarning(getOperation().getLoc())
        << first << (others == 0 ? " travels by " : " travel by ") << family
        << " without error feedback: elements that are not sent are lost; error-feedback=f32 (or bf16, int8) "
           "sends them in later steps";
  }

  /// Whether it leaves elements out and keeps nothing of them.
  static bool isSparse(CodecAttrInterface codec) {
    return isa<CodecAttr, TwoWayAttr>(codec) &&
           llvm::any_of(valuesOf(codec.getCodec()).parameters(), [](const CodecParameter &parameter) {
             return parameter.name == "density" || parameter.name == "threshold";
           });
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
    RankGrid grid(getOperation());
    getOperation().walk([&](CollectiveOpInterface op) {
      const AxisSet axes = grid.getVaryingAxes(op.getGroups());
      for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
        isUsed |= getExactReason(op, i).empty() && &codecFor(op.getLayer(i).getKind(), axes) == &usual;
    });
    if (isUsed)
      return success();
    CodecWords words = wordsOfOptions();
    return emitError(getOperation().getLoc())
           << "nothing has the codec " << words.codec
           << (words.errorFeedback == "none" ? "" : " error-feedback=" + words.errorFeedback)
           << (words.backCodec.empty() ? "" : " back-codec=" + words.backCodec)
           << ", since each kind that is compressed has its own; write it into gradient='"
           << codecsOfKinds.get()[LayerKind::Gradient] << "'";
  }

  void assignPlanned() {
    FailureOr<PlannedCodecs> planned = PlannedCodecs::read(getOperation(), plan);
    if (failed(planned) || failed(planned->verifyFits(getOperation())))
      return signalPassFailure();
    bool isWrong = false;
    getOperation().walk([&](CollectiveOpInterface op) {
      assign(op, [&](unsigned i) {
        CodecAttrInterface codec = planned->lookup(op.getLayer(i));
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
      return signalPassFailure();
    warnOfReplaced();
    warnOfLostElements();
  }

  /// A program that was compressed before, where the one that the framework exported was meant.
  void warnOfReplaced() {
    if (replaced == 0)
      return;
    InFlightDiagnostic warning = emitWarning(getOperation().getLoc())
                                 << "the program is compressed already: " << firstReplaced;
    if (replaced > 1)
      warning << " and " << replaced - 1 << (replaced == 2 ? " other" : " others");
    warning << " had " << (replaced > 1 ? "codecs such as " : "the codec ") << firstReplacedCodec
            << ", which this replaces";
  }

  /// `codecOf` is asked for operands, by number, that have no reason to stay exact.
  void assign(CollectiveOpInterface op, function_ref<CodecAttrInterface(unsigned)> codecOf) {
    Builder builder(&getContext());
    SmallVector<Attribute> codecs, reasons;
    for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
      std::string reason = getExactReason(op, i).str();
      CodecAttrInterface assigned = getIdentityCodec(&getContext());
      if (reason.empty()) {
        CodecAttrInterface wanted = codecOf(i);
        reason = getRefusal(op, i, wanted);
        if (auto changes = dyn_cast<DeltaAttr>(wanted); changes && reason.empty() && isa<AllGatherOp>(op))
          wanted = DeltaAttr::get(&getContext(), changes.getInner(), int64_t(*getRunsPerStep(op)),
                                  changes.getStorage());
        if (reason.empty() && wanted.isRaw() && !plan.empty())
          reason = "exact in the plan";
        if (reason.empty())
          assigned = wanted;
      }
      if (const CodecAttrInterface old = op.getCodec(i); !old.isRaw() && old != assigned) {
        if (replaced++ == 0)
          firstReplaced = op.getLayer(i).getName().str(), firstReplacedCodec = old;
      }
      codecs.push_back(assigned);
      reasons.push_back(builder.getStringAttr(reason));
    }
    op.setCodecsAttr(builder.getArrayAttr(codecs));
    op.setExactReasonsAttr(builder.getArrayAttr(reasons));
  }

  /// Whether rows of a result go to other places in the next step.
  bool movesRows(Value result) {
    if (!rows)
      rows.emplace(getOperation());
    return llvm::any_of(rows->getSums(result), [](const ScatteredRows::Sum &sum) { return sum.movesPlaces; });
  }

  /// Why the codec cannot encode an operand; "" if it can.
  std::string getRefusal(CollectiveOpInterface op, unsigned operand, CodecAttrInterface codec) {
    if (!codec.isExact() && !op.acceptsLossyCodecs())
      return kReduction.of(stringifyReduction(*op.getReductionKind()));
    Type elementType = op.getInputType(operand).getElementType();
    if (!codec.takesElementType(elementType))
      return kElementType.of(getElementTypeName(elementType));
    if (isa<ErrorFeedbackAttr>(codec) && movesRows(op.getResultTensors()[operand]))
      return kMovedRows.phrase.str();
    if (codec.needsAllReduce() && !op.isAllReduce())
      return codecOfOtherCollectives(op.getKind(), codec.getFamily());
    if (auto changes = dyn_cast<DeltaAttr>(codec)) {
      const bool isOfWeights = op.getLayer(operand).getKind() == LayerKind::Weight;
      if (isOfWeights ? !isa<AllGatherOp>(op) : !isa<PermuteOp>(op))
        return codecOfOtherCollectives(op.getKind(), "delta");
      if (!isOfWeights && op.getInputType(operand).getRank() < 2)
        return "changes need a dimension of samples and others";
      if (isOfWeights && getRunsPerStep(op).value_or(0) == 0)
        return "delta needs a gather that runs as often in every step";
    }
    return codec.getShapeRefusal(op.getInputType(operand));
  }

  std::optional<ScatteredRows> rows; ///< once somebody asks
  KindCodec usual;                   ///< of kinds without their own
  unsigned replaced = 0;             ///< operands that had another codec
  std::string firstReplaced;
  CodecAttrInterface firstReplacedCodec;
  std::map<LayerKind, KindCodec> ofKinds;
  std::map<std::pair<AxisSet, LayerKind>, KindCodec> ofAxes; ///< of collectives along them
};

} // namespace

std::unique_ptr<Pass> createAssignCodecsPass(const AssignCodecsPassOptions &options,
                                             const KindCodecs &ofKinds) {
  auto pass = std::make_unique<AssignCodecs>(options);
  pass->codecsOfKinds.set(ofKinds);
  return pass;
}

} // namespace cgx
