//===-- Findings.h - Findings about a machine -------------------*- C++ -*-===//
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
  good,    ///< as expected
  absent,  ///< missing, and not needed by everybody
  slow,    ///< jobs are slower than they could be, or some do not run
  missing, ///< ranks of this machine cannot train
};

struct Finding {
  Verdict verdict;
  std::string subject; ///< the subject, such as "shared memory"
  std::string found;   ///< the value
  std::string cure;    ///< the remedy; empty if none is needed
};

// Each of these functions examines one subject.
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
