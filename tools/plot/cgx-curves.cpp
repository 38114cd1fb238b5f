//===-- cgx-curves.cpp - Tables and curves from reports -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Curves.h"
#include "lib/Png.h"
#include "lib/Table.h"

#include "cgx/Cli/CommandLine.h"
#include "cgx/Cli/Program.h"
#include "cgx/output/OutputFile.h"

#include <cstdio>

using namespace cgx::plot;

namespace {

constexpr const char *kDescription = R"(cgx-curves - compare training runs by the reports of cgx-run

Prints a Markdown table with a line for each run, and draws their losses over the
steps as SVG, or as PNG where Python has matplotlib. The training loss in the table is the mean of the last tenth of the
steps; validation loss, accuracy and perplexity (exp of the validation loss) come
from the report of an evaluation; bytes are what a rank sends in a step.
)";

constexpr const char *kFooter = R"(
EXAMPLES
  A table of two runs, with validation:
    cgx-curves 'exact=exact.json,exact.eval.json' '4 bits=q4.json,q4.eval.json'
  And their curves, each point the mean of 20 steps:
    cgx-curves --svg loss.svg --title 'mlp-digits' --smooth 20 exact=exact.json q4=q4.json
  The same as PNG (cgx plot is another name of this program):
    cgx plot --png loss.png --smooth 20 exact=exact.json q4=q4.json

EXIT STATUS
  0  done    1  a report cannot be read    2  the command line is wrong
)";

void write(const std::string &path, const std::string &text) {
  if (std::string error = cgx::writeOutput(path, text); !error.empty())
    throw std::runtime_error(error);
}

} // namespace

static int runTool(int argc, char **argv) {
  std::vector<std::string> texts;
  std::string svg, png;
  Style style;
  bool quiet = false;
  CLI::App app(kDescription, "cgx-curves");
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  app.add_option("runs", texts, "Runs: a label, the report of the training, that of an evaluation")
      ->required()
      ->type_name("LABEL=TRAIN.json[,EVAL.json]");
  app.add_option("--svg", svg, "File for the curves")->type_name("FILE.svg");
  app.add_option("--png", png, "File for the curves as PNG; needs a python3 with matplotlib")
      ->type_name("FILE.png");
  app.add_option("--title", style.title, "Title of the drawing")->type_name("TEXT");
  app.add_option("--smooth", style.smoothing, "Number of steps that each point averages")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--log", style.logarithmic, "Draw the losses on a logarithmic axis");
  app.add_flag("--no-table", quiet, "Print no table");
  if (std::optional<int> status = cgx::cli::parse(app, argc, argv))
    return *status;
  try {
    std::vector<Run> runs;
    for (const std::string &text : texts)
      runs.push_back(readRun(text));
    if (!svg.empty())
      write(svg, drawCurves(runs, style));
    if (!png.empty())
      write(png, drawPng(runs, style));
    if (!quiet) {
      const std::vector<std::string> outputs = {svg, png};
      std::fputs(makeTable(runs).c_str(), cgx::streamBeside(outputs));
    }
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "cgx-curves: error: %s\n", error.what());
    return 1;
  }
}

int main(int argc, char **argv) {
  return cgx::cli::runProgram("cgx-curves", [&] { return runTool(argc, argv); });
}
