//===-- Job.cpp - Running a function as every rank of a job -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cgx::test {

std::string uniqueJob() {
  // Process ids are reused, and containers that share a /dev/shm have equal ones.
  static const std::string nonce = [] {
    std::random_device random;
    std::ostringstream text;
    text << std::hex << random() << random();
    return text.str();
  }();
  static std::atomic<int> count{0};
  return "test." + nonce + "." + std::to_string(getpid()) + "." + std::to_string(count.fetch_add(1)) + ".";
}

/// A failure that depends on chance can be repeated with the number that is printed here:
/// transport/TestDelay.h.
[[maybe_unused]] static const bool isDelaySaid = [] {
  if (const char *given = std::getenv("CGX_TEST_DELAYS"))
#ifdef CGX_TEST_DELAYS
    std::printf("ranks wait at random: CGX_TEST_DELAYS=%s\n", given);
#else
    std::printf("no rank waits for CGX_TEST_DELAYS=%s: this build was configured without it\n", given);
#endif
  return true;
}();

struct Events::Counter {
  std::atomic<uint32_t> times{0};
};

/// Returns a file that all processes of mpirun use for one `Events` object, because they create these in one
/// order. The test that starts mpirun gives them a folder.
static std::string fileOfNextEvents() {
  static std::atomic<uint32_t> made{0};
  return std::filesystem::temp_directory_path() /
         ("events-" + std::to_string(::getppid()) + "-" + std::to_string(made++));
}

Events::Events() {
  int file = -1;
  if (isUnderMpi()) {
    file = ::open(fileOfNextEvents().c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(Counter)) != 0)
      std::abort();
  }
  void *memory = ::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE,
                        file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    std::abort();
  if (file >= 0)
    ::close(file);
  counter = static_cast<Counter *>(memory); // it is zeroed
}

Events::~Events() { ::munmap(counter, sizeof(Counter)); }

void Events::count() { ++counter->times; }

bool Events::await(uint32_t times) const {
  const auto end = std::chrono::steady_clock::now() + kForEver;
  while (counter->times < times && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return counter->times >= times;
}

void becomeOrdinaryUser() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0) {
    ASSERT_EQ(setresuid(kNobody, kNobody, kNobody), 0);
  }
}

bool isUnderMpi() { return std::getenv("CGX_TEST_MPI") != nullptr; }

/// Returns a variable of Open MPI or MPICH, or nothing where mpirun has not started this process.
static std::optional<uint32_t> mpiSays(const char *openMpi, const char *mpich) {
  const char *open = std::getenv(openMpi), *value = open ? open : std::getenv(mpich);
  return value ? std::optional(uint32_t(std::stoul(value))) : std::nullopt;
}

static std::optional<uint32_t> mpiRank() { return mpiSays("OMPI_COMM_WORLD_RANK", "PMI_RANK"); }

uint32_t mpiRanks() { return mpiSays("OMPI_COMM_WORLD_SIZE", "PMI_SIZE").value_or(0); }

void playHosts() {
  if (std::optional<uint32_t> rank = mpiRank())
    ::setenv("CGX_HOST", std::to_string(*rank / 2).c_str(), /*overwrite=*/0);
}

void playHostOf(uint32_t rank) { ::setenv("CGX_HOST", std::to_string(rank / 2).c_str(), /*overwrite=*/1); }

void runMpiRank(uint32_t ranks, const std::function<void(uint32_t rank)> &body) {
  ASSERT_TRUE(mpiRank()) << "expected mpirun to start this";
  ASSERT_EQ(ranks, mpiRanks());
  body(*mpiRank());
}

void runThreads(uint32_t ranks, const std::function<void(uint32_t rank)> &body) {
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back(body, rank);
  for (std::thread &thread : threads)
    thread.join();
}

void runProcesses(uint32_t ranks, const std::function<void(uint32_t rank)> &body) {
  std::fflush(nullptr); // otherwise every child writes it again
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      body(rank);
      std::fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    int status = 0;
    ASSERT_EQ(waitpid(children[rank], &status, 0), children[rank]);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "rank " << rank << " ended with status " << status;
  }
}

std::string rendezvousOf(const std::string &job) {
  return "file:" + (std::filesystem::temp_directory_path() / ("cgx-" + job)).string();
}

std::string leftovers(const std::string &job) {
  std::string names;
  for (const auto &folder : {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path()})
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (std::string name = entry.path().filename(); name.find(job) != std::string::npos)
        names += name + " ";
  return names;
}

} // namespace cgx::test
