/*===-- cgx/xla.h - Our collectives inside of XLA ------------------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * A program that --cgx-lower-to-xla rewrote calls the handlers below through XLA's typed
 * foreign function interface. Which manifest such a call means, and how the ranks of
 * this process reach the others, is said here, before the program runs first.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_XLA_H
#define CGX_XLA_H

#include "cgx/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define CGX_XLA_ABI_VERSION 1u

typedef struct cgx_xla_program_config {
  uint32_t struct_size;        /* sizeof(cgx_xla_program_config): set by the initializer */
  uint32_t abi_version;        /* CGX_XLA_ABI_VERSION: set by the initializer */
  const char *name;            /* what the calls name the program by; open once in a process */
  cgx_context_config context;  /* of each rank; `rank` is not read */
  const uint32_t *local_ranks; /* the ranks whose devices belong to this process */
  uint32_t local_rank_count;
  const cgx_tcp_config *tcp; /* how ranks over TCP meet; null: as the environment says */
  const int32_t
      *local_gpus; /* of each local rank, by its number in this process; null: tensors are on the host */
} cgx_xla_program_config;

#define CGX_XLA_PROGRAM_CONFIG_INIT                                                                          \
  {sizeof(cgx_xla_program_config), CGX_XLA_ABI_VERSION, 0, CGX_CONTEXT_CONFIG_INIT, 0, 0, 0, 0}

/* Makes the program known, and gives each rank of this process a thread and a context: all processes of the
 * job call this at the same time, and it returns once all ranks have come, or with why they did not. Texts
 * and functions of the configuration are not used afterwards. The message of a failure is in
 * cgx_xla_last_error(). */
cgx_status cgx_xla_program_open(const cgx_xla_program_config *config);
/* Waits for steps that run, and forgets the program. */
cgx_status cgx_xla_program_close(const char *name);

/* To be called whenever the framework was told to execute the program: says what failed on a rank of this
 * process, now or before (a failure is final, and what the framework computed is not to be used), else waits
 * while CGX_XLA_MOST_IN_FLIGHT executions have not ended. XLA takes a thread of a pool for each execution
 * that has begun on a device, and another for each that waits because there are many already (32 on a CPU);
 * with as many devices as threads the one that all wait for gets none. An execution that never begins,
 * because its arguments failed, is waited for at most as long as a peer. */
#define CGX_XLA_MOST_IN_FLIGHT 8u
cgx_status cgx_xla_program_dispatch(const char *name);

/* Calls `visit` once for each rank of this process, on the rank's thread, behind what was dispatched, with
 * its context; returns after the last. The calls run side by side: a visit may do what all ranks do
 * together. A visit that returns something else than CGX_OK ends in that status, with its
 * cgx_last_error().
 */
typedef cgx_status (*cgx_xla_visit_fn)(void *user, uint32_t rank, cgx_context *context);
cgx_status cgx_xla_program_visit(const char *name, cgx_xla_visit_fn visit, void *user);

/* The number of the next step, which goes into random numbers: 0 at first, then one more with each. */
cgx_status cgx_xla_program_set_step(const char *name, uint64_t step);
cgx_status cgx_xla_program_step(const char *name, uint64_t *out_step);

/* The message of the calling thread's last failed call. Never null. */
const char *cgx_xla_last_error(void);

/* Handlers, for registration with the framework: XLA_FFI_Handler. Those of platform "CUDA" find their rank by
 * the GPU that executes, since what the token holds lies there; tensors are read and written in the order of
 * XLA's stream. XLA's thread of that GPU waits for each answer. */
struct XLA_FFI_CallFrame;
struct XLA_FFI_Error;
struct XLA_FFI_Error *cgx_xla_begin_step(struct XLA_FFI_CallFrame *frame);
struct XLA_FFI_Error *cgx_xla_collective(struct XLA_FFI_CallFrame *frame);
struct XLA_FFI_Error *cgx_xla_end_step(struct XLA_FFI_CallFrame *frame);
struct XLA_FFI_Error *cgx_xla_begin_step_cuda(struct XLA_FFI_CallFrame *frame);
struct XLA_FFI_Error *cgx_xla_collective_cuda(struct XLA_FFI_CallFrame *frame);
struct XLA_FFI_Error *cgx_xla_end_step_cuda(struct XLA_FFI_CallFrame *frame);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_XLA_H */
