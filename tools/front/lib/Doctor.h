//===-- Doctor.h - What a machine has and lacks -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_FRONT_DOCTOR_H
#define CGX_FRONT_DOCTOR_H

namespace cgx::front {

/// `cgx doctor`: a line for each thing that jobs need, what is amiss with its cure, and how fast two ranks of
/// this machine reach each other. 0: ranks of this machine can train; 1: they cannot; 2: wrong arguments.
int runDoctor(int argc, char **argv);

} // namespace cgx::front

#endif // CGX_FRONT_DOCTOR_H
