//===-- CollectiveAssembly.cpp - How collectives are written --------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveAssembly.h"
#include "Word.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cgx;
using namespace cgx::detail;

namespace {

/// A clause: an attribute that may stand as `word(...)`, and the contents of its parentheses; or as `word`,
/// if it is a flag.
struct Clause {
  StringLiteral word;
  StringLiteral attribute;
  /// Returns whether the clause can express the attribute. Others are printed in the dictionary, and the
  /// verifier rejects them.
  bool (*fits)(Attribute);
  Attribute (*parse)(AsmParser &);
  void (*print)(AsmPrinter &, Attribute); // null where the word says all
};

template <typename T> bool isOne(Attribute attribute) { return isa<T>(attribute); }

template <typename T> bool isArrayOf(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, llvm::IsaPred<T>);
}

/// Parses elements between commas; the list may be empty.
template <typename Element> ParseResult parseElements(AsmParser &parser, Element element) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, element);
}

/// Parses what `parse` accepts between parentheses. An attribute that is written out, or its alias, is
/// accepted too.
template <typename T, typename Parse> Attribute parseOne(AsmParser &parser, Parse parse) {
  T attribute;
  if (parser.parseLParen() || failed(parse(attribute)) || !attribute || parser.parseRParen())
    return {};
  return attribute;
}

/// Parses an attribute that begins with `#`, if one stands here.
template <typename T> OptionalParseResult parseWrittenOut(AsmParser &parser, T &attribute, StringRef what) {
  SMLoc location = parser.getCurrentLocation();
  Attribute parsed;
  OptionalParseResult result = parser.parseOptionalAttribute(parsed, Type());
  if (!result.has_value() || failed(*result))
    return result;
  attribute = dyn_cast<T>(parsed);
  if (!attribute)
    return ParseResult(parser.emitError(location) << "expected " << what << ", got " << parsed);
  return result;
}

// Whole numbers.
bool isInteger(Attribute attribute) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  return integer && integer.getType().isSignlessInteger(64);
}

Attribute parseInteger(AsmParser &parser) {
  return parseOne<IntegerAttr>(parser, [&](IntegerAttr &attribute) -> ParseResult {
    int64_t value;
    if (parser.parseInteger(value))
      return failure();
    attribute = parser.getBuilder().getI64IntegerAttr(value);
    return success();
  });
}

void printInteger(AsmPrinter &printer, Attribute attribute) {
  printer << cast<IntegerAttr>(attribute).getValue();
}

// `keeps_payloads`
Attribute parseFlag(AsmParser &parser) { return parser.getBuilder().getUnitAttr(); }

// `codec(quantize<bits = 4>, identity)`, one per operand.
Attribute parseCodecs(AsmParser &parser) {
  SmallVector<Attribute> codecs;
  auto parseCodec = [&]() -> ParseResult {
    CodecAttrInterface codec;
    SMLoc location = parser.getCurrentLocation();
    if (OptionalParseResult written = parseWrittenOut(parser, codec, "a codec"); written.has_value()) {
      codecs.push_back(codec);
      return *written;
    }
    Attribute parsed = parseWithoutDialect(parser);
    if (!parsed)
      return failure();
    if (!isa<CodecAttrInterface>(parsed))
      return parser.emitError(location) << "expected a codec, got " << parsed;
    codecs.push_back(parsed);
    return success();
  };
  if (parseElements(parser, parseCodec))
    return {};
  return parser.getBuilder().getArrayAttr(codecs);
}

bool areCodecs(Attribute attribute) {
  return isArrayOf<CodecAttrInterface>(attribute) &&
         llvm::all_of(cast<ArrayAttr>(attribute),
                      [](Attribute codec) { return isa<CgxDialect>(codec.getDialect()); });
}

void printCodecs(AsmPrinter &printer, Attribute attribute) {
  llvm::interleaveComma(cast<ArrayAttr>(attribute), printer,
                        [&](Attribute codec) { printWithoutDialect(printer, codec); });
}

// `groups([[0, 1], [2, 3]])`
Attribute parseGroups(AsmParser &parser) {
  return parseOne<GroupsAttr>(parser, [&](GroupsAttr &groups) -> ParseResult {
    if (failed(parser.parseOptionalLSquare()))
      return parser.parseAttribute(groups);
    groups = parseRows(parser);
    return success(groups != nullptr);
  });
}

void printGroups(AsmPrinter &printer, Attribute attribute) {
  printRows(printer, cast<GroupsAttr>(attribute));
}

