//===-- transport/shm/SegmentFile.cpp - A shared memory object ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SegmentFile.h"

#include "transport/TestDelay.h"
#include "transport/ring/Segment.h"

#include "cgx/formats/SystemError.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cgx {

static Status systemError(cgx_status code, const std::string &what, int error) {
  return Status::error(code, what, ": ", formats::systemErrorText(error),
                       code == CGX_UNSUPPORTED ? "; --transport tcp and inproc need no /dev/shm" : "");
}

/// Some system errors mean that a resource is exhausted, others that this machine offers no shared memory to
/// its users: /dev/shm is read-only, or closed to them.
static cgx_status codeOf(int error) {
  bool exhausted = error == ENOSPC || error == ENOMEM || error == EMFILE || error == ENFILE || error == EFBIG;
  bool refused = error == EROFS || error == EACCES || error == EPERM || error == ENOSYS;
  return exhausted ? CGX_RESOURCE_EXHAUSTED : refused ? CGX_UNSUPPORTED : CGX_INTERNAL;
}

/// A segment is accessible to its user alone, whatever the umask is.
constexpr mode_t kMode = 0600;
/// The longest time between the creation of a segment and the setting of its mode.
constexpr std::chrono::seconds kMaking{2};

/// Returns true if the object is accessible to this user alone: anybody who may write to it takes part in the
/// job, and its owner may change it at any time.
static bool isOwn(const struct stat &info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 077) == 0;
}

/// Returns the error for an object that has the name but is not ours to use. Anybody may take names in
/// /dev/shm.
static Status notOwn(const struct stat &info, const std::string &name) {
  std::ostringstream mode;
  mode << std::oct << (info.st_mode & 07777);
  return Status::error(CGX_INVALID_ARGUMENT, "expected /dev/shm", name, " to be a file of user ", geteuid(),
                       " that it may open and nobody else (mode 600), got ",
                       S_ISREG(info.st_mode)   ? "one"
                       : S_ISLNK(info.st_mode) ? "a link"
                                               : "no regular file,",
                       " of user ", info.st_uid, " with mode ", mode.str(),
                       info.st_uid == geteuid()
                           ? ": remove it, or give the job another name"
                           : ": another user has taken the name of this job, give it another");
}

static Status checkOwner(int descriptor, const std::string &name) {
  struct stat info{};
  if (fstat(descriptor, &info) != 0)
    return systemError(codeOf(errno), concat("cannot look at /dev/shm", name), errno);
  return isOwn(info) ? Status() : notOwn(info, name);
}

/// Creates an object of that name; returns -1 as the system call does.
static int create(const std::string &name) {
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  testDelay("shm: before the mode");
  if (descriptor < 0 || fchmod(descriptor, kMode) == 0) // the umask may have removed bits of the mode
    return descriptor;
  const int error = errno;
  shm_unlink(name.c_str());
  close(descriptor);
  errno = error;
  return -1;
}

Result<SegmentFile> SegmentFile::open(const std::string &name) {
  const Clock::time_point end = Clock::now() + kMaking;
  for (;;) {
    // An existing object is opened and a missing one is created; an object that a faster rank created is
    // never replaced.
    int descriptor = shm_open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (descriptor < 0 && errno == ENOENT) {
      testDelay("shm: before the object is made");
      descriptor = create(name);
      if (descriptor < 0 && errno == EEXIST)
        continue;
    }
    // The object is a link, or may not be opened, unless the folder itself is closed to this user.
    if (const int error = errno; descriptor < 0) {
      struct stat info{};
      if ((error != ELOOP && error != EACCES) || lstat(("/dev/shm" + name).c_str(), &info) != 0)
        return systemError(codeOf(error), concat("cannot open /dev/shm", name), error);
      // Another rank is creating the object, and has not set its mode yet.
      if (error == EACCES && isOwn(info) && Clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        continue;
      }
      return notOwn(info, name);
    }
    SegmentFile file(name, descriptor);
    if (Status status = checkOwner(descriptor, name); !status.ok())
      return status;
    return file;
  }
}

