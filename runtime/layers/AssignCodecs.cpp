//===-- AssignCodecs.cpp - Codecs for operands that may be compressed -----===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/AssignCodecs.h"

#include "cgx/layers/Axes.h"
#include "cgx/layers/CodecWords.h"
#include "cgx/layers/PlannedCodecs.h"
#include "cgx/layers/Text.h"
#include "cgx/layers/UncompressedReasons.h"

#include <algorithm>
#include <set>

namespace cgx::layers {

namespace {

/// A codec as options name it: one for all lengths of rows, or one for each.
class KindCodec {
public:
  KindCodec() = default;
  /// Sets `reason` if the words are no codec, and leaves it otherwise.
  KindCodec(const CodecWords &words, std::string &reason) : words(words), hasRows(words.isOfRows()) {
    build(/*row=*/1, reason);
  }

  Codec ofRows(int64_t length) {
    std::string none;
    return build(hasRows ? length : 1, none).value_or(Codec());
  }

private:
  const std::optional<Codec> &build(int64_t row, std::string &reason) {
    auto [entry, isNew] = built.try_emplace(row);
    if (isNew)
      entry->second = buildCodec(words.ofRows(row), reason);
    return entry->second;
  }

  CodecWords words;
  bool hasRows = false;
  std::map<int64_t, std::optional<Codec>> built;
};

/// Returns the number of elements in a row of one rank's part of an operand, at least one.
int64_t rowLengthOf(const Collective &collective, const Operand &operand) {
  if (operand.shape.empty())
    return 1;
  int64_t length = operand.shape.back(), split = -1;
  if (collective.kind == CGX_ALL_TO_ALL)
    split = collective.splitDim;
  else if (collective.kind == CGX_REDUCE_SCATTER)
    split = collective.dim;
  if (split == int64_t(operand.shape.size()) - 1)
    length /= collective.largestGroup();
  return std::max<int64_t>(length, 1);
}

/// Returns the option as it was given: `activation-gradient=bits=8`.
std::string describeOption(Kind kind, const std::string &codec) {
  return withDashes(nameOf(kind)) + "=" + codec;
}

/// Reads a codec; in `wrong`, why the text is none. Each token gets a scale of its own, in families with
/// buckets, unless the text has a bucket.
KindCodec readCodec(Kind kind, const std::string &text, std::string &wrong) {
  CodecWords words;
  wrong = splitCodecWords(text, "quantize", words);
  if (wrong.empty() && words.delta != "none" && (words.samples == 0) != (kind == Kind::Weight))
    wrong = kind == Kind::Weight
                ? "expected delta of weights without samples: they are of none"
                : "expected delta with samples=N, how many samples the data has, got delta=" + words.delta;
  if (words.delta != "none" && kind == Kind::Weight)
    words.samples = 1; // until the number of runs of a gather is known
  if (!wrong.empty())
    return {};
  const bool isOfTokens = isActivation(kind) && kind != Kind::Activation && kind != Kind::ActivationGradient;
  if (isOfTokens && words.codec.find("bucket") == std::string::npos) {
    CodecWords ofRows = words;
    ofRows.codec = addCodecParameters(words.codec, {"bucket=row"});
    std::string hasNoBuckets;
    if (KindCodec codec(ofRows, hasNoBuckets); hasNoBuckets.empty())
      return codec;
  }
  return KindCodec(words, wrong);
}

class Assignment {
public:
  Assignment(Table &table, const CodecOptions &options, Diagnostics &diagnostics)
      : table(table), options(options), diagnostics(diagnostics), axes(table.mesh, table.ranks) {}

  bool run() {
    if (!readKinds() || !readAlong())
      return false;
    return options.plan.empty() ? assignGiven() : assignPlanned();
  }

private:
  // ---- Options

  bool readKinds() {
    for (const auto &[kind, codec] : options.ofKinds) {
      if (!options.plan.empty())
        return diagnostics.fail("expected a plan or codecs of kinds, got both: plan=" + options.plan +
                                " and " + describeOption(kind, codec));
      std::string wrong;
      ofKinds[kind] = readCodec(kind, codec, wrong);
      if (!wrong.empty())
        return diagnostics.fail(describeOption(kind, codec) + ": " + wrong);
    }
    return true;
  }

