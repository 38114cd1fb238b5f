//===-- Handlers.cpp - what programs of XLA call -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calls are described at cgx-lower-to-xla-ffi. Tensors lie on the host.
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

/// As cgx/codec.h has it; nothing for what codecs do not read.
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

/// The token: the number of the rank, which each call hands on to the next.
uint32_t rankOf(ffi::AnyBuffer token) {
  uint32_t rank;
  std::memcpy(&rank, token.untyped_data(), sizeof rank);
  return rank;
}

ffi::Future failed(const std::string &message) {
  ffi::Promise promise;
  ffi::Future future(promise);
  promise.SetError(ffi::Error::Internal("cgx: " + message));
  return future;
}

/// Leaves a request with the rank that the token names. The token is handed on when it is answered.
ffi::Future submit(std::string_view name, ffi::RunId run, ffi::AnyBuffer token,
                   ffi::Result<ffi::AnyBuffer> next, Request::Kind kind, CollectiveBuffers buffers = {}) {
  std::shared_ptr<Program> program = Programs::instance().find(std::string(name));
  if (!program)
    return failed("the program '" + std::string(name) +
                  "' is not open in this process: was it compiled by another, or closed?");
  ffi::Promise promise;
  ffi::Future future(promise);
  uint32_t rank = rankOf(token);
  void *output = next->untyped_data();
  auto answer = [promise, rank, output](const std::string &error) mutable {
    if (!error.empty())
      return promise.SetError(ffi::Error::Internal("cgx: " + error));
    std::memcpy(output, &rank, sizeof rank);
    promise.SetAvailable();
  };
  program->submit(rank, run.run_id, Request{kind, std::move(buffers), answer});
  return future;
}

ffi::Future beginStep(ffi::RunId run, std::string_view program, ffi::AnyBuffer token,
                      ffi::Result<ffi::AnyBuffer> next) {
  return submit(program, run, token, next, Request::Kind::Begin);
}

ffi::Future endStep(ffi::RunId run, std::string_view program, ffi::AnyBuffer token,
                    ffi::Result<ffi::AnyBuffer> next) {
  return submit(program, run, token, next, Request::Kind::End);
}

ffi::Future collective(ffi::RunId run, std::string_view program, int64_t id, int64_t operands,
                       ffi::Span<const int64_t> kept, ffi::AnyBuffer token, ffi::RemainingArgs arguments,
                       ffi::Result<ffi::AnyBuffer> next, ffi::RemainingRets results) {
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
  return submit(program, run, token, next, Request::Kind::Collective, std::move(buffers));
}

} // namespace

// The C names of the header.
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_begin_step, beginStep,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::RunId>()
                                  .Attr<std::string_view>("program")
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_end_step, endStep,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::RunId>()
                                  .Attr<std::string_view>("program")
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(cgx_xla_collective, collective,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::RunId>()
                                  .Attr<std::string_view>("program")
                                  .Attr<int64_t>("collective")
                                  .Attr<int64_t>("operands")
                                  .Attr<ffi::Span<const int64_t>>("kept")
                                  .Arg<ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .RemainingRets());
