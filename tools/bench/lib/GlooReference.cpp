//===-- GlooReference.cpp - A collective by Gloo ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs Gloo over TCP, as PyTorch does on CPUs. Ranks find each other through MPI, which started
// them.
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "Reference.h"

#include <cstdlib>
#include <cstring>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <map>
#include <mpi.h>

namespace cgx::bench {

namespace {

/// A store in which every rank sees what the others have set. All ranks set the same number of keys before
/// they read any.
class MpiStore : public gloo::rendezvous::Store {
public:
  void set(const std::string &key, const std::vector<char> &data) override {
    std::string own = key + '\n' + std::string(data.begin(), data.end());
    int ranks = 0, size = static_cast<int>(own.size());
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<int> sizes(static_cast<size_t>(ranks)), begins(sizes.size() + 1, 0);
    MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizes.size(); ++i)
      begins[i + 1] = begins[i] + sizes[i];
    std::string all(static_cast<size_t>(begins.back()), '\0');
    MPI_Allgatherv(own.data(), size, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR,
                   MPI_COMM_WORLD);
    for (size_t i = 0; i < sizes.size(); ++i) {
      std::string entry = all.substr(static_cast<size_t>(begins[i]), static_cast<size_t>(sizes[i]));
      size_t end = entry.find('\n');
      entries[entry.substr(0, end)].assign(entry.begin() + static_cast<ptrdiff_t>(end) + 1, entry.end());
    }
  }

  std::vector<char> get(const std::string &key) override {
    auto entry = entries.find(key);
    if (entry == entries.end())
      throw Error("Gloo looks for '" + key + "', which no rank has set");
    return entry->second;
  }

  void wait(const std::vector<std::string> &) override {}

private:
  std::map<std::string, std::vector<char>> entries;
};

/// Returns the link to the other ranks: that of GLOO_SOCKET_IFNAME, as for PyTorch; otherwise the loopback if
/// all ranks are on one host, or the address of the host's name.
gloo::transport::tcp::attr chooseLink() {
  gloo::transport::tcp::attr link;
  if (const char *name = std::getenv("GLOO_SOCKET_IFNAME")) {
    link.iface = name;
    return link;
  }
  MPI_Comm host;
  int ranks = 0, here = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &here);
  MPI_Comm_free(&host);
  if (here == ranks)
    link.hostname = "127.0.0.1";
  return link;
}

class GlooReference : public Reference {
public:
  std::string library() const override { return "Gloo"; }

  std::string nameOf(const std::string &collective) const override {
    if (collective == "all_reduce")
      return "gloo::allreduce";
    if (collective == "all_gather")
      return "gloo::allgather";
    if (collective == "broadcast")
      return "gloo::broadcast";
    // gloo has reduce-scatter only in its older interface, which PyTorch does not use.
    return collective == "all_to_all" ? "gloo::alltoall" : "";
  }

  void start() override {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(chooseLink());
    auto connected = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
    MpiStore store;
    connected->connectFullMesh(store, device);
    context = std::move(connected);
  }

  void run(const std::string &collective, const float *input, float *output, uint64_t elements,
           uint32_t ranks) override {
    auto *in = const_cast<float *>(input); // gloo only reads it
    if (collective == "all_reduce") {
      gloo::AllreduceOptions options(context);
      options.setInput(in, elements);
      options.setOutput(output, elements);
      options.setReduceFunction(
          [](void *sum, const void *a, const void *b, size_t count) { gloo::sum<float>(sum, a, b, count); });
      gloo::allreduce(options);
    } else if (collective == "all_gather") {
      gloo::AllgatherOptions options(context);
      options.setInput(in, elements);
      options.setOutput(output, elements * ranks);
      gloo::allgather(options);
    } else if (collective == "broadcast") {
      gloo::BroadcastOptions options(context);
      options.setRoot(0);
      if (context->rank == 0)
        options.setInput(in, elements);
      options.setOutput(output, elements);
      gloo::broadcast(options);
    } else {
      gloo::AlltoallOptions options(context);
      options.setInput(in, elements);
      options.setOutput(output, elements);
      gloo::alltoall(options);
    }
  }

private:
  std::shared_ptr<gloo::Context> context;
};

} // namespace

std::unique_ptr<Reference> makeGlooReference() { return std::make_unique<GlooReference>(); }

} // namespace cgx::bench
