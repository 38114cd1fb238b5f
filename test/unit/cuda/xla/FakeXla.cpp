//===-- FakeXla.cpp - Calls handlers as XLA does ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeXla.h"

#include <future>
#include <list>

// These types are opaque in XLA's interface.
struct XLA_FFI_Error {
  std::string message;
};
struct XLA_FFI_Future {
  std::promise<std::string> answer;
};
struct XLA_FFI_ExecutionContext {
  const cgx::test::XlaCall *call;
};

namespace cgx::test {
namespace {

XLA_FFI_Error *createError(XLA_FFI_Error_Create_Args *args) { return new XLA_FFI_Error{args->message}; }
void getMessage(XLA_FFI_Error_GetMessage_Args *args) { args->message = args->error->message.c_str(); }
void destroyError(XLA_FFI_Error_Destroy_Args *args) { delete args->error; }

XLA_FFI_Error *createFuture(XLA_FFI_Future_Create_Args *args) {
  args->future = new XLA_FFI_Future;
  return nullptr;
}
XLA_FFI_Error *setAvailable(XLA_FFI_Future_SetAvailable_Args *args) {
  args->future->answer.set_value("");
  return nullptr;
}
XLA_FFI_Error *setError(XLA_FFI_Future_SetError_Args *args) {
  const std::unique_ptr<XLA_FFI_Error> error(args->error);
  args->future->answer.set_value(error->message);
  return nullptr;
}

XLA_FFI_Error *getStream(XLA_FFI_Stream_Get_Args *args) {
  args->stream = args->ctx->call->stream;
  return nullptr;
}
XLA_FFI_Error *getRunId(XLA_FFI_RunId_Get_Args *args) {
  args->run_id = args->ctx->call->run;
  return nullptr;
}
XLA_FFI_Error *getDevice(XLA_FFI_DeviceOrdinal_Get_Args *args) {
  args->device_ordinal = args->ctx->call->device;
  return nullptr;
}

const XLA_FFI_Api *api() {
  static const XLA_FFI_Api made = [] {
    XLA_FFI_Api api = {};
    api.struct_size = XLA_FFI_Api_STRUCT_SIZE;
    api.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
    api.XLA_FFI_Error_Create = createError;
    api.XLA_FFI_Error_GetMessage = getMessage;
    api.XLA_FFI_Error_Destroy = destroyError;
    api.XLA_FFI_Future_Create = createFuture;
    api.XLA_FFI_Future_SetAvailable = setAvailable;
    api.XLA_FFI_Future_SetError = setError;
    api.XLA_FFI_Stream_Get = getStream;
    api.XLA_FFI_RunId_Get = getRunId;
    api.XLA_FFI_DeviceOrdinal_Get = getDevice;
    return api;
  }();
  return &made;
}

/// The parts of a call frame, which point to each other.
struct Frame {
  std::list<XLA_FFI_Buffer> buffers;
  std::list<int64_t> dimensions;
  std::vector<void *> arguments, results, values;
  std::vector<XLA_FFI_ArgType> argumentTypes;
  std::vector<XLA_FFI_RetType> resultTypes;
  std::list<XLA_FFI_ByteSpan> spans;
  std::list<XLA_FFI_Scalar> scalars;
  std::list<XLA_FFI_Array> arrays;
  std::vector<XLA_FFI_ByteSpan *> names;
  std::vector<XLA_FFI_AttrType> types;

  explicit Frame(const XlaCall &call) {
    for (const XlaBuffer &each : call.arguments)
      arguments.push_back(add(each));
    for (const XlaBuffer &each : call.results)
      results.push_back(add(each));
    argumentTypes.assign(arguments.size(), XLA_FFI_ArgType_BUFFER);
    resultTypes.assign(results.size(), XLA_FFI_RetType_BUFFER);
    for (const auto &[name, value] : call.attributes) {
      names.push_back(add(name));
      std::visit([this](const auto &of) { addValue(of); }, value);
    }
  }

  XLA_FFI_Buffer *add(const XlaBuffer &buffer) {
    dimensions.push_back(buffer.elements);
    return &buffers.emplace_back(
        XLA_FFI_Buffer{XLA_FFI_Buffer_STRUCT_SIZE, nullptr, buffer.type, buffer.data, 1, &dimensions.back()});
  }
  XLA_FFI_ByteSpan *add(const std::string &text) {
    return &spans.emplace_back(XLA_FFI_ByteSpan{text.data(), text.size()});
  }
  void addValue(const std::string &text) {
    types.push_back(XLA_FFI_AttrType_STRING);
    values.push_back(add(text));
  }
  void addValue(const int64_t &number) {
    types.push_back(XLA_FFI_AttrType_SCALAR);
    values.push_back(
        &scalars.emplace_back(XLA_FFI_Scalar{XLA_FFI_DataType_S64, const_cast<int64_t *>(&number)}));
  }
  void addValue(const std::vector<int64_t> &numbers) {
    types.push_back(XLA_FFI_AttrType_ARRAY);
    values.push_back(&arrays.emplace_back(
        XLA_FFI_Array{XLA_FFI_DataType_S64, numbers.size(), const_cast<int64_t *>(numbers.data())}));
  }
};

} // namespace

std::string XlaCall::operator()(XLA_FFI_Error *(*handler)(XLA_FFI_CallFrame *)) const {
  Frame parts(*this);
  XLA_FFI_ExecutionContext context{this};
  XLA_FFI_CallFrame frame = {};
  frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
  frame.api = api();
  frame.ctx = &context;
  frame.stage = XLA_FFI_ExecutionStage_EXECUTE;
  frame.args = {XLA_FFI_Args_STRUCT_SIZE, nullptr, int64_t(parts.arguments.size()),
                parts.argumentTypes.data(), parts.arguments.data()};
  frame.rets = {XLA_FFI_Rets_STRUCT_SIZE, nullptr, int64_t(parts.results.size()), parts.resultTypes.data(),
                parts.results.data()};
  frame.attrs = {XLA_FFI_Attrs_STRUCT_SIZE,   nullptr,
                 int64_t(parts.names.size()), parts.types.data(),
                 parts.names.data(),          parts.values.data()};
  if (XLA_FFI_Error *error = handler(&frame))
    return std::unique_ptr<XLA_FFI_Error>(error)->message;
  return std::unique_ptr<XLA_FFI_Future>(frame.future)->answer.get_future().get();
}

} // namespace cgx::test