namespace {

/// The descriptors of this process. A child that is forked and does not exec, such as a worker of a data
/// loader, would keep the locks of its parent, which belong to the open file: others would never see the rank
/// die.
class OpenFiles {
public:
  void add(int descriptor) {
    std::lock_guard lock(mutex);
    files.push_back({descriptor, nullptr, 0});
  }
  void addMapping(int descriptor, void *base, size_t bytes) {
    std::lock_guard lock(mutex);
    for (File &file : files)
      if (file.descriptor == descriptor)
        file = {descriptor, base, bytes};
  }
  /// Closes the descriptor, unless that was done when this process was forked.
  void closeOne(int descriptor) {
    std::lock_guard lock(mutex);
    if (std::erase_if(files, [&](const File &file) { return file.descriptor == descriptor; }) != 0)
      close(descriptor);
  }
  void lockForFork() { mutex.lock(); }
  void unlockAfterFork() { mutex.unlock(); }
  void closeInChild() {
    for (const File &file : files) {
      close(file.descriptor);
      // A mapping keeps the file open as well, so private memory of the child replaces it, for what is left
      // of the context there.
      if (file.base)
        mmap(file.base, file.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    files.clear();
    mutex.unlock();
  }

private:
  struct File {
    int descriptor;
    void *base;
    size_t bytes;
  };
  std::mutex mutex;
  std::vector<File> files;
};

/// The object is never destroyed, since contexts may outlive the objects of this library.
OpenFiles &openFiles() {
  static OpenFiles *one = [] {
    auto *made = new OpenFiles;
    pthread_atfork([] { openFiles().lockForFork(); }, [] { openFiles().unlockAfterFork(); },
                   [] { openFiles().closeInChild(); });
    return made;
  }();
  return *one;
}

} // namespace

SegmentFile::SegmentFile(std::string name, int descriptor) : name(std::move(name)), descriptor(descriptor) {
  openFiles().add(descriptor);
}

SegmentFile::SegmentFile(SegmentFile &&other) noexcept
    : name(std::move(other.name)), descriptor(std::exchange(other.descriptor, -1)),
      base(std::exchange(other.base, nullptr)), mapped(std::exchange(other.mapped, 0)) {}

SegmentFile::~SegmentFile() {
  if (descriptor >= 0)
    openFiles().closeOne(descriptor);
  if (base)
    munmap(base, mapped); // releases the locks
}

/// The first byte of the set-up lock, after those of all possible ranks.
constexpr int64_t kSetupLock = kSegmentMaxRanks;

bool SegmentFile::tryLock(int64_t byte, int64_t count, short type) const {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = count;
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

/// Returns a lock that another open file holds on these bytes; one of type F_UNLCK if none does.
static struct flock findLock(int descriptor, int64_t byte, int64_t count) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = count;
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0)
    lock.l_type = F_UNLCK;
  return lock;
}

std::string SegmentFile::setupHolder() const {
  struct flock lock = findLock(descriptor, kSetupLock, 1);
  return lock.l_type == F_UNLCK ? "another rank" : concat("rank ", lock.l_len - 1);
}

Status SegmentFile::lockSetup(uint32_t rank, Clock::time_point deadline) {
  testDelay("shm: before the set-up lock");
  // The loop retries because waiting in the kernel has no timeout.
  while (!tryLock(kSetupLock, 1 + int64_t(rank), F_WRLCK)) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return systemError(codeOf(errno), concat("cannot lock /dev/shm", name), errno);
    if (Clock::now() >= deadline) {
      Status status = Status::error(CGX_TIMEOUT, setupHolder(),
                                    " did not answer: it has the set-up lock of /dev/shm", name);
      unlink();
      return status;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return Status();
}

void SegmentFile::unlockSetup() {
  testDelay("shm: before the set-up lock is given back");
  tryLock(kSetupLock, /*count=*/0, F_UNLCK);
}

bool SegmentFile::lockRank(uint32_t rank) { return tryLock(rank, /*count=*/1, F_WRLCK); }

bool SegmentFile::isRankLocked(uint32_t rank) const {
  return findLock(descriptor, rank, 1).l_type != F_UNLCK;
}

bool SegmentFile::isAnyRankLocked(uint32_t ranks) const {
  return findLock(descriptor, 0, ranks).l_type != F_UNLCK;
}

bool SegmentFile::isLinked() const {
  struct stat info{};
  return fstat(descriptor, &info) == 0 && info.st_nlink != 0;
}

void SegmentFile::unlink() {
  testDelay("shm: before unlink");
  if (isLinked())
    shm_unlink(name.c_str());
}

uint64_t SegmentFile::size() const {
  struct stat info{};
  return fstat(descriptor, &info) == 0 ? uint64_t(info.st_size) : 0;
}

Status SegmentFile::allocate(uint64_t bytes) {
  int error = 0;
  do
    error = posix_fallocate(descriptor, 0, off_t(bytes));
  while (error == EINTR);
  if (error != 0)
    return systemError(codeOf(error),
                       concat("cannot take ", bytes, " bytes of shared memory for /dev/shm", name), error);
  return Status();
}

Result<std::byte *> SegmentFile::map(uint64_t bytes) {
  void *address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED)
    return systemError(codeOf(errno), concat("cannot map /dev/shm", name), errno);
  base = static_cast<std::byte *>(address);
  mapped = bytes;
  openFiles().addMapping(descriptor, base, bytes);
  return base;
}

} // namespace cgx
