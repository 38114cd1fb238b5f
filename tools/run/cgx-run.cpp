//===-- cgx-run.cpp - Trains or evaluates a step on N ranks -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Cli/CommandLine.h"
#include "cgx/Cli/ConfigFile.h"
#include "cgx/Cli/Program.h"
#include "cgx/Cli/TcpOptions.h"
#include "cgx/Cli/Transports.h"
#include "cgx/output/OutputFile.h"
#include "cgx/output/OutputFolder.h"
#include "cgx/run/AddressSpace.h"
#include "cgx/run/Checkpoints.h"
#include "cgx/run/DeviceProgram.h"
#include "cgx/run/Elastic.h"
#include "cgx/run/Error.h"
#include "cgx/run/FileSystem.h"
#include "cgx/run/Launch.h"
#include "cgx/run/Options.h"
#include "cgx/run/OutputLock.h"
#include "cgx/run/Report.h"
#include "cgx/run/Trace.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <unistd.h>

using namespace cgx::run;

namespace {

/// The exit status of a run that a signal stopped after a whole step, and that can go on.
constexpr int kStopped = 3;

constexpr const char *kDescription =
    R"(cgx-run - train or evaluate a compiled step on several ranks

Takes one step of a training loop, as text (step.mlir, compiled in memory) or as a
shared library (step.so, made by cgx-compile), and runs it again and again on N
ranks: it cuts state and batch as the exporting framework did, feeds results back
into the arguments that they update, and lets the ranks communicate over our
runtime. No Python and no framework are needed.

ARGUMENTS OF THE PROGRAM
  An argument is filled from, in this order:
    --set NAME=VALUE   a number, or one for each element; @step, the number t of the step, counted from 0;
                       linear(FROM,TO,STEPS), cosine(FROM,STEPS[,FLOOR]), exponential(FROM,STEPS,RATE)
                       or warmup_cosine(FROM,PEAK,WARMUP,STEPS[,END]), the schedules of optax at t;
                       key(SEED), as jax.random.key, or fold_in(SEED,@step), as
                       jax.random.fold_in(jax.random.key(SEED), t), which @step is for a u32[2] or
                       u32[4], with the SEED of --seed
    the state          --state, a tensor of the same name: "state['params']['w']", or
                       in the slash form "params/w"
    the data           --data, a tensor with the argument's name, or its last key,
                       whose first dimension counts samples; step k takes the samples
                       [k B, (k+1) B), B being the global batch. One that has a dimension
                       more than the argument has a value for each step; one of its shape,
                       where other tensors have other numbers of samples, is the same in all
  What a result feeds back is state and never data.
)";

constexpr const char *kFooter = R"(
EXAMPLES
  Train 440 steps on four processes, going through the data as often as it takes:
    cgx-run step.mlir --ranks 4 --state state.safetensors --data train.safetensors \
        --steps 440 --repeat --save trained.safetensors --report train.json
  The same at 4 bits:
    cgx-run step.mlir --compress "bits=4" --ranks 4 --state state.safetensors ...
  Evaluate, over the whole file:
    cgx-run eval.mlir --ranks 4 --state trained.safetensors --data validation.safetensors
  Train to step 10000, with the same command line again after every interruption:
    cgx-run step.mlir --ranks 4 --state state.safetensors --data train.safetensors --repeat \
        --until 10000 --resume checkpoints/ --save checkpoints/ --save-every 500 --keep-last 3
  Continue a run that was saved after step 440:
    cgx-run step.mlir --ranks 4 --resume trained.safetensors --data train.safetensors \
        --steps 440 --repeat
  Measure what other codecs would cost, in the last 10 of 200 steps, and use what is best:
    cgx-run step.mlir --ranks 4 --state state.safetensors --data train.safetensors \
        --steps 200 --repeat --profile profile.json
    cgx-plan solve profile.json -o plan.json
    cgx-run step.mlir ... --plan plan.json
  The same while training, from step 200 on, anew every 100 steps:
    cgx-run step.mlir ... --adapt lgreco --adapt-every 100 --warmup 200
  Fit the levels of 4 bits to weights and gradients in steps 100 and 1000 (QSDP, 5.6.2), and keep them:
    cgx-run step.mlir ... --learn-levels "steps=100,1000 bits=4 rounding=nearest" --write-plan plan.json
  One rank of a job that another launcher starts (RANK and WORLD_SIZE, or the variables of
  Open MPI, MPICH or Slurm, say which), on one host or, over MPI, on several:
    mpirun -np 4 cgx-run step.so --state state.safetensors --data train.safetensors
    mpirun -np 4 --hostfile hosts cgx-run step.so --transport mpi --state state.safetensors ...
  The same without any launcher: this on each host, with its own number; or on one host, without --rank:
    cgx-run step.so --transport tcp --rank 0 --ranks 4 --rendezvous host0:29500 --secret-file secret ...
  The same options in a file, and what is other this time:
    cgx-run --config cgx.toml --steps 10

