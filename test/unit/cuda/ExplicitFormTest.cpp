//===-- ExplicitFormTest.cpp - The explicit form on GPU buffers against that of the host ---===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same all-reduces run call by call in three jobs: with all buffers on the host, all on a GPU, and each
// on either side. The outputs of every call, and the state of codecs, must be the same bits. Some all-reduces
// are run as a whole in between, which continues from the state that the calls left.

#include "../kernels/Inputs.h"
#include "Contexts.h"
#include "Job.h"
#include "Programs.h"
#include "RandomCodecs.h"

#include "cgx/kernels/cuda_peers.h"
#include "cgx/wire.h"

#include <gtest/gtest.h>

namespace cgx::test {
namespace {

using cuda::MemoryKind;
using Outputs = std::vector<std::vector<uint8_t>>;

enum class Place { host, device, either };

/// Memory with unspecified contents, which begins `offset` bytes after an aligned address.
class Buffer {
public:
  Buffer(uint64_t bytes, bool isOnDevice, uint64_t offset) : onHost(bytes, offset), offset(offset) {
    if (isOnDevice && bytes != 0) {
      EXPECT_TRUE(onDevice.allocate(MemoryKind::device, offset + bytes).ok());
      write(onHost.copy());
    }
  }

  void *get() { return onDevice.get() ? onDevice.get<uint8_t>() + offset : onHost.data(); }

  void write(const std::vector<uint8_t> &bytes) {
    std::copy(bytes.begin(), bytes.end(), onHost.data());
    copy(get(), onHost.data());
  }
  std::vector<uint8_t> fetch() {
    copy(onHost.data(), get());
    return onHost.copy();
  }

private:
  void copy(void *to, const void *from) {
    if (onDevice.get()) {
      EXPECT_TRUE(cuda::copy(to, from, onHost.size(), nullptr).ok());
      EXPECT_TRUE(cuda::waitFor(nullptr).ok());
    }
  }

  Bytes onHost;
  cuda::Memory onDevice;
  uint64_t offset;
};

struct AllReduce {
  const char *reduction;
  const char *feedback; ///< the storage of residuals, or null
  std::vector<OperandSpec> operands;
};

Json jsonOf(uint32_t id, uint32_t ranks, const AllReduce &of) {
  Json json = collectiveJson(id, "all_reduce", everybody(ranks), of.operands, {{"reduction", of.reduction}});
  for (size_t i = 0; i < of.operands.size(); ++i)
    if (of.feedback && !cgx_codec_is_exact(&of.operands[i].codec))
      json["operands"][i]["codec"].update({{"error_feedback", of.feedback}, {"decay", 0.9}});
  return json;
}

OperandSpec operand(cgx_element_type type, uint64_t elements, cgx_codec codec) {
  return {.type = type, .shape = {elements}, .codec = codec};
}

/// Returns all-reduces with fixed codecs for cases that random ones may miss, then with random codecs and
/// sizes.
std::vector<AllReduce> program(uint32_t ranks) {
  const cgx_codec coarse = quantize(4, 128), odd = quantize(3, 100);
  std::vector<AllReduce> all = {
      {"mean", nullptr, {operand(CGX_F32, ranks * 70001, coarse), operand(CGX_F32, ranks * 70000, odd)}},
      {"mean", "f32", {operand(CGX_BF16, ranks * 40007, coarse), operand(CGX_F32, 999, quantize(2, 64))}},
      {"sum", "int8", {operand(CGX_F32, 5000, coarse), operand(CGX_F32, 5000, odd)}},
      {"max", nullptr, {operand(CGX_F32, 1001, {}), operand(CGX_F32, 1001, {.family = CGX_CODEC_LOSSLESS})}},
      // These element types have no kernels.
      {"sum", nullptr, {operand(CGX_I16, 101, {}), operand(CGX_F64, 33, {})}}};
  constexpr uint32_t families[] = {CGX_CODEC_IDENTITY, CGX_CODEC_QUANTIZE,  CGX_CODEC_QUANTIZE,
                                   CGX_CODEC_QUANTIZE, CGX_CODEC_TERNARY,   CGX_CODEC_SIGN,
                                   CGX_CODEC_NATURAL,  CGX_CODEC_CAST,      CGX_CODEC_TOPK,
                                   CGX_CODEC_RANDK,    CGX_CODEC_THRESHOLD, CGX_CODEC_ADAPTIVE_THRESHOLD,
                                   CGX_CODEC_LOSSLESS};
  constexpr const char *feedbacks[] = {nullptr, nullptr, "f32", "bf16", "int8"};
  constexpr cgx_element_type types[] = {CGX_F32, CGX_F16, CGX_BF16};
  constexpr uint64_t lengths[] = {0, 1, 2, 31, 127, 128, 513, 1000, 4096, 5003, 20011};
  std::mt19937_64 random(testSeed());
  for (const uint32_t family : families)
    for (int repetition = 0; repetition < 3; ++repetition) {
      AllReduce &made =
          all.emplace_back(AllReduce{random() % 2 ? "sum" : "mean", feedbacks[random() % 5], {}});
      for (int i = 0; i < 2; ++i) {
        const cgx_element_type type = types[random() % 3];
        made.operands.push_back(
            operand(type, lengths[random() % std::size(lengths)], randomCodec(family, type, random)));
      }
    }
  return all;
}

/// One rank of a job.
class Rank {
public:
  Rank(const std::string &job, uint32_t rank, uint32_t ranks, Place place,
       const std::vector<AllReduce> &program, const char *transport = "inproc")
      : rank(rank), ranks(ranks), place(place), program(program) {
    std::vector<Json> list;
    for (uint32_t id = 0; id < program.size(); ++id)
      list.push_back(jsonOf(id, ranks, program[id]));
    const ContextSpec spec{.transport = place == Place::host ? "inproc" : transport,
                           .job = job,
                           .rank = rank,
                           .ranks = ranks,
                           .manifest = manifestText(ranks, list)};
    EXPECT_TRUE(place == Place::host || cuda::useDeviceOf(rank).ok());
    EXPECT_EQ(spec.create(context), CGX_OK) << cgx_last_error();
    if (context && place != Place::host) {
      EXPECT_EQ(cgx_context_use_cuda(context.get(), nullptr), CGX_OK) << cgx_last_error();
    }
  }

