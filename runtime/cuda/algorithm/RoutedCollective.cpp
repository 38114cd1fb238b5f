//===-- RoutedCollective.cpp - Kernels before and after a route -----------===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cuda/algorithm/RoutedCollective.h"

#include "cgx/kernels/cuda_peers.h"
#include "cuda/stream/DeviceStatus.h"
#include "cuda/stream/StreamWait.h"

namespace cgx {

Result<std::unique_ptr<ResidentCollective>>
RoutedCollective::make(const Execution &execution, cuda::Stream stream, const RoutedAlgorithm &algorithm) {
  std::unique_ptr<RoutedCollective> made(new RoutedCollective(algorithm));
  const DeviceSchedule schedule = deviceScheduleOf(execution);
  Result<std::unique_ptr<PayloadRoute>> route = makeRoute(execution, schedule);
  if (!route.ok())
    return route.status();
  made->route = std::move(*route);
  made->rounds.resize(schedule.steps.contributions.size());
  if (Status status = made->step.make(); !status.ok())
    return status;
  if (Status status = made->makeResiduals(execution, stream); !status.ok())
    return status;
  return std::unique_ptr<ResidentCollective>(std::move(made));
}

Status RoutedCollective::makeResiduals(const Execution &execution, cuda::Stream stream) {
  for (size_t i = 0; i < execution.collective.operands.size(); ++i)
    if (Status status = residuals[i].make(execution.collective.operands[i], execution.states[i], stream);
        !status.ok())
      return status;
  return Status();
}

Status RoutedCollective::fetchState(cuda::Stream stream) {
  if (!unfetched.end())
    return Status();
  for (const auto &[operand, of] : residuals)
    if (Status status = of.fetch(stream); !status.ok())
      return status;
  return statusOf(cuda::waitFor(stream));
}

/// Makes the kernels of a step, if it has layers.
template <typename Make, typename Layer>
static cuda::Outcome makeGroup(Make make, const std::vector<Layer> &layers,
                               std::unique_ptr<cuda::Group> &group) {
  group.reset();
  cuda::Outcome outcome;
  if (!layers.empty())
    group = make(layers, outcome);
  return outcome;
}

Status RoutedCollective::makeKernels(const Execution &execution, cuda::Stream stream) {
  // Making kernels may make CUDA wait for the stream to release memory, without noticing that ranks are gone.
  if (Status status = waitForStream(execution.transport, execution.timeout, stream); !status.ok())
    return status;
  RoutedLayers layers(rounds.size());
  for (size_t i = 0; i < execution.collective.operands.size(); ++i)
    algorithm.list({execution, i, buffers[i], *route, residuals[i], bound.of(i)}, layers);
  if (!layers.outcome.ok())
    return statusOf(layers.outcome);
  packed = std::move(layers.packed);
  unpacked = std::move(layers.unpacked);
  cleared = std::move(layers.cleared);
  dense = std::move(layers.dense);
  const auto makeRead = [](auto make, auto &of, Step &step) {
    step.senders = std::move(of.senders);
    return makeGroup(make, of.layers, step.group);
  };
  cuda::Outcome outcome;
  for (size_t i = 0; i < rounds.size() && outcome.ok(); ++i) {
    outcome = makeRead(cuda::makeReduceGroup, layers.rounds[i].reduced, rounds[i].reduced);
    if (outcome.ok())
      outcome =
          makeGroup(cuda::makeEncodeGroup, layers.rounds[i].contributions, rounds[i].contributions.group);
  }
  if (outcome.ok())
    outcome = makeRead(cuda::makeOwnerGroup, layers.owned, owned);
  if (outcome.ok())
    outcome = makeRead(cuda::makeReduceGroup, layers.reduced, reduced);
  if (outcome.ok())
    outcome = makeRead(cuda::makeDecodeGroup, layers.received, received);
  if (outcome.ok())
    outcome = makeGroup(cuda::makeEncodeGroup, layers.results, results.group);
  if (outcome.ok())
    outcome = makeRead(cuda::makeDecodeGroup, layers.gathered, gathered);
  return statusOf(outcome);
}

Status RoutedCollective::run(std::initializer_list<const Step *> steps, Timer &timer,
                             cuda::Stream stream) const {
  Stopwatch stopwatch(timer);
  for (const Step *each : steps)
    if (each->group)
      if (Status status = statusOf(each->group->run(stream, step.get())); !status.ok())
        return status;
  return Status();
}

static Status copyAll(const std::vector<cuda::RowCopy> &copies, Timer &timer, cuda::Stream stream) {
  Stopwatch stopwatch(timer);
  for (const cuda::RowCopy &rows : copies)
    if (Status status = statusOf(cuda::copyRows(rows, stream)); !status.ok())
      return status;
  return Status();
}

Status RoutedCollective::put(Execution &execution, Buffers operands, cuda::Stream stream) {
  CollectiveCounters &counters = execution.counters;
  {
    Stopwatch stopwatch(counters.encode);
    Result<bool> isElsewhere = bound.bring(execution, /*toDevice=*/true, stream);
    if (!isElsewhere.ok())
      return isElsewhere.status();
    if (*isElsewhere)
      buffers.forget();
    if (Status status = buffers.bind(operands, stream, [&] { return makeKernels(execution, stream); });
        !status.ok())
      return status;
    if (Status status = step.put(execution, stream); !status.ok())
      return status;
    unfetched.change(cuda::isCapturing(stream));
  }
  if (Status status = copyAll(packed, counters.encode, stream); !status.ok())
    return status;
  for (uint32_t round = 0; round < rounds.size(); ++round) {
    if (Status status = run({&rounds[round].reduced}, counters.decode, stream); !status.ok())
      return status;
    if (Status status = run({&rounds[round].contributions}, counters.encode, stream); !status.ok())
      return status;
    if (Status status = route->scatter(execution, round, stream); !status.ok())
      return status;
  }
  if (Status status = run({&owned, &reduced, &received}, counters.decode, stream); !status.ok())
    return status;
  if (Status status = run({&results}, counters.encode, stream); !status.ok())
    return status;
  if (Status status = route->gather(execution, stream); !status.ok())
    return status;
  if (Status status = run({&gathered}, counters.decode, stream); !status.ok())
    return status;
  for (const Cleared &each : cleared)
    if (Status status = statusOf(cuda::clear(each.memory, each.bytes, stream)); !status.ok())
      return status;
  return copyAll(unpacked, counters.decode, stream);
}

Status RoutedCollective::check(const CollectiveInfo &collective, cuda::Stream stream) {
  std::vector<const Step *> reading = {&owned, &reduced, &received, &gathered};
  for (const RoundSteps &round : rounds)
    reading.push_back(&round.reduced);
  for (const Step *each : reading)
    if (each->group)
      if (Status status = checkPayloads(*each->group, each->senders, collective, stream); !status.ok())
        return status;
  return Status();
}

} // namespace cgx
