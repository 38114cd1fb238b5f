//===-- NativeStep.h - A step in native code --------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUN_LIB_NATIVESTEP_H
#define CGX_RUN_LIB_NATIVESTEP_H

#include "BoundStep.h"
#include "cgx/run/Arena.h"

namespace cgx::run {

/// A step in the memory of this process, which reads and writes buffers of the host. Nothing is allocated in
/// run().
class NativeStep final : public BoundStep {
public:
  explicit NativeStep(const Job &job);

  cgx_status connect(const cgx_context_config &config, std::string &error) override;
  cgx_context *context() const override { return context_.get(); }
  void run(uint64_t step) override;
  void feed() override;
  std::byte *overwriteArgument(size_t argument) override { return arguments_[argument]; }
  const std::byte *readArgument(size_t argument) override { return arguments_[argument]; }
  const std::byte *readResult(size_t result) override { return results_[result]; }

private:
  struct ContextDeleter {
    void operator()(cgx_context *context) const { cgx_context_destroy(context); }
  };

  const Job &job_;
  Arena arena_;
  std::vector<std::byte *> arguments_, results_;
  std::unique_ptr<cgx_context, ContextDeleter> context_;
};

} // namespace cgx::run

#endif // CGX_RUN_LIB_NATIVESTEP_H
