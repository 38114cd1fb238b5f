//===-- Blocks.cpp - Blocks of a tensor -------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/run/Blocks.h"

#include <cstring>

using namespace cgx::run;

namespace {

/// Returns the coordinate of `rank` on the axis.
int64_t axisCoordinate(const Mesh &mesh, const std::string &name, uint32_t rank, int64_t &size) {
  int64_t rest = rank;
  for (size_t axis = mesh.size(); axis-- > 0;) {
    if (mesh[axis].name == name) {
      size = mesh[axis].size;
      return rest % mesh[axis].size;
    }
    rest /= mesh[axis].size;
  }
  size = 1;
  return 0;
}

int64_t blocksAlong(const Value &value, size_t dim) {
  return value.shape[dim] == 0 ? 1 : value.globalShape[dim] / value.shape[dim];
}

} // namespace

Shape cgx::run::blockCoordinates(const Value &value, const Mesh &mesh, uint32_t rank) {
  Shape coordinates;
  for (const std::vector<std::string> &axes : value.sharding) {
    int64_t coordinate = 0;
    for (const std::string &axis : axes) {
      int64_t size, position = axisCoordinate(mesh, axis, rank, size);
      coordinate = coordinate * size + position;
    }
    coordinates.push_back(coordinate);
  }
  return coordinates;
}

Shape cgx::run::blockOrigin(const Value &value, const Mesh &mesh, uint32_t rank) {
  Shape origin = blockCoordinates(value, mesh, rank);
  for (size_t dim = 0; dim < origin.size(); ++dim)
    origin[dim] *= value.shape[dim];
  return origin;
}

uint64_t cgx::run::blockIndex(const Value &value, const Mesh &mesh, uint32_t rank) {
  Shape coordinates = blockCoordinates(value, mesh, rank);
  uint64_t index = 0;
  for (size_t dim = 0; dim < coordinates.size(); ++dim)
    index = index * blocksAlong(value, dim) + (value.shape[dim] == 0 ? 0 : coordinates[dim]);
  return index;
}

uint64_t cgx::run::blockCount(const Value &value) {
  uint64_t count = 1;
  for (size_t dim = 0; dim < value.shape.size(); ++dim)
    count *= blocksAlong(value, dim);
  return count;
}

void cgx::run::extractBlock(const Value &value, const Mesh &mesh, uint32_t rank, const std::byte *global,
                            std::byte *block) {
  uint64_t width = elementBytes(value.type);
  forEachRun(value.shape, value.globalShape, blockOrigin(value, mesh, rank), /*first=*/0,
             [&](uint64_t globalOffset, uint64_t blockOffset, uint64_t count) {
               std::memcpy(block + blockOffset * width, global + globalOffset * width, count * width);
             });
}

void cgx::run::insertBlock(const Value &value, const Mesh &mesh, uint32_t rank, const std::byte *block,
                           std::byte *global) {
  uint64_t width = elementBytes(value.type);
  forEachRun(value.shape, value.globalShape, blockOrigin(value, mesh, rank), /*first=*/0,
             [&](uint64_t globalOffset, uint64_t blockOffset, uint64_t count) {
               std::memcpy(global + globalOffset * width, block + blockOffset * width, count * width);
             });
}
