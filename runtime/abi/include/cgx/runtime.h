/*===-- cgx/runtime.h - The C ABI of the runtime -------------------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * The functions that compiled steps and host programs call. Every function returns a
 * cgx_status; none throws or aborts. A context belongs to
 * one rank and is used by one thread at a time; the ranks of one process each
 * have a context of their own.
 *
 * Compiled steps call the cgx_rt_* entry points, whose arguments are integers
 * only. A step that met an error continues to its end without communicating: outputs
 * of later collectives stay unchanged, and the host, which gets the error from
 * cgx_context_end_step, must discard the step's results. Failures are final: the
 * job is over on all ranks, and resumes from a checkpoint in new contexts.
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_RUNTIME_H
#define CGX_RUNTIME_H

#include "cgx/codec.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define CGX_ABI_VERSION 1u

typedef enum cgx_status {
  CGX_OK = 0,
  CGX_INVALID_ARGUMENT = 1,   /* the call is wrong: fix the caller */
  CGX_BAD_MANIFEST = 2,       /* the program's manifest is malformed: recompile it */
  CGX_BAD_PAYLOAD = 3,        /* a peer's bytes are not the payload expected */
  CGX_MISMATCH = 4,           /* ranks run different programs, plans, seeds or groups */
  CGX_TIMEOUT = 5,            /* a peer did not answer in time */
  CGX_PEER_DIED = 6,          /* a peer is gone: restart the job from a checkpoint */
  CGX_RESOURCE_EXHAUSTED = 7, /* memory, shared memory or descriptors ran out */
  CGX_UNSUPPORTED = 8,        /* valid, but this build cannot do it */
  CGX_INTERNAL = 9
} cgx_status;

/* Returns the name of a status, such as "timeout". Never null. */
const char *cgx_status_name(cgx_status status);

/* One rank's connection to the others, its codec state and its counters. */
typedef struct cgx_context cgx_context;

typedef struct cgx_context_config {
  uint32_t struct_size;  /* sizeof(cgx_context_config): set by the initializer */
  uint32_t abi_version;  /* CGX_ABI_VERSION: set by the initializer */
  const char *transport; /* inproc, shm, mpi, shm+mpi, tcp, shm+tcp, nccl, nccl+mpi or nccl+tcp */
  const char *job;       /* name of the job; equal on its ranks, unique on the host; "shm" needs one */
  uint32_t rank;
  uint32_t ranks;
  uint64_t seed;        /* seed of stochastic rounding; equal on all ranks */
  uint32_t timeout_ms;  /* longest wait for a peer; default 30000 */
  const char *manifest; /* JSON text of the program (cgx_program_manifest); null: no collectives */
  uint64_t ring_bytes;  /* buffer from one rank to another; 0: default. Tests make it small */
  uint64_t digest;      /* digest of other data that must be equal on all ranks, such as options */
} cgx_context_config;

#define CGX_CONTEXT_CONFIG_INIT                                                                              \
  {sizeof(cgx_context_config), CGX_ABI_VERSION, "inproc", 0, 0, 1, 0, 30000, 0, 0, 0}

/* Connects this rank and waits for all ranks, at most timeout_ms. Compares ABI version,
 * rank count, seed, manifest hash and digest with the other ranks; a difference is
 * CGX_MISMATCH on every rank. On failure *out_context is null and the message is
 * in cgx_last_error(). */
cgx_status cgx_context_create(const cgx_context_config *config, cgx_context **out_context);
void cgx_context_destroy(cgx_context *context);

/* The functions of a key-value store that all ranks share, such as a framework's. `get` waits at most
 * `timeout_ms` for the key, copies its value to `value`, which has `room` bytes, and sets `out_bytes` to the
 * value's length. It returns CGX_TIMEOUT if nobody has set the key, and any other status if the store fails.
 * Both are called by the thread that creates the context, and only while it does. */
typedef cgx_status (*cgx_store_set_fn)(void *store, const char *key, const void *value, uint64_t bytes);
typedef cgx_status (*cgx_store_get_fn)(void *store, const char *key, uint32_t timeout_ms, void *value,
                                       uint64_t room, uint64_t *out_bytes);

/* How ranks of transports with TCP find and authenticate each other. A text that is null or empty is taken
 * from the environment: CGX_TCP_RENDEZVOUS, CGX_TCP_ADDRESS, CGX_TCP_SECRET, CGX_TCP_SECRET_FILE,
 * CGX_TCP_TLS, CGX_TCP_TLS_CERTIFICATE, CGX_TCP_TLS_KEY, CGX_TCP_TLS_CA and CGX_TCP_STREAMS. */
