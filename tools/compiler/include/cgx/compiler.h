/*===-- cgx/compiler.h - The compiler as a library -----------------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===
 *
 * What cgx-opt does, for programs that hold a module in memory: frameworks that have
 * a step of theirs rewritten. Every function may be called from several threads at
 * once, on different compilations. Nothing here throws or aborts; what is wrong with a module is a
 * diagnostic of its compilation.
 *
 *   const char *options[] = {"--cgx-keep-shardings", "--cgx-compress=bits=4", "--cgx-report",
 * "--cgx-lower-to-xla"}; cgx_compiler_input input = CGX_COMPILER_INPUT_INIT; input.source = text;
 *   input.source_bytes = strlen(text);
 *   input.options = options;
 *   input.option_count = 4;
 *   cgx_compilation *compilation = NULL;
 *   if (cgx_compiler_run(&input, &compilation) == CGX_COMPILER_OK)
 *     use(cgx_compilation_module(compilation), cgx_compilation_manifest(compilation));
 *   cgx_compilation_destroy(compilation);
 *
 *===-----------------------------------------------------------------------===*/
#ifndef CGX_COMPILER_H
#define CGX_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define CGX_COMPILER_ABI_VERSION 1u

typedef enum cgx_compiler_status {
  CGX_COMPILER_OK = 0,
  CGX_COMPILER_INVALID_ARGUMENT = 1, /* the call is wrong: fix the caller */
  CGX_COMPILER_BAD_OPTION = 2,       /* an option is not known, or a value of it is wrong */
  CGX_COMPILER_BAD_SOURCE = 3,       /* the source is no module that is understood */
  CGX_COMPILER_FAILED = 4,           /* a pass refused the module */
  CGX_COMPILER_OUT_OF_MEMORY = 5
} cgx_compiler_status;

/* What one call made, or why it made nothing. */
typedef struct cgx_compilation cgx_compilation;

typedef struct cgx_compiler_input {
  uint32_t struct_size;       /* sizeof(cgx_compiler_input): set by the initializer */
  uint32_t abi_version;       /* CGX_COMPILER_ABI_VERSION: set by the initializer */
  const char *source;         /* a module: MLIR text, or bytecode of MLIR; need not end in NUL */
  size_t source_bytes;        /* its length */
  const char *name;           /* what diagnostics call the source; null: "<module>" */
  const char *const *options; /* passes and pipelines with their options, in their order, as the command line
                                 of cgx-opt has them: "--cgx-compress=bits=4 bucket=128". --cgx-report here
                                 means: keep the report of the module as it is at this place */
  size_t option_count;
} cgx_compiler_input;

#define CGX_COMPILER_INPUT_INIT {sizeof(cgx_compiler_input), CGX_COMPILER_ABI_VERSION, NULL, 0, NULL, NULL, 0}

/* Reads the module, runs what the options say, and keeps what became of it. *out_compilation is there on
 * failure too, with the diagnostics, unless memory ran out or the call itself is wrong; destroy it. */
cgx_compiler_status cgx_compiler_run(const cgx_compiler_input *input, cgx_compilation **out_compilation);
void cgx_compilation_destroy(cgx_compilation *compilation);

/* Strings belong to the compilation and end in NUL. Without a result they are empty, never null. */

/* The module as text, with the locations that came in. Without the manifest, which is the next. */
const char *cgx_compilation_module(const cgx_compilation *compilation);
/* JSON (schema in passes/README.md), once a pass has made it: --cgx-emit-manifest, --cgx-lower-to-xla. */
const char *cgx_compilation_manifest(const cgx_compilation *compilation);
/* The report, for people and as JSON. */
const char *cgx_compilation_report(const cgx_compilation *compilation);
const char *cgx_compilation_report_json(const cgx_compilation *compilation);

typedef enum cgx_severity { CGX_ERROR = 0, CGX_WARNING = 1, CGX_REMARK = 2, CGX_NOTE = 3 } cgx_severity;

typedef struct cgx_diagnostic {
  cgx_severity severity; /* a note belongs to what stands before it */
  const char *file;      /* empty where the place is not known */
  uint32_t line;         /* from 1; 0: not known */
  uint32_t column;
  const char *message;
} cgx_diagnostic;

size_t cgx_compilation_diagnostic_count(const cgx_compilation *compilation);
/* `index` is below the count; else the diagnostic is empty. */
cgx_diagnostic cgx_compilation_diagnostic(const cgx_compilation *compilation, size_t index);

/* The version of cgx, such as "0.1.0". */
const char *cgx_compiler_version(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CGX_COMPILER_H */
