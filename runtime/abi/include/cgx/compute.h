/*===-- cgx/compute.h - What compiled steps compute in the runtime -----*- C -*-===*\
|*                                                                              *|
|* Part of cgx, under the Apache License v2.0 with LLVM Exceptions.             *|
|* See LICENSE for license information.                                         *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      *|
|*                                                                              *|
\*===--------------------------------------------------------------------------===*/
/* Beside products and factors of matrices, which cgx/runtime.h has. Part of its ABI, with its version.
 * Buffers are addresses on the host; `context` is that of the step, which a failure ends, or 0. */
#ifndef CGX_COMPUTE_H
#define CGX_COMPUTE_H

#include <stdint.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

/* Sorting: where the first `kept` elements of each row came from, equal ones in their order. `keys` are
 * `outer` blocks of `extent` by `inner` elements of `bytes`, a power of two up to 8; a row runs along
 * `extent`, which is below 2^31. `places` are as many blocks of `kept` by `inner` int32. */
typedef enum cgx_sort_kind {
  CGX_SORT_UNSIGNED = 0,
  CGX_SORT_SIGNED = 1,
  CGX_SORT_TOTAL = 2,  /* floats by IEEE 754's total order: -NaN, -infinity, ... -0, 0, ... infinity, NaN */
  CGX_SORT_NUMBERS = 3 /* floats by their value: zeros are equal, and so are NaNs, above all; `infinity` is
                          the bits of the one above all numbers */
} cgx_sort_kind;
void cgx_rt_sort_places(int64_t context, int64_t kind, int64_t bytes, int64_t infinity, int64_t descending,
                        int64_t outer, int64_t extent, int64_t inner, int64_t kept, int64_t keys,
                        int64_t places);

/* Convolutions of f32, and their gradients, over up to three spatial dimensions; missing ones come first,
 * with sizes of 1. The input has `in_size` places, read in steps of `stride`, the kernel's places `dilation`
 * apart, from `low` zeros before the input on; as many zeros as are needed follow it. */
#define CGX_CONVOLUTION_DIMENSIONS 3
typedef enum cgx_convolution_kind {
  CGX_CONVOLUTION_OUTPUT = 0,         /* from input and kernel */
  CGX_CONVOLUTION_INPUT_GRADIENT = 1, /* from the output's gradient and the kernel */
  CGX_CONVOLUTION_KERNEL_GRADIENT = 2 /* from the input and the output's gradient */
} cgx_convolution_kind;
/* Steps in memory, in elements: of the first index (samples of input and output; the kernel's features of the
 * output), the second (features; the kernel's features of the input), and the places. */
typedef struct cgx_convolution_strides {
  int64_t first, second, places[CGX_CONVOLUTION_DIMENSIONS];
} cgx_convolution_strides;
typedef struct cgx_convolution {
  int64_t kind;
  int64_t samples, in_features, out_features;
  int64_t in_size[CGX_CONVOLUTION_DIMENSIONS], kernel_size[CGX_CONVOLUTION_DIMENSIONS],
      out_size[CGX_CONVOLUTION_DIMENSIONS];
  int64_t stride[CGX_CONVOLUTION_DIMENSIONS], dilation[CGX_CONVOLUTION_DIMENSIONS],
      low[CGX_CONVOLUTION_DIMENSIONS];
  cgx_convolution_strides input, kernel, output;
} cgx_convolution;
/* `convolution` is the address of one of these; the last of the three buffers of its kind is written. */
void cgx_rt_convolution_f32(int64_t context, int64_t convolution, int64_t first, int64_t second, int64_t out);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop

#endif /* CGX_COMPUTE_H */