// `layer("params/w", gradient, [64, 128])`
Attribute parseLayer(AsmParser &parser) {
  return parseOne<LayerAttr>(parser, [&](LayerAttr &layer) -> ParseResult {
    std::string name;
    if (failed(parser.parseOptionalString(&name)))
      return parser.parseAttribute(layer);
    layer = parseLayerParameters(parser, name);
    return success(layer != nullptr);
  });
}

void printLayer(AsmPrinter &printer, Attribute attribute) {
  printLayerParameters(printer, cast<LayerAttr>(attribute));
}

// `algorithm(ring)`
Attribute parseAlgorithm(AsmParser &parser) {
  return parseOne<AlgorithmAttr>(parser, [&](AlgorithmAttr &attribute) -> ParseResult {
    if (OptionalParseResult written = parseWrittenOut(parser, attribute, "an algorithm"); written.has_value())
      return *written;
    StringRef word;
    SMLoc location = parser.getCurrentLocation();
    SmallVector<StringRef> known = wordsOf(stringifyAlgorithm, getMaxEnumValForAlgorithm());
    if (parseWord(parser, word, known))
      return failure();
    std::optional<Algorithm> algorithm = symbolizeAlgorithm(word);
    if (!algorithm)
      return parser.emitError(location) << "expected one of " << llvm::join(known, ", ") << ", got " << word;
    attribute = AlgorithmAttr::get(parser.getContext(), *algorithm);
    return success();
  });
}

void printAlgorithm(AsmPrinter &printer, Attribute attribute) {
  printer << stringifyAlgorithm(cast<AlgorithmAttr>(attribute).getValue());
}

// `hierarchy(local = 2, inside = #cgx.identity, leaders = all)`
Attribute parseHierarchy(AsmParser &parser) {
  return parseOne<HierarchyAttr>(parser, [&](HierarchyAttr &hierarchy) -> ParseResult {
    if (OptionalParseResult written = parseWrittenOut(parser, hierarchy, "a hierarchy"); written.has_value())
      return *written;
    hierarchy = parseHierarchyParameters(parser, AsmParser::Delimiter::None);
    return success(hierarchy != nullptr);
  });
}

void printHierarchy(AsmPrinter &printer, Attribute attribute) {
  printHierarchyParameters(printer, cast<HierarchyAttr>(attribute));
}

// `source_target_pairs([[0, 1], [1, 0]])`
bool arePairs(Attribute attribute) {
  auto pairs = dyn_cast<DenseIntElementsAttr>(attribute);
  return pairs && pairs.getElementType().isSignlessInteger(64) && pairs.getType().getRank() == 2 &&
         pairs.getType().getDimSize(1) == 2;
}

Attribute parsePairs(AsmParser &parser) {
  return parseOne<DenseIntElementsAttr>(parser, [&](DenseIntElementsAttr &attribute) -> ParseResult {
    SmallVector<int64_t> ranks;
    int64_t count = 0;
    auto parsePair = [&]() -> ParseResult {
      SMLoc location = parser.getCurrentLocation();
      if (parseIntegers(parser, ranks))
        return failure();
      if (static_cast<int64_t>(ranks.size()) != 2 * ++count)
        return parser.emitError(location)
               << "expected a source and a target, got " << ranks.size() - 2 * (count - 1) << " ranks";
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parsePair))
      return failure();
    auto type = RankedTensorType::get({count, 2}, parser.getBuilder().getI64Type());
    attribute = DenseIntElementsAttr::get(type, ArrayRef<int64_t>(ranks));
    return success();
  });
}

void printPairs(AsmPrinter &printer, Attribute attribute) {
  SmallVector<int64_t> ranks(cast<DenseIntElementsAttr>(attribute).getValues<int64_t>());
  printer << '[';
  llvm::interleaveComma(llvm::seq<size_t>(ranks.size() / 2), printer,
                        [&](size_t i) { printIntegers(printer, ArrayRef(ranks).slice(2 * i, 2)); });
  printer << ']';
}

// `exact_reasons("", "1-D parameter")`, one per operand.
Attribute parseStrings(AsmParser &parser) {
  SmallVector<Attribute> strings;
  auto parseString = [&]() -> ParseResult {
    std::string text;
    if (parser.parseString(&text))
      return failure();
    strings.push_back(parser.getBuilder().getStringAttr(text));
    return success();
  };
  if (parseElements(parser, parseString))
    return {};
  return parser.getBuilder().getArrayAttr(strings);
}

void printStrings(AsmPrinter &printer, Attribute attribute) {
  llvm::interleaveComma(cast<ArrayAttr>(attribute), printer,
                        [&](Attribute text) { printer.printString(cast<StringAttr>(text).getValue()); });
}