  /// Returns the bytes of chunk `chunk`'s payload.
  uint64_t payloadBytes(const OperandSpec &of, uint64_t chunk) const {
    return cgx_chunk_payload_bytes(&of.codec, of.type, of.elements(), ranks, chunk);
  }
  uint64_t chunkBytes(const OperandSpec &of, uint64_t chunk) const {
    return (cgx_chunk_begin(&of.codec, of.elements(), ranks, chunk + 1) -
            cgx_chunk_begin(&of.codec, of.elements(), ranks, chunk)) *
           cgx_element_bytes(of.type);
  }
  /// Returns where the payloads of chunks begin in a whole payload, and its end.
  std::vector<uint64_t> begins(const OperandSpec &of) const {
    std::vector<uint64_t> all = {0};
    for (uint32_t chunk = 0; chunk < ranks; ++chunk)
      all.push_back(all.back() + payloadBytes(of, chunk));
    return all;
  }

  Buffer elements(const OperandSpec &of, uint64_t bytes) { return buffer(bytes, cgx_element_bytes(of.type)); }
  Buffer payloads(uint64_t bytes) { return buffer(bytes, 1); }

  Buffer tensor(const OperandSpec &of) {
    Buffer made = elements(of, of.elements() * cgx_element_bytes(of.type));
    if (of.type <= CGX_BF16)
      made.write(toElements(of.type, makeFloats(Shape::gradient, of.elements(), inputs)));
    return made;
  }

  /// Appends written payloads to the outputs, if they have a fixed size: bytes after a shorter payload are
  /// unspecified.
  void add(const OperandSpec &of, Buffer &written, uint64_t begin, uint64_t bytes) {
    const std::vector<uint8_t> all = written.fetch();
    if (cgx_payload_is_fixed(&of.codec))
      outputs.emplace_back(all.begin() + ptrdiff_t(begin), all.begin() + ptrdiff_t(begin + bytes));
  }

