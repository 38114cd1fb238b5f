//===-- cgx-bench.cpp - Speed of codecs and collectives ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Launch.h"
#include "Machine.h"
#include "Reference.h"
#include "Simulate.h"

#include "cgx/Cli/CommandLine.h"
#include "cgx/Cli/Program.h"
#include "cgx/Cli/TcpOptions.h"
#include "cgx/Cli/Transports.h"
#include "cgx/output/OutputFile.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <unistd.h>

using namespace cgx::bench;
namespace formats = cgx::formats;

namespace {

constexpr const char *kDescription = R"(cgx-bench - how fast codecs and collectives are

Measures collectives of f32 with the given codecs, and uncompressed (identity), over
threads, processes, or the ranks of mpirun. All variants of a size run in turn, after a
barrier. The table has the median and quartiles, over the repetitions, of the slowest
rank's time; bytes of uncompressed tensor per second (GB/s); the bytes that a link would
carry for them uncompressed (bus, as nccl-tests counts); wrong elements; and the speedup
over the uncompressed collective and, under mpirun, over MPI's own, in this run. Each
variant runs once before it is timed: uncompressed results are compared with the expected
ones, those of codecs must be finite and equal on all ranks. Times on shared machines
vary: compare ratios, and look at the quartiles.)";

constexpr const char *kFooter = R"(
EXAMPLES
  Two processes of this host, three sizes, 4 bits against uncompressed:
    cgx-bench all-reduce --ranks 2 --sizes 4KiB,1MiB,64MiB --codec quantize
  Compare with MPI_Allreduce, over shared memory or over MPI:
    mpirun -np 2 cgx-bench all-reduce --transport shm --sizes 64MiB --codec "quantize bits=8 bucket=512"
    mpirun -np 4 -mca mpi_yield_when_idle 1 cgx-bench all-reduce --transport mpi --sizes 16MiB
  Over TCP; under mpirun, which then only starts the ranks, with a rendezvous (tools/netlab gives one):
    cgx-bench all-reduce --transport tcp --ranks 4 --sizes 16MiB --codec quantize
  Measure the machine, for cgx-opt --cgx-compress="machine=machine.json"; predict a step on 2 to 4096 such ranks:
    cgx-bench calibrate --transport shm --ranks 2 -o machine.json
    cgx-bench simulate step.so --machine machine.json --local 8 --link 10
  Buffers on GPUs, which the ranks of this host use in turn, or one GPU for each rank and NCCL:
    cgx-bench all-reduce --device cuda --ranks 2 --sizes 64MiB --codec quantize
    cgx-bench all-reduce --device cuda --transport nccl --ranks 8 --sizes 64MiB --codec quantize
  Codecs on memory, against memcpy, or on a GPU, against a copy there:
    cgx-bench codec --help
    cgx-bench codec --device cuda
)";

constexpr const char *kCollectives[] = {"all-reduce", "all-gather", "reduce-scatter", "broadcast",
                                        "all-to-all"};

void write(const std::string &path, const std::string &text) {
  if (std::string error = cgx::writeOutput(path, text); !error.empty())
    throw Error(error);
}

void report(const Options &options, const std::vector<Series> &series, double roundTrip, bool underMpi) {
  std::FILE *stream = cgx::streamBeside({&options.json, 1});
  std::fprintf(stream,
               "%s of f32%s, %u ranks, %s; %u repetitions; a flag goes to another core and back in %.2f us\n",
               options.collective.c_str(), options.device == "cuda" ? " on a GPU" : "", options.ranks,
               options.transport.c_str(), options.repetitions, roundTrip);
  std::fputs(tableOf(options, series).c_str(), stream);
  std::vector<std::unique_ptr<Reference>> references = makeReferences();
  std::string libraries;
  for (const std::unique_ptr<Reference> &reference : references)
    libraries += (libraries.empty() ? "" : " and ") + reference->library();
  if (references.empty())
    std::fputs("this build has neither MPI nor Gloo to compare with\n", stream);
  else if (!underMpi)
    std::fprintf(stream, "start cgx-bench under mpirun to compare with %s in the same run\n",
                 libraries.c_str());
  if (!options.json.empty())
    write(options.json, jsonOf(options, series, roundTrip));
  for (const Series &one : series)
    if (one.wrong != 0)
      throw Error("expected no wrong element from " + one.variant + " on " + std::to_string(one.bytes) +
                  " bytes, got " + std::to_string(one.wrong));
}