// `origins(3, 0, 2, 0)`, two numbers per operand.
Attribute parseOrigins(AsmParser &parser) {
  SmallVector<int64_t> numbers;
  if (parseElements(parser, [&] { return parser.parseInteger(numbers.emplace_back()); }))
    return {};
  return parser.getBuilder().getDenseI64ArrayAttr(numbers);
}

void printOrigins(AsmPrinter &printer, Attribute attribute) {
  llvm::interleaveComma(cast<DenseI64ArrayAttr>(attribute).asArrayRef(), printer);
}

/// The clauses in the order in which they are printed: the reason of an operand's codec precedes the details.
constexpr Clause kClauses[] = {
    {"algorithm", "algorithm", isOne<AlgorithmAttr>, parseAlgorithm, printAlgorithm},
    {"exact_reasons", "exact_reasons", isArrayOf<StringAttr>, parseStrings, printStrings},
    {"origins", "origins", isOne<DenseI64ArrayAttr>, parseOrigins, printOrigins},
    {"codec", "codecs", areCodecs, parseCodecs, printCodecs},
    {"concat_dim", "concat_dim", isInteger, parseInteger, printInteger},
    {"decodes_again", "decodes_again", isInteger, parseInteger, printInteger},
    {"dim", "dim", isInteger, parseInteger, printInteger},
    {"groups", "groups", isOne<GroupsAttr>, parseGroups, printGroups},
    {"hierarchy", "hierarchy", isOne<HierarchyAttr>, parseHierarchy, printHierarchy},
    {"id", "id", isInteger, parseInteger, printInteger},
    {"keeps_payloads", "keeps_payloads", isOne<UnitAttr>, parseFlag, nullptr},
    {"layer", "layer", isOne<LayerAttr>, parseLayer, printLayer},
    {"layer", "layers", isArrayOf<LayerAttr>, parseLayer, printLayer},
    {"operand_number", "operand_number", isInteger, parseInteger, printInteger},
    {"root", "root", isInteger, parseInteger, printInteger},
    {"sends", "sends", isArrayOf<StringAttr>, parseStrings, printStrings},
    {"source_target_pairs", "source_target_pairs", arePairs, parsePairs, printPairs},
    {"split_dim", "split_dim", isInteger, parseInteger, printInteger},
};

constexpr StringLiteral kLayersName = "layers";

/// The discardable attributes of earlier programs and their present names.
constexpr std::pair<StringLiteral, StringLiteral> kEarlierNames[] = {
    {kEarlierExactReasonName, "exact_reasons"},
    {kEarlierOriginsName, "origins"},
};

/// Returns the clauses of an op: those of the attributes that it has.
SmallVector<const Clause *> clausesOf(OperationName op) {
  SmallVector<const Clause *> clauses;
  for (const Clause &clause : kClauses)
    if (llvm::any_of(op.getAttributeNames(), [&](StringAttr name) { return name == clause.attribute; }))
      clauses.push_back(&clause);
  return clauses;
}

ParseResult parseClauses(OpAsmParser &parser, NamedAttrList &attributes, OperationName op) {
  SmallVector<const Clause *> clauses = clausesOf(op);
  SmallVector<StringRef> words =
      llvm::map_to_vector(clauses, [](const Clause *each) { return StringRef(each->word); });
  SmallVector<Attribute> layers;
  while (true) {
    SMLoc location = parser.getCurrentLocation();
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word, words))) {
      // No types stand after an op without results, so that a word may begin the next op.
      if (op.hasTrait<OpTrait::ZeroResults>() || failed(parser.parseOptionalKeyword(&word)))
        break;
      return parser.emitError(location) << "expected one of " << llvm::join(words, ", ") << ", got " << word;
    }
    const Clause &clause = **llvm::find_if(clauses, [&](const Clause *each) { return each->word == word; });
    Attribute attribute = clause.parse(parser);
    if (!attribute)
      return failure();
    if (clause.attribute == kLayersName)
      layers.push_back(attribute);
    else if (attributes.get(clause.attribute))
      return parser.emitError(location) << "expected " << word << " once, got it again";
    else
      attributes.append(clause.attribute, attribute);
  }
  if (!layers.empty())
    attributes.append(kLayersName, parser.getBuilder().getArrayAttr(layers));
  return success();
}

/// Parses the dictionary after the clauses.
ParseResult parseOthers(OpAsmParser &parser, NamedAttrList &attributes) {
  SMLoc location = parser.getCurrentLocation();
  NamedAttrList others;
  if (parser.parseOptionalAttrDict(others))
    return failure();
  for (auto [earlier, name] : kEarlierNames)
    if (Attribute attribute = others.erase(earlier)) {
      if (others.get(name) || attributes.get(name))
        return parser.emitError(location) << "expected " << name << " or " << earlier << ", got both";
      others.append(name, attribute);
    }
  for (NamedAttribute other : others) {
    if (attributes.get(other.getName()))
      return parser.emitError(location) << "expected " << other.getName().getValue() << " once, got it again";
    attributes.append(other);
  }
  return success();
}

