//===-- Placement.cpp - groups, meshes and shardings ----------------------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveAssembly.h"
#include "Word.h"
#include "cgx/Dialect/Cgx/CgxDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

#include <unordered_set>

using namespace mlir;
using namespace cgx;

//===----------------------------------------------------------------------===//
// #cgx.groups
//===----------------------------------------------------------------------===//

GroupsAttr GroupsAttr::get(MLIRContext *context, ArrayRef<SmallVector<int64_t>> rows) {
  SmallVector<DenseI64ArrayAttr> attributes;
  for (ArrayRef<int64_t> row : rows)
    attributes.push_back(DenseI64ArrayAttr::get(context, row));
  return get(context, attributes);
}

LogicalResult GroupsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<DenseI64ArrayAttr> rows) {
  std::unordered_set<int64_t> seen;
  for (auto [number, row] : llvm::enumerate(rows)) {
    if (row.empty()) // (C1)
      return emitError() << "expected at least one rank in each group, got none in group " << number;
    for (int64_t rank : row.asArrayRef()) {
      if (rank < 0) // (C2)
        return emitError() << "expected ranks to be 0 or more, got " << rank << " in group " << number;
      if (!seen.insert(rank).second) // (C3)
        return emitError() << "expected each rank at most once, got rank " << rank << " again in group "
                           << number;
    }
  }
  return success();
}

std::optional<int64_t> GroupsAttr::getUniformSize() const {
  if (getSmallestSize() != getLargestSize())
    return std::nullopt;
  return getLargestSize();
}

int64_t GroupsAttr::getLargestSize() const {
  int64_t size = 1;
  for (DenseI64ArrayAttr row : getRows())
    size = std::max<int64_t>(size, row.size());
  return size;
}

int64_t GroupsAttr::getSmallestSize() const {
  int64_t size = getLargestSize();
  for (DenseI64ArrayAttr row : getRows())
    size = std::min<int64_t>(size, row.size());
  return size;
}

int64_t GroupsAttr::getNumRanks() const {
  int64_t count = 0;
  for (DenseI64ArrayAttr row : getRows())
    count += row.size();
  return count;
}

std::optional<GroupsAttr::Membership> GroupsAttr::getMembership(int64_t rank) const {
  for (DenseI64ArrayAttr row : getRows())
    for (auto [position, member] : llvm::enumerate(row.asArrayRef()))
      if (member == rank)
        return Membership{row.asArrayRef(), static_cast<int64_t>(position)};
  return std::nullopt;
}

ParseResult cgx::detail::parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