typedef struct cgx_tcp_config {
  uint32_t struct_size;    /* sizeof(cgx_tcp_config): set by the initializer */
  uint32_t streams;        /* connections over which long messages are spread, 1 to 16; 0: 1 */
  const char *rendezvous;  /* "HOST:PORT", where rank 0 listens; "file:PATH", a file that all can read */
  const char *address;     /* the address at which this rank listens; by default that of the rendezvous, or
                            * the loopback */
  const char *secret;      /* at least 16 bytes, equal on all ranks; "HOST:PORT" needs one, or certificates */
  const char *secret_file; /* a file that contains it, which nobody else may read */
  const char *tls;         /* "off", "psk" (keys from the secret) or "certificates" (the next three) */
  const char *tls_certificate; /* PEM file of this rank's certificate, signed by the authority */
  const char *tls_key;         /* PEM file */
  const char *tls_ca;          /* PEM file of an authority that signs for this job alone */
  cgx_store_set_fn store_set;  /* used instead of a rendezvous; it may then hold the secret */
  cgx_store_get_fn store_get;
  void *store;
} cgx_tcp_config;

#define CGX_TCP_CONFIG_INIT {sizeof(cgx_tcp_config), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Creates a context as cgx_context_create() does, which takes all of this from the environment. */
cgx_status cgx_context_create_over_tcp(const cgx_context_config *config, const cgx_tcp_config *tcp,
                                       cgx_context **out_context);

/* Allows buffers that cgx_rt_operand names, and those of the explicit form, to lie in the memory of a GPU.
 * They are read and written in the order of `stream`, a cudaStream_t (null: the default stream), and results
 * are available when the call returns. Operands that have kernels are encoded, added up and decoded on the
 * GPU; all others pass through pinned memory, with the same bits (runtime/cuda/README.md). Over "nccl",
 * uncompressed collectives are NCCL's own, which adds in its own order. `timeout_ms` includes the work that
 * is on the stream before a collective. The GPU is the one that the calling thread uses; for transports
 * with NCCL, the one that it used when the context was created. An operand of cgx_rt_operand lies on a GPU
 * on all ranks of its group, or on none.
 * Call it between steps. Returns CGX_UNSUPPORTED, with what is missing, if there is no GPU. Profiles do not
 * measure operands on a GPU.
 *
 * While the stream captures a CUDA graph, cgx_rt_run puts its work into the graph: over NCCL and
 * on one host, with the codecs and buffers of an earlier run. Each replay counts as the step after the last
 * one, on all ranks. */
cgx_status cgx_context_use_cuda(cgx_context *context, void *stream);
/* Makes the calling thread use this GPU, by its number in this process, as cudaSetDevice does, for callers
 * without CUDA of their own. Returns CGX_UNSUPPORTED, with what is missing, if there is no such GPU. */
cgx_status cgx_use_cuda_device(int32_t device);
/* Waits for the stream, and returns the error of graphs that were replayed on it since. Call it between
 * steps. */
cgx_status cgx_context_check_cuda(cgx_context *context);

/* Returns the message of the calling thread's last failed call. Never null. */
const char *cgx_last_error(void);

/* Begin and end one execution of the step; `step` counts from 0 and enters the
 * random numbers. end_step returns the first error met since begin_step. */
cgx_status cgx_context_begin_step(cgx_context *context, uint64_t step);
cgx_status cgx_context_end_step(cgx_context *context);
/* Returns CGX_OK, or the failure that end_step would return, within a step: for hosts that run a step call by
 * call and need not continue to its end. It does not communicate: the next collective reports failures of
 * peers. */
cgx_status cgx_context_check(cgx_context *context);

/* Tells the other ranks that this one cannot go on; they fail with `reason`. */
void cgx_context_abort(cgx_context *context, const char *reason);

/* Returns the counters since creation, as JSON (schema in runtime/README.md). The string belongs to
 * the context and lives until the next call or destroy. */
cgx_status cgx_context_telemetry(cgx_context *context, const char **out_json);

/* begin_trace starts recording what this rank does when, and discards an earlier recording; call it between
 * two steps. The text is a JSON array of events of the trace event format that Chrome and Perfetto read, with
 * the rank as the process. The string belongs to the context and lives until the next call or destroy. */
cgx_status cgx_context_begin_trace(cgx_context *context);
cgx_status cgx_context_trace(cgx_context *context, const char **out_json);

