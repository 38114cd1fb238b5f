//===-- Findings.h - What was looked at, and what was found -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_FRONT_FINDINGS_H
#define CGX_FRONT_FINDINGS_H

#include <string>
#include <vector>

namespace cgx::front {

enum class Verdict {
  good,    ///< as it should be
  absent,  ///< not there, and not needed by everybody
  slow,    ///< jobs run, but slower than they could, or not all of them
  missing, ///< ranks of this machine cannot train
};

struct Finding {
  Verdict verdict;
  std::string subject; ///< such as "shared memory"
  std::string found;   ///< the value
  std::string cure;    ///< what to do about it; empty if nothing
};

// One function a subject.
Finding findProcessor();
Finding findCores();
Finding findMemory();
Finding findSharedMemory();
Finding findHugePages();
Finding findOpenFiles();
Finding findTcp();
Finding findMpi();
Finding findNccl();
Finding findConvolutions();
Finding findGpu();
Finding findDevices(); ///< in builds with cgx-run
std::vector<Finding> findTools();

} // namespace cgx::front

#endif // CGX_FRONT_FINDINGS_H
