//===-- DeviceStep.cpp - A step on a device of a plugin ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceStep.h"

#include "NativeStep.h"
#include "Stepper.h"
#include "cgx/run/Error.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>

using namespace cgx::run;
using cgx::pjrt::Buffer;

std::unique_ptr<BoundStep> cgx::run::bindStep(const Job &job, uint32_t rank) {
  if (job.program.device)
    return std::make_unique<DeviceStep>(job, rank);
  return std::make_unique<NativeStep>(job);
}

namespace {

/// XLA's words about a call whose handler it does not know.
constexpr std::string_view kNotFound = "No FFI handler registered for cgx_";

struct DeviceType {
  std::string_view name;
  cgx::pjrt::ElementType type;
};

/// Integers of less than a byte and floats of less than eight bits are packed by some devices, and are not
/// here.
constexpr std::array kDeviceTypes = {DeviceType{"f32", cgx::pjrt::ElementType::f32},
                                     DeviceType{"f16", cgx::pjrt::ElementType::f16},
                                     DeviceType{"bf16", cgx::pjrt::ElementType::bf16},
                                     DeviceType{"f64", cgx::pjrt::ElementType::f64},
                                     DeviceType{"i8", cgx::pjrt::ElementType::s8},
                                     DeviceType{"i16", cgx::pjrt::ElementType::s16},
                                     DeviceType{"i32", cgx::pjrt::ElementType::s32},
                                     DeviceType{"i64", cgx::pjrt::ElementType::s64},
                                     DeviceType{"u8", cgx::pjrt::ElementType::u8},
                                     DeviceType{"u16", cgx::pjrt::ElementType::u16},
                                     DeviceType{"u32", cgx::pjrt::ElementType::u32},
                                     DeviceType{"u64", cgx::pjrt::ElementType::u64},
                                     DeviceType{"bool", cgx::pjrt::ElementType::pred},
                                     DeviceType{"f8e4m3fn", cgx::pjrt::ElementType::f8e4m3fn},
                                     DeviceType{"f8e5m2", cgx::pjrt::ElementType::f8e5m2},
                                     DeviceType{"f8e8m0fnu", cgx::pjrt::ElementType::f8e8m0fnu},
                                     DeviceType{"f8e4m3", cgx::pjrt::ElementType::f8e4m3},
                                     DeviceType{"f8e4m3b11fnuz", cgx::pjrt::ElementType::f8e4m3b11fnuz},
                                     DeviceType{"f8e4m3fnuz", cgx::pjrt::ElementType::f8e4m3fnuz},
                                     DeviceType{"f8e5m2fnuz", cgx::pjrt::ElementType::f8e5m2fnuz},
                                     DeviceType{"f8e3m4", cgx::pjrt::ElementType::f8e3m4}};

cgx::pjrt::ElementType typeOf(const Value &value) {
  const std::string_view name = elementTypeName(value.type);
  for (const DeviceType &each : kDeviceTypes)
    if (each.name == name)
      return each.type;
  throw Error("'" + value.name + "': expected elements that every device has, got " + std::string(name) +
              ": --device " + kNativeDevice + " takes them");
}

std::vector<uint64_t> mirrorSizes(const Manifest &manifest) {
  std::vector<uint64_t> sizes;
  for (const std::vector<Value> *values : {&manifest.arguments, &manifest.results})
    for (const Value &value : *values)
      sizes.push_back(value.bytes());
  return sizes;
}

} // namespace

DeviceStep::DeviceStep(const Job &job, uint32_t rank)
    : job_(job), program_(*job.program.device), rank_(rank), mirror_(mirrorSizes(job.manifest)),
      places_(job.manifest.arguments.size(), Place::Host), device_(program_.plugin),
      arguments_(job.manifest.arguments.size()) {
  if (const std::string platform = device_.platform(); platform != kDevicePlatform)
    throw Error("expected a plugin whose platform is " + std::string(kDevicePlatform) + ", got " + platform +
                " of the plugin " + program_.plugin.describe() +
                ": on other devices train in JAX or PyTorch, with cgx.compress");
  compile();
  arguments_.push_back(device_.upload(pjrt::ElementType::u32, {}, &rank));
  std::vector<bool> isFed(job.manifest.arguments.size());
  for (const Value &result : job.manifest.results)
    if (result.feeds)
      isFed[*result.feeds] = true;
  for (size_t i = 0; i < isFed.size(); ++i)
    if (!isFed[i]) // it is needed again, even if the exporting loop gave it away
      notDonated_.push_back(int64_t(i));
}

