//===-- NativeStep.cpp - A step in native code ------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NativeStep.h"

#include "Stepper.h"

#include <utility>

using namespace cgx::run;

static std::vector<uint64_t> bufferSizes(const Manifest &manifest) {
  std::vector<uint64_t> sizes;
  for (const Value &argument : manifest.arguments)
    sizes.push_back(argument.bytes());
  for (const Value &result : manifest.results)
    sizes.push_back(result.bytes());
  return sizes;
}

NativeStep::NativeStep(const Job &job) : job_(job), arena_(bufferSizes(job.manifest)) {
  for (size_t i = 0; i < job.manifest.arguments.size(); ++i)
    arguments_.push_back(arena_.buffer(i));
  for (size_t i = 0; i < job.manifest.results.size(); ++i)
    results_.push_back(arena_.buffer(job.manifest.arguments.size() + i));
}

cgx_status NativeStep::connect(const cgx_context_config &config, std::string &error) {
  cgx_context *context = nullptr;
  const cgx_status status = cgx_context_create(&config, &context);
  if (status != CGX_OK)
    error = cgx_last_error();
  context_.reset(context);
  return status;
}

void NativeStep::run(uint64_t step) {
  std::vector<void *> arguments(arguments_.begin(), arguments_.end()),
      results(results_.begin(), results_.end());
  Stepper::check(cgx_context_begin_step(context_.get(), step));
  job_.program.step(context_.get(), arguments.data(), results.data());
  Stepper::check(cgx_context_end_step(context_.get()));
}

void NativeStep::feed() {
  for (size_t i = 0; i < results_.size(); ++i)
    if (std::optional<size_t> argument = job_.manifest.results[i].feeds)
      std::swap(results_[i], arguments_[*argument]);
}