/// The command line of a benchmark of a collective.
struct Typed {
  std::vector<std::string> sizes = {"4KiB", "1MiB", "64MiB"}, codecs, algorithms;
  std::optional<uint32_t> ranks;
  std::optional<std::string> transport;
  uint32_t local = 1;
};

void runCollective(Options options, const Typed &typed) {
  for (char &c : options.collective)
    c = c == '-' ? '_' : c;
  for (const std::string &size : typed.sizes)
    options.sizes.push_back(parseSize(size));
  std::vector<Variant> codecs = {parseCodec("identity")};
  for (const std::string &codec : typed.codecs)
    if (Variant variant = parseCodec(codec); variant.name != "identity")
      codecs.push_back(std::move(variant));
  options.variants = codecs;
  for (const std::string &algorithm : typed.algorithms)
    for (Variant variant : codecs) {
      variant.schedule = parseAlgorithm(algorithm, typed.local);
      variant.name += " by " + algorithm;
      options.variants.push_back(std::move(variant));
    }
  Launch launch = makeLaunch(typed.ranks, typed.transport);
  options.ranks = launch.ranks;
  options.transport = launch.transport;
  double roundTrip = launch.reports() ? spinRoundTrip() : 0;
  std::vector<Series> series;
  bool withReferences = launch.member.has_value();
  runRanks(launch, [&](uint32_t rank) {
    std::vector<Series> own = runRank(options, launch.job, rank, withReferences);
    if (rank == 0)
      series = std::move(own);
  });
  if (launch.reports())
    report(options, series, roundTrip, launch.member.has_value());
}

/// The command line of a calibration.
struct TypedMachine {
  std::optional<uint32_t> ranks, local;
  std::optional<std::string> transport;
  std::vector<std::string> codecs;
  std::string bytes = "8MiB", output;
  uint32_t repetitions = 9;
};

void runCalibrate(const TypedMachine &typed) {
  Launch launch = makeLaunch(typed.ranks, typed.transport);
  CalibrateOptions options{.transport = launch.transport,
                           .job = launch.job,
                           .ranks = launch.ranks,
                           .codecs = commonCodecs(),
                           .bytes = parseSize(typed.bytes),
                           .repetitions = typed.repetitions};
  for (const std::string &codec : typed.codecs)
    options.codecs.insert(options.codecs.begin(), parseCodec(codec).codec);
  // If all ranks are on one host, each counts as a host of its own.
  uint32_t local = launch.member ? launch.member->localRanks : 1;
  options.local = typed.local.value_or(local < launch.ranks && launch.ranks % local == 0 ? local : 1);
  if (options.ranks < 2 || options.ranks % options.local != 0)
    throw Error("expected at least 2 ranks, on hosts of equal size, got " + std::to_string(options.ranks) +
                " ranks on hosts of " + std::to_string(options.local));
  formats::Machine machine;
  runRanks(launch, [&](uint32_t rank) {
    CalibrateOptions own = options;
    own.rank = rank;
    formats::Machine measured = calibrate(own);
    if (rank == 0)
      machine = std::move(measured);
  });
  if (!launch.reports())
    return;
  write(typed.output, formats::writeMachine(machine));
  std::fprintf(cgx::streamBeside({&typed.output, 1}),
               "%s: %.1f us and %.3f GB/s between %s, %.3f GB/s of adding up, %zu codecs\n",
               typed.output.c_str(), machine.model.link.latency_seconds * 1e6,
               machine.model.link.bytes_per_second / 1e9, options.local > 1 ? "hosts" : "ranks",
               machine.model.reduce_bytes_per_second / 1e9, machine.codecs.size());
}

