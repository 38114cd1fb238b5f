//===-- Handlers.cpp - Handlers that XLA calls ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cgx-lower-to-xla-ffi describes the calls. Tensors are on the host, or on the GPU that calls;
// XLA then waits for the answer before it continues the stream.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "xla/ffi/api/ffi.h"

#include <cstring>
#include <optional>
#include <string_view>

namespace ffi = ::xla::ffi;
using namespace cgx::xla;

namespace {

/// Returns the element type of cgx/codec.h, or nothing for a type that codecs do not read.
std::optional<int64_t> elementTypeOf(ffi::DataType type) {
  switch (type) {
  case ffi::DataType::F32:
    return CGX_F32;
  case ffi::DataType::F16:
    return CGX_F16;
  case ffi::DataType::BF16:
    return CGX_BF16;
  default:
    return std::nullopt;
  }
}

/// The rank that calls, and the buffer for the next token.
struct Caller {
  std::optional<int32_t> gpu; ///< the GPU whose rank calls
  void *stream = nullptr;     ///< the GPU's stream
  uint32_t rank = 0;          ///< the rank that calls, on the host
  void *next = nullptr;       ///< the token that the host writes
};

/// Reads the caller on the host, where the token is the number of the rank, which each call passes on to the
/// next.
Caller onHost(ffi::AnyBuffer token, ffi::Result<ffi::AnyBuffer> next) {
  Caller caller;
  std::memcpy(&caller.rank, token.untyped_data(), sizeof caller.rank);
  caller.next = next->untyped_data();
  return caller;
}

/// Returns the caller on a GPU, where the token only orders the calls and is not read.
Caller onGpu(int32_t gpu, void *stream) { return {.gpu = gpu, .stream = stream}; }

ffi::Future failed(const std::string &message) {
  ffi::Promise promise;
  ffi::Future future(promise);
  promise.SetError(ffi::Error::Internal("cgx: " + message));
  return future;
}

/// Leaves a request with the rank of the caller. The token is passed on when the request is answered.
ffi::Future submit(std::string_view name, ffi::RunId run, Caller caller, Request::Kind kind,
                   CollectiveBuffers buffers = {}) {
  std::shared_ptr<Program> program = Programs::instance().find(name);
  if (!program)
    return failed("the program '" + std::string(name) +
                  "' is not open in this process: was it compiled by another, or closed?");
  if (caller.gpu) {
    std::optional<uint32_t> rank = program->rankOnGpu(*caller.gpu);
    if (!rank)
      return failed("GPU " + std::to_string(*caller.gpu) +
                    " has no rank of this process: the program was compiled for other devices");
    caller.rank = *rank;
  }
  ffi::Promise promise;
  ffi::Future future(promise);
  auto answer = [promise, caller](const std::string &error) mutable {
    if (!error.empty())
      return promise.SetError(ffi::Error::Internal("cgx: " + error));
    if (caller.next)
      std::memcpy(caller.next, &caller.rank, sizeof caller.rank);
    promise.SetAvailable();
  };
  program->submit(caller.rank, run.run_id, Request{kind, std::move(buffers), answer, caller.stream});
  return future;
}

ffi::Future submitCollective(std::string_view program, ffi::RunId run, Caller caller, int64_t id,
                             int64_t operands, ffi::Span<const int64_t> kept, ffi::RemainingArgs arguments,
                             ffi::RemainingRets results) {
  if (operands < 0 || results.size() != size_t(operands) ||
      arguments.size() != size_t(operands) + kept.size() / 2)
    return failed("collective " + std::to_string(id) + ": expected " + std::to_string(operands) +
                  " results and operands, got " + std::to_string(results.size()) + " and " +
                  std::to_string(arguments.size()));
  CollectiveBuffers buffers;
  buffers.collective = id;
  for (size_t i = 0; i < size_t(operands); ++i) {
    buffers.inputs.push_back(arguments.get<ffi::AnyBuffer>(i)->untyped_data());
    buffers.outputs.push_back((*results.get<ffi::AnyBuffer>(i))->untyped_data());
  }
  for (size_t i = 0; i < kept.size() / 2; ++i) {
    ffi::AnyBuffer tensor = *arguments.get<ffi::AnyBuffer>(size_t(operands) + i);
    std::optional<int64_t> type = elementTypeOf(tensor.element_type());
    if (!type)
      return failed("collective " + std::to_string(id) + ": expected tensors of the optimizer as floats");
    buffers.lent.push_back({kept.begin()[2 * i], kept.begin()[2 * i + 1], *type,
                            static_cast<int64_t>(tensor.element_count()), tensor.untyped_data()});
  }
  return submit(program, run, caller, Request::Kind::Collective, std::move(buffers));
}

using Token = ffi::AnyBuffer;
using NextToken = ffi::Result<ffi::AnyBuffer>;

ffi::Future beginStep(ffi::RunId run, std::string_view program, Token token, NextToken next) {
  return submit(program, run, onHost(token, next), Request::Kind::Begin);
}

ffi::Future endStep(ffi::RunId run, std::string_view program, Token token, NextToken next) {
  return submit(program, run, onHost(token, next), Request::Kind::End);
}

ffi::Future collective(ffi::RunId run, std::string_view program, int64_t id, int64_t operands,
                       ffi::Span<const int64_t> kept, Token token, ffi::RemainingArgs arguments,
                       NextToken next, ffi::RemainingRets results) {
  return submitCollective(program, run, onHost(token, next), id, operands, kept, arguments, results);
}

ffi::Future beginStepCuda(int32_t gpu, void *stream, ffi::RunId run, std::string_view program, Token,
                          NextToken) {
  return submit(program, run, onGpu(gpu, stream), Request::Kind::Begin);
}

ffi::Future endStepCuda(int32_t gpu, void *stream, ffi::RunId run, std::string_view program, Token,
                        NextToken) {
  return submit(program, run, onGpu(gpu, stream), Request::Kind::End);
}

ffi::Future collectiveCuda(int32_t gpu, void *stream, ffi::RunId run, std::string_view program, int64_t id,
                           int64_t operands, ffi::Span<const int64_t> kept, Token,
                           ffi::RemainingArgs arguments, NextToken, ffi::RemainingRets results) {
  return submitCollective(program, run, onGpu(gpu, stream), id, operands, kept, arguments, results);
}

/// Binds the arguments of a step's call, after those that identify the caller.
template <typename Binding> auto bindStep(Binding binding) {
  return std::move(binding)
      .template Ctx<ffi::RunId>()
      .template Attr<std::string_view>("program")
      .template Arg<ffi::AnyBuffer>()
      .template Ret<ffi::AnyBuffer>();
}

template <typename Binding> auto bindCollective(Binding binding) {
  return std::move(binding)
      .template Ctx<ffi::RunId>()
      .template Attr<std::string_view>("program")
      .template Attr<int64_t>("collective")
      .template Attr<int64_t>("operands")
      .template Attr<ffi::Span<const int64_t>>("kept")
      .template Arg<ffi::AnyBuffer>()
      .RemainingArgs()
      .template Ret<ffi::AnyBuffer>()
      .RemainingRets();
}

auto bindGpu() { return ffi::Ffi::Bind().Ctx<ffi::DeviceOrdinal>().Ctx<ffi::PlatformStream<void *>>(); }

} // namespace

// These are the C names of the header.
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_begin_step, beginStep, bindStep(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_end_step, endStep, bindStep(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_collective, collective, bindCollective(ffi::Ffi::Bind()));
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_begin_step_cuda, beginStepCuda, bindStep(bindGpu()));
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_end_step_cuda, endStepCuda, bindStep(bindGpu()));
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_collective_cuda, collectiveCuda, bindCollective(bindGpu()));