FILES
  An output called '-' is standard output, and what else is said there goes to standard error. Files are
  replaced whole, behind links that lead to them; pipes and devices are written to.

SIGNALS
  On SIGINT, SIGTERM, SIGHUP or SIGUSR1 (which Slurm sends with --signal=USR1@60) to any of the processes all
  ranks finish the same step, save, and report. A second one ends them at once. They do the same when nobody
  reads any more what they print (SIGPIPE).
  With --elastic, SIGUSR2 to the process that started the others lets one more rank join.

EXIT STATUS
  0  all steps were done and all checks passed
  1  the input does not fit, a rank failed, or a check failed
  2  the command line is wrong
  3  a signal stopped the run after a whole step; what --save names has all that --resume needs
  128 + N  ended by signal N
)";

/// CLI11 would take -1 for a large unsigned number.
std::string checkWhole(const std::string &text) {
  bool whole = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return whole ? "" : "expected a whole number, got '" + text + "'";
}

/// Defines the options; the pointers stay into `options`.
void describe(CLI::App &app, Options &options) {
  app.add_option("program,--program", options.program, "The step: step.mlir or step.so")
      ->required()
      ->type_name("PROGRAM");
  app.add_option(
         "--compress", options.compress,
         "Compress the collectives of the text first, as cgx-opt --cgx-compress does, and print its report: "
         "\"bits=4\", \"codec=topk density=0.01 error-feedback=f32\", \"plan=plan.json\"")
      ->type_name(cgx::cli::kOptionsOfAnother)
      ->group("Input");
  app.add_option(
         "--local-steps", options.localSteps,
         "Let ranks train by themselves and average how far they came every so many steps, as cgx-opt "
         "--cgx-local-steps does, with --compress or exactly: \"every=10\", \"every=50 outer=nesterov<lr=0.7 "
         "momentum=0.9>\"")
      ->type_name(cgx::cli::kOptionsOfAnother)
      ->group("Input");
  app.add_option("--ranks", options.ranks, "Ranks to start; the program's own number by default")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("N")
      ->group("Ranks");
  app.add_option("--elastic", options.elastic,
                 "Go on without ranks that die, while at least so many are left, from the last outer step of "
                 "--local-steps; "
                 "SIGUSR2 lets one more rank join at the next")
      ->check(CLI::Range(uint32_t{1}, uint32_t{1} << 16))
      ->needs("--local-steps")
      ->type_name("MIN")
      ->group("Ranks");
  app.add_option(
         "--device", options.device,
         "What ranks compute on: native, the processor by cgx's own code; cpu, by XLA; or the PJRT plugin "
         "of that path (docs/devices.md)")
      ->type_name("native|cpu|PLUGIN.so")
      ->capture_default_str()
      ->group("Ranks");
  cgx::cli::takeTransport(app.add_option("--transport", options.transport))
      ->capture_default_str()
      ->group("Ranks");
  app.add_option(
         "--timeout", options.timeoutSeconds,
         "Longest wait for another rank, in seconds; one whose process runs is waited for 20 times as long")
      ->check(cgx::cli::finiteNumber())
      ->check(CLI::Range(0.001, 1e6))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group("Ranks");
  app.add_option("--rank", options.rank,
                 "Over tcp: the rank that this process is, of --ranks; all, if not given")
      ->check(CLI::Validator(checkWhole, ""))
      ->needs("--ranks")
      ->type_name("R")
      ->group("Ranks");
  app.add_option("--job", options.jobName,
                 "Name of the job, equal on its ranks; for ranks that another launcher starts")
      ->type_name("NAME")
      ->group("Ranks");
  app.add_option("--state", options.state, "First values of parameters, optimizer state, ...")
      ->type_name("FILE.safetensors")
      ->group("Input");
  app.add_option(
         "--resume", options.resume,
         "Go on where a run with --save ended: its state, step, seed and what its codecs remember; of a "
         "folder the newest that is sound; with --state, from there if there is nothing yet")
      ->type_name("FILE|FOLDER")
      ->group("Input");
  app.add_option(
         "--members", options.members,
         "With --local-steps: the rank of the checkpoint from whose state each rank goes on, where they are "
         "others: \"0,2,3\" leaves out rank 1; the first N by default, and for more of them rank 0")
      ->needs("--resume")
      ->type_name("RANKS")
      ->group("Input");
  app.add_option("--data", options.dataFiles,
                 "Samples; given again, or a folder, of which all files count by their names: one file "
                 "behind the other")
      ->type_name("FILE.safetensors|FOLDER")
      ->take_all()
      ->expected(1)
      ->group("Input");
  app.add_option("--eval", options.evaluate,
                 "A program that measures the training's state on samples of its own, while it trains")
      ->type_name("EVAL.mlir|EVAL.so")
      ->group("Validation");
  app.add_option("--eval-data", options.evaluateData, "Its samples, as for --data: all of them, each time")
      ->type_name("FILE.safetensors|FOLDER")
      ->take_all()
      ->expected(1)
      ->group("Validation");
  app.add_option(
         "--eval-every", options.evaluateEvery,
         "Steps of the training from one evaluation to the next; behind the last there is one as well")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("K")
      ->group("Validation");
  app.add_option(
         "--eval-set", options.evaluateValues,
         "Value of an argument of the evaluation; what it shares with the training has that of --set, "
         "if not given here")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1)
      ->group("Validation");
  app.add_option("--set", options.values,
                 "Value of an argument: numbers, @step, a schedule or a random key (see above)")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1)
      ->group("Input");
  app.add_option("--feed", options.feeds,
                 "The argument that takes the result in the next step; RESULT= takes it from all")
      ->type_name("RESULT=ARG")
      ->take_all()
      ->expected(1)
      ->group("Input");
  app.add_option("--steps", options.steps, "Steps to do; one pass over the data by default")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("K")
      ->group("Steps");
  app.add_option("--until", options.until, "The step of the training to end before, wherever the run begins")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("K")
      ->excludes("--steps")
      ->group("Steps");
  app.add_flag("--pad-last", options.padLast,
               "Fill the last batch of a pass with its first samples; else what fills none is left out")
      ->group("Steps");
  app.add_flag("--stop-on-nan", options.stopOnNan,
               "End, with an error, when the loss or the state is not finite")
      ->group("Steps");
  app.add_option("--first-step", options.firstStep, "Number of the first step, to continue a run")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("K")
      ->capture_default_str()
      ->excludes("--resume")
      ->group("Steps");
  app.add_flag("--repeat", options.repeat, "Start over where the data ends")->group("Steps");
  app.add_flag("--shuffle", options.shuffle, "Take samples in an order that --seed decides, new in each pass")
      ->group("Steps");
  app.add_option("--seed", options.seed, "Of stochastic rounding and of --shuffle; 0 by default")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("S")
      ->group("Steps");
  app.add_option("--plan", options.plan, "A plan of cgx-plan, whose codecs take the place of the program's")
      ->type_name("FILE.json")
      ->group("Codecs");
  CLI::Option *profile = app.add_option("--profile", options.profile,
                                        "Where to write what candidate codecs would cost, for cgx-plan")
                             ->type_name("FILE.json")
                             ->group("Codecs");
  app.add_option("--adapt", options.adapt,
                 "Make a new plan every --adapt-every steps, by this solver of cgx-plan, and go on with it")
      ->excludes(profile)
      ->type_name("SOLVER")
      ->group("Codecs");
  app.add_option(
         "--learn-levels", options.learnLevels,
         "Fit the levels of quantize to what is sent in these steps, such as \"steps=100,1000\", and go on "
         "with them: also kinds=weight,gradient (the usual ones), activation or outer_gradient, and bits, "
         "bucket, rounding or scale in place of the program's")
      ->excludes("--adapt")
      ->type_name("\"steps=K,...\"")
      ->group("Codecs");
  app.add_option("--write-plan", options.writePlan, "Where to write the plan that holds at the end")
      ->type_name("FILE.json")
      ->group("Codecs");
  auto addCount = [&](const char *name, uint64_t &value, const char *description) {
    app.add_option(name, value, description)
        ->check(CLI::Validator(checkWhole, ""))
        ->type_name("K")
        ->capture_default_str()
        ->group("Codecs");
  };
  addCount("--adapt-every", options.adaptEvery, "Steps from one plan to the next");
  addCount("--warmup", options.warmup, "Steps before the first plan");
  addCount("--profile-steps", options.profileSteps,
           "Steps that are added up for a profile or a plan: the last");
  app.add_option(
         "--candidate", options.candidates,
         "Codecs to measure; by default quantize bits=2..8 bucket=128|512; KIND=CODEC on layers of one kind, "
         "such as \"weight=quantize bits=4..8 bucket=1024\", which then has no others")
      ->take_all()
      ->expected(1)
      ->type_name("[KIND=]CODEC")
      ->group("Codecs");
  app.add_option("--reference", options.references,
                 "The codec whose error plans may make; KIND=CODEC is that of one kind of layers, and makes "
                 "errors of "
                 "kinds count alike")
      ->take_all()
      ->expected(1)
      ->type_name("[KIND=]CODEC")
      ->capture_default_str()
      ->group("Codecs");
  app.add_option("--messages-in", options.messagesIn,
                 "Keep messages of codecs with delta in mapped files of this folder, which go with the run; "
                 "else they are in memory")
      ->type_name("FOLDER")
      ->group("Codecs");
  app.add_option("--alpha", options.alpha, "Error that plans may make, in errors of the reference")
      ->check(cgx::cli::finiteNumber())
      ->check(CLI::NonNegativeNumber)
      ->type_name("X")
      ->capture_default_str()
      ->group("Codecs");
  app.add_option(
         "--save", options.save,
         "Where to write state and codecs' memory after the last step; in a folder, or a name that ends "
         "in '/', each checkpoint is a file of its own")
      ->type_name("FILE.safetensors|FOLDER")
      ->group("Output");
  app.add_option("--save-every", options.saveEvery, "Steps of the training from one checkpoint to the next")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("K")
      ->group("Output");
  app.add_option("--keep-last", options.keepLast,
                 "Checkpoints of a folder that stay: the last; all by default")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("K")
      ->group("Output");
  app.add_option("--keep-best", options.keepBest,
                 "The metric of which the best checkpoint stays as well, as best.safetensors: loss, "
                 "eval.accuracy:max")
      ->type_name("METRIC[:min|:max]")
      ->group("Output");
  app.add_option("--report", options.report,
                 "Where to write losses, speed and bytes (schema in tools/run/README.md)")
      ->type_name("FILE.json")
      ->group("Output");
  app.add_option(
         "--metrics", options.metrics,
         "Where to write a line for each step as it ends: losses, seconds, bytes, share of communication, "
         "changes of codecs. JSON, columns where the name ends in .csv, or events for TensorBoard where it "
         "contains tfevents; a run that is resumed goes on there")
      ->type_name("FILE.jsonl|FILE.csv|FILE.tfevents")
      ->group("Output");
  app.add_option("--trace", options.trace,
                 "Where to write what each rank did when, for Perfetto (ui.perfetto.dev)")
      ->type_name("FILE.json")
      ->group("Output");
  app.add_option(
         "--log-every", options.logEvery,
         "Steps between lines of progress; about a second by default, and in logs more as the run goes on")
      ->check(CLI::Validator(checkWhole, ""))
      ->type_name("K")
      ->group("Output");
  app.add_flag(
         "--no-cache", options.noCache,
         "Compile the text anew, and keep nothing for the next start (in $CGX_CACHE_DIR, else ~/.cache/cgx)")
      ->group("Input");
  app.add_option(
         "--progress", options.progress,
         "Lines of progress while it compiles and trains: always, or never; warnings and the summary stay")
      ->check(CLI::IsMember({"always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str()
      ->group("Output");
  app.add_flag("--quiet", options.quiet, "No progress and no summary")->group("Output");
  cgx::cli::addTcpOptions(app);
  cgx::cli::addConfigFile(app, {"compress"});
}

/// Rejects options that mean nothing without another one, since they would be ignored in silence.
void checkTogether(const CLI::App &app) {
  struct Dependent {
    const char *option;
    std::vector<const char *> needs; ///< one of these
  };
  const Dependent dependents[] = {{"--adapt-every", {"--adapt"}},
                                  {"--warmup", {"--adapt"}},
                                  {"--alpha", {"--adapt"}},
                                  {"--reference", {"--adapt"}},
                                  {"--candidate", {"--profile", "--adapt"}},
                                  {"--profile-steps", {"--profile", "--adapt"}},
                                  {"--write-plan", {"--plan", "--adapt", "--learn-levels", "--resume"}},
                                  {"--save-every", {"--save"}},
                                  {"--keep-last", {"--save"}},
                                  {"--keep-best", {"--save"}},
                                  {"--eval-data", {"--eval"}},
                                  {"--eval-every", {"--eval"}},
                                  {"--eval-set", {"--eval"}},
                                  {"--shuffle", {"--data"}},
                                  {"--pad-last", {"--data"}}};
  for (const auto &[option, needs] : dependents) {
    const bool isMet =
        std::any_of(needs.begin(), needs.end(), [&](const char *other) { return app.count(other) != 0; });
    if (app.count(option) == 0 || isMet)
      continue;
    std::string others;
    for (const char *other : needs)
      others += (others.empty() ? "" : " or ") + std::string(other);
    throw CLI::RequiresError(option, others);
  }
}

/// Ranks of one job find each other by this name.
/// For ranks that this process starts, and which need not be told it: no two runs at once have one, also
/// where a script gives both the same --job.
std::string uniqueJobName(const std::string &given) {
  auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return (given.empty() ? "run" : given) + "-" + std::to_string(::getpid()) + "-" + std::to_string(now);
}

Program loadProgram(const Options &options) {
  if (isLibrary(options.program)) {
    if (options.compress || options.localSteps)
      throw Error(std::string("expected the text of a step with ") +
                  (options.compress ? "--compress" : "--local-steps") + ", got the library '" +
                  options.program +
                  "': its collectives are what cgx-opt made of them before it was compiled");
    if (options.device != kNativeDevice)
      throw Error("expected the text of a step with --device " + options.device + ", got the library '" +
                  options.program + "', which is native code: give step.mlir, which it was compiled from");
    return openLibrary(options.program);
  }
  return compileStep(options);
}

void noteUnfinishedPlan(const Job &job, const Outcome &first) {
  uint64_t end = job.firstStep + first.steps;
  if (job.planning.adapts() && first.steps != 0 && job.planning.isProfiled(end - 1, end) &&
      !job.planning.isBoundary(end))
    std::fprintf(stderr,
                 "cgx-run: note: step %llu is among those that the next plan is made of: a run that goes "
                 "on from here makes it of those that are left\n",
                 static_cast<unsigned long long>(end));
}

std::vector<std::string> outputsOf(const Options &options) {
  return {options.save, options.report, options.trace, options.profile, options.metrics, options.writePlan};
}

/// The end of a run, which writes all files and does all checks, even where some of them fail.
class Ending {
public:
  Ending(const Options &options, const Job &job, const std::vector<Outcome> &outcomes)
      : options(options), job(job), outcomes(outcomes) {}

  /// Checks what the ranks brought back, writes all files and the summary, and only then throws Error.
  void run() {
    std::vector<std::vector<uint64_t>> digests;
    for (const Outcome &outcome : outcomes)
      digests.push_back(outcome.hashes);
    const std::vector<Disagreement> disagreements = findDisagreements(job, digests);
    if (!disagreements.empty())
      problems.push_back(cgx::run::describe(job, disagreements, outcomes[0].steps));
    const std::optional<Unsound> unsound = findUnsound(disagreements);
    save(unsound);
    tryTo([&] { report(disagreements); });
    if (!options.trace.empty())
      tryTo([&] { replaceFile(options.trace, writeTrace(outcomes)); });
    if (!options.profile.empty() && outcomes[0].steps == job.steps)
      tryTo([&] { replaceFile(options.profile, outcomes[0].profile); });
    if (!options.writePlan.empty())
      tryTo([&] { writePlan(); });
    throwAll();
  }

private:
  void tryTo(const std::function<void()> &body) {
    try {
      body();
    } catch (const std::exception &error) {
      problems.push_back(error.what());
    }
  }

  /// Why the state is none to go on from.
  std::optional<Unsound> findUnsound(std::span<const Disagreement> disagreements) {
    if (!disagreements.empty())
      return Unsound{"cgx.disagreement", problems[0]};
    const Outcome &first = outcomes[0];
    const bool isLossFinite =
        !job.scalars.loss || first.steps == 0 || std::isfinite(first.scalars[*job.scalars.loss].back());
    if (job.stopOnNan && first.steps < job.steps && (!first.notFinite.empty() || !isLossFinite))
      problems.push_back(
          "stopped after step " + std::to_string(job.firstStep + first.steps - 1) + ", because " +
          (first.notFinite.empty() ? "the loss is not finite" : describeNotFinite(job, first)));
    if (first.notFinite.empty())
      return std::nullopt;
    return Unsound{"cgx.not_finite", describeNotFinite(job, first)};
  }

  void save(const std::optional<Unsound> &unsound) {
    if (options.save.empty())
      return;
    tryTo([&] {
      if (!unsound) {
        saveCheckpoint(job, outcomes);
        return noteUnfinishedPlan(job, outcomes[0]);
      }
      const bool differs = unsound->key == "cgx.disagreement";
      const std::string wanted = checkpointPath(job.saving, job.firstStep + outcomes[0].steps);
      const std::string path = besidePath(wanted, differs ? "disagreement" : "not-finite");
      saveState(job, outcomes, path, unsound);
      const std::string where = "state is in '" + path + "'" +
                                (differs ? ", the first holder's where they differ; '" : "; '") + wanted +
                                "' was not written";
      if (differs)
        problems[0] += "\n  their " + where;
      else
        problems.push_back(unsound->reason + ": the " + where);
    });
  }

  void writePlan() {
    if (outcomes[0].plans.empty())
      throw Error("'" + options.writePlan + "' was not written: no step had a plan");
    replaceFile(options.writePlan, outcomes[0].plans.back().json);
  }

  void report(std::span<const Disagreement> disagreements) {
    const Report made = makeReport(job, outcomes, disagreements);
    if (!made.problems.empty())
      tryTo([&] {
        throwProblems("the transport did not send what the program's manifest promises", made.problems);
      });
    if (!options.quiet)
      std::fputs(summarize(made.text).c_str(), cgx::streamBeside(outputsOf(options)));
    if (!options.report.empty())
      replaceFile(options.report, made.text);
  }

  void throwAll() const {
    std::string text;
    for (const std::string &problem : problems)
      text += (text.empty() ? "" : "\ncgx-run: error: ") + problem;
    if (!text.empty())
      throw Error(text);
  }

  const Options &options;
  const Job &job;
  const std::vector<Outcome> &outcomes;
  std::vector<std::string> problems;
};

/// The exit status: 0, or what says that a signal ended the run after a whole step.
int finish(const Options &options, const Job &job, const std::vector<Outcome> &outcomes, uint32_t rank = 0) {
  if (rank == 0)
    Ending(options, job, outcomes).run();
  const Outcome &own = outcomes[rank];
  if (own.stopSignal == 0)
    return 0;
  if (options.save.empty()) // nobody can go on from here
    throw Interrupted{own.stopSignal};
  if (rank == 0)
    std::fprintf(stderr, "cgx-run: stopped by signal %d (%s) after %llu of %llu steps: --resume %s goes on\n",
                 own.stopSignal, ::strsignal(own.stopSignal), static_cast<unsigned long long>(own.steps),
                 static_cast<unsigned long long>(job.steps), options.save.c_str());
  return kStopped;
}

/// Makes the folder of checkpoints, where --save names one that is not there yet.
void makeFolder(const std::string &save) {
  if (!save.ends_with('/'))
    return;
  if (const std::string error = cgx::makeOutputFolder(save); !error.empty())
    throw Error(error);
}

/// Returns the files that a run reads and must not change. It may replace the state and a plan by new ones.
std::vector<std::string> inputsOf(const Options &options) {
  std::vector<std::string> inputs = {options.program, options.evaluate};
  for (const std::vector<std::string> *files : {&options.dataFiles, &options.evaluateData})
    inputs.insert(inputs.end(), files->begin(), files->end());
  return inputs;
}

/// A file that cannot be written is better known before the first step, and so are two that would be mixed,
/// and one that would take the place of what the run reads.
void checkWritable(const Options &options) {
  std::string printed;
  std::vector<std::string> seen;
  const std::vector<std::string> inputs = inputsOf(options);
  for (const std::string &path : outputsOf(options)) {
    std::error_code none;
    if (path.empty() ||
        (path == options.save && (path.ends_with('/') || std::filesystem::is_directory(path, none))))
      continue; // a folder shows when it is made
    if (std::string error = cgx::checkOutput(path); !error.empty())
      throw Error(error);
    for (const std::string &input : inputs)
      if (!input.empty() && cgx::isSameFile(path, input))
        throw Error("expected an output that is no input, got '" + path + "', which this run reads");
    for (const std::string &other : seen)
      if (cgx::isSameFile(path, other))
        throw Error("expected a file for each output, got '" + other + "' and '" + path + "', which are one");
    seen.push_back(path);
    if (!cgx::isStandardOutput(path))
      continue;
    if (!printed.empty())
      throw Error("expected one output at most on standard output, got '" + printed + "' and '" + path + "'");
    printed = path;
  }
}

/// Two runs at once would each leave half of an output, and both end well.
std::vector<OutputLock> lockOutputs(const Options &options) {
  const auto longestWait = std::chrono::milliseconds(int64_t(options.timeoutSeconds * 1000) + 5000);
  std::vector<OutputLock> locks;
  for (const std::string &output : outputsOf(options))
    locks.emplace_back(output, longestWait);
  return locks;
}

void sayNothingToDo(const Job &job) {
  std::fprintf(stderr, "cgx-run: nothing to do, and nothing is written: '%s' has all %llu steps\n",
               job.checkpoint->path().c_str(), static_cast<unsigned long long>(job.firstStep));
}

/// Ranks find each other in shared memory, by the name of their job.
void checkOneHost(const LaunchedRank &membership, const Options &options) {
  if (membership.localRanks.value_or(membership.ranks) != membership.ranks)
    throw Error("the job has " + std::to_string(membership.ranks) + " ranks, of which " +
                std::to_string(*membership.localRanks) +
                " are on this host: --transport shm needs all on one, --transport mpi does not");
  if (options.jobName.empty())
    throw Error(membership.launcher + " is set (" + std::to_string(membership.rank) + " of " +
                std::to_string(membership.ranks) +
                ") and makes this a rank of a job without a name: give one with --job; if it is left over in "
                "this shell, unset it, or start all ranks here with --ranks N");
}

bool needsMpi(const Options &options) { return options.transport.ends_with("mpi"); }

/// The rank that the user says this process is.
std::optional<LaunchedRank> givenMembership(const Options &options) {
  if (!options.rank)
    return std::nullopt;
  if (!cgx::cli::meetsOverTcp(options.transport))
    throw Error("expected --transport tcp, shm+tcp or nccl+tcp with --rank, got " + options.transport);
  if (*options.rank >= *options.ranks)
    throw Error("expected --rank to be below --ranks " + std::to_string(*options.ranks) + ", got " +
                std::to_string(*options.rank));
  return LaunchedRank{*options.rank, *options.ranks, "--rank", "tcp", {}};
}

/// Returns the options by which the evaluation is loaded, with the state of the training.
Options evaluationOptions(const Options &options) {
  Options own;
  own.program = options.evaluate;
  own.state = options.resume.empty() ? options.state : options.resume;
  own.dataFiles = options.evaluateData;
  own.quiet = options.quiet;
  own.noCache = options.noCache;
  own.device = options.device;
  own.elastic = options.elastic;
  own.ranks = options.elastic ? options.ranks : std::nullopt;
  own.isHandedOn = options.isHandedOn;
  chooseData(own);
  return own;
}

/// Ranks read where their messages lie, in threads and processes of this program.
void placeMessages(const std::string &folder) {
  if (folder.empty())
    return;
  if (!std::filesystem::is_directory(folder))
    throw Error("expected --messages-in to be a folder, got '" + folder + "'");
  ::setenv("CGX_MESSAGES_IN", std::filesystem::absolute(folder).c_str(), /*replace=*/1);
}

/// Ends the process here, where it would wait at its end for threads of OpenBLAS that wait for memory.
void expectAddresses(uint32_t ranks) {
  const std::string lack = lackOfAddresses(ranks);
  if (lack.empty())
    return;
  std::fprintf(stderr, "cgx-run: error: %s\n", lack.c_str());
  std::fflush(nullptr);
  ::_exit(1);
}

/// The job of a number of ranks, with all that it reads.
std::unique_ptr<Prepared> prepare(const Options &options) {
  auto prepared = std::make_unique<Prepared>(options);
  prepared->job = prepareJob(options, prepared->files, loadProgram(options));
  if (!options.isHandedOn)
    checkSavingFolder(prepared->job);
  expectAddresses(options.transport == "inproc" ? prepared->job.manifest.ranks : 1);
  if (options.evaluate.empty())
    return prepared;
  Options own = evaluationOptions(options);
  prepared->evaluated.emplace(own);
  addEvaluation(prepared->job, options, *prepared->evaluated, loadProgram(own));
  return prepared;
}

/// A job that may lose ranks and get others: this process starts all of them.
int runElastically(Options options, const std::optional<LaunchedRank> &membership) {
  if (membership)
    throw Error(
        "expected --elastic where one cgx-run starts all ranks, on one host, got rank " +
        std::to_string(membership->rank) + " of " + std::to_string(membership->ranks) + " (" +
        membership->launcher +
        "): when a host of several is lost, start the others again with --resume, which goes on behind "
        "the last outer step that was saved, and with --members, which says whose state each rank has");
  if (options.transport != "shm" && !(options.transport == "tcp" || options.transport == "shm+tcp"))
    throw Error("expected --transport shm, tcp or shm+tcp with --elastic, got " + options.transport);
  options.jobName = uniqueJobName(options.jobName);
  const Start start = [&](const Job &job) {
    std::optional<cgx::cli::OwnRendezvous> rendezvous;
    if (cgx::cli::meetsOverTcp(job.transport))
      rendezvous.emplace();
    return watchProcesses(job);
  };
  std::unique_ptr<Prepared> prepared;
  const std::vector<Outcome> outcomes = runElastic(options, prepare, start, prepared);
  if (outcomes.empty()) {
    sayNothingToDo(prepared->job);
    return 0;
  }
  return finish(options, prepared->job, outcomes);
}

int run(Options options) {
  expectAddresses(1); // before other errors
  placeMessages(options.messagesIn);
  if (options.device != kNativeDevice && options.transport == "inproc")
    throw Error("expected ranks in processes of their own with --device " + options.device +
                ", each with a device, got --transport inproc: shm is the default");
  std::optional<LaunchedRank> membership = givenMembership(options);
  if (!membership && !options.ranks)
    membership = findMembership();
  if (membership) {
    options.ranks = membership->ranks;
    options.jobName = options.jobName.empty() ? membership->jobName : options.jobName;
    if (options.transport == "inproc")
      throw Error("expected --transport shm or mpi for ranks in processes of their own, of which " +
                  membership->launcher + " makes this one, got inproc; --ranks N starts all ranks here");
    if (options.transport == "shm")
      checkOneHost(*membership, options);
    options.quiet = options.quiet || membership->rank != 0;
  }
  chooseData(options);
  checkWritable(options);
  if (options.adaptEvery == 0 || options.profileSteps == 0)
    throw Error("expected --adapt-every and --profile-steps above 0");
  makeFolder(options.save);
  const bool writes = !membership || membership->rank == 0;
  const std::vector<OutputLock> locks = writes ? lockOutputs(options) : std::vector<OutputLock>();
  chooseCheckpoint(options);
  if (options.elastic)
    return runElastically(options, membership);
  std::unique_ptr<Prepared> prepared = prepare(options);
  Job &job = prepared->job;
  if (hasNothingToDo(job)) {
    if (writes)
      sayNothingToDo(job);
    return 0;
  }
  if (membership) {
    job.name = options.jobName;
    bool remote = options.transport != "shm";
    std::vector<Outcome> outcomes =
        remote ? runRemoteMember(job, membership->rank) : runMember(job, membership->rank);
    return finish(options, job, outcomes, membership->rank);
  }
  if (needsMpi(options))
    throw Error("expected mpirun to start the ranks of --transport " + options.transport + ": mpirun -n " +
                std::to_string(job.manifest.ranks) + " cgx-run ... --transport " + options.transport +
                ", without --ranks");
  job.name = uniqueJobName(options.jobName);
  std::optional<cgx::cli::OwnRendezvous> rendezvous;
  if (cgx::cli::meetsOverTcp(options.transport))
    rendezvous.emplace();
  return finish(options, job, options.transport == "inproc" ? runThreads(job) : runProcesses(job));
}

} // namespace

/// Returns advice for options that other launchers have.
static cgx::cli::Advices advices() {
  const std::string codecs = "options of codecs are one value, --compress \"bits=4 bucket=128\"";
  const std::string values = "arguments of the step are set by --set lr=0.1";
  const std::string batch = "the size of a batch is that of the exported step";
  return {{"--bits", codecs},
          {"--codec", codecs},
          {"--bucket", codecs},
          {"--exclude", codecs},
          {"--error-feedback", codecs},
          {"--lr", values},
          {"--learning-rate", values},
          {"--batch", batch},
          {"--batch-size", batch},
          {"--global-batch", batch},
          {"--checkpoint", "checkpoints are written by --save FOLDER/ --save-every K"},
          {"--checkpoint-every", "checkpoints are written by --save FOLDER/ --save-every K"},
          {"--epochs", "give the number of steps, --steps K --repeat; one pass over the data is the default"},
          {"--gpu", "cgx-run trains on processors; on GPUs train in JAX or PyTorch, with cgx.compress"}};
}

static int runTool(int argc, char **argv) {
  Options options;
  CLI::App app(kDescription, "cgx-run");
  app.footer(kFooter);
  app.get_formatter()->column_width(34);
  describe(app, options);
  app.callback([&app] { checkTogether(app); });
  if (std::optional<int> status = cgx::cli::parse(app, argc, argv, advices()))
    return *status;
  if (app.count("--print-config") != 0) {
    std::fputs(cgx::cli::writeConfigFile(app).c_str(), stdout);
    return 0;
  }
  try {
    return run(std::move(options));
  } catch (const Interrupted &interrupted) {
    std::fprintf(stderr, "cgx-run: interrupted by signal %d (%s)\n", interrupted.signal,
                 ::strsignal(interrupted.signal));
    return 128 + interrupted.signal;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "cgx-run: error: %s\n", error.what());
    return 1;
  }
}

int main(int argc, char **argv) {
  return cgx::cli::runProgram("cgx-run", [&] { return runTool(argc, argv); });
}