/// The command line of a simulation.
struct TypedSimulation {
  std::string program, machine, algorithm, json;
  std::vector<uint32_t> ranks;
  std::optional<double> gigabits, microseconds, cores;
  uint32_t local = 1;
};

/// The share of a link's bits that carry payload: 1448 bytes of a TCP segment in the 1538 that its Ethernet
/// frame takes.
constexpr double kPayloadShare = 1448.0 / 1538;

void runSimulate(const TypedSimulation &typed) {
  formats::Machine machine = loadMachine(typed.machine);
  // A link without a bandwidth limit is limited by the cores that drive it.
  if (typed.cores)
    machine.model.link.busy_seconds_per_byte = 1 / machine.model.link.bytes_per_second;
  if (typed.gigabits)
    machine.model.link.bytes_per_second = *typed.gigabits * 1e9 / 8 * kPayloadShare;
  if (typed.microseconds)
    machine.model.link.latency_seconds = *typed.microseconds * 1e-6;
  SimulateOptions options{
      .ranks = typed.ranks, .local = typed.local, .cores = typed.cores, .isBest = typed.algorithm == "best"};
  if (options.ranks.empty())
    for (uint32_t ranks = std::max(2u, typed.local); ranks <= 4096; ranks *= 2)
      options.ranks.push_back(ranks);
  if (!typed.algorithm.empty() && !options.isBest)
    options.algorithm = parseAlgorithm(typed.algorithm, typed.local).algorithm;
  std::vector<Prediction> predictions = simulate(loadProgram(typed.program), machine, options);
  std::fputs(tableOf(predictions).c_str(), cgx::streamBeside({&typed.json, 1}));
  if (typed.json.empty())
    return;
  write(typed.json, jsonOf(predictions));
}

/// Runs `cgx-bench codec ...` with the program that lies beside this one.
int runCodecBench(int argc, char **argv) {
  std::string path(4096, '\0');
  ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<size_t>(length) : 0);
  path = path.substr(0, path.rfind('/') + 1) + "cgx-codec-bench";
  std::vector<char *> arguments = {path.data()};
  for (int i = 2; i < argc; ++i)
    arguments.push_back(argv[i]);
  arguments.push_back(nullptr);
  ::execv(path.c_str(), arguments.data());
  std::fprintf(stderr, "cgx-bench: error: cannot run %s: configure with CGX_BUILD_BENCHMARKS=ON\n",
               path.c_str());
  return 1;
}

void addLaunchOptions(CLI::App &command, std::optional<uint32_t> &ranks,
                      std::optional<std::string> &transport) {
  command.add_option("--ranks", ranks, "ranks to start (2), or as mpirun started")
      ->check(CLI::Range(1u, 256u));
  cgx::cli::takeTransport(command.add_option("--transport", transport))->default_str("shm, under mpirun mpi");
  cgx::cli::addTcpOptions(command);
}

