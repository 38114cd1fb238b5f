//===-- cgx-bench.cpp - Speed of codecs and collectives ---------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Reference.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace cgx::bench;

namespace {

constexpr const char *kDescription = R"(cgx-bench - how fast codecs and collectives are

Measures collectives of f32 with the codecs asked for, exact (identity) always among
them, over threads, processes, or the ranks of mpirun. All variants of a size run in
turn, behind a barrier; the table has the median over the repetitions of the slowest
rank's time, the quartiles, bytes of uncompressed tensor a second, and how many times
faster this is than the exact collective and, under mpirun, than MPI's own, in the same
run. Figures of shared machines wander: compare ratios, and look at the quartiles.)";

constexpr const char *kFooter = R"(
EXAMPLES
  Two processes of this host, three sizes, 4 bits against exact:
    cgx-bench all-reduce --ranks 2 --sizes 4KiB,1MiB,64MiB --codec quantize
  The same against MPI_Allreduce, over shared memory or over MPI:
    mpirun -np 2 cgx-bench all-reduce --transport shm --sizes 64MiB --codec "quantize bits=8 bucket=512"
    mpirun -np 4 -mca mpi_yield_when_idle 1 cgx-bench all-reduce --transport mpi --sizes 16MiB
  Codecs on memory, against memcpy:
    cgx-bench codec --help
)";

constexpr const char *kCollectives[] = {"all-reduce", "all-gather", "reduce-scatter", "broadcast",
                                        "all-to-all"};

std::optional<Membership> findMembership() {
  const char *rank = std::getenv("OMPI_COMM_WORLD_RANK"), *ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  const char *job = std::getenv("PMIX_NAMESPACE");
  if (!rank || !ranks)
    return std::nullopt;
  return Membership{static_cast<uint32_t>(std::stoul(rank)), static_cast<uint32_t>(std::stoul(ranks)),
                    std::string("bench-") + (job ? job : "mpi")};
}

std::vector<Series> runThreads(const Options &options, const std::string &job) {
  std::vector<Series> series;
  std::vector<std::string> errors(options.ranks);
  {
    std::vector<std::jthread> threads;
    for (uint32_t rank = 0; rank < options.ranks; ++rank)
      threads.emplace_back([&, rank] {
        try {
          std::vector<Series> own = runRank(options, job, rank, /*withReference=*/false);
          if (rank == 0)
            series = std::move(own);
        } catch (const std::exception &error) {
          errors[rank] = error.what();
        }
      });
  }
  for (uint32_t rank = 0; rank < options.ranks; ++rank)
    if (!errors[rank].empty())
      throw Error("rank " + std::to_string(rank) + ": " + errors[rank]);
  return series;
}

/// Forks the other ranks; this process is rank 0.
std::vector<Series> runProcesses(const Options &options, const std::string &job) {
  std::vector<pid_t> children;
  for (uint32_t rank = 1; rank < options.ranks; ++rank) {
    pid_t child = ::fork();
    if (child < 0)
      throw Error("cannot start rank " + std::to_string(rank));
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    try {
      runRank(options, job, rank, /*withReference=*/false);
      std::_Exit(0);
    } catch (const std::exception &error) {
      std::fprintf(stderr, "cgx-bench: rank %u: %s\n", rank, error.what());
      std::_Exit(1);
    }
  }
  std::vector<Series> series = runRank(options, job, 0, /*withReference=*/false);
  for (size_t i = 0; i < children.size(); ++i) {
    int status = 0;
    ::waitpid(children[i], &status, 0);
    if (status != 0)
      throw Error("rank " + std::to_string(i + 1) + " failed");
  }
  return series;
}