/// Verifies inherent attributes, as parsers that ODS generates do after an attribute dictionary.
ParseResult verifyInherent(OpAsmParser &parser, SMLoc location, NamedAttrList &attributes, OperationName op) {
  return op.verifyInherentAttrs(attributes,
                                [&] { return parser.emitError(location) << "'" << op << "' op "; });
}

} // namespace

ParseResult cgx::detail::parsePayloadAttrs(OpAsmParser &parser, NamedAttrList &attributes, StringRef name) {
  SMLoc location = parser.getCurrentLocation();
  OperationName op(name, parser.getContext());
  if (parseClauses(parser, attributes, op) || parseOthers(parser, attributes))
    return failure();
  return verifyInherent(parser, location, attributes, op);
}

ParseResult cgx::detail::parseCollectiveAttrs(OpAsmParser &parser, NamedAttrList &attributes, StringRef name,
                                              ArrayRef<OpAsmParser::UnresolvedOperand> inputs) {
  SMLoc location = parser.getCurrentLocation();
  OperationName op(name, parser.getContext());
  if (parseClauses(parser, attributes, op) || parseOthers(parser, attributes))
    return failure();
  if (!attributes.get("codecs"))
    attributes.append("codecs", getIdentityCodecs(parser.getContext(), inputs.size()));
  if (!attributes.get(kLayersName))
    attributes.append(kLayersName, getUnknownLayers(parser.getContext(), inputs.size()));
  return verifyInherent(parser, location, attributes, op);
}

void cgx::detail::printPayloadAttrs(OpAsmPrinter &printer, Operation *op, DictionaryAttr attributes,
                                    StringRef) {
  SmallVector<StringRef> elided = {"reduction", "phase", "operandSegmentSizes"}; // said before
  for (const Clause *clause : clausesOf(op->getName())) {
    Attribute attribute = attributes.get(clause->attribute);
    if (!attribute || !clause->fits(attribute))
      continue;
    elided.push_back(clause->attribute);
    if (auto algorithm = dyn_cast<AlgorithmAttr>(attribute);
        algorithm && algorithm.getValue() == Algorithm::Auto)
      continue;
    auto layers = dyn_cast<ArrayAttr>(attribute);
    bool isRepeated = clause->attribute == kLayersName;
    for (Attribute one : isRepeated ? layers.getValue() : ArrayRef(attribute)) {
      printer << ' ' << clause->word;
      if (!clause->print)
        continue;
      printer << '(';
      clause->print(printer, one);
      printer << ')';
    }
  }
  printer.printOptionalAttrDict(attributes.getValue(), elided);
}

void cgx::detail::printCollectiveAttrs(OpAsmPrinter &printer, Operation *op, DictionaryAttr attributes,
                                       StringRef name, OperandRange) {
  printPayloadAttrs(printer, op, attributes, name);
}

// The collective stands in place of the region, and both have the location that stands behind it.
ParseResult StartOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef kind;
  SMLoc location;
  if (succeeded(parser.parseOptionalKeyword("when"))) {
    OpAsmParser::UnresolvedOperand condition;
    auto flag = RankedTensorType::get({}, parser.getBuilder().getI1Type());
    if (parser.parseLParen() || parser.parseOperand(condition) || parser.parseRParen() ||
        parser.resolveOperand(condition, flag, result.operands))
      return failure();
  }
  if (parser.parseOptionalAttrDict(result.attributes) || parser.getCurrentLocation(&location) ||
      parser.parseKeyword(&kind))
    return failure();
  OperationName name((CgxDialect::getDialectNamespace() + "." + kind).str(), parser.getContext());
  if (!name.hasInterface<CollectiveOpInterface>())
    return parser.emitError(location) << "expected a collective such as all_reduce, got " << kind;
  OperationState collective(result.location, name);
  std::optional<Location> written;
  if (name.getParseAssemblyFn()(parser, collective) || parser.parseOptionalLocationSpecifier(written))
    return failure();
  if (written)
    collective.location = result.location = *written;
  result.addTypes(HandleType::get(parser.getContext(), collective.types));
  result.addRegion()->emplaceBlock().push_back(Operation::create(collective));
  return success();
}

void StartOp::print(OpAsmPrinter &printer) {
  if (Value condition = getCondition())
    printer << " when(" << condition << ')';
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << ' ';
  Operation *collective = getCollective();
  collective->getName().printAssembly(collective, printer, CgxDialect::getDialectNamespace());
}
