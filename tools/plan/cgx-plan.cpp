//===-- cgx-plan.cpp - Choosing a codec for each layer ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Drawings.h"
#include "lib/MachineLink.h"
#include "lib/Tables.h"
#include "lib/Units.h"

#include "cgx/Cli/CommandLine.h"
#include "cgx/Cli/Program.h"
#include "cgx/formats/TextFile.h"
#include "cgx/output/OutputFile.h"
#include "cgx/plan/Codec.h"
#include "cgx/plan/Error.h"
#include "cgx/plot/Text.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

using namespace cgx::plan;

namespace {

constexpr const char *kDescription = R"(cgx-plan - decide which codec compresses which layer

Takes a profile from cgx-run --profile, which has the cost and the error of each
candidate codec on each layer of a step. Makes a plan, one codec for each layer, which
cgx-opt --cgx-compress=plan=FILE builds into the step.

THE PROBLEM
  Least bytes, or least time, such that the sum of the squared errors of all layers is
  at most --alpha times the sum that the --reference codec makes when it is used
  everywhere. Without compression (identity) a layer makes no error, so there always
  is a solution; only --max-time can be impossible.
)";

constexpr const char *kFooter = R"(
EXAMPLES
  The plan with the least bytes, no worse than 4 bits everywhere, and a table of it:
    cgx-plan solve profile.json --solver lgreco -o plan.json
  Least time on a link of 1 Gbit, with the bits of each layer as a drawing:
    cgx-plan solve profile.json --objective time --link 1Gbit -o plan.json --svg bits.svg
  A comparison of all solvers, and their fronts of error against bytes:
    cgx-plan compare profile.json --svg front.svg
  The time of a step with some plans on other links:
    cgx-plan simulate profile.json a.json b.json --link 100Mbit --link 10Gbit
  Weights of a sharded step against its gradients, each kind measured by its own reference:
    cgx-plan solve profile.json --reference "gradient=quantize bits=4 bucket=128" \
        --reference "weight=quantize bits=8 bucket=512" -o plan.json
  Build a plan into a step:
    cgx-opt step.mlir --cgx-compress=plan=plan.json -o step.cgx.mlir

EXIT STATUS
  0  done    1  a file does not fit, or nothing is within the bounds    2  the command line is wrong
)";

struct Options {
  std::string profile, solver = "lgreco", objective = "bytes";
  std::string maxTime, latency = "50us", output, svg, title;
  std::vector<std::string> references = {"quantize bits=4 bucket=128"};
  std::vector<std::string> links = {"1Gbit"}, plans, solvers, exclude;
  double alpha = 1;
  SolverOptions solverOptions;
  bool quiet = false;
};

std::string readFile(const std::string &path) {
  std::string text;
  if (std::string wrong = cgx::formats::readTextFile(path, text); !wrong.empty())
    throw Error("cannot read '" + path + "': " + wrong);
  return text;
}

/// Returns the stream for the text that people read, beside the files.
std::FILE *streamOf(const Options &options) {
  return cgx::streamBeside(std::array{options.output, options.svg});
}

void writeFile(const std::string &path, const std::string &text) {
  if (std::string error = cgx::writeOutput(path, text); !error.empty())
    throw Error(error);
}

/// Reads a file of one of the kinds; error messages begin with its name.
template <typename File> File readAs(const std::string &path) {
  std::string text = readFile(path);
  try {
    return File::parse(text);
  } catch (const Error &error) {
    throw Error("'" + path + "': " + error.what());
  }
}

/// Returns true if the codec has all parameters that are given in `pattern`.
bool matches(const std::string &codec, const std::string &pattern) {
  std::string words = " " + codecLabel(codec) + " ";
  std::istringstream parts(pattern);
  for (std::string part; parts >> part;)
    if (words.find(" " + part + " ") == std::string::npos)
      return false;
  return true;
}

Profile readProfile(const Options &options) {
  Profile profile = readAs<Profile>(options.profile);
  for (LayerProfile &layer : profile.layers)
    std::erase_if(layer.candidates, [&](const Candidate &candidate) {
      return candidate.codec != kUncompressed &&
             std::any_of(options.exclude.begin(), options.exclude.end(),
                         [&](const std::string &pattern) { return matches(candidate.codec, pattern); });
    });
  return profile;
}

