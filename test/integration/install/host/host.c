/*===-- host.c - A C program against an installed cgx --------------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * Something of each: a constant, a function of the library, and a function of the headers.
 *
 *===-----------------------------------------------------------------------===*/
#include "cgx/runtime.h"

#include <stdio.h>

int main(void) {
  cgx_codec codec = {.family = CGX_CODEC_QUANTIZE, .bits = 4, .bucket = 128};
  printf("abi %u, %s, %llu bytes\n", CGX_ABI_VERSION, cgx_status_name(CGX_TIMEOUT),
         (unsigned long long)cgx_payload_bytes(&codec, CGX_F32, 1000));
  return 0;
}