DeviceStep::~DeviceStep() {
  if (isOpen_)
    program_.library.close(program_.name.c_str());
}

void DeviceStep::compile() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  try {
    executable_ = device_.compile(program_.text);
  } catch (const pjrt::Error &error) {
    if (std::string_view(error.what()).find(kNotFound) != std::string_view::npos)
      throw Error(
          "the plugin " + program_.plugin.describe() +
          " takes the handlers by which steps communicate and does not find them again, as old ones do "
          "(PJRT 0.81), newer ones do not (0.115): take a newer plugin, or --device " +
          kNativeDevice);
    throw Error("the plugin " + program_.plugin.describe() + " does not compile '" + job_.program.path +
                "': " + error.what());
  }
  if (rank_ == 0 && job_.showsProgress)
    std::fprintf(stderr, "cgx-run: compiled for the device in %.1f s\n",
                 std::chrono::duration<double>(Clock::now() - begin).count());
}

cgx_status DeviceStep::connect(const cgx_context_config &config, std::string &error) {
  cgx_xla_program_config opened = CGX_XLA_PROGRAM_CONFIG_INIT;
  opened.name = program_.name.c_str();
  opened.context = config;
  opened.local_ranks = &rank_;
  opened.local_rank_count = 1;
  cgx_status status = program_.library.open(&opened);
  isOpen_ = status == CGX_OK;
  // Between two runs this thread alone uses the context, and during a run the library's.
  const auto keep = [](void *user, uint32_t, cgx_context *context) {
    *static_cast<cgx_context **>(user) = context;
    return CGX_OK;
  };
  if (isOpen_)
    status = program_.library.visit(program_.name.c_str(), keep, &context_);
  if (status != CGX_OK) {
    error = program_.library.lastError();
    // Whoever reads it is told the rank already.
    if (const std::string prefix = "rank " + std::to_string(rank_) + ": "; error.starts_with(prefix))
      error.erase(0, prefix.size());
  }
  return status;
}

void DeviceStep::upload() {
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] != Place::Host)
      continue;
    const Value &value = job_.manifest.arguments[i];
    arguments_[i] = device_.upload(typeOf(value), value.shape, mirror_.buffer(i));
    places_[i] = Place::Both;
  }
}

std::vector<Buffer> DeviceStep::execute(uint64_t step) {
  const size_t results = job_.manifest.results.size();
  if (job_.manifest.collectives.empty()) {
    Stepper::check(cgx_context_begin_step(context_, step));
    std::vector<Buffer> made = executable_->run(arguments_, notDonated_, results);
    Stepper::check(cgx_context_end_step(context_));
    return made;
  }
  program_.library.setStep(program_.name.c_str(), step);
  std::vector<Buffer> made = executable_->run(arguments_, notDonated_, results);
  if (const cgx_status status = program_.library.dispatch(program_.name.c_str()); status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + program_.library.lastError());
  return made;
}

void DeviceStep::run(uint64_t step) {
  try {
    upload();
    results_ = execute(step);
  } catch (const pjrt::Error &error) {
    fail(error);
  }
}

void DeviceStep::fail(const pjrt::Error &error) const {
  if (!job_.manifest.collectives.empty())
    if (const cgx_status status = program_.library.dispatch(program_.name.c_str()); status != CGX_OK)
      throw Error(std::string(cgx_status_name(status)) + ": " + program_.library.lastError());
  throw Error("the plugin " + program_.plugin.describe() + ": " + error.what());
}

void DeviceStep::feed() {
  for (size_t i = 0; i < results_.size(); ++i)
    if (std::optional<size_t> argument = job_.manifest.results[i].feeds) {
      arguments_[*argument] = std::move(results_[i]);
      places_[*argument] = Place::Device;
    }
}

std::byte *DeviceStep::overwriteArgument(size_t argument) {
  places_[argument] = Place::Host;
  return mirror_.buffer(argument);
}

const std::byte *DeviceStep::readArgument(size_t argument) {
  std::byte *const host = mirror_.buffer(argument);
  if (places_[argument] == Place::Device) {
    try {
      arguments_[argument].copyToHost({host, job_.manifest.arguments[argument].bytes()});
    } catch (const pjrt::Error &error) {
      fail(error);
    }
    places_[argument] = Place::Both;
  }
  return host;
}

const std::byte *DeviceStep::readResult(size_t result) {
  std::byte *const host = mirror_.buffer(places_.size() + result);
  try {
    results_[result].copyToHost({host, job_.manifest.results[result].bytes()});
  } catch (const pjrt::Error &error) {
    fail(error);
  }
  return host;
}