ProblemOptions problemOptions(const Options &options, const std::string &link) {
  ProblemOptions problem;
  problem.reference = parseCodecLabel("quantize bits=4 bucket=128");
  for (const std::string &reference : options.references)
    problem.setReference(reference);
  problem.alpha = options.alpha;
  problem.objective = options.objective == "time" ? Objective::Time : Objective::Bytes;
  problem.link = isMachineFile(link) ? loadMachineLink(link)
                                     : Link{parseBandwidth(link), parseDuration(options.latency)};
  if (!options.maxTime.empty())
    problem.maxSeconds = parseDuration(options.maxTime);
  return problem;
}

Attempt attempt(const Solver &solver, const Problem &problem, const SolverOptions &options) {
  using Clock = std::chrono::steady_clock;
  Attempt attempt{&solver, {}, {}, 0, ""};
  Clock::time_point begin = Clock::now();
  try {
    attempt.solution = solve(solver, problem, options);
    attempt.cost = problem.cost(attempt.solution.assignment);
  } catch (const Error &error) {
    attempt.failure = error.what();
  }
  attempt.solveSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return attempt;
}

void runSolve(const Options &options) {
  Profile profile = readProfile(options);
  ProblemOptions asked = problemOptions(options, options.links.back());
  Problem problem = Problem::make(profile, asked);
  const Solver &solver = findSolver(options.solver);
  Plan plan = makePlan(profile, asked, problem, solver, solve(solver, problem, options.solverOptions));
  if (!options.output.empty())
    writeFile(options.output, plan.toJson());
  if (!options.svg.empty())
    writeFile(options.svg, drawBits({plan}, options.title.empty() ? "bits per layer" : options.title));
  if (!options.quiet)
    std::fputs((layerTable(plan) + "\n" + summary(plan)).c_str(), streamOf(options));
}

void runShow(const Options &options) {
  std::vector<Plan> plans;
  for (const std::string &path : options.plans)
    plans.push_back(readAs<Plan>(path));
  for (const Plan &plan : plans)
    std::fputs((layerTable(plan) + "\n" + summary(plan) + (&plan == &plans.back() ? "" : "\n")).c_str(),
               streamOf(options));
  if (!options.svg.empty())
    writeFile(options.svg, drawBits(plans, options.title.empty() ? "bits per layer" : options.title));
}

/// Solves for bounds from an eighth of the given one to eight times as much.
Front makeFront(const Solver &solver, const Problem &problem, const SolverOptions &options) {
  Front front{solver.name, {}};
  for (int eighth = -6; eighth <= 6; ++eighth) {
    Problem scaled = problem;
    scaled.errorBound *= std::exp2(eighth / 2.0);
    if (Attempt made = attempt(solver, scaled, options); made.failure.empty())
      front.points.push_back(made.cost);
  }
  return front;
}

void runCompare(const Options &options) {
  Profile profile = readProfile(options);
  ProblemOptions asked = problemOptions(options, options.links.back());
  Problem problem = Problem::make(profile, asked);
  std::vector<Attempt> attempts;
  std::vector<Front> fronts;
  for (const Solver &solver : solvers()) {
    if (!options.solvers.empty() &&
        std::find(options.solvers.begin(), options.solvers.end(), solver.name) == options.solvers.end())
      continue;
    attempts.push_back(attempt(solver, problem, options.solverOptions));
    if (!options.svg.empty())
      fronts.push_back(makeFront(solver, problem, options.solverOptions));
  }
  std::printf("%zu layers, reference %s: %s leave all ranks in a step, squared error %.4g\n\n",
              problem.layers.size(), shortCodecLabel(asked.reference).c_str(),
              cgx::plot::bytesText(problem.reference.bytes).c_str(), problem.reference.error);
  std::fputs(attemptTable(problem, attempts).c_str(), streamOf(options));
  if (!options.svg.empty())
    writeFile(options.svg, drawFronts(fronts, problem.reference, asked.objective,
                                      options.title.empty() ? "error against cost" : options.title));
}

