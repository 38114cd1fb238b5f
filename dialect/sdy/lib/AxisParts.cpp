//===-- AxisParts.cpp - arithmetic of axes and parts of axes -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AxisParts.h"

using namespace mlir;
using namespace cgx::sdy;

static AxisPart getPart(AxisRefAttr axis, MeshAttr mesh) {
  if (axis.isWhole())
    return {axis.getName(), 1, mesh.getAxisSize(axis.getName()).value_or(1)};
  return {axis.getName(), axis.getPreSize(), axis.getPreSize() * axis.getSize()};
}

void cgx::sdy::appendPart(AxisParts &parts, AxisPart part) {
  if (!parts.empty() && parts.back().name == part.name && parts.back().end == part.begin)
    parts.back().end = part.end;
  else
    parts.push_back(part);
}

AxisParts cgx::sdy::getParts(ArrayRef<AxisRefAttr> axes, MeshAttr mesh) {
  AxisParts parts;
  for (AxisRefAttr axis : axes)
    appendPart(parts, getPart(axis, mesh));
  return parts;
}

LogicalResult cgx::sdy::dropSuffix(AxisParts &parts, const AxisParts &suffix) {
  for (const AxisPart &part : llvm::reverse(suffix)) {
    if (parts.empty() || parts.back().name != part.name || parts.back().end != part.end ||
        part.begin < parts.back().begin)
      return failure();
    if (parts.back().begin == part.begin)
      parts.pop_back();
    else
      parts.back().end = part.begin;
  }
  return success();
}

AxisParts cgx::sdy::sortParts(AxisParts parts, MeshAttr mesh) {
  auto positionOf = [&](StringRef name) {
    return llvm::find_if(mesh.getAxes(), [&](MeshAxisAttr axis) { return axis.getName() == name; }) -
           mesh.getAxes().begin();
  };
  llvm::stable_sort(parts, [&](const AxisPart &a, const AxisPart &b) {
    return std::pair(positionOf(a.name), a.begin) < std::pair(positionOf(b.name), b.begin);
  });
  AxisParts merged;
  for (const AxisPart &part : parts)
    appendPart(merged, part);
  return merged;
}

std::string cgx::sdy::textOf(const AxisParts &parts, MeshAttr mesh) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(parts, stream, [&](const AxisPart &part) {
    stream << '"' << part.name << '"';
    if (part.begin != 1 || part.end != mesh.getAxisSize(part.name))
      stream << ":(" << part.begin << ')' << part.end / part.begin;
  });
  stream << ']';
  return text;
}

LogicalResult AxisChecker::check(AxisRefAttr axis) {
  std::optional<int64_t> size = mesh.getAxisSize(axis.getName());
  if (!size)
    return emitError() << "axis \"" << axis.getName() << "\" is not in the mesh " << mesh;
  AxisPart part = getPart(axis, mesh);
  // Parts are pairs of positive numbers; their product may still be beyond what 64 bits hold.
  if (!axis.isWhole() &&
      (axis.getPreSize() > *size / axis.getSize() || *size % part.end != 0 || axis.getSize() == *size))
    return emitError() << "sub-axis (" << axis.getPreSize() << ")" << axis.getSize() << " of \""
                       << axis.getName() << "\" does not divide its size " << *size;
  for (const AxisPart &other : named)
    if (part.overlaps(other))
      return emitError() << "axis \"" << axis.getName() << "\" is named twice";
  named.push_back(part);
  return success();
}

LogicalResult AxisChecker::check(ArrayRef<AxisRefAttr> axes) {
  for (auto [index, axis] : llvm::enumerate(axes)) {
    if (failed(check(axis)))
      return failure();
    if (index > 0 && named[named.size() - 2].name == named.back().name &&
        named[named.size() - 2].end == named.back().begin)
      return emitError() << "expected the consecutive parts of axis \"" << axis.getName()
                         << "\" that begin at " << named[named.size() - 2].begin << " and "
                         << named.back().begin << " to be written as one";
  }
  return success();
}

LogicalResult AxisChecker::checkSorted(StringRef what, ArrayRef<AxisRefAttr> axes) {
  if (failed(check(axes)))
    return failure();
  AxisParts parts = getParts(axes, mesh), sorted = sortParts(parts, mesh);
  if (parts == sorted)
    return success();
  return emitError() << "expected " << what << " in the order of the mesh, " << textOf(sorted, mesh)
                     << ", got " << textOf(parts, mesh);
}