/* A tensor of the state that the codecs of this rank keep from step to step, such as the residuals of error
 * feedback: a checkpoint without it is incomplete. Number, names and sizes follow from the program; all state
 * is zero at first. Asking for a tensor brings state on a GPU to the host. A host copies `data` out between
 * two steps, and to resume from there writes the same bytes back in the same rank of a new job, before its
 * first step. */
typedef struct cgx_state_tensor {
  const char *name;      /* unique in its rank; lives as long as the context */
  uint32_t element_type; /* cgx_element_type */
  uint64_t elements;
  void *data;
} cgx_state_tensor;
cgx_status cgx_context_state_count(const cgx_context *context, uint64_t *out_count);
cgx_status cgx_context_state_tensor(cgx_context *context, uint64_t index, cgx_state_tensor *out_tensor);

/* Sends bytes of every rank, any number of them, to rank 0, where `take` is called once for each rank, in
 * order, before this returns; on the other ranks it is not called. It lets host programs communicate between
 * steps, on whatever machines they run. All ranks call it. */
typedef void (*cgx_take_fn)(void *user, uint32_t rank, const void *data, uint64_t bytes);
cgx_status cgx_context_gather(cgx_context *context, const void *data, uint64_t bytes, cgx_take_fn take,
                              void *user);
/* Sends a few bytes of every rank, the same number from each, to all ranks: data on which hosts must agree
 * before the next step. */
cgx_status cgx_context_all_gather(cgx_context *context, const void *data, uint64_t bytes, cgx_take_fn take,
                                  void *user);

/* Functions that change codecs by measurements. All ranks call these between the same two steps, with the
 * same texts; formats of profiles, plans and requests are in runtime/plan/README.md. The explicit form below
 * can be profiled, but its codecs cannot change.
 *
 * begin_profile accumulates, from the next step on, what this rank contributes to compressed collectives.
 * `options` is JSON, {"candidates": ["quantize bits=2..8 bucket=128", ...]}, or null; the
 * candidates of the first call stay. end_profile tries them and gives all ranks the same profile.
 * adapt ends the profile as well, lets rank 0 make a plan of it, adopts the plan and gives it to
 * all ranks. adopt_plan applies the codecs of a plan from the next step on. A plan that does not fit or
 * differs between ranks is rejected on all of them, and the job goes on as before. Strings belong to
 * the context and live until the next of these calls. */
cgx_status cgx_context_begin_profile(cgx_context *context, const char *options);
cgx_status cgx_context_end_profile(cgx_context *context, const char **out_profile);
cgx_status cgx_context_adapt(cgx_context *context, const char *request, const char **out_plan);
cgx_status cgx_context_adopt_plan(cgx_context *context, const char *plan);

/* Replaces the context's program, for example by one whose collectives group the same layers differently, so
 * that ranks need not connect again. All ranks call it between the same two steps. The connection and a GPU
 * that was named stay, and the state of codecs moves with its layer to the layer's new collective. Counters,
 * profiles, plans and strings of the context start anew. If manifests differ, all ranks return CGX_MISMATCH,
 * and the job goes on as before; a manifest that cannot be read, or has no place for a codec's state, ends
 * the job. */
cgx_status cgx_context_adopt_program(cgx_context *context, const char *manifest);

/* ---- Decisions about which layers are compressed, and how, without compiling a program. ---- */

/* The decisions about the layers of a table. */
typedef struct cgx_decision cgx_decision;

/* `table`: JSON, the collectives of a step and the layers that travel in them, described in
 * runtime/layers/README.md. `options`: those of `cgx-opt --cgx-compress`, in the same words. If the compiler
 * would reject them, returns CGX_INVALID_ARGUMENT; its errors are in cgx_last_error(), one on each line. */
cgx_status cgx_decision_create(const char *table, const char *options, cgx_decision **out_decision);
void cgx_decision_destroy(cgx_decision *decision);

/* Returns the manifest, for cgx_context_config, as the compiler emits it for such a program. */
const char *cgx_decision_manifest(const cgx_decision *decision);
/* Return the report of `cgx-opt --cgx-report`, for people and as JSON. */
const char *cgx_decision_report(const cgx_decision *decision);
const char *cgx_decision_report_json(const cgx_decision *decision);
/* Returns all diagnostics as JSON: [{"severity": "warning", "message": "..."}, ...]. */
const char *cgx_decision_diagnostics(const cgx_decision *decision);

