//===-- capi/Capi.cpp - The C ABI over the C++ below -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This is the only file that turns a Status into a cgx_status. No exception leaves it, nor the C functions of
// runtime/native, which catch their own.
//
//===----------------------------------------------------------------------===//

#include "cgx/layers/TableJson.h"
#include "context/Context.h"

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>

struct cgx_context {
  std::unique_ptr<cgx::Context> impl;
};

struct cgx_decision {
  cgx::layers::Compressed decided;
  std::string diagnostics;
};

namespace {

/// The message of this thread's last failed call.
thread_local std::string lastError;

cgx_status report(const cgx::Status &status) noexcept {
  if (status.ok())
    return CGX_OK;
  try {
    lastError = status.message();
  } catch (const std::exception &) {
    lastError.clear();
  }
  return status.getCode();
}

/// Calls `body`, and turns an exception into a status.
template <typename Body> cgx::Status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return {CGX_RESOURCE_EXHAUSTED, "out of memory"};
  } catch (const std::system_error &error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
      return {CGX_RESOURCE_EXHAUSTED, std::string("cannot start a thread: ") + error.what() +
                                          " (ulimit -u, or the most processes of a container)"};
    return {CGX_INTERNAL, error.what()};
  } catch (const std::exception &error) {
    return {CGX_INTERNAL, error.what()};
  }
}

/// Fails a compiled step. end_step reports the failure.
void failStep(cgx_context &handle, const cgx::Status &status) noexcept {
  (void)guarded([&] {
    handle.impl->fail(status);
    return cgx::Status();
  });
}

/// Runs a call of a compiled step. Without a context there is nobody to report to, so it does nothing.
template <typename Body> void guardedCall(int64_t context, Body body) noexcept {
  auto *handle = reinterpret_cast<cgx_context *>(context);
  if (!handle)
    return;
  cgx::Status status = guarded([&] {
    body(*handle->impl);
    return cgx::Status();
  });
  if (!status.ok())
    failStep(*handle, status);
}

const std::byte *input(int64_t address) { return reinterpret_cast<const std::byte *>(address); }
std::byte *output(int64_t address) { return reinterpret_cast<std::byte *>(address); }

/// Reads the caller's configuration, which may be of an older, shorter version.
cgx::Status readConfig(const cgx_context_config *given, cgx_context_config &config) {
  config = CGX_CONTEXT_CONFIG_INIT;
  if (!given)
    return {CGX_INVALID_ARGUMENT, "expected a configuration, got null"};
  constexpr uint32_t shortest = offsetof(cgx_context_config, manifest) + sizeof(const char *);
  if (given->struct_size < shortest || given->struct_size > sizeof(config))
    return cgx::Status::error(CGX_INVALID_ARGUMENT, "expected a configuration of ", shortest, " to ",
                              sizeof(config), " bytes, got struct_size ", given->struct_size);
  std::memcpy(&config, given, given->struct_size);
  return {};
}

/// Reads the caller's configuration of TCP; null means that there is none.
cgx::Status readTcpConfig(const cgx_tcp_config *given, cgx::TcpConfig &config) {
  if (!given)
    return {};
  constexpr uint32_t shortest = offsetof(cgx_tcp_config, store) + sizeof(void *);
  if (given->struct_size != shortest)
    return cgx::Status::error(CGX_INVALID_ARGUMENT, "expected a configuration of tcp of ", shortest,
                              " bytes, got struct_size ", given->struct_size);
  auto text = [](const char *value) { return std::string(value ? value : ""); };
  config.rendezvous = text(given->rendezvous);
  config.address = text(given->address);
  config.secret = text(given->secret);
  config.secretFile = text(given->secret_file);
  config.tls = text(given->tls);
  config.certificate = text(given->tls_certificate);
  config.key = text(given->tls_key);
  config.authority = text(given->tls_ca);
  config.streams = given->streams;
  config.storeSet = given->store_set;
  config.storeGet = given->store_get;
  config.store = given->store;
  return {};
}

} // namespace

