//===-- FormatsTest.cpp - Documents, good and hostile -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonBuilder.h"

#include "cgx/codec_table.h"
#include "cgx/formats/InputFile.h"
#include "cgx/formats/Machine.h"
#include "cgx/formats/Parse.h"
#include "cgx/formats/TextFile.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace cgx::formats;

namespace {

std::string repeated(const std::string &text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += text;
  return all;
}

/// Returns the error that the text is rejected with; empty when it is accepted.
template <typename Json = nlohmann::json> std::string refusal(std::string_view text, JsonLimits limits = {}) {
  try {
    (void)parseJson<Json>(text, limits);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(Json, ReadsWhatTheLibraryReads) {
  for (const char *text : {"{}", "[]", "null", "-1", "1.5e3", "\"a\\u00e9\"",
                           R"({"b": [1, {"c": []}, null, true, "x"], "a": {"d": -0.5}})"}) {
    EXPECT_EQ(parseJson(text), nlohmann::json::parse(text)) << text;
    EXPECT_EQ(parseJson<nlohmann::ordered_json>(text).dump(), nlohmann::ordered_json::parse(text).dump())
        << text;
  }
}

TEST(Json, BoundsTheDepth) {
  for (const auto &[open, close] :
       {std::pair("[", "]"), std::pair("{\"a\":", "}"), std::pair("[{\"a\":[", "]}]")}) {
    const std::string text = repeated(open, 80'000) + "1" + repeated(close, 80'000);
    EXPECT_NE(refusal(text).find("expected at most 64 arrays and objects in each other"), std::string::npos)
        << refusal(text);
    EXPECT_EQ(refusal(text), refusal<nlohmann::ordered_json>(text));
  }
  EXPECT_EQ(refusal(repeated("[", 64) + repeated("]", 64)), "");
  EXPECT_NE(refusal(repeated("[", 65) + repeated("]", 65)), "");
  EXPECT_EQ(refusal("[[], [], []]", {.depth = 2}), "");
  EXPECT_NE(refusal("[1]", {.depth = 0}), "");
}

TEST(Json, BoundsTheLength) {
  EXPECT_EQ(refusal("[1, 2]", {.bytes = 6}), "");
  EXPECT_EQ(refusal("[1, 2]", {.bytes = 5}), "expected JSON of at most 5 bytes, got 6");
}

TEST(Json, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(refusal(R"({"a": 1, "a": 2})"), "expected JSON: at the top: 'a' is there twice");
  EXPECT_EQ(refusal(R"({"layers": [{}, {"codec": {"bits": 1, "bits": 2}}]})"),
            "expected JSON: layers[1].codec: 'bits' is there twice");
  EXPECT_EQ(refusal(R"({"layers": [{}, {"codec": [[1]]}]})", {.depth = 4}),
            "expected JSON: layers[1].codec: expected at most 4 arrays and objects in each other");
  EXPECT_NE(refusal("{\"a\": 1,\n \"b\": }").find("line 2, column 7"), std::string::npos)
      << refusal("{\"a\": 1,\n \"b\": }");
  EXPECT_EQ(refusal("").find("json.exception"), std::string::npos) << refusal("");
}

/// A name that counts its comparisons, by which the test sees how an object's members are searched.
struct CountedName : std::string {
  using std::string::string;
  CountedName(const std::string &text) : std::string(text) {}

  static inline uint64_t comparisons = 0;

  friend bool operator==(const CountedName &one, const CountedName &other) {
    ++comparisons;
    return static_cast<const std::string &>(one) == static_cast<const std::string &>(other);
  }
  friend bool operator<(const CountedName &one, const CountedName &other) {
    ++comparisons;
    return static_cast<const std::string &>(one) < static_cast<const std::string &>(other);
  }
};

template <typename Json> uint64_t comparisonsOf(const std::string &text, size_t members) {
  JsonBuilder<Json> builder(JsonLimits().depth);
  CountedName::comparisons = 0;
  EXPECT_TRUE(Json::sax_parse(text, &builder)) << builder.wrong;
  EXPECT_EQ(builder.document.size(), members);
  return CountedName::comparisons;
}

/// A name is searched for in a tree of the names before it, independent of what is nested in the members of a
/// large object.
TEST(Json, ComparesEachNameWithFewOfTheOthers) {
  for (size_t members : {100, 1000, 40'000}) {
    std::string text = "{";
    for (size_t i = 0; i < members; ++i)
      text +=
          (i ? ",\"t" : "\"t") + std::to_string(i) + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
    text += "}";
    // Each member has four names. Trees are at most twice as deep as the logarithm, and a name is searched
    // for in two of them: that of the names and that of the members.
    const auto most = uint64_t(4 * 2 * 2 * (std::log2(double(members)) + 2) * double(members));
    EXPECT_LE((comparisonsOf<nlohmann::basic_json<std::map, std::vector, CountedName>>(text, members)), most);
    EXPECT_LE(
        (comparisonsOf<nlohmann::basic_json<nlohmann::ordered_map, std::vector, CountedName>>(text, members)),
        most);
  }
}

TEST(Json, CutsLongValuesBetweenCharacters) {
  EXPECT_EQ(valueText(nlohmann::json::parse("[1, \"a\"]")), "[1,\"a\"]");
  const std::string cut = valueText(repeated("\u00e9", 300));
  EXPECT_TRUE(cut.ends_with("...")) << cut;
  EXPECT_EQ(nlohmann::json(cut.substr(1)).dump(), "\"" + cut.substr(1) + "\""); // the rest is valid UTF-8
  EXPECT_EQ(valueText("\xff"), "\"\ufffd\"");
}

TEST(Codec, HasOneSpelling) {
  const Codec codec = parseCodecText(R"({"bits": 4, "family": "topk", "density": 0.5, "scale": "bf16",
                                    "checksum": true, "error_feedback": "int8", "decay": 0.5})");
  EXPECT_EQ(codec.family, "topk");
  EXPECT_EQ(codec.parameters, (std::vector<CodecParameter>{
                                  {"bits", "4"}, {"checksum", ""}, {"density", "0.5"}, {"scale", "bf16"}}));
  EXPECT_EQ(codec.errorFeedback, "int8");
  EXPECT_EQ(codec.decay, "0.5");
  EXPECT_EQ(
      codec.json,
      R"({"bits":4,"checksum":true,"decay":0.5,"density":0.5,"error_feedback":"int8","family":"topk","scale":"bf16"})");
  EXPECT_EQ(parseCodecText(codec.json), codec);
  const std::string plain = R"({"family":"quantize"})";
  EXPECT_EQ(parseCodecText(R"({"checksum": false, "family": "quantize"})").json, plain);
}

TEST(Codec, RefusesWhatIsNone) {
  for (const std::string &text : {std::string("[4]"), std::string(R"({"family": 4})"), std::string("{}"),
                                  R"({"family": ")" + repeated("x", 65) + "\"}",
                                  R"({"family": "quantize", "bits": ")" + repeated("<", 80'000) + "\"}"})
    EXPECT_THROW(parseCodecText(text), Error) << text.substr(0, 100);
}

/// A parameter with another name, another value or for another family would otherwise be ignored silently.
TEST(Codec, RefusesNamesThatItsFamilyDoesNotHave) {
  const auto refusalOf = [](const std::string &text) -> std::string {
    try {
      (void)parseCodecText(text);
      return "";
    } catch (const Error &error) {
      return error.what();
    }
  };
  EXPECT_NE(refusalOf(R"({"family": "quantize", "bits": 4, "error-feedback": "bf16"})")
                .find("error_feedback, decay in a codec of family quantize, got \"error-feedback\""),
            std::string::npos);
  EXPECT_NE(refusalOf(R"({"family": "quantise"})").find("as 'family' of a codec, got \"quantise\""),
            std::string::npos);
  for (const cgx::CodecFamilyEntry &family : cgx::codecFamilies()) {
    std::string name(family.name);
    for (const auto &parameter : family.parameters) {
      const std::string text = "{\"family\": \"" + name + "\", \"";
      EXPECT_EQ(refusalOf(text + std::string(parameter.name) + "\": 1}"), "");
      EXPECT_NE(refusalOf(text + std::string(parameter.name) + "s\": false}"), "") << parameter.name;
    }
  }
}

const std::string kPlan = R"({"cgx_plan": 1, "layers": [
  {"layer": "a", "kind": "gradient", "dtype": "f32", "elements": 8, "codec": {"family": "identity"}},
  {"layer": "b", "kind": "gradient", "dtype": "f32", "elements": 8, "codec": {"family": "quantize", "bits": 4}}]})";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Plan, IsReadAndRefusedByPlace) {
  std::vector<PlannedLayer> layers;
  ASSERT_EQ(readPlan(kPlan, layers), "");
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].layer, "b");
  EXPECT_EQ(layers[1].codec.parameters, (std::vector<CodecParameter>{{"bits", "4"}}));
  auto read = [&](const std::string &text) { return readPlan(text, layers); };
  EXPECT_EQ(read(replaced(kPlan, "\"b\"", "\"a\"")), "layer 'a' is there twice with kind gradient");
  EXPECT_EQ(read(replaced(kPlan, "8", "-8")),
            "layer at position 0: expected a whole number that is not negative as "
            "'elements', got -8");
  EXPECT_EQ(read(replaced(kPlan, "\"kind\"", "\"sort\"")), "layer at position 0: expected 'kind'");
  EXPECT_EQ(read(replaced(kPlan, "\"cgx_plan\": 1", "\"cgx_plan\": 2")),
            "expected 'cgx_plan' of version 1, as cgx-plan solve writes it, got 2");
  EXPECT_NE(read(replaced(kPlan, "{\"family\": \"identity\"}", repeated("[", 80'000) + repeated("]", 80'000)))
                .find("layers[0].codec"),
            std::string::npos);
  EXPECT_NE(read("[]"), "");
  EXPECT_EQ(read(R"({"cgx_plan": 1, "layers": []})"), "expected at least one layer in 'layers'");
  EXPECT_NE(read(replaced(kPlan, "\"bits\"", "\"bit\"")).find("layer at position 1: expected one of bits"),
            std::string::npos);
}