/// Returns the cost of the assignment that a plan makes, among all candidates.
Cost costOf(const Plan &plan, const Profile &profile, const ProblemOptions &options,
            const std::string &path) {
  Profile planned = profile;
  const Problem asked = Problem::make(profile, options);
  auto scaleOf = [&](const std::string &kind) {
    return std::find_if(asked.layers.begin(), asked.layers.end(),
                        [&](const Layer &layer) { return layer.kind == kind; })
        ->errorScale;
  };
  for (LayerProfile &layer : planned.layers) {
    auto entry = std::find_if(plan.layers.begin(), plan.layers.end(), [&](const PlannedLayer &candidate) {
      return candidate.layer == layer.layer && candidate.kind == layer.kind;
    });
    if (entry == plan.layers.end())
      throw Error("'" + path + "' has no layer '" + layer.layer + "' of the profile");
    std::vector<Candidate> kept;
    for (const Candidate &candidate : layer.candidates)
      if (candidate.codec == entry->codec)
        kept.push_back(candidate);
    if (kept.empty())
      throw Error("'" + path + "' gives layer '" + layer.layer + "' " + codecLabel(entry->codec) +
                  ", which the profile did not measure");
    // Each layer has one choice. It gets the name of the uncompressed codec, which is the reference below.
    kept[0].codec = kUncompressed;
    kept[0].squaredError *= scaleOf(layer.kind);
    layer.candidates = std::move(kept);
  }
  ProblemOptions free = options;
  free.reference = kUncompressed;
  free.references.clear();
  return Problem::make(planned, free).reference;
}

void runSimulate(const Options &options) {
  Profile profile = readProfile(options);
  std::vector<Plan> plans;
  for (const std::string &path : options.plans)
    plans.push_back(readAs<Plan>(path));
  std::vector<cgx::plot::Column> columns = {{"codecs"}, {"wire/step"}, {"squared error"}};
  auto add = [&](size_t column, const std::string &cell) { columns[column].push_back(cell); };
  for (const std::string &link : options.links)
    columns.push_back({"step at " + link});
  auto addRow = [&](const std::string &name, auto cost) {
    add(0, name);
    for (size_t i = 0; i < options.links.size(); ++i) {
      Cost made = cost(problemOptions(options, options.links[i]));
      if (i == 0) {
        add(1, cgx::plot::bytesText(made.bytes));
        add(2, cgx::plot::format("%.4g", made.error));
      }
      // The step takes at least the time of its own computation.
      add(3 + i, durationText(std::max(made.seconds, profile.computeSeconds)));
    }
  };
  addRow("identity", [&](ProblemOptions problem) {
    problem.reference = kUncompressed;
    problem.references.clear();
    return Problem::make(profile, problem).reference;
  });
  addRow(shortCodecLabel(problemOptions(options, options.links.front()).reference),
         [&](const ProblemOptions &problem) { return Problem::make(profile, problem).reference; });
  for (size_t i = 0; i < plans.size(); ++i)
    addRow(options.plans[i] + " (" + plans[i].solver + ")", [&](const ProblemOptions &problem) {
      return costOf(plans[i], profile, problem, options.plans[i]);
    });
  std::fputs(cgx::plot::makeMarkdown(std::move(columns)).c_str(), streamOf(options));
}

std::string solverList() {
  std::string text;
  for (const Solver &solver : solvers())
    text += "  " + std::string(solver.name) + std::string(18 - std::string(solver.name).size(), ' ') +
            solver.description + "\n";
  return "SOLVERS\n" + text;
}

void addProblem(CLI::App &command, Options &options, bool manyLinks) {
  command.add_option("profile", options.profile, "Profile from cgx-run --profile")
      ->required()
      ->type_name("PROFILE.json");
  command
      .add_option("--reference", options.references,
                  "Codec whose error is the unit of --alpha; KIND=CODEC is that of gradients, weights or "
                  "activations alone, "
                  "and gives the errors of all kinds equal weight")
      ->take_all()
      ->expected(1)
      ->type_name("[KIND=]CODEC")
      ->capture_default_str()
      ->group("Problem");
  command.add_option("--exclude", options.exclude, "Candidates to leave out, such as bits=1")
      ->type_name("PARAMETERS")
      ->take_all()
      ->expected(1)
      ->group("Problem");
  CLI::Option *link = command
                          .add_option("--link", options.links,
                                      "Bandwidth of the slowest link, or a file of cgx-bench calibrate")
                          ->type_name("N{k,M,G}bit|machine.json")
                          ->capture_default_str()
                          ->group("Link");
  manyLinks ? link->take_all()->expected(1) : link->take_last()->expected(1);
  command.add_option("--latency", options.latency, "Latency of a collective on that link")
      ->type_name("N{us,ms,s}")
      ->capture_default_str()
      ->group("Link");
}