extern "C" {

const char *cgx_status_name(cgx_status status) {
  switch (status) {
  case CGX_OK:
    return "ok";
  case CGX_INVALID_ARGUMENT:
    return "invalid argument";
  case CGX_BAD_MANIFEST:
    return "bad manifest";
  case CGX_BAD_PAYLOAD:
    return "bad payload";
  case CGX_MISMATCH:
    return "mismatch";
  case CGX_TIMEOUT:
    return "timeout";
  case CGX_PEER_DIED:
    return "peer died";
  case CGX_RESOURCE_EXHAUSTED:
    return "resource exhausted";
  case CGX_UNSUPPORTED:
    return "unsupported";
  case CGX_INTERNAL:
    return "internal error";
  }
  return "unknown status";
}

const char *cgx_last_error(void) { return lastError.c_str(); }

cgx_status cgx_context_create(const cgx_context_config *config, cgx_context **out_context) {
  return cgx_context_create_over_tcp(config, nullptr, out_context);
}

cgx_status cgx_context_create_over_tcp(const cgx_context_config *config, const cgx_tcp_config *tcp,
                                       cgx_context **out_context) {
  return report(guarded([&]() -> cgx::Status {
    if (!out_context)
      return {CGX_INVALID_ARGUMENT, "expected a place for the context, got null"};
    *out_context = nullptr;
    cgx_context_config full;
    if (cgx::Status status = readConfig(config, full); !status.ok())
      return status;
    cgx::TcpConfig options;
    if (cgx::Status status = readTcpConfig(tcp, options); !status.ok())
      return status;
    cgx::Result<std::unique_ptr<cgx::Context>> created = cgx::Context::create(full, options);
    if (!created.ok())
      return created.status();
    *out_context = new cgx_context{std::move(*created)};
    return {};
  }));
}

void cgx_context_destroy(cgx_context *context) { delete context; }

cgx_status cgx_context_begin_step(cgx_context *context, uint64_t step) {
  return report(guarded([&]() -> cgx::Status {
    return context ? context->impl->beginStep(step)
                   : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context, got null");
  }));
}

cgx_status cgx_context_end_step(cgx_context *context) {
  return report(guarded([&]() -> cgx::Status {
    return context ? context->impl->endStep()
                   : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context, got null");
  }));
}

cgx_status cgx_context_check(cgx_context *context) {
  return report(guarded([&]() -> cgx::Status {
    return context ? context->impl->failureSoFar()
                   : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context, got null");
  }));
}

void cgx_context_abort(cgx_context *context, const char *reason) {
  guardedCall(reinterpret_cast<int64_t>(context),
              [&](cgx::Context &impl) { impl.abort(reason ? reason : "no reason given"); });
}

cgx_status cgx_context_state_count(const cgx_context *context, uint64_t *out_count) {
  return report(guarded([&]() -> cgx::Status {
    if (!context || !out_count)
      return {CGX_INVALID_ARGUMENT, "expected a context and a place for the number, got null"};
    *out_count = context->impl->stateTensors().size();
    return {};
  }));
}

cgx_status cgx_context_state_tensor(cgx_context *context, uint64_t index, cgx_state_tensor *out_tensor) {
  return report(guarded([&]() -> cgx::Status {
    if (!context || !out_tensor)
      return {CGX_INVALID_ARGUMENT, "expected a context and a place for the tensor, got null"};
    std::span<const cgx::StateTensor> tensors = context->impl->stateTensors();
    if (index >= tensors.size())
      return cgx::Status::error(CGX_INVALID_ARGUMENT, "expected an index below ", tensors.size(), ", got ",
                                index);
    if (cgx::Status status = context->impl->fetchState(); !status.ok())
      return status;
    const cgx::StateTensor &tensor = tensors[index];
    *out_tensor = {tensor.name.c_str(), uint32_t(tensor.type), tensor.elements, tensor.data};
    return {};
  }));
}

cgx_status cgx_context_use_cuda(cgx_context *context, void *stream) {
  return report(guarded([&]() -> cgx::Status {
    if (!context)
      return {CGX_INVALID_ARGUMENT, "expected a context, got null"};
    return context->impl->useCuda(static_cast<cgx::cuda::Stream>(stream));
  }));
}

cgx_status cgx_use_cuda_device(int32_t device) {
  return report(guarded([&]() -> cgx::Status {
    if (cgx::cuda::Outcome outcome = cgx::cuda::availability(); !outcome.ok())
      return {CGX_UNSUPPORTED, outcome.error};
    if (const uint32_t count = cgx::cuda::deviceCount(); device < 0 || uint32_t(device) >= count)
      return cgx::Status::error(CGX_UNSUPPORTED, "expected the number of a GPU below ", count, ", got ",
                                device);
    cgx::cuda::Outcome outcome = cgx::cuda::useDevice(device);
    return outcome.ok() ? cgx::Status() : cgx::Status(CGX_UNSUPPORTED, outcome.error);
  }));
}

cgx_status cgx_context_check_cuda(cgx_context *context) {
  return report(guarded([&]() -> cgx::Status {
    return context ? context->impl->checkCuda()
                   : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context, got null");
  }));
}

static cgx_status gather(cgx_context *context, const void *data, uint64_t bytes, bool toAll, cgx_take_fn take,
                         void *user) {
  return report(guarded([&]() -> cgx::Status {
    if (!context || !take || (!data && bytes != 0))
      return {CGX_INVALID_ARGUMENT, "expected a context, bytes and a function that takes them, got null"};
    auto gathered = context->impl->gather({static_cast<const std::byte *>(data), bytes}, toAll);
    if (!gathered.ok())
      return gathered.status();
    for (uint32_t rank = 0; rank < gathered->size(); ++rank)
      take(user, rank, (*gathered)[rank].data(), (*gathered)[rank].size());
    return {};
  }));
}

cgx_status cgx_context_gather(cgx_context *context, const void *data, uint64_t bytes, cgx_take_fn take,
                              void *user) {
  return gather(context, data, bytes, /*toAll=*/false, take, user);
}

cgx_status cgx_context_all_gather(cgx_context *context, const void *data, uint64_t bytes, cgx_take_fn take,
                                  void *user) {
  return gather(context, data, bytes, /*toAll=*/true, take, user);
}

cgx_status cgx_context_telemetry(cgx_context *context, const char **out_json) {
  return report(guarded([&]() -> cgx::Status {
    if (!context || !out_json)
      return {CGX_INVALID_ARGUMENT, "expected a context and a place for the text, got null"};
    *out_json = context->impl->telemetryJson();
    return {};
  }));
}

cgx_status cgx_context_begin_trace(cgx_context *context) {
  return report(guarded([&]() -> cgx::Status {
    return context ? context->impl->beginTrace()
                   : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context, got null");
  }));
}

cgx_status cgx_context_trace(cgx_context *context, const char **out_json) {
  return report(guarded([&]() -> cgx::Status {
    return context && out_json
               ? context->impl->traceJson(out_json)
               : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context and a place for the text, got null");
  }));
}

cgx_status cgx_context_begin_profile(cgx_context *context, const char *options) {
  return report(guarded([&]() -> cgx::Status {
    return context ? context->impl->beginProfile(options)
                   : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context, got null");
  }));
}

cgx_status cgx_context_end_profile(cgx_context *context, const char **out_profile) {
  return report(guarded([&]() -> cgx::Status {
    return context && out_profile
               ? context->impl->endProfile(out_profile)
               : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context and a place for the text, got null");
  }));
}

cgx_status cgx_context_adapt(cgx_context *context, const char *request, const char **out_plan) {
  return report(guarded([&]() -> cgx::Status {
    return context && out_plan
               ? context->impl->adapt(request, out_plan)
               : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context and a place for the text, got null");
  }));
}

cgx_status cgx_context_adopt_plan(cgx_context *context, const char *plan) {
  return report(guarded([&]() -> cgx::Status {
    return context && plan ? context->impl->adoptPlan(plan)
                           : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context and a plan, got null");
  }));
}

cgx_status cgx_context_adopt_program(cgx_context *context, const char *manifest) {
  return report(guarded([&]() -> cgx::Status {
    return context && manifest
               ? cgx::Context::adoptProgram(context->impl, manifest)
               : cgx::Status(CGX_INVALID_ARGUMENT, "expected a context and a manifest, got null");
  }));
}

cgx_status cgx_decision_create(const char *table, const char *options, cgx_decision **out_decision) {
  return report(guarded([&]() -> cgx::Status {
    if (!table || !options || !out_decision)
      return {CGX_INVALID_ARGUMENT, "expected a table, options and a place for the decision, got null"};
    *out_decision = nullptr;
    cgx::layers::Table layers;
    if (std::string wrong = cgx::layers::readTable(table, layers); !wrong.empty())
      return {CGX_INVALID_ARGUMENT, wrong};
    cgx::layers::Diagnostics diagnostics;
    std::optional<cgx::layers::Compressed> decided = compress(std::move(layers), options, diagnostics);
    if (!decided)
      return {CGX_INVALID_ARGUMENT, diagnostics.errors()};
    *out_decision = new cgx_decision{std::move(*decided), diagnosticsJson(diagnostics)};
    return {};
  }));
}

void cgx_decision_destroy(cgx_decision *decision) { delete decision; }

const char *cgx_decision_manifest(const cgx_decision *decision) { return decision->decided.manifest.c_str(); }

const char *cgx_decision_report(const cgx_decision *decision) { return decision->decided.report.c_str(); }

const char *cgx_decision_report_json(const cgx_decision *decision) {
  return decision->decided.reportJson.c_str();
}

const char *cgx_decision_diagnostics(const cgx_decision *decision) { return decision->diagnostics.c_str(); }

void cgx_rt_operand(int64_t context, int64_t collective, int64_t operand, int64_t in, int64_t out) {
  guardedCall(context,
              [&](cgx::Context &impl) { impl.nameOperand(collective, operand, input(in), output(out)); });
}

void cgx_rt_provide(int64_t context, int64_t collective, int64_t operand, int64_t kept, int64_t element_type,
                    int64_t elements, int64_t address) {
  guardedCall(context, [&](cgx::Context &impl) {
    impl.bindOptimizerTensor(
        collective, operand,
        {.kept = kept, .type = element_type, .elements = elements, .data = input(address)});
  });
}

void cgx_rt_fail(int64_t context, cgx_status status, const char *message) {
  guardedCall(context, [&](cgx::Context &impl) { impl.fail({status, message ? message : ""}); });
}

void cgx_rt_rank(int64_t context, int64_t out) {
  guardedCall(context, [&](cgx::Context &impl) {
    uint32_t rank = impl.rank();
    std::memcpy(output(out), &rank, sizeof(rank));
  });
}

void cgx_rt_run(int64_t context, int64_t collective) {
  guardedCall(context, [&](cgx::Context &impl) { impl.run(collective); });
}

void cgx_rt_start(int64_t context, int64_t collective) {
  guardedCall(context, [&](cgx::Context &impl) { impl.start(collective); });
}

void cgx_rt_wait(int64_t context, int64_t collective) {
  guardedCall(context, [&](cgx::Context &impl) { impl.wait(collective); });
}

void cgx_rt_compress(int64_t context, int64_t collective, int64_t operand, int64_t phase, int64_t in,
                     int64_t payload) {
  guardedCall(context, [&](cgx::Context &impl) {
    impl.compress(collective, operand, phase, input(in), output(payload));
  });
}

void cgx_rt_payload_all_to_all(int64_t context, int64_t collective, int64_t operand, int64_t in,
                               int64_t out) {
  guardedCall(context,
              [&](cgx::Context &impl) { impl.payloadAllToAll(collective, operand, input(in), output(out)); });
}

void cgx_rt_decompress_accumulate(int64_t context, int64_t collective, int64_t operand, int64_t payload,
                                  int64_t out) {
  guardedCall(context, [&](cgx::Context &impl) {
    impl.decompressAccumulate(collective, operand, input(payload), output(out));
  });
}

void cgx_rt_payload_all_gather(int64_t context, int64_t collective, int64_t operand, int64_t in,
                               int64_t out) {
  guardedCall(context, [&](cgx::Context &impl) {
    impl.payloadAllGather(collective, operand, input(in), output(out));
  });
}

void cgx_rt_decompress(int64_t context, int64_t collective, int64_t operand, int64_t payload, int64_t out) {
  guardedCall(context,
              [&](cgx::Context &impl) { impl.decompress(collective, operand, input(payload), output(out)); });
}

} // extern "C"
