/*===-- compiler.c - The compiler as a library, from C --------------*- C -*-===
 *
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===-----------------------------------------------------------------------===*/
#include "cgx/compiler.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                                                    \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition);                               \
      __atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST);                                                    \
    }                                                                                                        \
  } while (0)

/* A step of two ranks whose gradient is that of the parameter "w". */
static const char step[] =
    "module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @mesh = <[\"data\"=2]>\n"
    "  func.func public @main(%arg0: tensor<64x64xf32> loc(\"w\"), %arg1: tensor<8x64xf32> loc(\"x\")) -> "
    "(tensor<64x64xf32> {jax.result_info = \"w\"}) {\n"
    "    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{\"data\"}, "
    "{}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={\"data\"} (%w: tensor<64x64xf32>, %x: "
    "tensor<4x64xf32>) {\n"
    "      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, "
    "tensor<64x64xf32>) -> tensor<4x64xf32>\n"
    "      %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4x64xf32>, "
    "tensor<4x64xf32>) -> tensor<64x64xf32>\n"
    "      %s = \"stablehlo.all_reduce\"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = "
    "1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({\n"
    "      ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
    "        %t = stablehlo.add %a, %b : tensor<f32>\n"
    "        stablehlo.return %t : tensor<f32>\n"
    "      }) : (tensor<64x64xf32>) -> tensor<64x64xf32>\n"
    "      %n = stablehlo.subtract %w, %s : tensor<64x64xf32>\n"
    "      sdy.return %n : tensor<64x64xf32>\n"
    "    } : (tensor<64x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>\n"
    "    return %0 : tensor<64x64xf32>\n"
    "  }\n"
    "}\n";

static cgx_compiler_status run(const char *source, const char *const *options, size_t count,
                               cgx_compilation **compilation) {
  cgx_compiler_input input = CGX_COMPILER_INPUT_INIT;
  input.source = source;
  input.source_bytes = strlen(source);
  input.name = "step.mlir";
  input.options = options;
  input.option_count = count;
  return cgx_compiler_run(&input, compilation);
}

/* Each thread asks for another width, and gets what it asked for. */
static void *compressOnThread(void *argument) {
  int bits = 2 + (int)(size_t)argument;
  char compress[64], expected[32];
  snprintf(compress, sizeof compress, "--cgx-compress=bits=%d", bits);
  snprintf(expected, sizeof expected, "\"bits\":%d", bits);
  const char *options[] = {compress, "--cgx-report", "--cgx-lower-to-xla=program=mine"};
  for (int round = 0; round < 5; ++round) {
    cgx_compilation *compilation = NULL;
    EXPECT(run(step, options, 3, &compilation) == CGX_COMPILER_OK);
    EXPECT(strstr(cgx_compilation_manifest(compilation), expected) != NULL);
    EXPECT(strstr(cgx_compilation_report(compilation), "quantize") != NULL);
    EXPECT(strstr(cgx_compilation_report_json(compilation), "\"layer\"") != NULL);
    EXPECT(strstr(cgx_compilation_module(compilation), "@cgx_collective") != NULL);
    EXPECT(strstr(cgx_compilation_module(compilation), "program = \"mine\"") != NULL);
    EXPECT(strstr(cgx_compilation_module(compilation), "manifest") == NULL);
    cgx_compilation_destroy(compilation);
  }
  return NULL;
}

static void testThreads(void) {
  pthread_t threads[4];
  for (size_t i = 0; i < 4; ++i)
    EXPECT(pthread_create(&threads[i], NULL, compressOnThread, (void *)i) == 0);
  for (size_t i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
}

static void testBytecodeIsRefusedWithAReason(void) {
  cgx_compilation *compilation = NULL;
  cgx_compiler_input input = CGX_COMPILER_INPUT_INIT;
  static const char portable[] = "ML\xefR\x0dStableHLO_v1.9.0";
  input.source = portable;
  input.source_bytes = sizeof portable;
  EXPECT(cgx_compiler_run(&input, &compilation) == CGX_COMPILER_BAD_SOURCE);
  EXPECT(strstr(cgx_compilation_diagnostic(compilation, 0).message, "portable bytecode of StableHLO"));
  cgx_compilation_destroy(compilation);
}

static void testDiagnosticsHavePlaces(void) {
  const char *options[] = {"--cgx-import"};
  cgx_compilation *compilation = NULL;
  EXPECT(run("module {\n  func.func @main() {\n    %0 = oops\n", options, 1, &compilation) ==
         CGX_COMPILER_BAD_SOURCE);
  EXPECT(cgx_compilation_diagnostic_count(compilation) >= 1);
  cgx_diagnostic diagnostic = cgx_compilation_diagnostic(compilation, 0);
  EXPECT(diagnostic.severity == CGX_ERROR);
  EXPECT(strcmp(diagnostic.file, "step.mlir") == 0 && diagnostic.line == 3);
  EXPECT(*cgx_compilation_module(compilation) == '\0');
  EXPECT(*cgx_compilation_diagnostic(compilation, 999).message == '\0');
  cgx_compilation_destroy(compilation);
}

static void testWrongOptions(void) {
  static const char *const wrong[] = {"--cgx-comprss", "cgx-compress", "--cgx-compress=bits=4 colour=red",
                                      "--cgx-lower-to-xla=per-rank=perhaps"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    cgx_compilation *compilation = NULL;
    EXPECT(run(step, &wrong[i], 1, &compilation) == CGX_COMPILER_BAD_OPTION);
    EXPECT(cgx_compilation_diagnostic_count(compilation) >= 1);
    cgx_compilation_destroy(compilation);
  }
  /* A value that only the pass can judge. */
  const char *codec = "--cgx-compress=bits=17";
  cgx_compilation *compilation = NULL;
  EXPECT(run(step, &codec, 1, &compilation) == CGX_COMPILER_FAILED);
  EXPECT(cgx_compilation_diagnostic_count(compilation) >= 1);
  cgx_compilation_destroy(compilation);
}

static void testWrongCalls(void) {
  cgx_compilation *compilation = NULL;
  cgx_compiler_input input = CGX_COMPILER_INPUT_INIT;
  EXPECT(cgx_compiler_run(&input, NULL) == CGX_COMPILER_INVALID_ARGUMENT);
  EXPECT(cgx_compiler_run(NULL, &compilation) == CGX_COMPILER_INVALID_ARGUMENT && !compilation);
  EXPECT(cgx_compiler_run(&input, &compilation) == CGX_COMPILER_INVALID_ARGUMENT && !compilation);
  input.source = "";
  input.abi_version = 99;
  EXPECT(cgx_compiler_run(&input, &compilation) == CGX_COMPILER_INVALID_ARGUMENT && !compilation);
  cgx_compilation_destroy(NULL);
  EXPECT(*cgx_compiler_version() != '\0');
}

int main(void) {
  testThreads();
  testBytecodeIsRefusedWithAReason();
  testDiagnosticsHavePlaces();
  testWrongOptions();
  testWrongCalls();
  return failures ? 1 : 0;
}
