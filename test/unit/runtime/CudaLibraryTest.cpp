//===-- CudaLibraryTest.cpp - Loading the kernels for GPUs ------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

namespace cgx::test {
namespace {

/// Returns true if this process has loaded a library whose name begins like this.
bool isLoaded(const std::string &name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/" + name) != std::string::npos)
      return true;
  return false;
}

// A process loads a library once, so each of the following tests has a process of its own.

TEST(CudaLibraryTest, AJobWithoutAGpuLoadsNone) {
  runProcesses(1, [](uint32_t) {
    const std::string manifest = manifestText(
        2, {collectiveJson(3, "all_reduce", everybody(2), {{.shape = {8}}}, {{"reduction", "sum"}})});
    const std::string job = uniqueJob();
    runThreads(2, [&](uint32_t rank) {
      ContextPtr context;
      ContextSpec spec{.job = job, .rank = rank, .ranks = 2, .manifest = manifest};
      ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
      std::vector<float> input(8, 1.0f), output(8);
      ASSERT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK) << cgx_last_error();
      cgx_rt_operand(address(context.get()), 3, 0, address(input.data()), address(output.data()));
      cgx_rt_run(address(context.get()), 3);
      ASSERT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
    });
    EXPECT_FALSE(isLoaded("libcgx_cuda"));
    (void)cgx_use_cuda_device(0);
    EXPECT_TRUE(isLoaded("libcgx_cuda")) << cgx_last_error();
  });
}

/// Requests a GPU with this file as the library, and expects an error that names the file and the remedy.
void expectRefused(const std::string &file, const std::string &said) {
  runProcesses(1, [&](uint32_t) {
    ASSERT_EQ(setenv("CGX_CUDA_LIBRARY", file.c_str(), /*overwrite=*/1), 0);
    ContextPtr context;
    ContextSpec spec{.job = uniqueJob(), .manifest = manifestText(1, {})};
    ASSERT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    EXPECT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_UNSUPPORTED);
    const std::string error = cgx_last_error();
    EXPECT_NE(error.find(said), std::string::npos) << error;
    // The job continues, with buffers on the host.
    EXPECT_EQ(cgx_context_begin_step(context.get(), 0), CGX_OK) << cgx_last_error();
    EXPECT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
  });
}

TEST(CudaLibraryTest, OneThatIsMissingIsNamed) {
  expectRefused("/nowhere/libcgx_cuda.so",
                "no /nowhere/libcgx_cuda.so: install all of cgx, whose libraries lie "
                "beside each other, or name the file by CGX_CUDA_LIBRARY=FILE");
}

TEST(CudaLibraryTest, OneThatIsNoLibraryIsNamedWithWhatIsWrong) {
  expectRefused("/proc/self/status", "kernels for GPUs: /proc/self/status: "); // the loader's message
}

TEST(CudaLibraryTest, OneOfSomethingElseIsRefused) {
  expectRefused("libm.so.6", "expected a library of kernels for GPUs of cgx");
}

} // namespace
} // namespace cgx::test
