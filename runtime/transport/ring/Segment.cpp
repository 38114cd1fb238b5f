//===-- transport/ring/Segment.cpp - Memory that ranks share -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/ring/Segment.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cgx {

static constexpr uint64_t kHeaderBytes = 64;
static constexpr uint64_t kSlotAlignment = 4096;

static uint64_t recordsEnd(uint32_t ranks) { return kHeaderBytes + ranks * sizeof(LivenessRecord); }
static uint64_t failuresEnd(uint32_t ranks) {
  return recordsEnd(ranks) + (ranks + 1) * sizeof(FailureRecord);
}

/// Returns the index of an ordered pair of ranks.
static uint64_t pairIndex(uint32_t from, uint32_t to, uint32_t ranks) {
  return uint64_t(from) * (ranks - 1) + (to < from ? to : to - 1);
}

static uint64_t lanesBytes(uint32_t ranks) {
  return slotsPerLane(ranks) == 0 ? 0 : uint64_t(ranks) * (ranks - 1) * EagerSlots::kLanes * sizeof(Lane);
}

static uint64_t slotsBytes(uint32_t ranks) {
  return uint64_t(ranks) * EagerSlots::kLanes * slotsPerLane(ranks) * kSlotBytes;
}

static uint64_t roundUp(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

uint64_t Segment::ringBytesFor(uint64_t wish) {
  constexpr uint64_t limit = uint64_t(1) << 40;
  if (wish > limit)
    return 0;
  return std::bit_ceil(std::max(wish == 0 ? kDefaultRingBytes : wish, kMinRingBytes));
}

uint64_t Segment::totalBytes(uint32_t ranks, uint64_t ringBytes) {
  uint64_t rings = uint64_t(ranks) * (ranks - 1), bytes = 0;
  if (__builtin_mul_overflow(rings, ringBytes + sizeof(RingControl), &bytes) ||
      __builtin_add_overflow(
          bytes, failuresEnd(ranks) + lanesBytes(ranks) + kSlotAlignment + slotsBytes(ranks), &bytes))
    return 0;
  return bytes;
}

Segment Segment::initialize(std::byte *base, uint32_t ranks, uint64_t ringBytes) {
  const Segment segment(base, ranks, ringBytes);
  SegmentHeader &header = segment.header();
  header.magic = kSegmentMagic;
  header.layout = kSegmentLayout;
  header.abiVersion = CGX_ABI_VERSION;
  header.ranks = ranks;
  header.ringBytes = ringBytes;
  header.totalBytes = totalBytes(ranks, ringBytes);
  return segment;
}

Result<Segment> Segment::attach(std::byte *base, uint64_t bytes, const std::string &job, uint32_t rank) {
  SegmentHeader &header = Segment(base, 0, 0).header();
  if (header.magic != kSegmentMagic)
    return Status::error(CGX_INVALID_ARGUMENT, "the shared memory of job '", job, "' is not a cgx segment");
  if (header.layout != kSegmentLayout || header.abiVersion != CGX_ABI_VERSION) {
    header.intruderAbi.store(CGX_ABI_VERSION + 1);
    return Status::error(CGX_MISMATCH, "ranks of job '", job, "' run different builds: ABI version ",
                         CGX_ABI_VERSION, ", layout ", kSegmentLayout, " on rank ", rank, ", ",
                         header.abiVersion, ", ", header.layout, " on the others");
  }
  // The fields are read once, and checked against each other and against the mapped size.
  const uint32_t ranks = header.ranks;
  const uint64_t ringBytes = header.ringBytes;
  const bool isSound = ranks != 0 && ranks <= kSegmentMaxRanks && ringBytes != 0 &&
                       ringBytes == Segment::ringBytesFor(ringBytes) &&
                       bytes == Segment::totalBytes(ranks, ringBytes);
  if (!isSound)
    return Status::error(CGX_INTERNAL, "the segment of job '", job, "' is damaged: expected ",
                         Segment::totalBytes(ranks, ringBytes), " bytes for ", ranks, " ranks and rings of ",
                         ringBytes, " bytes, got ", bytes);
  return Segment(base, ranks, ringBytes);
}

LivenessRecord &Segment::record(uint32_t rank) const {
  return *reinterpret_cast<LivenessRecord *>(base + kHeaderBytes + rank * sizeof(LivenessRecord));
}

FailureRecord &Segment::failureRecord(uint32_t index) const {
  return *reinterpret_cast<FailureRecord *>(base + recordsEnd(ranks()) + index * sizeof(FailureRecord));
}

std::byte *Segment::ring(uint32_t from, uint32_t to) const {
  uint64_t index = pairIndex(from, to, ranks());
  return base + failuresEnd(ranks()) + index * (sizeof(RingControl) + ringBytes());
}

uint64_t Segment::lanesBegin() const {
  uint64_t rings = uint64_t(ranks()) * (ranks() - 1);
  return failuresEnd(ranks()) + rings * (sizeof(RingControl) + ringBytes());
}

uint64_t Segment::slotsBegin() const { return roundUp(lanesBegin() + lanesBytes(ranks()), kSlotAlignment); }

Lane &Segment::lane(uint32_t from, uint32_t to, uint32_t lane) const {
  uint64_t index = pairIndex(from, to, ranks()) * EagerSlots::kLanes + lane;
  return *reinterpret_cast<Lane *>(base + lanesBegin() + index * sizeof(Lane));
}

std::byte *Segment::slot(uint32_t owner, uint32_t lane, uint32_t index) const {
  uint64_t slots = slotsPerLane(ranks());
  return base + slotsBegin() + ((uint64_t(owner) * EagerSlots::kLanes + lane) * slots + index) * kSlotBytes;
}

RingControl &Segment::ringControl(uint32_t from, uint32_t to) const {
  return *reinterpret_cast<RingControl *>(ring(from, to));
}

std::byte *Segment::ringData(uint32_t from, uint32_t to) const {
  return ring(from, to) + sizeof(RingControl);
}

void Segment::fail(uint32_t index, const Status &reason) const {
  if (header().failed.load() != 0)
    return;
  FailureRecord &own = failureRecord(index);
  own.code = reason.getCode();
  size_t length = std::min(reason.message().size(), sizeof(own.text) - 1);
  std::memcpy(own.text, reason.message().data(), length);
  own.text[length] = '\0';
  uint32_t none = 0;
  header().failed.compare_exchange_strong(none, index + 1);
}

Status Segment::failure(std::span<const uint32_t> names) const {
  uint32_t failed = header().failed.load();
  if (failed == 0)
    return Status();
  uint32_t index = std::min(failed - 1, ranks());
  const FailureRecord &told = failureRecord(index);
  std::string text(told.text, strnlen(told.text, sizeof(told.text)));
  if (text.empty()) // whoever set `failed` did not write a record
    text = "its reason is not in the shared memory, which is damaged";
  auto code = told.code > CGX_OK && told.code <= CGX_INTERNAL ? cgx_status(told.code) : CGX_INTERNAL;
  if (index == ranks())
    return Status(code, text);
  return Status::error(code, "rank ", index < names.size() ? names[index] : index, " gave up: ", text);
}

} // namespace cgx