const std::string kLink = R"({"latency_seconds": 1e-5, "message_seconds": 1e-6, "bytes_per_second": 1e9})";
const std::string kMachine = R"({"cgx_machine": 1, "transport": "mpi", "ranks": 4, "local": 2, "link": )" +
                             kLink + R"(, "inside": )" + kLink +
                             R"(, "reduce_bytes_per_second": 1e9, "codecs": [
  {"codec": {"family": "quantize"}, "encode_bytes_per_second": 1e9, "decode_bytes_per_second": 2e9}]})";

TEST(Machine, IsReadAndRefusedByPlace) {
  Machine machine;
  ASSERT_EQ(readMachine(kMachine, machine), "");
  EXPECT_EQ(machine.model.local, 2u);
  EXPECT_EQ(machine.ranks, 4u);
  EXPECT_EQ(machine.codecs.at(0).rates.decode_bytes_per_second, 2e9);
  auto read = [&](const std::string &text) { return readMachine(text, machine); };
  EXPECT_EQ(read(replaced(kMachine, "\"message_seconds\": 1e-6", "\"message_seconds\": 0")),
            "'link' of machine: expected a number above 0 as 'message_seconds', got 0");
  EXPECT_EQ(
      read(replaced(kMachine, "\"encode_bytes_per_second\": 1e9", "\"encode_bytes_per_second\": \"x\"")),
      "codec at position 0: expected a number above 0 as 'encode_bytes_per_second', got \"x\"");
  EXPECT_EQ(read(replaced(kMachine, "\"local\": 2", "\"local\": 0")),
            "machine: expected at least 1 rank per host as 'local', got 0");
  EXPECT_EQ(read(replaced(kMachine, "\"local\": 2", "\"local\": 2, \"cores_per_rank\": 0")),
            "machine: expected a number above 0 as 'cores_per_rank', got 0");
  EXPECT_EQ(read(replaced(kMachine, "\"local\": 2", "\"local\": 2, \"overlapped_share\": 1.5")),
            "machine: expected a share from 0 to 1 as 'overlapped_share', got 1.500000");
  EXPECT_EQ(read("{}"),
            "expected 'cgx_machine' of version 1, as cgx-bench calibrate writes it: this is another kind of "
            "file");
  double bytes = 0, latency = 0;
  EXPECT_EQ(readMachineLink(R"({"cgx_machine": 1, "link": )" + kLink + "}", bytes, latency), "");
  EXPECT_EQ(bytes, 1e9);
  EXPECT_EQ(latency, 1e-5);
}

