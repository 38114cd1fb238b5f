/*===-- Arc4random.c - Random numbers on systems of any age --------*- C -*-===*\
|*                                                                            *|
|* Part of cgx, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===------------------------------------------------------------------------===*/
/* The archives of LLVM and of C++'s library call what the C library has since 2.36 only. In a self-contained build, which
 * is to run on older systems, this takes its place. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number;
  if (getentropy(&number, sizeof number) != 0)
    abort(); /* Linux has it since 3.17. */
  return number;
}
