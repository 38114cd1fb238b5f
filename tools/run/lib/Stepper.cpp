//===-- Stepper.cpp - A program with its arguments, on one rank -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stepper.h"

#include "cgx/kernels/cuda_peers.h"
#include "cgx/run/Agreement.h"
#include "cgx/run/Error.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace cgx::run;

Stepper::Stepper(const Job &job, uint32_t rank)
    : job_(job), rank_(rank),
      sampler_(job.bindings.samples, job.bindings.globalBatch, job.shuffle, job.seed, job.padLast),
      step_(bindStep(job, rank)) {
  for (size_t i = 0; i < job.manifest.arguments.size(); ++i)
    fillOnce(i);
}

void Stepper::check(cgx_status status) {
  if (status != CGX_OK)
    throw Error(std::string(cgx_status_name(status)) + ": " + cgx_last_error());
}

/// Ranks of a host use its GPUs in turn.
void Stepper::useGpu() const {
  const char *local = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  const uint32_t rankOnHost = local ? uint32_t(std::stoul(local)) : rank_;
  if (cgx::cuda::Outcome outcome = cgx::cuda::useDeviceOf(rankOnHost); !outcome.ok())
    throw Error(outcome.error);
}

void Stepper::connect(const std::string &name) {
  if (job_.transport.starts_with("nccl"))
    useGpu();
  cgx_context_config config = CGX_CONTEXT_CONFIG_INIT;
  config.transport = job_.transport.c_str();
  config.job = name.c_str();
  config.rank = rank_;
  config.ranks = job_.manifest.ranks;
  config.seed = job_.seed;
  config.digest = job_.digest;
  config.timeout_ms = job_.timeoutMs;
  config.manifest = job_.program.manifest.c_str();
  std::string error;
  const cgx_status status = step_->connect(config, error);
  error = std::string(cgx_status_name(status)) + ": " + error;
  if (status == CGX_MISMATCH)
    throw Error(explainMismatch(job_, name, rank_, error));
  if (status != CGX_OK)
    throw Error(error);
}

void Stepper::fillOnce(size_t argument) {
  const Value &value = job_.manifest.arguments[argument];
  const Binding &binding = job_.bindings.arguments[argument];
  uint64_t width = elementBytes(value.type);
  if (binding.source == Source::State) {
    extractBlock(value, job_.manifest.mesh, rank_, binding.tensor->bytes.data(),
                 step_->overwriteArgument(argument));
  } else if (binding.source == Source::OfMembers) {
    const Value own = ofOneRank(value);
    const uint32_t predecessor =
        job_.bindings.members[size_t(blockCoordinates(value, job_.manifest.mesh, rank_)[0])];
    extractBlock(own, job_.manifest.mesh, rank_,
                 binding.tensor->bytes.data() + predecessor * *elementCount(own.globalShape) * width,
                 step_->overwriteArgument(argument));
  } else if (binding.source == Source::PerRank) {
    extractBlock(ofOneRank(value), job_.manifest.mesh, rank_, binding.tensor->bytes.data(),
                 step_->overwriteArgument(argument));
  } else if (binding.source == Source::Constant && binding.constant.size() == width) {
    for (uint64_t offset = 0; offset < value.bytes(); offset += width)
      std::memcpy(step_->overwriteArgument(argument) + offset, binding.constant.data(), width);
  } else if (binding.source == Source::Constant) {
    extractBlock(value, job_.manifest.mesh, rank_, binding.constant.data(),
                 step_->overwriteArgument(argument));
  }
}

void Stepper::fillForStep(uint64_t step) {
  for (size_t i = 0; i < job_.manifest.arguments.size(); ++i) {
    const Value &value = job_.manifest.arguments[i];
    const Binding &binding = job_.bindings.arguments[i];
    if (binding.source == Source::Data) {
      copyBatch(value, job_.manifest.mesh, rank_, binding.parts, sampler_,
                (step + job_.firstBatch - job_.firstStep) * job_.bindings.globalBatch,
                step_->overwriteArgument(i));
    } else if (binding.source == Source::PerStep) {
      copyStepValue(value, job_.manifest.mesh, rank_, *binding.tensor, step, step_->overwriteArgument(i));
    } else if (binding.source == Source::Computed) {
      binding.value->write(value, step, job_.seed, step_->overwriteArgument(i));
    }
  }
}

void Stepper::run(uint64_t step) {
  fillForStep(step);
  step_->run(step);
}

std::vector<double> Stepper::scalars() const {
  std::vector<double> values;
  for (const Scalars::Scalar &scalar : job_.scalars.all)
    values.push_back(readScalar(job_.manifest.results[scalar.result].type, step_->readResult(scalar.result)));
  return values;
}
