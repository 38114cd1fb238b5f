//===-- SolverBench.cpp - How solvers grow with layers and candidates -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProfile.h"
#include "cgx/plan/Solver.h"

#include <benchmark/benchmark.h>

using namespace cgx::plan;

static void solveProblem(benchmark::State &state, const Solver &solver, Objective objective) {
  ProblemOptions options;
  options.reference = kFourBits;
  options.objective = objective;
  Problem problem = Problem::make(randomProfile(1, size_t(state.range(0)), size_t(state.range(1))), options);
  Solution solution;
  for (auto _ : state)
    benchmark::DoNotOptimize(solution = solve(solver, problem));
  state.counters["value"] = problem.value(problem.cost(solution.assignment));
  state.counters["proven"] = solution.proven;
}

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  for (const Solver &solver : solvers())
    for (Objective objective : {Objective::Bytes, Objective::Time})
      benchmark::RegisterBenchmark(
          (std::string(solver.name) + (objective == Objective::Bytes ? "/bytes" : "/time")).c_str(),
          [&solver, objective](benchmark::State &state) { solveProblem(state, solver, objective); })
          ->Unit(benchmark::kMillisecond)
          ->Args({10, 15})
          ->Args({100, 15})
          ->Args({1000, 5})
          ->Args({1000, 15})
          ->Args({3000, 15});
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