void addBounds(CLI::App &command, Options &options) {
  command.add_option("--alpha", options.alpha, "Largest error of the plan, as a multiple of the reference's")
      ->check(cgx::cli::finiteNumber())
      ->check(CLI::NonNegativeNumber)
      ->type_name("X")
      ->capture_default_str()
      ->group("Problem");
  command
      .add_option("--objective", options.objective,
                  "Minimize bytes, or time, which is the end of the last collective")
      ->check(CLI::IsMember({"bytes", "time"}))
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Problem");
  command.add_option("--max-time", options.maxTime, "Latest end of the last collective")
      ->type_name("N{us,ms,s}")
      ->group("Problem");
  command
      .add_option("--eta", options.solverOptions.eta, "accordion: change of the norm that counts as critical")
      ->check(cgx::cli::finiteNumber())
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group("Solver");
  command
      .add_option("--discretization", options.solverOptions.discretization,
                  "lgreco: number of discretization steps of the error")
      ->check(CLI::Range(1u, 1000000u))
      ->capture_default_str()
      ->group("Solver");
  command.add_option("--seed", options.solverOptions.seed, "Seed of kmeans and bayes")
      ->capture_default_str()
      ->group("Solver");
}

void addDrawing(CLI::App &command, Options &options, const char *what) {
  command.add_option("--svg", options.svg, what)->type_name("FILE.svg")->group("Output");
  command.add_option("--title", options.title, "Title of the drawing")->type_name("TEXT")->group("Output");
}

void describe(CLI::App &app, Options &options) {
  app.require_subcommand(1);
  CLI::App &solve = *app.add_subcommand("solve", "Make a plan from a profile, and print a table of it");
  addProblem(solve, options, /*manyLinks=*/false);
  addBounds(solve, options);
  solve.add_option("--solver", options.solver, "Solver to use; cgx-plan --help lists all")
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Solver");
  solve.add_option("-o,--output", options.output, "Where to write the plan")
      ->type_name("PLAN.json")
      ->group("Output");
  solve.add_flag("--quiet", options.quiet, "Print no table")->group("Output");
  addDrawing(solve, options, "Where to draw the bits of each layer");
  solve.callback([&] { runSolve(options); });

  CLI::App &show = *app.add_subcommand("show", "Show the codecs of plans");
  show.add_option("plans", options.plans, "Plans from cgx-plan solve")->required()->type_name("PLAN.json");
  addDrawing(show, options, "Where to draw the bits of each layer, a line for each plan");
  show.callback([&] { runShow(options); });

  CLI::App &compare = *app.add_subcommand("compare", "Compare all solvers on one profile");
  addProblem(compare, options, /*manyLinks=*/false);
  addBounds(compare, options);
  compare.add_option("--solvers", options.solvers, "Solvers to compare")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group("Solver");
  addDrawing(compare, options, "Where to draw error against cost, for bounds from 1/8 to 8 times alpha");
  compare.callback([&] { runCompare(options); });

  CLI::App &simulate = *app.add_subcommand("simulate", "Predict the time of a step for plans and links");
  addProblem(simulate, options, /*manyLinks=*/true);
  simulate.add_option("plans", options.plans, "Plans from cgx-plan solve")->type_name("PLAN.json");
  simulate.callback([&] { runSimulate(options); });
}

} // namespace

static int runTool(int argc, char **argv) {
  Options options;
  CLI::App app(kDescription + ("\n" + solverList()), "cgx-plan");
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  describe(app, options);
  try {
    return cgx::cli::parse(app, argc, argv).value_or(0);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "cgx-plan: error: %s\n", error.what());
    return 1;
  }
}

int main(int argc, char **argv) {
  return cgx::cli::runProgram("cgx-plan", [&] { return runTool(argc, argv); });
}
