//===-- Findings.cpp - Findings about a machine -----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Findings.h"

#include "Siblings.h"

#include "cgx/kernels/implementation.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#ifdef CGX_FRONT_HAS_TCP
#include <openssl/crypto.h>
#endif

namespace cgx::front {

static std::string gibibytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f GiB", bytes / double(1ull << 30));
  return text;
}

/// Returns the text after "KEY:" in one of the system's tables; empty if the key is missing.
static std::string valueIn(const char *path, const std::string &key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0)
      continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

Finding findProcessor() {
  std::string name = valueIn("/proc/cpuinfo", "model name");
  if (name.empty())
    name = "unknown processor";
  const Implementation &with = defaultImplementation();
  const std::string found = name + ": codecs run on " + with.name;
  if (std::string(with.name) == "reference")
    return {Verdict::slow, "processor", found, "codecs are slow without AVX2, AVX-512 or Neon"};
  return {Verdict::good, "processor", found, ""};
}

Finding findCores() {
  cpu_set_t set;
  const int cores = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  const std::string found = std::to_string(cores) + (cores == 1 ? " core" : " cores") + " for this process";
  if (cores == 1)
    return {Verdict::slow, "cores", found, "ranks take turns: give the job a core for each rank"};
  return {Verdict::good, "cores", found, ""};
}

Finding findMemory() {
  const double available = std::strtod(valueIn("/proc/meminfo", "MemAvailable").c_str(), nullptr) * 1024;
  return {Verdict::good, "memory", gibibytes(available) + " available", ""};
}

Finding findSharedMemory() {
  constexpr double wanted = 64.0 * (1 << 20); // a job of eight ranks needs less
  struct statvfs info{};
  if (statvfs("/dev/shm", &info) != 0 || access("/dev/shm", R_OK | W_OK | X_OK) != 0)
    return {Verdict::missing, "shared memory", "/dev/shm cannot be written to",
            "mount a tmpfs there; in a container: --shm-size=1g"};
  const double free = double(info.f_bavail) * double(info.f_frsize);
  const std::string found = "/dev/shm has " + gibibytes(free) + " free";
  if (free < wanted)
    return {Verdict::slow, "shared memory", found,
            "jobs of more ranks need more: in a container --shm-size=1g"};
  return {Verdict::good, "shared memory", found, ""};
}

Finding findHugePages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(file, modes);
  if (modes.empty())
    return {Verdict::absent, "huge pages", "this system does not say", ""};
  if (modes.find("[never]") != std::string::npos)
    return {Verdict::slow, "huge pages", modes,
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled makes large tensors faster"};
  return {Verdict::good, "huge pages", modes, ""};
}

Finding findOpenFiles() {
  constexpr rlim_t wanted = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return {Verdict::absent, "open files", "this system does not say", ""};
  if (limit.rlim_cur == RLIM_INFINITY)
    return {Verdict::good, "open files", "no limit", ""};
  const std::string found = "at most " + std::to_string(limit.rlim_cur);
  if (limit.rlim_cur < wanted)
    return {Verdict::slow, "open files", found, "ulimit -n 1024: each rank takes a few"};
  return {Verdict::good, "open files", found, ""};
}

Finding findTcp() {
#ifdef CGX_FRONT_HAS_TCP
  return {Verdict::good, "TCP", std::string("with ") + OpenSSL_version(OPENSSL_VERSION), ""};
#else
  return {Verdict::absent, "TCP", "this build has no transport tcp",
          "for ranks that a framework starts install libasio-dev and libssl-dev, and build again"};
#endif
}