/* ---- Functions that compiled steps call. `context` is a cgx_context* as an integer, addresses are
 * data pointers as integers, `collective` is the id in the manifest. ---------------------- */

/* Names the input and output buffer of one operand; they may be equal. */
void cgx_rt_operand(int64_t context, int64_t collective, int64_t operand, int64_t input, int64_t output);
/* Binds a tensor that the optimizer keeps for the parameter of which an operand is the gradient. `kept` is a
 * cgx_kept; `address` points to `elements` elements of a type that codecs take, one for each element of the
 * operand, or to a learning rate, one f32 that is finite and not negative. The tensor must not change until
 * the step ends. Codecs for which cgx_codec_needs() is true read it; before their collective runs, each step
 * binds all tensors that they need. */
void cgx_rt_provide(int64_t context, int64_t collective, int64_t operand, int64_t kept, int64_t element_type,
                    int64_t elements, int64_t address);
/* Writes the number of this rank, 32 bits, to `output`. */
void cgx_rt_rank(int64_t context, int64_t output);
/* Runs the collective whose operands were named since the last run. */
void cgx_rt_run(int64_t context, int64_t collective);

/* Run a collective in two halves: start returns at once, and a thread of the context, created by the first
 * start, runs the started collectives in that order. Until the wait for the same id has returned, the inputs
 * must not change and the outputs must not be used; then the results are available. Every start must be
 * waited for before the step ends, and before the same collective is started again. All other communication
 * queues after what was started: all ranks must start and run in the same order. */
void cgx_rt_start(int64_t context, int64_t collective);
void cgx_rt_wait(int64_t context, int64_t collective);

/* The explicit form of an all-reduce, one call for each cgx payload op, giving the bits
 * that cgx_rt_run gives. N is the size of the group, and chunk k holds the elements
 * [cgx_chunk_begin(k), cgx_chunk_begin(k + 1)).
 *   whole payload: the payloads of the N chunks, one after the other
 *   slots:         N payloads of this rank's chunk, payload k from position k of the
 *                  group, at k * (bytes of the payload of chunk 0)
 *   chunk:         elements of this rank's chunk, in the operand's type
 * After cgx_context_use_cuda each buffer may lie on either side, whatever other ranks do. Where both of a
 * call lie on the GPU, it encodes, adds up and decodes; payloads travel through pinned memory. A graph cannot
 * contain these calls. `phase` separates random numbers: 0, a rank's own contribution, encodes a tensor into
 * a whole payload; 1, the owner's result, encodes a chunk into one payload. */
void cgx_rt_compress(int64_t context, int64_t collective, int64_t operand, int64_t phase, int64_t input,
                     int64_t payload);
/* Sends the chunks of a whole payload to their owners' slots. */
void cgx_rt_payload_all_to_all(int64_t context, int64_t collective, int64_t operand, int64_t input,
                               int64_t output);
/* Adds up the slots to a chunk; divides it for a mean. */
void cgx_rt_decompress_accumulate(int64_t context, int64_t collective, int64_t operand, int64_t payload,
                                  int64_t output);
/* Gathers the payloads of all chunks to a whole payload. */
void cgx_rt_payload_all_gather(int64_t context, int64_t collective, int64_t operand, int64_t input,
                               int64_t output);
/* Decodes a whole payload to a tensor. */
void cgx_rt_decompress(int64_t context, int64_t collective, int64_t operand, int64_t payload, int64_t output);

/* Fails the step as a failed call above does, with `message`: for libraries that compiled steps call, such as
 * libcgx_native. Without a context it does nothing. */
void cgx_rt_fail(int64_t context, cgx_status status, const char *message);

/* ---- Symbols of a compiled step -------------------------------------------------------- */

/* const char cgx_program_manifest[]: the JSON text described in passes/README.md. */
#define CGX_SYMBOL_MANIFEST "cgx_program_manifest"
/* void cgx_program_step(cgx_context *, void *const *arguments, void *const *results): runs one step. Buffers
 * are dense, row-major, 64-byte aligned; no result overlaps another result or an argument. */
#define CGX_SYMBOL_STEP "cgx_program_step"
typedef void (*cgx_program_step_fn)(cgx_context *context, void *const *arguments, void *const *results);
/* void cgx_program_release(void): frees the memory that steps keep for later ones; a later step allocates
 * it again. A library calls it when it is unloaded. Steps of older compilers lack it. */
#define CGX_SYMBOL_RELEASE "cgx_program_release"
typedef void (*cgx_program_release_fn)(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_RUNTIME_H */
