//===-- DeviceStep.h - A step on a device of a plugin -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_DEVICESTEP_H
#define CGX_RUN_LIB_DEVICESTEP_H

#include "BoundStep.h"
#include "cgx/run/Arena.h"
#include "cgx/run/DeviceProgram.h"

namespace cgx::run {

/// A step that XLA has compiled for a device, where its arguments stay from run to run. What the host writes
/// goes there before the next run, and what it reads comes from there when it is asked for.
class DeviceStep final : public BoundStep {
public:
  /// Compiles the program. Throws Error.
  DeviceStep(const Job &job, uint32_t rank);
  ~DeviceStep() override;

  cgx_status connect(const cgx_context_config &config, std::string &error) override;
  cgx_context *context() const override { return context_; }
  void run(uint64_t step) override;
  void feed() override;
  std::byte *overwriteArgument(size_t argument) override;
  const std::byte *readArgument(size_t argument) override;
  const std::byte *readResult(size_t result) override;

private:
  /// The place of an argument's value.
  enum class Place { Host, Device, Both };

  void compile();
  void upload();
  /// Runs the program. A program without collectives makes no calls, and its steps are counted here.
  std::vector<pjrt::Buffer> execute(uint64_t step);
  /// Throws the cause, where a collective failed; else what the plugin says.
  [[noreturn]] void fail(const pjrt::Error &error) const;

  const Job &job_;
  const DeviceProgram &program_;
  uint32_t rank_;
  Arena mirror_; ///< arguments, then results, on the host; pages that nobody touched take no memory
  std::vector<Place> places_;
  pjrt::Device device_;
  std::unique_ptr<pjrt::Executable> executable_;
  std::vector<pjrt::Buffer> arguments_, results_; ///< the last argument is the number of the rank
  std::vector<int64_t> notDonated_;
  bool isOpen_ = false;
  cgx_context *context_ = nullptr; ///< the library's
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_DEVICESTEP_H