  bool readAlong() {
    std::vector<CodecAlong> codecs;
    std::string wrong = splitCodecsAlong(options.along, codecs);
    if (wrong.empty() && !codecs.empty() && !options.plan.empty())
      wrong = "expected a plan or codecs along axes, got both";
    for (const CodecAlong &one : codecs) {
      const std::optional<Kind> kind = kindNamed(one.kind);
      const std::optional<AxisSet> along = axes.named(one.axes);
      if (!wrong.empty())
        break;
      if (!kind)
        wrong = "expected the kind to be " + describeKinds() + ", got " + one.kind;
      else if (!along)
        wrong = "expected axes of the mesh, which has " + axes.describe(axes.all()) + ", got " + one.axes;
      else
        ofAxes[{*along, *kind}] = readCodec(*kind, one.codec, wrong);
    }
    return wrong.empty() || diagnostics.fail("along=" + options.along + ": " + wrong);
  }

  /// Returns the codec of the kind along the axes, else of the kind along any axes, else of the nearest kind
  /// that covers it, else of all kinds.
  KindCodec &codecFor(Kind kind, AxisSet along) {
    for (Kind covering : coveringKinds(kind)) {
      if (auto own = ofAxes.find({along, covering}); own != ofAxes.end())
        return own->second;
      if (auto own = ofKinds.find(covering); own != ofKinds.end())
        return own->second;
    }
    return usual;
  }

  /// Rejects a codec that nothing uses, because gradients and every other operand that may be compressed have
  /// their own.
  bool rejectUnused() {
    const auto ofGradients = options.ofKinds.find(Kind::Gradient);
    if (ofGradients == options.ofKinds.end())
      return true;
    for (const Collective &collective : table.collectives) {
      const AxisSet along = axes.varying(collective.groups);
      for (const Operand &operand : collective.operands)
        if (operand.reason.empty() && &codecFor(operand.layer.kind, along) == &usual)
          return true;
    }
    return diagnostics.fail(
        "nothing has the codec " + options.codec +
        (options.errorFeedback == "none" ? "" : " error-feedback=" + options.errorFeedback) +
        (options.backCodec.empty() ? "" : " back-codec=" + options.backCodec) +
        ", since each kind that is compressed has its own; write it into gradient='" + ofGradients->second +
        "'");
  }

  // ---- Codecs of operands

  bool assignGiven() {
    if (options.isGiven() && !rejectUnused())
      return false;
    CodecWords words;
    words.codec = options.codec;
    words.backCodec = options.backCodec;
    words.errorFeedback = options.errorFeedback;
    words.decay = options.decay;
    std::string reason;
    usual = KindCodec(words, reason);
    if (!reason.empty())
      return diagnostics.fail(reason);
    for (Collective &collective : table.collectives) {
      const AxisSet along = axes.varying(collective.groups);
      for (Operand &operand : collective.operands)
        assign(collective, operand,
               [&] { return codecFor(operand.layer.kind, along).ofRows(rowLengthOf(collective, operand)); });
    }
    warnOfReplaced();
    warnOfMissingKinds();
    warnOfMissingAxes();
    warnOfLostElements();
    return true;
  }

  bool assignPlanned() {
    const std::optional<PlannedCodecs> planned = PlannedCodecs::read(options.plan, diagnostics);
    if (!planned || !planned->checkFits(table, diagnostics))
      return false;
    std::string reason; // of the first operand that the plan does not fit
    for (Collective &collective : table.collectives)
      for (Operand &operand : collective.operands)
        assign(collective, operand, [&] {
          const Codec codec = planned->find(operand.layer).value_or(Codec());
          if (codec.isLossless() || codec.feedback || !reason.empty())
            return codec;
          return addErrorFeedback(codec, options.errorFeedback, options.decay, reason).value_or(Codec());
        });
    if (!reason.empty())
      return diagnostics.fail(reason);
    warnOfReplaced();
    warnOfLostElements();
    return true;
  }

  /// Assigns a codec. `codecOf` is called for operands that have no reason to stay uncompressed.
  template <typename CodecOf> void assign(Collective &collective, Operand &operand, CodecOf codecOf) {
    Codec assigned;
    if (operand.reason.empty()) {
      Codec wanted = codecOf();
      operand.reason = rejectionOf(collective, operand, wanted);
      if (wanted.changes && operand.reason.empty() && collective.kind == CGX_ALL_GATHER)
        wanted.changes->samples = int64_t(*collective.runs);
      if (operand.reason.empty() && wanted.isUncompressed() && !options.plan.empty())
        operand.reason = "exact in the plan";
      if (operand.reason.empty())
        assigned = wanted;
    }
    if (!operand.codec.isUncompressed() && operand.codec != assigned && replaced++ == 0)
      firstReplaced = operand.layer.name, firstReplacedCodec = operand.codec;
    operand.codec = assigned;
    operand.isDecided = true;
  }

