//===-- Program.cpp - The ranks of this process in one program --*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "FlushDenormals.h"

#include <algorithm>

namespace cgx::xla {

namespace {

/// Returns an address in the form that runtime functions take.
int64_t addressOf(const void *data) { return static_cast<int64_t>(reinterpret_cast<intptr_t>(data)); }

std::string orEmpty(const char *text) { return text ? text : ""; }

} // namespace

std::unique_lock<std::mutex> lockSoon(std::mutex &mutex) {
  constexpr int kAttempts = 32; // about 10 us where no other thread wants the core
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int i = 0; i < kAttempts && !lock; ++i) {
    std::this_thread::yield();
    (void)lock.try_lock();
  }
  if (!lock)
    lock.lock();
  return lock;
}

Program::Program(const cgx_xla_program_config &given)
    : transport(orEmpty(given.context.transport)), job(orEmpty(given.context.job)),
      manifest(orEmpty(given.context.manifest)), config(given.context) {
  config.transport = transport.c_str();
  config.job = job.c_str();
  config.manifest = manifest.c_str();
  for (uint32_t i = 0; i < given.local_rank_count; ++i) {
    auto rank = std::make_unique<Rank>();
    rank->number = given.local_ranks[i];
    if (given.local_gpus)
      rank->gpu = given.local_gpus[i];
    Rank &started = *(ranks[rank->number] = std::move(rank));
    started.thread = std::thread([this, &started, tcp = given.tcp] { serve(started, tcp); });
  }
}

Program::~Program() { stop(); }

void Program::stop() {
  {
    std::lock_guard lock(mutex);
    isStopped = true;
    for (auto &[number, rank] : ranks) {
      rank->isStopping = true;
      rank->changed.notify_all();
    }
  }
  for (auto &[number, rank] : ranks)
    if (rank->thread.joinable())
      rank->thread.join();
}

cgx_status Program::connected(std::string &error) {
  std::unique_lock lock(mutex);
  came.wait(lock, [&] {
    return std::ranges::all_of(
        ranks, [](const auto &entry) { return entry.second->isConnected || entry.second->status != CGX_OK; });
  });
  return firstFailure(error);
}

cgx_status Program::firstFailure(std::string &error) const {
  for (const auto &[number, rank] : ranks)
    if (rank->status != CGX_OK) {
      error = rank->failure;
      return rank->status;
    }
  return CGX_OK;
}

std::optional<uint32_t> Program::rankOnGpu(int32_t gpu) const {
  for (const auto &[number, rank] : ranks)
    if (rank->gpu == gpu)
      return number;
  return std::nullopt;
}

void Program::submit(uint32_t number, int64_t run, Request request) {
  auto found = ranks.find(number);
  if (found == ranks.end())
    return request.answer("rank " + std::to_string(number) +
                          " is not one of this process: the program was compiled for other devices");
  Rank &rank = *found->second;
  std::unique_lock lock = locked();
  if (isStopped) {
    lock.unlock();
    return request.answer("the program was closed while it ran");
  }
  // An execution's position is set by the first rank that begins it, and each rank begins it itself, so no
  // other rank waits for this request.
  if (request.kind == Request::Kind::Begin && std::find(runs.begin(), runs.end(), run) == runs.end())
    runs.push_back(run);
  rank.requests[run].push_back(std::move(request));
  lastEvent = Clock::now();
  lock.unlock(); // otherwise the thread that is woken would wait for the lock
  rank.changed.notify_one();
}

bool Program::take(Rank &rank, Request &request) {
  if (rank.status != CGX_OK) { // their order does not matter, because they only get the error
    auto any = std::ranges::find_if(rank.requests, [](const auto &entry) { return !entry.second.empty(); });
    if (any == rank.requests.end())
      return false;
    request = std::move(any->second.front());
    any->second.pop_front();
    return true;
  }
  if (!rank.isInStep) {
    if (rank.taken - firstRun >= runs.size())
      return false;
    rank.run = runs[rank.taken - firstRun];
  }
  auto found = rank.requests.find(rank.run);
  if (found == rank.requests.end() || found->second.empty())
    return false;
  request = std::move(found->second.front());
  found->second.pop_front();
  return true;
}

