//===-- cgx/run/Members.h - Local training with other ranks -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two outer steps of local training every rank has parameters of its own, so no other can
// take the place of a rank that is gone. Right after an outer step, at a boundary, all have equal
// parameters, anchors and outer momentum, so any number of ranks can continue. Each continues
// from an earlier rank, its predecessor, and takes over that rank's state of the inner optimizer.
// A new rank has the same predecessor as another one.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_MEMBERS_H
#define CGX_RUN_MEMBERS_H

#include "cgx/run/Bindings.h"

namespace cgx::run {

/// Parses "0,2,3". Throws Error.
std::vector<uint32_t> parseMembers(const std::string &text);

/// Returns true if the first dimension of an argument has one entry per rank that trains by itself.
bool isOfEachRank(const Value &argument);

/// Returns the predecessors of `now` ranks among `before` ranks: the given ones, otherwise the rank of the
/// same number, and for additional ranks the first one. Throws Error where they do not fit.
std::vector<uint32_t> choosePredecessors(const std::vector<uint32_t> &given, uint32_t now, uint32_t before);

/// Throws Error unless the state in the file was saved between two outer steps.
void checkBoundary(const Manifest &manifest, const Bindings &bindings, const SafetensorsFile &state);

/// Returns the rank of a checkpoint whose codec state `rank` takes over: its predecessor. There is none if an
/// earlier rank took that state, or if several ranks form one that trains by itself.
std::optional<uint32_t> findPredecessor(const Bindings &bindings, const Manifest &manifest, uint32_t rank);

/// Describes in one sentence which ranks continue and what is dropped.
std::string describeMembers(const Bindings &bindings);

} // namespace cgx::run

#endif // CGX_RUN_MEMBERS_H