void report(const Options &options, const std::vector<Series> &series, double roundTrip, bool underMpi) {
  std::printf("%s of f32, %u ranks, %s; %u repetitions; a flag goes to another core and back in %.2f us\n",
              options.collective.c_str(), options.ranks, options.transport.c_str(), options.repetitions,
              roundTrip);
  std::fputs(tableOf(options, series).c_str(), stdout);
  if (!underMpi)
    std::puts(hasReference() ? "vs MPI: start cgx-bench under mpirun to compare with MPI in the same run"
                             : "vs MPI: this build has no MPI");
  if (options.json.empty())
    return;
  std::ofstream file(options.json);
  file << jsonOf(options, series, roundTrip);
  if (!file.flush())
    throw Error("cannot write '" + options.json + "'");
}

void runCollective(Options options, const std::vector<std::string> &sizes,
                   const std::vector<std::string> &codecs, std::optional<uint32_t> ranks,
                   std::optional<std::string> transport) {
  for (char &c : options.collective)
    c = c == '-' ? '_' : c;
  for (const std::string &size : sizes)
    options.sizes.push_back(parseSize(size));
  options.variants.push_back(parseCodec("identity"));
  for (const std::string &codec : codecs)
    if (Variant variant = parseCodec(codec); variant.name != "identity")
      options.variants.push_back(std::move(variant));
  std::optional<Membership> member = findMembership();
  if (member && ranks && *ranks != member->ranks)
    throw Error("expected --ranks to be " + std::to_string(member->ranks) +
                ", as mpirun started, or to be left out, got " + std::to_string(*ranks));
  options.ranks = member ? member->ranks : ranks.value_or(2);
  options.transport = transport.value_or(member ? "mpi" : "shm");
  if (!member && options.transport == "mpi")
    throw Error("expected mpirun to start the ranks of --transport mpi: mpirun -np 2 cgx-bench ...");
  if (member && options.transport == "inproc")
    throw Error("expected --transport shm or mpi under mpirun, got inproc");
  bool reports = !member || member->rank == 0;
  double roundTrip = reports ? spinRoundTrip() : 0;
  std::string job = member ? member->job : "bench-" + std::to_string(::getpid());
  std::vector<Series> series = member ? runRank(options, job, member->rank, hasReference())
                               : options.transport == "inproc" ? runThreads(options, job)
                                                               : runProcesses(options, job);
  if (reports)
    report(options, series, roundTrip, member.has_value());
}

/// `cgx-bench codec ...` is the program beside this one.
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

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::string(argv[1]) == "codec")
    return runCodecBench(argc, argv);
  CLI::App app(kDescription, "cgx-bench");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Options options;
  std::vector<std::string> sizes = {"4KiB", "1MiB", "64MiB"}, codecs;
  std::optional<uint32_t> ranks;
  std::optional<std::string> transport;
  app.add_subcommand("codec", "encode, decode and accumulate, against memcpy");
  for (const char *collective : kCollectives) {
    CLI::App *command = app.add_subcommand(collective, "this collective, exact and with each --codec");
    command->callback([&options, collective] { options.collective = collective; });
    command->add_option("--ranks", ranks, "ranks to start (2), or as mpirun started")
        ->check(CLI::Range(1u, 256u));
    command->add_option("--transport", transport, "shm (default), inproc, or mpi (default under mpirun)")
        ->check(CLI::IsMember({"shm", "inproc", "mpi"}));
    command->add_option("--sizes", sizes, "bytes that each rank puts in (4KiB,1MiB,64MiB)")->delimiter(',');
    command->add_option("--codec", codecs, "such as \"quantize bits=4 bucket=128\"; may be repeated")
        ->take_all()
        ->expected(1);
    command->add_option("--repetitions", options.repetitions, "of each variant (21)")
        ->check(CLI::Range(1u, 100000u));
    command->add_option("--warmup", options.warmup, "rounds before (3)")->check(CLI::Range(0u, 100000u));
    command->add_option("--json", options.json, "file for all times");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return app.exit(error);
    std::fprintf(stderr, "cgx-bench: error: %s (see --help)\n", error.what());
    return 2;
  }
  try {
    runCollective(options, sizes, codecs, ranks, transport);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "cgx-bench: error: %s\n", error.what());
    return 1;
  }
}
