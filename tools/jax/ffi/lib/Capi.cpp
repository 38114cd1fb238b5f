//===-- Capi.cpp - C functions about programs of XLA ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <exception>

namespace {

thread_local std::string lastError;

cgx_status report(cgx_status status, const std::string &message) {
  lastError = message;
  return status;
}

/// Calls `body(error)`, and keeps what it says or throws.
template <typename Body> cgx_status guarded(Body body) noexcept {
  try {
    std::string error;
    cgx_status status = body(error);
    return report(status, error);
  } catch (const std::exception &exception) {
    return report(CGX_RESOURCE_EXHAUSTED, exception.what());
  }
}

/// Calls `body(program, error)` with the program of that name.
template <typename Body> cgx_status withProgram(const char *name, Body body) noexcept {
  return guarded([&](std::string &error) {
    std::shared_ptr<cgx::xla::Program> program;
    if (name)
      program = cgx::xla::Programs::instance().find(name);
    if (program)
      return body(*program, error);
    error = std::string("expected an open program, got '") + (name ? name : "(null)") + "'";
    return CGX_INVALID_ARGUMENT;
  });
}

} // namespace

cgx_status cgx_xla_program_open(const cgx_xla_program_config *config) {
  return guarded([&](std::string &error) {
    if (!config || config->struct_size != sizeof *config || config->abi_version != CGX_XLA_ABI_VERSION) {
      error = "expected a program configuration of this version";
      return CGX_INVALID_ARGUMENT;
    }
    if (!config->name || !config->local_ranks || config->local_rank_count == 0) {
      error = "expected a name and the ranks of this process, got none";
      return CGX_INVALID_ARGUMENT;
    }
    return cgx::xla::Programs::instance().open(*config, error);
  });
}

cgx_status cgx_xla_program_close(const char *name) {
  return guarded([&](std::string &error) {
    std::shared_ptr<cgx::xla::Program> program;
    if (name)
      program = cgx::xla::Programs::instance().take(name);
    if (program) {
      program->stop();
      return CGX_OK;
    }
    error = std::string("expected an open program, got '") + (name ? name : "(null)") + "'";
    return CGX_INVALID_ARGUMENT;
  });
}

cgx_status cgx_xla_program_dispatch(const char *name) {
  return withProgram(name,
                     [&](cgx::xla::Program &program, std::string &error) { return program.dispatch(error); });
}

cgx_status cgx_xla_program_visit(const char *name, cgx_xla_visit_fn visit, void *user) {
  return withProgram(name, [&](cgx::xla::Program &program, std::string &error) {
    if (visit)
      return program.visit(visit, user, error);
    error = "expected a function to visit ranks with, got null";
    return CGX_INVALID_ARGUMENT;
  });
}

cgx_status cgx_xla_program_set_step(const char *name, uint64_t step) {
  return withProgram(name, [&](cgx::xla::Program &program, std::string &) {
    program.setStep(step);
    return CGX_OK;
  });
}

cgx_status cgx_xla_program_step(const char *name, uint64_t *out_step) {
  return withProgram(name, [&](cgx::xla::Program &program, std::string &error) {
    if (!out_step) {
      error = "expected a place for the number, got null";
      return CGX_INVALID_ARGUMENT;
    }
    *out_step = program.step();
    return CGX_OK;
  });
}

const char *cgx_xla_last_error(void) { return lastError.c_str(); }