Finding findMpi() {
#ifdef CGX_FRONT_HAS_TCP
  const char *instead = "hosts reach each other by tcp";
#else
  const char *instead = "ranks of one host only";
#endif
  const char *named = std::getenv("CGX_MPI_LIBRARY");
  const bool isNamed = named && *named;
  // The libraries of runtime/transport/mpi.
  std::vector<std::string> files = {"libcgx_mpi.so", "libcgx_mpi_mpich.so"};
  if (isNamed)
    files = {named};
  std::string found, reasons;
  for (const std::string &file : files) {
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const std::string error = library ? "no library of cgx for MPI: " + file : dlerror();
    using Describe = const char *(*)();
    if (auto describe = library ? reinterpret_cast<Describe>(dlsym(library, "cgx_mpi_description")) : nullptr)
      found += (found.empty() ? "" : ", ") + std::string(describe());
    else if (isNamed || !error.starts_with(file + ": cannot open"))
      reasons += (reasons.empty() ? "" : "; ") + error;
  }
  if (!found.empty())
    return {Verdict::good, "MPI", found, ""};
  if (!reasons.empty())
    return {Verdict::absent, "MPI", reasons + ": " + instead,
            isNamed ? "unset CGX_MPI_LIBRARY" : "install the MPI that cgx was built with"};
  return {Verdict::absent, "MPI", std::string("this build has none: ") + instead,
          "for mpirun install libopenmpi-dev and openmpi-bin, and build again"};
}

Finding findConvolutions() {
#ifndef CGX_FRONT_HAS_NATIVE
  if (const std::string program = findSibling("cgx-run"); !program.empty())
    return {Verdict::good, "native steps", program, ""};
  return {Verdict::absent, "native steps", "this build trains inside of frameworks: it has no cgx-run",
          "to train exported steps without one: pip install cgx[native]"};
#elif defined(CGX_FRONT_DNNL_VERSION)
  return {Verdict::good, "convolutions", "on oneDNN " CGX_FRONT_DNNL_VERSION, ""};
#else
  return {Verdict::absent, "convolutions", "this build makes matrix products of them, which are slower",
          "to train networks of convolutions install libdnnl-dev, and build again"};
#endif
}

Finding findNccl() {
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return {Verdict::absent, "NCCL", "libnccl.so.2 is not found", ""};
  using GetVersion = int (*)(int *);
  auto get = reinterpret_cast<GetVersion>(dlsym(library, "ncclGetVersion"));
  int version = 0;
  if (!get || get(&version) != 0)
    return {Verdict::slow, "NCCL", "libnccl.so.2 does not say its version", "install it again"};
  char text[32];
  std::snprintf(text, sizeof(text), "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
  return {Verdict::good, "NCCL", text, ""};
}

Finding findGpu() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver)
    return {Verdict::absent, "GPU", "no NVIDIA driver", ""};
  auto initialize = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto count = reinterpret_cast<int (*)(int *)>(dlsym(driver, "cuDeviceGetCount"));
  auto name = reinterpret_cast<int (*)(char *, int, int)>(dlsym(driver, "cuDeviceGetName"));
  int devices = 0;
  if (!initialize || !count || !name || initialize(0) != 0 || count(&devices) != 0 || devices == 0)
    return {Verdict::absent, "GPU", "a driver, but no device that it can use", "nvidia-smi says more"};
  char text[128] = "";
  name(text, sizeof(text), 0);
  return {Verdict::good, "GPU", std::to_string(devices) + " x " + text, ""};
}

std::vector<Finding> findTools() {
  std::vector<Finding> findings;
  for (const Tool &tool : kTools) {
    const std::string program = programOf(tool);
    const std::string path = findSibling(program);
    if (!path.empty() || tool.program)
      continue;
    const bool runs = program == "cgx-run";
#ifndef CGX_FRONT_HAS_NATIVE
    if (runs || program == "cgx-compile")
      continue; // it was listed above
#endif
    findings.push_back({runs ? Verdict::missing : Verdict::absent, program, "not beside this program",
                        "it is in the package 'cgx', or of a build with CGX_BUILD_COMPILER=ON"});
  }
  if (findings.empty())
    findings.push_back({Verdict::good, "tools", "all there", ""});
  return findings;
}

} // namespace cgx::front