  /// Runs an operand call by call.
  void runExplicit(uint32_t id, size_t index) {
    const OperandSpec &of = program[id].operands[index];
    const int64_t self = address(context.get()), operand = int64_t(index);
    const uint64_t slot = payloadBytes(of, 0), own = payloadBytes(of, rank);
    Buffer input = tensor(of), contribution = payloads(begins(of).back()), slots = payloads(ranks * slot),
           chunk = elements(of, chunkBytes(of, 0)), payload = payloads(slot),
           gathered = payloads(begins(of).back()), output = elements(of, input.fetch().size());
    cgx_rt_compress(self, id, operand, 0, address(input.get()), address(contribution.get()));
    add(of, contribution, 0, begins(of).back());
    cgx_rt_payload_all_to_all(self, id, operand, address(contribution.get()), address(slots.get()));
    for (uint32_t position = 0; position < ranks; ++position)
      add(of, slots, position * slot, own);
    cgx_rt_decompress_accumulate(self, id, operand, address(slots.get()), address(chunk.get()));
    outputs.push_back(chunk.fetch());
    cgx_rt_compress(self, id, operand, 1, address(chunk.get()), address(payload.get()));
    add(of, payload, 0, own);
    cgx_rt_payload_all_gather(self, id, operand, address(payload.get()), address(gathered.get()));
    add(of, gathered, 0, begins(of).back());
    cgx_rt_decompress(self, id, operand, address(gathered.get()), address(output.get()));
    outputs.push_back(output.fetch());
  }

  /// Runs all operands at once, which are all on one side, on all ranks.
  void runWhole(uint32_t id) {
    const bool isOnDevice = place == Place::device || (place == Place::either && shared() % 2);
    std::vector<Buffer> written;
    for (size_t i = 0; i < program[id].operands.size(); ++i) {
      const OperandSpec &of = program[id].operands[i];
      const std::vector<uint8_t> values = tensor(of).fetch();
      written.emplace_back(values.size(), isOnDevice, /*offset=*/0).write(values);
      cgx_rt_operand(address(context.get()), id, int64_t(i), address(written[i].get()),
                     address(written[i].get()));
    }
    cgx_rt_run(address(context.get()), id);
    for (Buffer &each : written)
      outputs.push_back(each.fetch());
  }

  /// Appends the state of codecs.
  void addState() {
    uint64_t count = 0;
    ASSERT_EQ(cgx_context_state_count(context.get(), &count), CGX_OK);
    for (uint64_t i = 0; i < count; ++i) {
      cgx_state_tensor tensor;
      ASSERT_EQ(cgx_context_state_tensor(context.get(), i, &tensor), CGX_OK) << cgx_last_error();
      const auto *bytes = static_cast<const uint8_t *>(tensor.data);
      outputs.emplace_back(bytes, bytes + tensor.elements *
                                              cgx_element_bytes(cgx_element_type(tensor.element_type)));
    }
  }

  /// Returns whether the runtime encodes an operand. NCCL may run uncompressed collectives itself.
  bool isEncoded(uint32_t id) const {
    return std::any_of(program[id].operands.begin(), program[id].operands.end(),
                       [](const OperandSpec &of) { return of.codec.family != CGX_CODEC_IDENTITY; });
  }

  /// Runs all all-reduces twice in each of three steps.
  Outputs run() {
    for (uint64_t step = 0; step < 3; ++step) {
      EXPECT_EQ(cgx_context_begin_step(context.get(), step), CGX_OK) << cgx_last_error();
      for (int repetition = 0; repetition < 2; ++repetition)
        for (uint32_t id = 0; id < program.size(); ++id) {
          if (whole() % 4 == 0 && isEncoded(id))
            runWhole(id);
          else
            for (size_t i = 0; i < program[id].operands.size(); ++i)
              runExplicit(id, i);
        }
      EXPECT_EQ(cgx_context_end_step(context.get()), CGX_OK) << cgx_last_error();
      if (step != 1) // state that is not read stays on the GPU
        addState();
    }
    return std::move(outputs);
  }