void cgx::detail::printIntegers(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

GroupsAttr cgx::detail::parseRows(AsmParser &parser) {
  SmallVector<DenseI64ArrayAttr> rows;
  SMLoc location = parser.getCurrentLocation();
  auto parseRow = [&]() -> ParseResult {
    SmallVector<int64_t> ranks;
    if (parseIntegers(parser, ranks))
      return failure();
    rows.push_back(DenseI64ArrayAttr::get(parser.getContext(), ranks));
    return success();
  };
  if (failed(parser.parseOptionalRSquare()) &&
      (parser.parseCommaSeparatedList(parseRow) || parser.parseRSquare()))
    return {};
  return parser.getChecked<GroupsAttr>(location, parser.getContext(), ArrayRef(rows));
}

void cgx::detail::printRows(AsmPrinter &printer, GroupsAttr groups) {
  printer << '[';
  llvm::interleaveComma(groups.getRows(), printer,
                        [&](DenseI64ArrayAttr row) { printIntegers(printer, row); });
  printer << ']';
}

Attribute GroupsAttr::parse(AsmParser &parser, Type) {
  GroupsAttr groups;
  if (parser.parseLess() || parser.parseLSquare() || !(groups = detail::parseRows(parser)) ||
      parser.parseGreater())
    return {};
  return groups;
}

void GroupsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  detail::printRows(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// #cgx.layer
//===----------------------------------------------------------------------===//

LogicalResult LayerAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, LayerKind,
                                DenseI64ArrayAttr shape, int64_t stacked) {
  if (!llvm::json::isUTF8(name)) // (C2)
    return emitError() << "expected the name of a layer to be UTF-8, got \"" << llvm::json::fixUTF8(name)
                       << "\"";
  int64_t rank = shape ? shape.size() : 0;
  if (stacked < 0 || stacked > rank) // (C3)
    return emitError() << "expected 0 to " << rank << " stacked dimensions of a shape of rank " << rank
                       << ", got " << stacked;
  if (!shape)
    return success();
  for (int64_t size : shape.asArrayRef())
    if (size < 0) // (C1)
      return emitError() << "expected dimensions to be 0 or more, got " << size;
  return success();
}

LayerAttr cgx::detail::parseLayerParameters(AsmParser &parser, StringRef name) {
  StringRef kindName;
  DenseI64ArrayAttr shape;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseComma())
    return {};
  SMLoc kindLocation = parser.getCurrentLocation();
  if (parseWord(parser, kindName, wordsOf(stringifyLayerKind, getMaxEnumValForLayerKind())))
    return {};
  std::optional<LayerKind> kind = symbolizeLayerKind(kindName);
  if (!kind) {
    parser.emitError(kindLocation) << "expected " << describeLayerKinds() << ", got " << kindName;
    return {};
  }
  int64_t stacked = 0;
  if (succeeded(parser.parseOptionalComma())) {
    SmallVector<int64_t> sizes;
    if (parseIntegers(parser, sizes))
      return {};
    shape = DenseI64ArrayAttr::get(parser.getContext(), sizes);
    if (succeeded(parser.parseOptionalComma()) &&
        (parser.parseKeyword("stacked") || parser.parseEqual() || parser.parseInteger(stacked)))
      return {};
  }
  return parser.getChecked<LayerAttr>(location, parser.getContext(), name, *kind, shape, stacked);
}

void cgx::detail::printLayerParameters(AsmPrinter &printer, LayerAttr layer) {
  printer.printString(layer.getName());
  printer << ", " << stringifyLayerKind(layer.getKind());
  if (DenseI64ArrayAttr shape = layer.getShape()) {
    printer << ", ";
    printIntegers(printer, shape);
  }
  if (layer.getStacked() != 0)
    printer << ", stacked = " << layer.getStacked();
}

Attribute LayerAttr::parse(AsmParser &parser, Type) {
  std::string name;
  LayerAttr layer;
  if (parser.parseLess() || parser.parseString(&name) ||
      !(layer = detail::parseLayerParameters(parser, name)) || parser.parseGreater())
    return {};
  return layer;
}

void LayerAttr::print(AsmPrinter &printer) const {
  printer << '<';
  detail::printLayerParameters(printer, *this);
  printer << '>';
}

int64_t LayerAttr::getLayerCount() const {
  int64_t count = 1;
  for (int64_t size : getShape() ? getShape().asArrayRef().take_front(getStacked()) : ArrayRef<int64_t>())
    if (llvm::MulOverflow(count, size, count))
      return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(count, 1); // of no elements: one empty layer
}

//===----------------------------------------------------------------------===//
// #cgx.mesh
//===----------------------------------------------------------------------===//

/// The bound on ranks, since groups are written out: more than any machine has, and few enough to write.
static constexpr int64_t kMostRanks = 1 << 20;

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> axes,
                               ArrayRef<int64_t> sizes) {
  if (axes.size() != sizes.size())
    return emitError() << "expected one size for each of " << axes.size() << " axes, got " << sizes.size();
  llvm::DenseSet<StringAttr> seen;
  int64_t ranks = 1;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    if (axis.empty()) // (C1)
      return emitError() << "expected each axis to have a name, got \"\"";
    if (!llvm::json::isUTF8(axis)) // (C1)
      return emitError() << "expected the name of an axis to be UTF-8, got \"" << llvm::json::fixUTF8(axis)
                         << "\"";
    if (!seen.insert(axis).second) // (C1)
      return emitError() << "expected each axis once, got " << axis << " again";
    if (size < 1) // (C2)
      return emitError() << "expected the size of axis " << axis << " to be positive, got " << size;
    if (size > kMostRanks / ranks) // (C3)
      return emitError() << "expected at most " << kMostRanks << " ranks, got more by axis " << axis
                         << " of size " << size;
    ranks *= size;
  }
  return success();
}

