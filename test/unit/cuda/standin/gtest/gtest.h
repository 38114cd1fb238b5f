//===-- gtest.h - The part of GoogleTest that these tests use ---*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This stands in for GoogleTest on machines that have only CUDA, CMake and a compiler, where tools/check-gpu
// runs. The names are GoogleTest's, which is used if it is installed.
#ifndef CGX_TEST_UNIT_CUDA_STANDIN_GTEST_H
#define CGX_TEST_UNIT_CUDA_STANDIN_GTEST_H

#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace testing {

enum class Result { passed, skipped, failed };

class Test {
public:
  virtual ~Test() = default;
  virtual void SetUp() {}
  virtual void TearDown() {}
  virtual void TestBody() = 0;

  /// The state of the test that runs. Assertions stop it; expectations only count.
  static inline Result result = Result::passed;
  static inline bool stopped = false;
};

struct Case {
  std::string name;
  std::function<std::unique_ptr<Test>()> make;
};

inline std::vector<Case> &cases() {
  static std::vector<Case> all;
  return all;
}

inline bool addCase(const std::string &name, std::function<std::unique_ptr<Test>()> make) {
  cases().push_back({name, std::move(make)});
  return true;
}

struct Message {
  std::ostringstream text;
  template <typename T> Message &&operator<<(const T &value) && {
    text << value;
    return std::move(*this);
  }
};

/// The receiver of the message of an assertion that failed.
struct Report {
  const char *file;
  int line;
  const char *what;
  bool stops, skips;
  void operator=(const Message &message) const {
    std::printf("%s:%d: %s %s\n", file, line, what, message.text.str().c_str());
    if (!skips)
      Test::result = Result::failed;
    else if (Test::result == Result::passed)
      Test::result = Result::skipped;
    Test::stopped = Test::stopped || stops;
  }
};

template <typename T> struct TestParamInfo {
  T param;
};

template <typename T> class TestWithParam : public Test {
public:
  using ParamType = T;
  const T &GetParam() const { return *parameter; }
  static inline const T *parameter = nullptr;
};

template <typename... T> auto Values(T... values) { return std::vector{values...}; }

/// Returns the bodies of a parameterized suite, by its class.
template <typename Suite> std::vector<Case> &bodiesOf() {
  static std::vector<Case> bodies;
  return bodies;
}

template <typename Suite> bool addBody(const std::string &name, std::function<std::unique_ptr<Test>()> make) {
  bodiesOf<Suite>().push_back({name, std::move(make)});
  return true;
}

template <typename Suite, typename Namer>
bool instantiate(std::vector<typename Suite::ParamType> values, const Namer &namer) {
  for (const auto &value : values)
    for (const Case &body : bodiesOf<Suite>()) {
      auto kept = std::make_shared<typename Suite::ParamType>(value);
      const std::string name = body.name + "/" + namer(TestParamInfo<typename Suite::ParamType>{value});
      addCase(name, [kept, make = body.make] {
        Suite::parameter = kept.get();
        return make();
      });
    }
  return true;
}

inline void runCase(const Case &one) {
  Test::result = Result::passed;
  Test::stopped = false;
  std::printf("[ RUN      ] %s\n", one.name.c_str());
  try {
    const std::unique_ptr<Test> test = one.make();
    test->SetUp();
    if (!Test::stopped)
      test->TestBody();
    test->TearDown();
  } catch (const std::exception &error) {
    std::printf("exception: %s\n", error.what());
    Test::result = Result::failed;
  }
  constexpr const char *results[] = {"      OK", " SKIPPED", "  FAILED"};
  std::printf("[%s  ] %s\n", results[int(Test::result)], one.name.c_str());
}

/// Runs all tests, and returns the exit status.
inline int runAll() {
  int counts[3] = {};
  for (const Case &one : cases()) {
    runCase(one);
    ++counts[int(Test::result)];
  }
  std::printf("%d passed, %d skipped, %d failed\n", counts[0], counts[1], counts[2]);
  return counts[2] != 0;
}

} // namespace testing

#define CGX_CHECK(condition, text, stops, act)                                                               \
  switch (0)                                                                                                 \
  case 0:                                                                                                    \
  default:                                                                                                   \
    if (condition)                                                                                           \
      ;                                                                                                      \
    else                                                                                                     \
      act ::testing::Report{__FILE__, __LINE__, text, stops, false} = ::testing::Message()
#define EXPECT_TRUE(a) CGX_CHECK(bool(a), "expected " #a, false, )
#define EXPECT_EQ(a, b) CGX_CHECK((a) == (b), "expected " #a " == " #b, false, )
#define EXPECT_NE(a, b) CGX_CHECK((a) != (b), "expected " #a " != " #b, false, )
#define EXPECT_GT(a, b) CGX_CHECK((a) > (b), "expected " #a " > " #b, false, )
#define ASSERT_TRUE(a) CGX_CHECK(bool(a), "expected " #a, true, return)
#define ASSERT_EQ(a, b) CGX_CHECK((a) == (b), "expected " #a " == " #b, true, return)
#define ASSERT_NO_FATAL_FAILURE(statement)                                                                   \
  CGX_CHECK(([&] { statement; }(), !::testing::Test::stopped), "expected no failure in " #statement, true,   \
            return)
#define GTEST_SKIP()                                                                                         \
  return ::testing::Report{__FILE__, __LINE__, "skipped:", true, true} = ::testing::Message()

#define CGX_TEST_CLASS(suite, name) suite##_##name##_Test
#define CGX_TEST(suite, name, base, add)                                                                     \
  class CGX_TEST_CLASS(suite, name) : public base {                                                          \
    void TestBody() override;                                                                                \
  };                                                                                                         \
  [[maybe_unused]] static const bool suite##_##name##_isAdded =                                              \
      add(#suite "." #name, [] { return std::make_unique<CGX_TEST_CLASS(suite, name)>(); });                 \
  void CGX_TEST_CLASS(suite, name)::TestBody()
#define TEST(suite, name) CGX_TEST(suite, name, ::testing::Test, ::testing::addCase)
#define TEST_F(suite, name) CGX_TEST(suite, name, suite, ::testing::addCase)
#define TEST_P(suite, name) CGX_TEST(suite, name, suite, ::testing::addBody<suite>)
#define INSTANTIATE_TEST_SUITE_P(prefix, suite, values, ...)                                                 \
  [[maybe_unused]] static const bool suite##_isInstantiated =                                                \
      ::testing::instantiate<suite>(values, __VA_ARGS__)

#endif // CGX_TEST_UNIT_CUDA_STANDIN_GTEST_H
