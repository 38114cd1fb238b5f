//===-- Png.cpp - Loss curves as PNG ----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An SVG is text; a PNG needs fonts and a rasterizer, which matplotlib has.
//
//===----------------------------------------------------------------------===//

#include "Png.h"

#include "cgx/plot/Canvas.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace cgx::plot;
using Json = nlohmann::json;

namespace {

constexpr int kNoMatplotlib = 3, kNoPython = 127;

/// A script that reads the data to draw from a file, and writes a PNG to standard output.
constexpr const char *kScript = R"py(
import json, sys
try:
    import matplotlib
except ImportError:
    sys.exit(3)
matplotlib.use("Agg")
from matplotlib import pyplot
with open(sys.argv[1], encoding="utf-8") as file:
    asked = json.load(file)
figure, axes = pyplot.subplots(figsize=(asked["width"] / 100, asked["height"] / 100), dpi=200, layout="constrained")
for run in asked["runs"]:
    if run["smooth"] != run["loss"]:
        axes.plot(run["loss"], color=run["color"], linewidth=0.6, alpha=0.3)
    axes.plot(run["smooth"], color=run["color"], linestyle=run["dashes"], label=run["label"])
axes.set(title=asked["title"], xlabel="training step", ylabel=asked["what"], yscale="log" if asked["log"] else "linear")
axes.grid(axis="y", color="#dddddd")
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
figure.savefig(sys.stdout.buffer, format="png")
)py";

/// Returns the values as JSON, with null for NaN and infinity, where matplotlib leaves a gap.
Json toJson(const std::vector<double> &values) {
  Json list = Json::array();
  for (double value : values)
    list.push_back(std::isfinite(value) ? Json(value) : Json());
  return list;
}

Json request(const std::vector<Run> &runs, const Style &style) {
  constexpr std::array<const char *, 4> dashes = {"-", "--", ":", "-."}; // used once the colors are used up
  Json list = Json::array();
  for (size_t i = 0; i < runs.size(); ++i)
    list.push_back({{"label", runs[i].label},
                    {"loss", toJson(runs[i].loss)},
                    {"smooth", toJson(smooth(runs[i].loss, style.smoothing))},
                    {"color", color(i)},
                    {"dashes", dashes[i / kColors % dashes.size()]}});
  const std::string what = "training loss";
  return {
      {"title", style.title},
      {"what", style.smoothing > 1 ? what + ", mean of " + std::to_string(style.smoothing) + " steps" : what},
      {"log", style.logarithmic},
      {"width", style.width + 200},
      {"height", style.height},
      {"runs", std::move(list)}};
}

/// A file that is removed with its owner.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &text) {
    const char *folder = std::getenv("TMPDIR");
    path_ = std::string(folder && *folder ? folder : "/tmp") + "/cgx-curves.XXXXXX";
    const int file = ::mkstemp(path_.data());
    std::FILE *stream = file < 0 ? nullptr : ::fdopen(file, "w");
    if (!stream)
      throw std::runtime_error("cannot write '" + path_ + "'");
    const bool isWritten = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
    if (std::fclose(stream) != 0 || !isWritten) {
      ::unlink(path_.c_str());
      throw std::runtime_error("cannot write '" + path_ + "'");
    }
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

/// Returns the output of a program, and its exit status.
std::pair<std::string, int> outputOf(const std::vector<const char *> &words) {
  std::array<int, 2> ends = {-1, -1};
  if (::pipe(ends.data()) != 0)
    throw std::runtime_error("cannot make a pipe");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execvp(words[0], const_cast<char *const *>(words.data()));
    ::_exit(kNoPython);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 1 << 14> part{};
  for (ssize_t count; (count = ::read(ends[0], part.data(), part.size())) != 0;)
    if (count > 0)
      text.append(part.data(), size_t(count));
    else if (errno != EINTR)
      break;
  ::close(ends[0]);
  int status = -1;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return {std::move(text), pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

} // namespace

std::string cgx::plot::drawPng(const std::vector<Run> &runs, const Style &style) {
  const TemporaryFile file(
      request(runs, style).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
  auto [png, status] = outputOf({"python3", "-c", kScript, file.path().c_str(), nullptr});
  if (status == kNoMatplotlib || status == kNoPython)
    throw std::runtime_error(
        std::string("expected matplotlib to draw a PNG with, and ") +
        (status == kNoPython ? "there is no python3 on PATH" : "python3 on PATH does not have it") +
        ": pip install matplotlib, or draw an SVG, which needs nothing, with --svg");
  if (status != 0 || png.empty())
    throw std::runtime_error("matplotlib could not draw the curves: its message stands above");
  return png;
}
