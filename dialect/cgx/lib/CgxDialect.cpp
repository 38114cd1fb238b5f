//===-- CgxDialect.cpp - registration of the cgx dialect ------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Dialect/Cgx/CgxDialect.h"
#include "CollectiveAssembly.h"
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

// The enumeration of the dialect has the rows of the runtime's table; a test of the assembly compares their
// names.
static_assert(getMaxEnumValForAlgorithm() + 1 == CGX_ALGORITHM_COUNT);

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

using cgx::detail::parseCollectiveAttrs;
using cgx::detail::parsePayloadAttrs;
using cgx::detail::printCollectiveAttrs;
using cgx::detail::printPayloadAttrs;

#define GET_OP_CLASSES
#include "cgx/Dialect/Cgx/CgxOps.cpp.inc"

static ParseResult parseProvide(OpAsmParser &parser, OperationState &result) {
  result.name = OperationName(BindOptimizerStateOp::getOperationName(), parser.getContext());
  return BindOptimizerStateOp::parse(parser, result);
}

std::optional<Dialect::ParseOpHook> CgxDialect::getParseOperationHook(StringRef name) const {
  if (name == "cgx.provide")
    return ParseOpHook(parseProvide);
  return Dialect::getParseOperationHook(name);
}

namespace {
/// Inlines functions with ops of the dialect, none of which depends on its function. A copy is not inlined:
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

Attribute cgx::detail::parseWithoutDialect(AsmParser &parser, Type type) {
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
  parser.emitError(location) << "unknown attribute `" << mnemonic << "` in dialect `"
                             << CgxDialect::getDialectNamespace() << "`";
  return {};
}

void cgx::detail::printWithoutDialect(AsmPrinter &printer, Attribute attribute) {
  if (succeeded(generatedAttributePrinter(attribute, printer)))
    return;
  auto codec = cast<CodecAttr>(attribute);
  printer << codec.getFamily();
  codec.printParameters(printer);
}

Attribute CgxDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  return detail::parseWithoutDialect(parser, type);
}

void CgxDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {
  detail::printWithoutDialect(printer, attribute);
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