  ContextPtr context;

private:
  Buffer buffer(uint64_t bytes, uint64_t alignment) {
    const bool isOnDevice = place == Place::device || (place == Place::either && places() % 2);
    const uint64_t offset = isOnDevice && places() % 4 == 0 ? places() % 8 / alignment * alignment : 0;
    return {bytes, isOnDevice, offset};
  }

  uint32_t rank, ranks;
  Place place;
  const std::vector<AllReduce> &program;
  /// The first two draw equally in all jobs, and `whole` and `shared` on all ranks.
  std::mt19937_64 inputs{testSeed() + rank}, whole{testSeed()}, shared{testSeed()},
      places{testSeed() + 100 * (rank + 1)};
  Outputs outputs;
};

void skipWithoutGpu() {
  if (cuda::Outcome outcome = cuda::availability(); !outcome.ok())
    GTEST_SKIP() << outcome.error;
}

struct Setting {
  uint32_t ranks;
  const char *transport;
};

class ExplicitFormTest : public testing::TestWithParam<Setting> {
protected:
  void SetUp() override {
    skipWithoutGpu();
    if (const auto [ranks, transport] = GetParam();
        std::string(transport) == "nccl" && cuda::deviceCount() < ranks)
      GTEST_SKIP() << "NCCL expects a GPU for each of " << ranks << " ranks, got " << cuda::deviceCount();
  }
};

TEST_P(ExplicitFormTest, GivesTheBitsOfTheHost) {
  const auto [ranks, transport] = GetParam();
  const std::vector<AllReduce> all = program(ranks);
  const std::string hostJob = uniqueJob(), deviceJob = uniqueJob(), eitherJob = uniqueJob();
  runThreads(ranks, [&, ranks = ranks, transport = transport](uint32_t rank) {
    const Outputs host = Rank(hostJob, rank, ranks, Place::host, all).run();
    for (const auto &[job, place] : {std::pair(deviceJob, Place::device), {eitherJob, Place::either}}) {
      const Outputs device = Rank(job, rank, ranks, place, all, transport).run();
      ASSERT_EQ(device.size(), host.size());
      for (size_t i = 0; i < host.size(); ++i)
        ASSERT_TRUE(device[i] == host[i])
            << "rank " << rank << ", result " << i << ", CGX_TEST_SEED=" << testSeed()
            << (place == Place::device ? ", on the GPU" : ", on either side");
    }
  });
}

/// Tests of jobs with two ranks or more.
class RefusedPayloadTest : public ExplicitFormTest {};

// Rank 1 damages the payload of a chunk's second piece, as a contribution and as a result.
TEST_P(RefusedPayloadTest, NamesLayerAndRank) {
  const auto [ranks, transport] = GetParam();
  for (const bool isResult : {false, true}) {
    const std::vector<AllReduce> all = {
        {"sum", nullptr, {operand(CGX_F32, ranks * 70000, quantize(4, 128))}}};
    const std::string jobs[] = {uniqueJob(), uniqueJob()};
    runThreads(ranks, [&, ranks = ranks, transport = transport](uint32_t number) {
      std::string messages[2];
      for (const Place place : {Place::host, Place::device}) {
        Rank rank(jobs[int(place)], number, ranks, place, all, transport);
        const OperandSpec &of = all[0].operands[0];
        const int64_t self = address(rank.context.get());
        const uint64_t second = cgx_payload_bytes(&of.codec, of.type, cgx_piece_elements(&of.codec));
        const auto damage = [&](Buffer &payloads) {
          std::vector<uint8_t> bytes = payloads.fetch();
          if (number == 1)
            bytes[second] ^= 0xff; // the header of the contribution for rank 0, or of the result
          payloads.write(bytes);
        };
        ASSERT_EQ(cgx_context_begin_step(rank.context.get(), 0), CGX_OK);
        Buffer input = rank.tensor(of), whole = rank.payloads(rank.begins(of).back()),
               slots = rank.payloads(ranks * rank.payloadBytes(of, 0)),
               chunk = rank.elements(of, rank.chunkBytes(of, 0)),
               payload = rank.payloads(rank.payloadBytes(of, 0));
        cgx_rt_compress(self, 0, 0, 0, address(input.get()), address(whole.get()));
        if (!isResult)
          damage(whole);
        cgx_rt_payload_all_to_all(self, 0, 0, address(whole.get()), address(slots.get()));
        cgx_rt_decompress_accumulate(self, 0, 0, address(slots.get()), address(chunk.get()));
        cgx_rt_compress(self, 0, 0, 1, address(chunk.get()), address(payload.get()));
        if (isResult)
          damage(payload);
        cgx_rt_payload_all_gather(self, 0, 0, address(payload.get()), address(whole.get()));
        cgx_rt_decompress(self, 0, 0, address(whole.get()), address(input.get()));
        EXPECT_EQ(cgx_context_end_step(rank.context.get()), CGX_BAD_PAYLOAD);
        // A rank that does not read the payload hears of it from another rank.
        const std::string message = cgx_last_error();
        messages[int(place)] =
            message.substr(std::min(message.size(), message.find("layer 'params/w', payload of rank 1: ")));
      }
      EXPECT_NE(messages[1], "");
      EXPECT_EQ(messages[1], messages[0]);
    });
  }
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (uint32_t ranks = 1; ranks <= 4; ++ranks)
    all.push_back({ranks, "inproc"});
  if (*CGX_TEST_NCCL)
    all.push_back({2, CGX_TEST_NCCL});
  return all;
}

std::vector<Setting> settingsWithAnother() {
  std::vector<Setting> all = settings();
  std::erase_if(all, [](const Setting &setting) { return setting.ranks == 1; });
  return all;
}

std::string settingName(const testing::TestParamInfo<Setting> &setting) {
  return std::string(setting.param.transport) + "_" + std::to_string(setting.param.ranks);
}

INSTANTIATE_TEST_SUITE_P(Settings, ExplicitFormTest, testing::ValuesIn(settings()), settingName);
INSTANTIATE_TEST_SUITE_P(Settings, RefusedPayloadTest, testing::ValuesIn(settingsWithAnother()), settingName);

class ExplicitCallTest : public testing::Test {
protected:
  void SetUp() override { skipWithoutGpu(); }
};

TEST_F(ExplicitCallTest, RefusesToBeAPartOfAGraph) {
  const std::vector<AllReduce> all = {{"sum", nullptr, {operand(CGX_F32, 100, quantize(4, 128))}}};
  Rank rank(uniqueJob(), 0, 1, Place::device, all);
  cuda::Stream stream = nullptr;
  ASSERT_TRUE(cuda::makeStream(stream).ok());
  ASSERT_EQ(cgx_context_use_cuda(rank.context.get(), stream), CGX_OK);
  Buffer input = rank.tensor(all[0].operands[0]), payload = rank.payloads(rank.begins(all[0].operands[0])[1]);
  ASSERT_EQ(cgx_context_begin_step(rank.context.get(), 0), CGX_OK);
  ASSERT_TRUE(cuda::replayGraph(stream, 1, [&] {
                cgx_rt_compress(address(rank.context.get()), 0, 0, 0, address(input.get()),
                                address(payload.get()));
                return cuda::Outcome();
              }).ok());
  EXPECT_EQ(cgx_context_end_step(rank.context.get()), CGX_UNSUPPORTED);
  EXPECT_NE(std::string(cgx_last_error()).find("which a graph cannot repeat"), std::string::npos)
      << cgx_last_error();
  rank.context.reset();
  cuda::destroyStream(stream);
}

TEST_F(ExplicitCallTest, IsNotSeenByAProfile) {
  const std::vector<AllReduce> all = {{"sum", nullptr, {operand(CGX_F32, 1000, quantize(4, 128))}}};
  for (const Place place : {Place::host, Place::device}) {
    Rank rank(uniqueJob(), 0, 1, place, all);
    ASSERT_EQ(cgx_context_begin_profile(rank.context.get(), nullptr), CGX_OK) << cgx_last_error();
    (void)rank.run();
    const char *profile = nullptr;
    ASSERT_EQ(cgx_context_end_profile(rank.context.get(), &profile), CGX_OK) << cgx_last_error();
    EXPECT_EQ(Json::parse(profile)["layers"][0]["gradient_norm"] == 0.0, place == Place::device) << profile;
  }
}

} // namespace
} // namespace cgx::test
