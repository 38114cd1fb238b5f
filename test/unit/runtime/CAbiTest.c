/*===-- CAbiTest.c - The headers and the library, from C -----------*- C -*-===*/
/*
 * Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One rank, one collective, and the errors that a C program can cause.
 */
#include "cgx/cost.h"
#include "cgx/runtime.h"

#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int holds, const char *what) {
  if (holds)
    return;
  ++failures;
  fprintf(stderr, "expected %s; last error: %s\n", what, cgx_last_error());
}

/* What a framework that knows its layers asks, and hands to a context. */
static void decide(void) {
  static const char table[] = "{\"cgx_layers\": 1, \"ranks\": 1, \"collectives\": [{\"id\": 0, \"kind\": "
                              "\"all_gather\", \"operands\":"
                              " [{\"layer\": \"w\", \"kind\": \"weight\", \"dtype\": \"f32\", \"shape\": "
                              "[4096], \"layer_shape\": [64, 64],"
                              " \"origin\": [0, 0]}]}]}";
  cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
  cgx_context *context = 0;
  cgx_decision *decision = 0;
  expect(cgx_decision_create(table, "weight=bits=8", &decision) == CGX_OK && decision, "a decision");
  if (!decision)
    return;
  expect(strstr(cgx_decision_report(decision), "quantize bits=8") != 0, "the codec in the report");
  expect(strstr(cgx_decision_report_json(decision), "\"cgx_report\": 1") != 0, "a report in JSON");
  expect(strcmp(cgx_decision_diagnostics(decision), "[]") == 0, "nothing to be said");
  config.manifest = cgx_decision_manifest(decision);
  expect(cgx_context_create(&config, &context) == CGX_OK && context, "the runtime to take the manifest");
  cgx_context_destroy(context);
  cgx_decision_destroy(decision);
  expect(cgx_decision_create(table, "bitz=8", &decision) == CGX_INVALID_ARGUMENT && !decision &&
             strstr(cgx_last_error(), "did you mean 'bits'?") != 0,
         "an unknown option to be refused");
  expect(cgx_decision_create("{}", "", &decision) == CGX_INVALID_ARGUMENT, "no table to be refused");
  expect(cgx_decision_create(0, "", &decision) == CGX_INVALID_ARGUMENT, "null to be refused");
  cgx_decision_destroy(0);
}

int main(void) {
  static const char manifest[] =
      "{\"cgx_manifest\": 1, \"hash\": \"c\", \"ranks\": 1, \"collectives\": [{\"id\": 0, \"kind\": "
      "\"all_reduce\","
      " \"reduction\": \"sum\", \"groups\": [[0]], \"operands\": [{\"layer\": \"w\", \"layer_id\": 0,"
      " \"dtype\": \"f32\", \"elements\": 2, \"codec\": {\"family\": \"identity\"}}]}]}";
  cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
  cgx_context *context = 0;
  float in[2] = {1.0f, 2.0f}, out[2] = {0.0f, 0.0f};
  const char *json = 0;
  int64_t self;

  decide();
  config.manifest = manifest;
  expect(cgx_context_create(&config, &context) == CGX_OK && context, "a context");
  self = (int64_t)(intptr_t)context;
  expect(cgx_context_begin_step(context, 0) == CGX_OK, "a step");
  cgx_rt_operand(self, 0, 0, (int64_t)(intptr_t)in, (int64_t)(intptr_t)out);
  cgx_rt_run(self, 0);
  expect(cgx_context_end_step(context) == CGX_OK, "the step's end");
  expect(out[0] == 1.0f && out[1] == 2.0f, "the sum of one rank");
  expect(cgx_context_telemetry(context, &json) == CGX_OK && strstr(json, "\"steps\":1"), "telemetry");

  expect(cgx_context_begin_step(context, 1) == CGX_OK, "another step");
  cgx_rt_run(self, 9);
  expect(cgx_context_end_step(context) == CGX_INVALID_ARGUMENT, "an unknown collective to fail the step");
  expect(strstr(cgx_last_error(), "9") != 0, "the error to name it");
  cgx_context_destroy(context);
  cgx_context_destroy(0);

  context = (cgx_context *)&config;
  expect(cgx_context_create(0, &context) == CGX_INVALID_ARGUMENT && !context, "null to be refused");
  expect(cgx_context_create(&config, 0) == CGX_INVALID_ARGUMENT, "no place for a context to be refused");
  config.struct_size = 4;
  expect(cgx_context_create(&config, &context) == CGX_INVALID_ARGUMENT,
         "a short configuration to be refused");
  config.struct_size = sizeof(config);
  config.abi_version = CGX_ABI_VERSION + 1;
  expect(cgx_context_create(&config, &context) == CGX_MISMATCH, "another ABI version to be refused");
  expect(cgx_context_begin_step(0, 0) == CGX_INVALID_ARGUMENT, "a null context to be refused");
  expect(cgx_context_end_step(0) == CGX_INVALID_ARGUMENT, "a null context to be refused");
  cgx_rt_run(0, 0);
  cgx_context_abort(0, 0);
  expect(strcmp(cgx_status_name(CGX_TIMEOUT), "timeout") == 0, "names of statuses");
  return failures;
}