  /// Returns why the codec cannot encode an operand; "" if it can.
  std::string rejectionOf(const Collective &collective, const Operand &operand, const Codec &codec) const {
    if (!codec.isLossless() && !collective.acceptsLossyCodecs())
      return kReduction.of(nameOf(*collective.reduction));
    if (!codec.takes(operand.type))
      return kElementType.of(nameOf(operand.type));
    if (codec.feedback && table.movesRows && table.movesRows(collective, operand))
      return std::string(kMovedRows.phrase);
    if (codec.needsAllReduce() && collective.kind != CGX_ALL_REDUCE)
      return codecOfOtherCollectives(nameOf(collective.kind), codec.family());
    if (codec.changes) {
      const bool isOfWeights = operand.layer.kind == Kind::Weight;
      if (collective.kind != (isOfWeights ? CGX_ALL_GATHER : CGX_PERMUTE))
        return codecOfOtherCollectives(nameOf(collective.kind), "delta");
      if (!isOfWeights && operand.shape.size() < 2)
        return "changes need a dimension of samples and others";
      if (isOfWeights && collective.runs.value_or(0) == 0)
        return "delta needs a gather that runs as often in every step";
    }
    return codec.rejectShape(operand.type, operand.shape);
  }

  // ---- Warnings

  /// Warns of a program that was already compressed, probably instead of the one that the framework exported.
  void warnOfReplaced() {
    if (replaced == 0)
      return;
    std::string text = "the program is compressed already: " + firstReplaced;
    if (replaced > 1)
      text += " and " + std::to_string(replaced - 1) + (replaced == 2 ? " other" : " others");
    diagnostics.warn(text + " had " + (replaced > 1 ? "codecs such as " : "the codec ") +
                     assemblyOf(firstReplacedCodec) + ", which this replaces");
  }

  /// Warns of kinds that were to be compressed and do not occur.
  void warnOfMissingKinds() {
    std::set<Kind> present;
    for (const Collective &collective : table.collectives)
      for (const Operand &operand : collective.operands)
        for (Kind kind : coveringKinds(operand.layer.kind))
          present.insert(kind);
    for (const auto &[kind, codec] : options.ofKinds)
      if (isActivation(kind) && !present.count(kind))
        diagnostics.warn(describeOption(kind, codec) +
                         " compresses nothing: no collective of the step carries anything of kind " +
                         std::string(nameOf(kind)) + "; --cgx-report shows what they carry");
  }

  void warnOfMissingAxes() {
    std::set<AxisSet> present, said;
    for (const Collective &collective : table.collectives)
      present.insert(axes.varying(collective.groups));
    for (const auto &[place, codec] : ofAxes)
      if (!present.count(place.first) && said.insert(place.first).second)
        diagnostics.warn("along=" + options.along + " compresses nothing along " +
                         axes.describe(place.first) + ": no collective has groups along exactly that");
  }

  /// Warns of sparse codecs, which send few elements of a gradient. Without error feedback the others are
  /// lost for good, and training suffers in a way that no single step shows.
  void warnOfLostElements() {
    std::string first, family;
    unsigned others = 0;
    for (const Collective &collective : table.collectives)
      for (const Operand &operand : collective.operands) {
        if (!isGradient(operand.layer.kind) || !operand.codec.isSparse())
          continue;
        if (first.empty())
          first = operand.layer.name, family = operand.codec.family();
        else
          ++others;
      }
    if (first.empty())
      return;
    if (others != 0)
      first += others == 1 ? " and one other" : " and " + std::to_string(others) + " others";
    diagnostics.warn(
        first + (others == 0 ? " travels by " : " travel by ") + family +
        " without error feedback: elements that are not sent are lost; error-feedback=f32 (or bf16, int8) "
        "sends them in later steps");
  }

  Table &table;
  const CodecOptions &options;
  Diagnostics &diagnostics;
  const Axes axes;
  KindCodec usual;       ///< codec of kinds without their own
  unsigned replaced = 0; ///< number of operands that had another codec
  std::string firstReplaced;
  Codec firstReplacedCodec;
  std::map<Kind, KindCodec> ofKinds;
  std::map<std::pair<AxisSet, Kind>, KindCodec> ofAxes; ///< codecs of collectives along axes
};

} // namespace

bool assignCodecs(Table &table, const CodecOptions &options, Diagnostics &diagnostics) {
  return Assignment(table, options, diagnostics).run();
}

} // namespace cgx::layers
