//===-- SegmentSafetyTest.cpp - Shared memory that others created first ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The name of a job's segment can be guessed, and /dev/shm is open to all users. So a rank joins
// an object of that name only if it belongs to its user, and checks the header before using it.
//
//===----------------------------------------------------------------------===//

#include "Contexts.h"
#include "Job.h"
#include "Programs.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cgx::test {
namespace {

std::string objectName(const std::string &job) { return "/cgx-" + std::to_string(getuid()) + "-" + job; }

cgx_status join(const std::string &job, uint32_t rank, uint32_t ranks, uint32_t timeoutMs) {
  ContextPtr context;
  const ContextSpec spec{
      .transport = "shm", .job = job, .rank = rank, .ranks = ranks, .timeoutMs = timeoutMs};
  return spec.create(context);
}

/// An object with that job's name that exists before any rank.
class Object {
public:
  Object(const std::string &job, mode_t mode) : name(objectName(job)) {
    descriptor = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, mode);
    EXPECT_EQ(fchmod(descriptor, mode), 0); // independent of the umask
  }
  ~Object() {
    close(descriptor);
    shm_unlink(name.c_str());
  }

  std::string name;
  int descriptor;
};

TEST(SegmentSafety, AnObjectThatOthersMayOpenIsNotJoined) {
  const std::string job = uniqueJob();
  const Object object(job, 0666);
  EXPECT_EQ(join(job, 0, 2, 1000), CGX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cgx_last_error()).find("expected /dev/shm" + object.name + " to be a file of user"),
            std::string::npos)
      << cgx_last_error();
  EXPECT_NE(std::string(cgx_last_error()).find("with mode 666: remove it"), std::string::npos)
      << cgx_last_error();
  EXPECT_EQ(std::string(cgx_last_error()).find("another user"), std::string::npos) << cgx_last_error();
  struct stat info{};
  ASSERT_EQ(fstat(object.descriptor, &info), 0);
  EXPECT_EQ(info.st_size, 0) << "it was written to";
  EXPECT_EQ(info.st_nlink, 1u) << "it lost its name";
}

TEST(SegmentSafety, AnObjectOfAnotherUserIsNotJoined) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file to another user";
  const std::string job = uniqueJob();
  const Object object(job, 0600);
  ASSERT_EQ(fchown(object.descriptor, 65534, 65534), 0);
  EXPECT_EQ(join(job, 0, 2, 1000), CGX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cgx_last_error()).find("got one of user 65534"), std::string::npos)
      << cgx_last_error();
  EXPECT_NE(std::string(cgx_last_error()).find("another user has taken the name"), std::string::npos)
      << cgx_last_error();
}

// Another rank may find the object before its creator has set its mode.
TEST(SegmentSafety, NoMaskKeepsOutRanksOfItsUser) {
  for (const mode_t mask : {0777, 0377, 0077, 0}) {
    SCOPED_TRACE(mask);
    for (int trial = 0; trial < 10; ++trial) {
      const std::string job = uniqueJob();
      runProcesses(4, [&](uint32_t rank) {
        becomeOrdinaryUser();
        umask(mask);
        EXPECT_EQ(join(job, rank, 4, 20000), CGX_OK) << cgx_last_error();
      });
      EXPECT_EQ(leftovers(job), "");
    }
  }
}

TEST(SegmentSafety, WhatItsUserMayNotOpenIsNotSaidToBeAnotherUsers) {
  const std::string job = uniqueJob();
  runProcesses(1, [&](uint32_t) {
    becomeOrdinaryUser();
    const Object object(job, 0);
    EXPECT_EQ(join(job, 0, 2, 1000), CGX_INVALID_ARGUMENT);
    const std::string said = cgx_last_error();
    EXPECT_NE(said.find("with mode 0: remove it"), std::string::npos) << said;
    EXPECT_EQ(said.find("another user"), std::string::npos) << said;
  });
}

/// The result of a rank of user 65534 in a /dev/shm that is mounted with these options, only for this
/// process.
struct Told {
  int32_t status = CGX_OK;
  bool isEmpty = false; ///< the folder is empty afterwards
  char text[1024] = "";
};

