//===-- AddressSpace.h - Whether a limit leaves room to train ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CGX_RUN_ADDRESSSPACE_H
#define CGX_RUN_ADDRESSSPACE_H

#include <cstdint>
#include <string>

namespace cgx::run {

/// Why `ulimit -v` leaves too little for a process in which so many ranks run; empty if it does not. Each
/// thread that multiplies matrices, and OpenBLAS has one for each core, takes a buffer of 128 MiB, and waits
/// for ever for one that it does not get.
std::string lackOfAddresses(uint32_t ranks);

} // namespace cgx::run

#endif // CGX_RUN_ADDRESSSPACE_H