TEST(Machine, IsWrittenAsItIsRead) {
  Machine machine, again;
  ASSERT_EQ(readMachine(kMachine, machine), "");
  machine.codecs.push_back(machine.codecs[0]);
  machine.codecs[1].codec = parseCodecText(R"({"family": "topk", "density": 0.01})");
  machine.codecs[1].rates = {5e8, 3e9};
  machine.coresPerRank = 0.5;
  machine.flopsPerSecond = 4e10;
  machine.overlappedShare = 0.75;
  const std::string text = writeMachine(machine);
  ASSERT_EQ(readMachine(text, again), "");
  EXPECT_EQ(writeMachine(again), text);
  EXPECT_EQ(again.codecs[1].codec, machine.codecs[1].codec);
  EXPECT_EQ(again.coresPerRank, 0.5);
  EXPECT_EQ(again.flopsPerSecond, 4e10);
  EXPECT_EQ(again.overlappedShare, 0.75);

  EXPECT_EQ(ratesOf(again, machine.codecs[1].codec).encode_bytes_per_second, 5e8);
  const Codec sparser = parseCodecText(R"({"family": "topk", "density": 0.001})"),
              other = parseCodecText(R"({"family": "natural"})"),
              exact = parseCodecText(R"({"family": "identity"})");
  EXPECT_EQ(ratesOf(again, sparser).decode_bytes_per_second, 3e9); // the rate of its family
  EXPECT_EQ(ratesOf(again, other).encode_bytes_per_second, 5e8);   // the slowest rate
  EXPECT_EQ(ratesOf(again, exact).encode_bytes_per_second, 0);
}

