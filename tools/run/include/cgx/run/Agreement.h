//===-- cgx/run/Agreement.h - Facts that all ranks have in common -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks that are started one by one may get different command lines and files. The runtime
// compares one digest of everything. If it differs, the ranks connect once more, exchange the
// values, and report which differ.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_AGREEMENT_H
#define CGX_RUN_AGREEMENT_H

#include "cgx/run/Job.h"
#include "cgx/run/Options.h"

namespace cgx::run {

/// Returns the name, type, size, and the first and last bytes of every tensor, as one text. It tells files
/// that differ apart without reading all of them. The text is empty for null.
std::string sampleOf(const SafetensorsFile *file);

/// Lists everything that the ranks of a job must have in common, in a fixed order.
std::vector<Fact> listFacts(const Job &job, const Options &options, const InputFiles &files);

/// Hashes the facts that are compared.
uint64_t digestOf(const std::vector<Fact> &facts);

/// Describes the facts that differ, given the facts of each rank: "--steps is 5 on ranks 0 and 2; 6 on rank
/// 1". Facts that follow from others are named only where no other fact differs. The text is empty where all
/// are equal.
std::string describeDifferences(const std::vector<std::vector<Fact>> &byRank);

/// Lets all ranks of a job whose start the runtime rejected for a mismatch exchange their facts, and returns
/// what this rank reports. That is `refusal` where the ranks do not find each other or no fact differs. One
/// rank on each host reports the differences; the others name that rank.
std::string explainMismatch(const Job &job, const std::string &name, uint32_t rank,
                            const std::string &refusal);

} // namespace cgx::run

#endif // CGX_RUN_AGREEMENT_H
