//===-- CgxDialect.cpp - registration of the cgx dialect ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "Word.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cgx;

#include "cgx/Dialect/Cgx/CgxDialect.cpp.inc"
#include "cgx/Dialect/Cgx/CgxEnums.cpp.inc"
#include "cgx/Dialect/Cgx/CodecAttrInterface.cpp.inc"
#include "cgx/Dialect/Cgx/CommunicationInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "cgx/Dialect/Cgx/CgxAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "cgx/Dialect/Cgx/CgxTypes.cpp.inc"

// The generated printers of enumerations put a space before the name.
template <typename EnumAttr, typename Enum>
static ParseResult parseEnumName(OpAsmParser &parser, std::optional<Enum> (*symbolize)(StringRef),
                                 ArrayRef<StringRef> names, StringRef expected, EnumAttr &attribute) {
  StringRef name;
  SMLoc location = parser.getCurrentLocation();
  if (parseWord(parser, name, names))
    return failure();
  std::optional<Enum> value = symbolize(name);
  if (!value)
    return parser.emitError(location) << "expected " << expected << ", got " << name;
  attribute = EnumAttr::get(parser.getContext(), *value);
  return success();
}

static ParseResult parseReductionName(OpAsmParser &parser, ReductionAttr &reduction) {
  return parseEnumName(parser, symbolizeReduction, wordsOf(stringifyReduction, getMaxEnumValForReduction()),
                       "sum, mean, max, min or product", reduction);
}

static void printReductionName(OpAsmPrinter &printer, Operation *, ReductionAttr reduction) {
  printer << stringifyReduction(reduction.getValue());
}

static ParseResult parsePhaseName(OpAsmParser &parser, PhaseAttr &phase) {
  return parseEnumName(parser, symbolizePhase, wordsOf(stringifyPhase, getMaxEnumValForPhase()),
                       "contribution or result", phase);
}

static void printPhaseName(OpAsmPrinter &printer, Operation *, PhaseAttr phase) {
  printer << stringifyPhase(phase.getValue());
}

/// What was discardable in earlier programs, and what it is called now.
static constexpr std::pair<StringLiteral, StringLiteral> kEarlierNames[] = {
    {kEarlierExactReasonName, "exact_reasons"},
    {kEarlierOriginsName, "origins"},
};

static ParseResult parseCollectiveAttrs(OpAsmParser &parser, NamedAttrList &attributes, StringRef op) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  for (auto [earlier, name] : kEarlierNames)
    if (Attribute attribute = attributes.erase(earlier)) {
      if (attributes.get(name))
        return parser.emitError(location) << "expected " << name << " or " << earlier << ", got both";
      attributes.append(name, attribute);
    }
  // What parsers that ODS writes do behind an attribute dictionary.
  return OperationName(op, parser.getContext()).verifyInherentAttrs(attributes, [&] {
    return parser.emitError(location) << "'" << op << "' op ";
  });
}

static void printCollectiveAttrs(OpAsmPrinter &printer, Operation *, DictionaryAttr attributes, StringRef) {
  SmallVector<StringRef> elided = {"reduction", "phase"}; // they stand before
  if (auto algorithm = dyn_cast_or_null<AlgorithmAttr>(attributes.get("algorithm"));
      algorithm && algorithm.getValue() == Algorithm::Auto)
    elided.push_back("algorithm");
  // Why an operand travels as it does comes before how.
  auto isReason = [](NamedAttribute attribute) {
    return llvm::is_contained({"exact_reasons", "origins"}, attribute.getName().getValue());
  };
  SmallVector<NamedAttribute> ordered;
  for (NamedAttribute attribute : attributes) {
    if (attribute.getName() == "codecs" || attribute.getName() == "layer")
      llvm::copy_if(attributes, std::back_inserter(ordered), isReason);
    if (!isReason(attribute))
      ordered.push_back(attribute);
  }
  printer.printOptionalAttrDict(ordered, elided);
}

#define GET_OP_CLASSES
#include "cgx/Dialect/Cgx/CgxOps.cpp.inc"

namespace {
/// No op of this dialect depends on the function that it stands in. A copy is not inlined:
/// it would have the id of the original.
struct CgxInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *op, Region *, bool wouldBeCloned, IRMapping &) const final {
    return !wouldBeCloned || !isa<CommunicationOpInterface>(op);
  }
};
} // namespace

void CgxDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cgx/Dialect/Cgx/CgxAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "cgx/Dialect/Cgx/CgxTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "cgx/Dialect/Cgx/CgxOps.cpp.inc"
      >();
  addInterfaces<CgxInlinerInterface>();
}

Attribute CgxDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  SMLoc location = parser.getCurrentLocation();
  StringRef mnemonic;
  Attribute attribute;
  if (generatedAttributeParser(parser, &mnemonic, type, attribute).has_value())
    return attribute;
  if (mnemonic.empty()) { // an editor asks what may stand here
    (void)parser.parseOptionalKeyword(&mnemonic, getCodecMnemonics());
    return {};
  }
  if (const CodecFamilyEntry *family = codecFamilyNamed(mnemonic))
    return CodecAttr::parseParameters(parser, family->family);
  parser.emitError(location) << "unknown attribute `" << mnemonic << "` in dialect `" << getNamespace()
                             << "`";
  return {};
}

void CgxDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  if (succeeded(generatedAttributePrinter(attribute, printer)))
    return;
  auto codec = cast<CodecAttr>(attribute);
  printer << codec.getFamily();
  codec.printParameters(printer);
}

SmallVector<StringRef> cgx::getCodecMnemonics() {
  SmallVector<StringRef> mnemonics = {DeltaAttr::getMnemonic(), ErrorFeedbackAttr::getMnemonic(),
                                      TwoWayAttr::getMnemonic()};
  for (const CodecFamilyEntry &family : codecFamilies())
    mnemonics.push_back(family.name);
  llvm::sort(mnemonics);
  return mnemonics;
}

CodecAttr cgx::getIdentityCodec(MLIRContext *context) {
  return CodecAttr::get(context, usualCodec(CGX_CODEC_IDENTITY));
}

ArrayAttr cgx::getIdentityCodecs(MLIRContext *context, unsigned count) {
  return ArrayAttr::get(context, SmallVector<Attribute>(count, getIdentityCodec(context)));
}

ArrayAttr cgx::getUnknownLayers(MLIRContext *context, unsigned count) {
  auto unknown = LayerAttr::get(context, "", LayerKind::Other, /*shape=*/{});
  return ArrayAttr::get(context, SmallVector<Attribute>(count, unknown));
}
