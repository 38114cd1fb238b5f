//===-- cgx/run/Agreement.h - What all ranks must have alike ----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks that are started one by one may get different command lines and files.
// The runtime compares one number of all of it. Where that differs, the ranks
// meet once more, tell each other the values, and say which differ.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_AGREEMENT_H
#define CGX_RUN_AGREEMENT_H

#include "cgx/run/Job.h"
#include "cgx/run/Options.h"

namespace cgx::run {

/// Names, types, sizes, and the first and last bytes of every tensor: files that differ differ there, and
/// nobody has to read all of them. Empty for null.
std::string sampleOf(const SafetensorsFile *file);

/// What the ranks of a job must have alike, in an order of its own.
std::vector<Fact> listFacts(const Job &job, const Options &options, const InputFiles &files);

/// Of the values that count.
uint64_t digestOf(const std::vector<Fact> &facts);

/// Which facts differ, given those of each rank: "--steps is 5 on ranks 0 and 2; 6 on rank 1". Of what
/// follows from others only where nothing else differs; empty where all are equal.
std::string describeDifferences(const std::vector<std::vector<Fact>> &byRank);

/// Lets all ranks of a job of this name that the runtime refused for a mismatch tell each other their facts.
/// What this rank has to say of it; `refusal` where they do not meet or no fact differs. On each host one
/// rank says it all.
std::string explainMismatch(const Job &job, const std::string &name, uint32_t rank,
                            const std::string &refusal);

} // namespace cgx::run

#endif // CGX_RUN_AGREEMENT_H