/// A named pipe, in a folder of its own.
struct NamedPipe {
  NamedPipe() { EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0); }
  ~NamedPipe() { std::filesystem::remove(path); }

  const std::string path = testing::TempDir() + "cgx-pipe-" + std::to_string(::getpid());
};

TEST(InputFile, OfAPipeWithoutAWriterIsRefused) {
  NamedPipe pipe;
  std::string text, wrong;
  EXPECT_EQ(readTextFile(pipe.path, text), "expected somebody to write to this pipe, and nobody does");
  EXPECT_EQ(openInput(pipe.path, InputKind::File, wrong), -1);
  EXPECT_EQ(wrong, "expected a regular file");
  EXPECT_EQ(openInput("/", InputKind::File, wrong), -1);
  EXPECT_EQ(wrong, "expected a regular file");
}

/// The reader gets everything, no matter if the writer waits for it, is slow, or has finished already.
TEST(InputFile, OfAPipeIsAllThatIsWritten) {
  for (const std::string &written : {std::string(), std::string("text"), std::string(300'000, 'x')})
    for (const auto pause : {std::chrono::milliseconds(0), std::chrono::milliseconds(60)}) {
      NamedPipe pipe;
      std::jthread writer([&] {
        std::this_thread::sleep_for(pause);
        std::ofstream file(pipe.path);
        std::this_thread::sleep_for(pause);
        file << written;
      });
      std::string text;
      EXPECT_EQ(readTextFile(pipe.path, text), "");
      EXPECT_EQ(text, written);
    }
}

TEST(TextFile, IsBounded) {
  std::string text;
  EXPECT_EQ(readTextFile("/none.json", text), "No such file or directory");
  EXPECT_EQ(readTextFile("/", text), "Is a directory");
  EXPECT_EQ(readTextFile("/dev/zero", text, 1000), "expected at most 1000 bytes");
  const std::string path = testing::TempDir() + "cgx-text-file-" + std::to_string(::getpid());
  std::ofstream(path) << "text";
  EXPECT_EQ(readTextFile(path, text, 4), "");
  EXPECT_EQ(text, "text");
  EXPECT_NE(readTextFile(path, text, 3), "");
}

} // namespace
