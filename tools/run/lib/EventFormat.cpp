//===-- EventFormat.cpp - TensorBoard's event files -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file is a sequence of records: the length of a message (u64), a checksum of the length, the
// message (event.proto), a checksum of the message. Checksums are CRC-32C, masked so that a
// checksum of bytes that contain checksums differs from these. Everything is little-endian.
//
//===----------------------------------------------------------------------===//

#include "MetricsFormat.h"

#include "event.pb.h"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>

using namespace cgx::run;

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr size_t kHeaderBytes = sizeof(uint64_t) + sizeof(uint32_t);
constexpr size_t kMostRecordBytes = 1 << 24;

/// Computes CRC-32C (Castagnoli), one byte at a time.
uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<uint32_t, 256> entries{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit)
        crc = (crc >> 1) ^ (crc & 1 ? 0x82F63B78u : 0);
      entries[i] = crc;
    }
    return entries;
  }();
  uint32_t crc = ~0u;
  for (char byte : bytes)
    crc = table[(crc ^ static_cast<uint8_t>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

uint32_t maskedChecksum(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xA282EAD8u; }

template <typename T> std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

template <typename T> T read(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string recordOf(const proto::Event &event) {
  const std::string message = event.SerializeAsString(), length = bytesOf<uint64_t>(message.size());
  return length + bytesOf(maskedChecksum(length)) + message + bytesOf(maskedChecksum(message));
}

class EventFormat final : public MetricsFormat {
public:
  explicit EventFormat(std::vector<std::string> names) : names_(std::move(names)) {}

  std::string header() const override {
    proto::Event event;
    event.set_file_version("brain.Event:2");
    return recordOf(event);
  }

  std::string record(const StepMetrics &metrics) const override {
    proto::Event event = eventOf(metrics.step, metrics.time);
    for (size_t i = 0; i < metrics.scalars.size(); ++i)
      add(event, names_[i], metrics.scalars[i]);
    add(event, "cgx/seconds", metrics.seconds);
    add(event, "cgx/wire_bytes", static_cast<double>(metrics.wireBytes));
    add(event, "cgx/communication_seconds", metrics.communicationSeconds);
    add(event, "cgx/communication_share", metrics.communicationShare);
    add(event, "cgx/plan", metrics.isPlanNew);
    return recordOf(event);
  }

  std::string evaluation(uint64_t step, double time, const std::vector<std::string> &names,
                         const std::vector<double> &values) const override {
    proto::Event event = eventOf(step, time);
    for (size_t i = 0; i < values.size(); ++i)
      add(event, "eval/" + names[i], values[i]);
    return recordOf(event);
  }

  std::string earlier(const std::string &file, uint64_t first) const override {
    std::string kept;
    for (std::string_view rest = file; rest.size() >= kHeaderBytes;) {
      const auto length = read<uint64_t>(rest);
      if (length > kMostRecordBytes || rest.size() < kHeaderBytes + length + sizeof(uint32_t))
        break;
      const std::string_view message = rest.substr(kHeaderBytes, length);
      proto::Event event;
      if (read<uint32_t>(rest.substr(kHeaderBytes + length)) != maskedChecksum(message) ||
          !event.ParseFromArray(message.data(), static_cast<int>(length)))
        break;
      if (event.has_summary() && static_cast<uint64_t>(event.step()) < first)
        kept += rest.substr(0, kHeaderBytes + length + sizeof(uint32_t));
      rest.remove_prefix(kHeaderBytes + length + sizeof(uint32_t));
    }
    return kept;
  }

private:
  static proto::Event eventOf(uint64_t step, double time) {
    proto::Event event;
    event.set_step(static_cast<int64_t>(step));
    event.set_wall_time(time);
    return event;
  }

  static void add(proto::Event &event, const std::string &tag, double number) {
    proto::Summary::Value &value = *event.mutable_summary()->add_value();
    value.set_tag(tag);
    value.set_simple_value(static_cast<float>(number));
  }

  std::vector<std::string> names_;
};

} // namespace

std::unique_ptr<MetricsFormat> cgx::run::makeEventFormat(std::vector<std::string> names) {
  return std::make_unique<EventFormat>(std::move(names));
}
