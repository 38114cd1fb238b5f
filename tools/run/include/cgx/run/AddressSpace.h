//===-- AddressSpace.h - Check of the limit on addresses --------*- C++ -*-===//
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

/// Returns why `ulimit -v` leaves too few addresses for a process that runs so many ranks, or an empty string
/// if they suffice. Each thread that multiplies matrices (OpenBLAS starts one per core) takes a buffer of 128
/// MiB, and a thread that gets none waits for ever.
std::string lackOfAddresses(uint32_t ranks);

} // namespace cgx::run

#endif // CGX_RUN_ADDRESSSPACE_H