void addCollective(CLI::App &app, const char *collective, Options &options, Typed &typed) {
  CLI::App *command =
      app.add_subcommand(collective, std::string(collective) + ", exact and with each --codec");
  command->callback([&options, collective] { options.collective = collective; });
  addLaunchOptions(*command, typed.ranks, typed.transport);
  command->add_option("--device", options.device, "memory of the buffers: cpu (default) or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_option("--sizes", typed.sizes, "bytes that each rank contributes (4KiB,1MiB,64MiB)")
      ->delimiter(',');
  command->add_option("--codec", typed.codecs, "such as \"quantize bits=4 bucket=128\"; may be repeated")
      ->type_name("CODEC")
      ->take_all()
      ->expected(1);
  if (collective == std::string("all-reduce")) {
    command
        ->add_option("--algorithm", typed.algorithms,
                     "one of " CGX_ALGORITHM_NAMES ", in addition to the default; each with every codec")
        ->delimiter(',');
    command->add_option("--local", typed.local, "hierarchical: ranks per host (1)")
        ->check(CLI::Range(1u, 256u));
  }
  command->add_option("--repetitions", options.repetitions, "repetitions of each variant (21)")
      ->check(CLI::Range(1u, 100000u));
  command->add_option("--warmup", options.warmup, "rounds before the timed ones (3)")
      ->check(CLI::Range(0u, 100000u));
  command->add_option("--json", options.json, "file for all times");
}

void addCalibrate(CLI::App &app, TypedMachine &typed) {
  CLI::App *command =
      app.add_subcommand("calibrate", "measure links and codecs for cgx-opt's machine= and for simulate");
  addLaunchOptions(*command, typed.ranks, typed.transport);
  command->add_option("-o,--output", typed.output, "file to write")->required();
  command->add_option("--local", typed.local, "consecutive ranks on one host (as mpirun says, or 1)")
      ->check(CLI::Range(1u, 256u));
  command
      ->add_option("--codec", typed.codecs,
                   "codec to measure in addition to the common ones; may be repeated")
      ->type_name("CODEC")
      ->take_all()
      ->expected(1);
  command->add_option("--bytes", typed.bytes,
                      "size of a long message (8MiB); 16MiB or more where a switch allows bursts");
  command->add_option("--repetitions", typed.repetitions, "repetitions of each measurement (9)")
      ->check(CLI::Range(1u, 1000u));
}

void addSimulate(CLI::App &app, TypedSimulation &typed) {
  CLI::App *command =
      app.add_subcommand("simulate", "how long a step communicates with other ranks, hosts and links");
  command->add_option("program", typed.program, "compiled step, or its manifest as JSON")->required();
  command->add_option("--machine", typed.machine, "file of calibrate")->required();
  command->add_option("--ranks", typed.ranks, "rank counts (2,4,8,...,4096)")
      ->delimiter(',')
      ->check(CLI::Range(1u, 1u << 20));
  command->add_option("--local", typed.local, "ranks per host, which share its link (1)")
      ->check(CLI::Range(1u, 1024u));
  CLI::Option *link =
      command
          ->add_option(
              "--link", typed.gigabits,
              "Gbit/s of a host's link, of which frames take 6 %, in place of the measured bandwidth")
          ->check(cgx::cli::finiteNumber())
          ->check(CLI::PositiveNumber);
  command
      ->add_option("--latency", typed.microseconds, "latency in microseconds, in place of the measured one")
      ->check(cgx::cli::finiteNumber())
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--cores", typed.cores,
          "cores that all hosts share, like those of tools/netlab, for a machine that was calibrated "
          "without a limit on its link (by default each rank has as many as in calibrate)")
      ->check(cgx::cli::finiteNumber())
      ->check(CLI::PositiveNumber)
      ->needs(link);
  command->add_option("--algorithm", typed.algorithm,
                      "algorithm of all all-reduces: best, or one of " CGX_ALGORITHM_NAMES);
  command->add_option("--json", typed.json, "file for all numbers");
}

} // namespace

static int runTool(int argc, char **argv) {
  if (argc > 1 && std::string(argv[1]) == "codec")
    return runCodecBench(argc, argv);
  CLI::App app(kDescription, "cgx-bench");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Options options;
  Typed typed;
  TypedMachine machine;
  TypedSimulation simulation;
  app.add_subcommand("codec", "encode, decode and accumulate, against memcpy");
  for (const char *collective : kCollectives)
    addCollective(app, collective, options, typed);
  addCalibrate(app, machine);
  addSimulate(app, simulation);
  if (std::optional<int> status = cgx::cli::parse(app, argc, argv))
    return *status;
  try {
    if (app.got_subcommand("calibrate"))
      runCalibrate(machine);
    else if (app.got_subcommand("simulate"))
      runSimulate(simulation);
    else
      runCollective(options, typed);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "cgx-bench: error: %s\n", error.what());
    return 1;
  }
}

int main(int argc, char **argv) {
  return cgx::cli::runProgram("cgx-bench", [&] { return runTool(argc, argv); });
}
