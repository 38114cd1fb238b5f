//===-- transport/shm/SegmentFile.h - A shared memory object -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The system calls of a shm segment. There are two kinds of locks, both on the open file (OFD locks). The
// kernel releases them when the last descriptor of that open file closes, however its process ends, and they
// do not depend on process ids, their reuse, or namespaces:
//
//   byte r       held by rank r as long as it lives
//   bytes from kSegmentMaxRanks on
//                set-up lock: whoever holds it may create, join or unlink. Rank r takes r + 1 of them, so
//                all exclude each other, and who waits can see for whom
//
// A process that forks without exec passes its locks on to the child. While the child lives, its parent's
// death shows only as missing heartbeats.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_SHM_SEGMENTFILE_H
#define CGX_RUNTIME_TRANSPORT_SHM_SEGMENTFILE_H

#include "transport/Transport.h"

namespace cgx {

class SegmentFile {
public:
  /// Opens the object of that name, or creates an empty one.
  static Result<SegmentFile> open(const std::string &name);

  SegmentFile(SegmentFile &&other) noexcept;
  SegmentFile &operator=(SegmentFile &&) = delete;
  ~SegmentFile();

  /// Takes the set-up lock. `rank` is the number by which error messages call the rank. After the deadline
  /// the error names the holder of the lock, and the object has lost its name: nobody else would remove it
  /// once a rank that was stopped in its set-up is gone.
  Status lockSetup(uint32_t rank, Clock::time_point deadline);
  void unlockSetup();

  /// Takes the rank's lock; returns false if another open file has it.
  bool lockRank(uint32_t rank);
  bool isRankLocked(uint32_t rank) const;
  bool isAnyRankLocked(uint32_t ranks) const;

  /// Returns true if the name still leads to this object.
  bool isLinked() const;
  void unlink();

  uint64_t size() const;
  /// Sizes the object and takes its memory now: a full /dev/shm is an error here,
  /// not a SIGBUS at some later store.
  Status allocate(uint64_t bytes);
  Result<std::byte *> map(uint64_t bytes);

private:
  SegmentFile(std::string name, int descriptor);
  bool tryLock(int64_t byte, int64_t count, short type) const;
  std::string setupHolder() const;

  std::string name;
  int descriptor = -1;
  std::byte *base = nullptr;
  uint64_t mapped = 0;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_SHM_SEGMENTFILE_H