void Program::leaveRun(Rank &rank) {
  rank.isInStep = false;
  rank.requests.erase(rank.run);
  ++rank.taken;
  for (uint64_t all = countEnded(); firstRun < all; ++firstRun)
    runs.pop_front();
  ended.notify_all();
}

uint64_t Program::countEnded() const {
  uint64_t least = ranks.begin()->second->taken;
  for (auto &[number, rank] : ranks)
    least = std::min(least, rank->taken);
  return least;
}

void Program::fail(Rank &rank, cgx_status status, const std::string &message) {
  if (rank.status == CGX_OK) {
    rank.status = status;
    rank.failure = message;
  }
  rank.isInStep = false;
  hasFailed = true;
  ended.notify_all();
  came.notify_all();
}

cgx_status Program::dispatch(std::string &error) {
  std::unique_lock lock(mutex);
  auto mayGo = [&] { return hasFailed || dispatched < countEnded() + CGX_XLA_MOST_IN_FLIGHT; };
  if (!ended.wait_for(lock, std::chrono::milliseconds(config.timeout_ms), mayGo))
    dispatched = countEnded(); // the others never began
  ++dispatched;
  return firstFailure(error);
}

bool Program::isHeldUp(const Rank &rank) const {
  return rank.isInStep && std::any_of(rank.requests.begin(), rank.requests.end(),
                                      [&](const auto &each) { return each.first != rank.run; });
}

void Program::serve(Rank &rank, const cgx_tcp_config *tcp) {
  connect(rank, tcp);
  std::unique_lock lock = locked();
  auto unlocked = [&](auto work) {
    lock.unlock();
    work();
    lock = locked();
  };
  while (true) {
    Request request;
    if (!rank.isInStep && !rank.visits.empty()) {
      Visit &visit = *rank.visits.front();
      rank.visits.pop_front();
      unlocked([&] { runVisit(rank, visit); });
    } else if (take(rank, request)) {
      unlocked([&] { execute(rank, request); });
      lastEvent = Clock::now();
    } else if (rank.isStopping) {
      break;
    } else if (!isHeldUp(rank)) {
      rank.changed.wait(lock);
    } else if (const Clock::time_point patience = lastEvent + std::chrono::milliseconds(config.timeout_ms);
               Clock::now() < patience) {
      rank.changed.wait_until(lock, patience);
    } else {
      unlocked([&] { abandonRun(rank); });
    }
  }
  lock.unlock();
  cgx_context_destroy(rank.context);
  rank.context = nullptr;
}

void Program::abandonRun(Rank &rank) {
  cgx_context_abort(rank.context, "XLA did not execute the step to its end");
  const cgx_status status = cgx_context_end_step(rank.context);
  std::lock_guard lock(mutex);
  leaveRun(rank);
  fail(rank, status, cgx_last_error());
}

void Program::connect(Rank &rank, const cgx_tcp_config *tcp) {
  cgx_context_config own = config;
  own.rank = rank.number;
  cgx_status status = rank.gpu ? cgx_use_cuda_device(*rank.gpu) : CGX_OK;
  if (status == CGX_OK)
    status = cgx_context_create_over_tcp(&own, tcp, &rank.context);
  std::lock_guard lock(mutex);
  rank.isConnected = status == CGX_OK;
  if (!rank.isConnected)
    fail(rank, status, "rank " + std::to_string(rank.number) + ": " + cgx_last_error());
  came.notify_all();
}

cgx_status Program::follow(Rank &rank, void *stream) {
  if (!rank.gpu || rank.stream == stream)
    return CGX_OK;
  const cgx_status status = cgx_context_use_cuda(rank.context, stream);
  if (status == CGX_OK)
    rank.stream = stream;
  return status;
}