/// Joins in such a folder. Returns nothing where it cannot be mounted.
std::optional<Told> joinIn(const char *mounted) {
  const std::string job = uniqueJob();
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const bool isMade =
        unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("tmpfs", "/dev/shm", "tmpfs", 0, mounted) == 0 && setresuid(65534, 65534, 65534) == 0;
    if (!isMade)
      _exit(1);
    Told told;
    told.status = join(job, 0, 2, 1000);
    std::strncpy(told.text, cgx_last_error(), sizeof(told.text) - 1);
    std::error_code error;
    told.isEmpty = std::filesystem::is_empty("/dev/shm", error);
    _exit(write(ends[1], &told, sizeof(told)) == sizeof(told) ? 0 : 1);
  }
  close(ends[1]);
  Told told;
  const bool isTold = read(ends[0], &told, sizeof(told)) == sizeof(told);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return isTold ? std::optional(told) : std::nullopt;
}

constexpr char kNotMounted[] = "only root can mount a /dev/shm of its own, and not everywhere";

TEST(SegmentSafety, AClosedFolderIsNotTakenForAnObjectOfAnotherUser) {
  const std::optional<Told> told = joinIn("mode=0700");
  if (!told)
    GTEST_SKIP() << kNotMounted;
  EXPECT_EQ(told->status, CGX_UNSUPPORTED);
  EXPECT_NE(std::string(told->text).find("cannot open /dev/shm/cgx-65534-"), std::string::npos) << told->text;
  EXPECT_NE(std::string(told->text).find("Permission denied"), std::string::npos) << told->text;
}

TEST(SegmentSafety, WhatFindsNoRoomLeavesNothingBehind) {
  const std::optional<Told> told = joinIn("mode=1777,size=64k");
  if (!told)
    GTEST_SKIP() << kNotMounted;
  EXPECT_EQ(told->status, CGX_RESOURCE_EXHAUSTED);
  EXPECT_NE(std::string(told->text).find("No space left"), std::string::npos) << told->text;
  EXPECT_TRUE(told->isEmpty);
}

TEST(SegmentSafety, ALinkIsNotFollowed) {
  const std::string job = uniqueJob(), target = std::filesystem::temp_directory_path() / job;
  std::ofstream(target) << "precious";
  const std::filesystem::path link = "/dev/shm" + objectName(job);
  std::filesystem::create_symlink(target, link);
  EXPECT_NE(join(job, 0, 2, 1000), CGX_OK);
  std::string text;
  std::ifstream(target) >> text;
  EXPECT_EQ(text, "precious");
  std::filesystem::remove(link);
  std::filesystem::remove(target);
}

TEST(SegmentSafety, AJobOverSharedMemoryNeedsAName) {
  ContextPtr context;
  EXPECT_EQ((ContextSpec{.transport = "shm", .ranks = 2}.create(context)), CGX_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cgx_last_error()).find("expected a job name"), std::string::npos) << cgx_last_error();
  cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
  EXPECT_EQ(config.job, nullptr) << "two jobs that take the default would meet";
}

/// Forks a rank that joins and ends.
pid_t startRank(const std::string &job, uint32_t rank) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0)
    _exit(join(job, rank, /*ranks=*/3, /*timeoutMs=*/700) == CGX_OK ? 0 : 1);
  return child;
}

// Bytes of the header change while ranks wait for the last one. Whatever values they get, the ranks end by
// themselves.
TEST(SegmentSafety, DamagedHeadersAreErrors) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 24; ++trial) {
    const std::string job = uniqueJob(), name = objectName(job);
    std::vector<pid_t> ranks = {startRank(job, 0), startRank(job, 1)};
    int object = -1;
    struct stat info{};
    for (int wait = 0; wait < 30000 && info.st_size == 0; ++wait) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (object < 0)
        object = shm_open(name.c_str(), O_RDWR, 0);
      if (object >= 0)
        (void)fstat(object, &info);
    }
    ASSERT_GT(info.st_size, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // both have joined
    auto *bytes = static_cast<uint8_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, object, 0));
    ASSERT_NE(bytes, MAP_FAILED);
    // The first 40 bytes are magic, layout, ABI, ranks, ring bytes and total bytes; sometimes the bytes after
    // them change too.
    for (uint64_t i = 0; i <= random() % 4; ++i)
      bytes[random() % (trial % 3 == 0 ? 4096 : 40)] = uint8_t(random() % 2 ? random() : 0xff);
    ranks.push_back(startRank(job, 2));
    for (pid_t rank : ranks) {
      int status = 0;
      ASSERT_EQ(waitpid(rank, &status, 0), rank);
      EXPECT_TRUE(WIFEXITED(status)) << "trial " << trial << ": killed by signal " << WTERMSIG(status);
    }
    munmap(bytes, 4096);
    close(object);
    shm_unlink(name.c_str()); // a rank that finds it damaged leaves it alone
  }
}

} // namespace
} // namespace cgx::test
