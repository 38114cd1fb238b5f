//===-- Doctor.h - Report about a machine -----------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_FRONT_DOCTOR_H
#define CGX_FRONT_DOCTOR_H

namespace cgx::front {

/// Runs `cgx doctor`: prints a line for each thing that jobs need, a cure for what is wrong, and the speed of
/// the link between two ranks on this machine. Returns 0 if ranks of this machine can train, 1 if they
/// cannot, 2 after wrong arguments.
int runDoctor(int argc, char **argv);

} // namespace cgx::front

#endif // CGX_FRONT_DOCTOR_H