int64_t MeshAttr::getNumRanks() const {
  int64_t count = 1;
  for (int64_t size : getSizes())
    count *= size;
  return count;
}

std::optional<int64_t> MeshAttr::getAxisSize(StringRef name) const {
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    if (axis.getValue() == name)
      return size;
  return std::nullopt;
}

/// Extends each of `offsets` by every coordinate of an axis, that axis the fastest.
static SmallVector<int64_t> extend(ArrayRef<int64_t> offsets, int64_t size, int64_t stride) {
  SmallVector<int64_t> extended;
  extended.reserve(offsets.size() * size);
  for (int64_t offset : offsets)
    for (int64_t coordinate = 0; coordinate < size; ++coordinate)
      extended.push_back(offset + coordinate * stride);
  return extended;
}

GroupsAttr MeshAttr::getGroupsOver(ArrayRef<StringRef> axes) const {
  llvm::StringMap<int64_t> strides;
  int64_t stride = 1;
  for (auto [axis, size] : llvm::reverse(llvm::zip_equal(getAxes(), getSizes()))) {
    strides[axis] = stride;
    stride *= size;
  }
  SmallVector<int64_t> members{0}, firsts{0};
  for (StringRef axis : axes)
    members = extend(members, *getAxisSize(axis), strides[axis]);
  for (auto [axis, size] : llvm::zip_equal(getAxes(), getSizes()))
    if (!llvm::is_contained(axes, axis.getValue()))
      firsts = extend(firsts, size, strides[axis]);
  SmallVector<SmallVector<int64_t>> rows;
  for (int64_t first : firsts)
    rows.push_back(llvm::map_to_vector(members, [&](int64_t member) { return first + member; }));
  return GroupsAttr::get(getContext(), rows);
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  SMLoc location = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(sizes.emplace_back()))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<MeshAttr>(location, parser.getContext(), ArrayRef(axes), ArrayRef(sizes));
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip_equal(getAxes(), getSizes()), printer,
                        [&](auto axis) { printer << std::get<0>(axis) << " = " << std::get<1>(axis); });
  printer << "]>";
}

//===----------------------------------------------------------------------===//
// #cgx.sharding
//===----------------------------------------------------------------------===//

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<ArrayAttr> dimensions) {
  llvm::DenseSet<Attribute> seen;
  for (ArrayAttr axes : dimensions)
    for (Attribute axis : axes) {
      if (!isa<StringAttr>(axis))
        return emitError() << "expected the names of axes, got " << axis;
      if (!seen.insert(axis).second) // (C1)
        return emitError() << "expected each axis at most once, got " << axis << " again";
    }
  return success();
}

bool ShardingAttr::hasAxis(StringRef axis) const {
  return llvm::any_of(getDimensions(), [&](ArrayAttr axes) {
    return llvm::any_of(axes, [&](Attribute name) { return cast<StringAttr>(name).getValue() == axis; });
  });
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<ArrayAttr> dimensions;
  SMLoc location = parser.getCurrentLocation();
  auto parseDimension = [&]() -> ParseResult {
    SmallVector<Attribute> axes;
    auto parseAxis = [&]() -> ParseResult {
      std::string name;
      if (parser.parseString(&name))
        return failure();
      axes.push_back(StringAttr::get(parser.getContext(), name));
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
      return failure();
    dimensions.push_back(ArrayAttr::get(parser.getContext(), axes));
    return success();
  };
  if (parser.parseLess() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDimension) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(location, parser.getContext(), ArrayRef(dimensions));
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getDimensions(), printer, [&](ArrayAttr axes) { printer << axes; });
  printer << "]>";
}