cgx_status Program::run(Rank &rank, const Request &request) {
  switch (request.kind) {
  case Request::Kind::Begin:
    if (cgx_status status = follow(rank, request.stream); status != CGX_OK)
      return status;
    return cgx_context_begin_step(rank.context, rank.nextStep);
  case Request::Kind::Collective: {
    // The runtime changes streams only between steps.
    if (rank.gpu && rank.stream != request.stream)
      cgx_context_abort(rank.context, "XLA calls a collective on another stream than the step");
    int64_t context = addressOf(rank.context);
    const CollectiveBuffers &buffers = request.buffers;
    for (const CollectiveBuffers::Lent &lent : buffers.lent)
      cgx_rt_provide(context, buffers.collective, lent.operand, lent.kept, lent.elementType, lent.elements,
                     addressOf(lent.data));
    for (size_t i = 0; i < buffers.inputs.size(); ++i)
      cgx_rt_operand(context, buffers.collective, static_cast<int64_t>(i), addressOf(buffers.inputs[i]),
                     addressOf(buffers.outputs[i]));
    cgx_rt_run(context, buffers.collective);
    // XLA may never call the end of a step that failed.
    return cgx_context_check(rank.context);
  }
  case Request::Kind::End:
    return cgx_context_end_step(rank.context);
  }
  return CGX_OK;
}

void Program::execute(Rank &rank, Request &request) {
  // The lock is not needed: only this rank's thread writes its status.
  if (rank.status != CGX_OK)
    return request.answer(rank.failure);
  const cgx_status status = run(rank, request);
  const std::string error = status == CGX_OK ? "" : cgx_last_error();
  if (request.kind != Request::Kind::Collective || status != CGX_OK) {
    std::unique_lock lock = locked();
    if (request.kind == Request::Kind::Begin)
      rank.isInStep = true;
    if (request.kind == Request::Kind::End)
      ++rank.nextStep;
    if (request.kind == Request::Kind::End || status != CGX_OK)
      leaveRun(rank);
    if (status != CGX_OK)
      fail(rank, status, error);
  }
  // XLA goes on with the program in this thread.
  const FlushDenormals asXla;
  request.answer(error);
}

void Program::runVisit(Rank &rank, Visit &visit) {
  const cgx_status status = visit.visit(visit.user, rank.number, rank.context);
  const std::string error = status == CGX_OK ? "" : cgx_last_error();
  std::lock_guard lock(mutex);
  if (status != CGX_OK && visit.status == CGX_OK) {
    visit.status = status;
    visit.error = error;
  }
  if (--visit.left == 0)
    visit.done.notify_all();
}

cgx_status Program::visit(cgx_xla_visit_fn function, void *user, std::string &error) {
  Visit visit{function, user, ranks.size()};
  std::unique_lock lock(mutex);
  // A dispatched execution may not have begun.
  ended.wait_for(lock, std::chrono::milliseconds(config.timeout_ms),
                 [&] { return hasFailed || dispatched <= countEnded(); });
  for (auto &[number, rank] : ranks) {
    rank->visits.push_back(&visit);
    rank->changed.notify_all();
  }
  visit.done.wait(lock, [&] { return visit.left == 0; });
  error = visit.error;
  return visit.status;
}

void Program::setStep(uint64_t step) {
  std::lock_guard lock(mutex);
  for (auto &[number, rank] : ranks)
    rank->nextStep = step;
}

uint64_t Program::step() {
  std::lock_guard lock(mutex);
  return ranks.empty() ? 0 : ranks.begin()->second->nextStep;
}

Programs &Programs::instance() {
  // It is never destroyed, because threads of XLA may outlive what exit() destroys.
  static Programs *programs = new Programs;
  return *programs;
}

cgx_status Programs::open(const cgx_xla_program_config &config, std::string &error) {
  std::shared_ptr<Program> program;
  {
    std::lock_guard lock(mutex);
    auto [entry, isNew] = programs.try_emplace(config.name);
    if (!isNew) {
      error = std::string("the program '") + config.name + "' is open in this process already";
      return CGX_INVALID_ARGUMENT;
    }
    entry->second = program = std::make_shared<Program>(config);
  }
  // The lock is released here, because other programs may run meanwhile.
  const cgx_status status = program->connected(error);
  if (status != CGX_OK)
    take(config.name);
  return status;
}

std::shared_ptr<Program> Programs::find(std::string_view name) {
  std::unique_lock lock = lockSoon(mutex);
  auto found = programs.find(name);
  return found == programs.end() ? nullptr : found->second;
}

std::shared_ptr<Program> Programs::take(const std::string &name) {
  std::lock_guard lock(mutex);
  auto found = programs.find(name);
  if (found == programs.end())
    return nullptr;
  std::shared_ptr<Program> taken = std::move(found->second);
  programs.erase(found);
  return taken;
}

} // namespace cgx::xla
