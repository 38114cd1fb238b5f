//===-- TcpOptions.cpp - Options of the transport tcp -----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Cli/TcpOptions.h"

#include "cgx/formats/SystemError.h"

#include "cgx/output/TemporaryFolder.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <unistd.h>

namespace cgx::cli {

static constexpr const char *kRendezvous = "CGX_TCP_RENDEZVOUS";

void addTcpOptions(CLI::App &app) {
  auto add = [&](const char *name, const char *variable, const char *type, const char *description) {
    return app
        .add_option_function<std::string>(
            name,
            [variable](const std::string &value) { ::setenv(variable, value.c_str(), /*overwrite=*/1); },
            description)
        ->type_name(type)
        ->group("Transport tcp");
  };
  add("--rendezvous", kRendezvous, "HOST:PORT|file:PATH",
      "Rendezvous of the ranks: the address where rank 0 listens, or a file that all can read");
  add("--secret-file", "CGX_TCP_SECRET_FILE", "FILE",
      "Secret that proves that a rank belongs to the job: equal on all hosts, mode 600, for example from "
      "'openssl rand -hex 32'; needed with HOST:PORT");
  add("--address", "CGX_TCP_ADDRESS", "HOST",
      "Address of this host where the rank listens; by default the one from which it reaches the rendezvous");
  add("--streams", "CGX_TCP_STREAMS", "N",
      "Connections over which long messages are spread, for links with a high bandwidth and latency; 1")
      ->check(CLI::Range(1u, 16u));
  add("--tls", "CGX_TCP_TLS", "MODE", "Encrypt: off, psk (keys from the secret) or certificates")
      ->check(CLI::IsMember({"off", "psk", "certificates"}));
  add("--tls-certificate", "CGX_TCP_TLS_CERTIFICATE", "FILE.pem",
      "Certificate of this rank, signed by the authority");
  add("--tls-key", "CGX_TCP_TLS_KEY", "FILE.pem", "Key of the certificate");
  add("--tls-ca", "CGX_TCP_TLS_CA", "FILE.pem", "Authority that signs certificates for this job only");
}

/// Returns an unused path that no one else can have used, because the name cannot be guessed.
static std::string unusedPath() {
  const std::string folder = TemporaryFolder::parent();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw std::runtime_error("cannot write where ranks meet into '" + folder +
                             "' ($TMPDIR, else /tmp): " + formats::systemErrorText(errno));
  std::random_device random;
  std::array<char, 33> digits;
  std::snprintf(digits.data(), digits.size(), "%08x%08x%08x%08x", random(), random(), random(), random());
  return folder + "/cgx-tcp-" + digits.data();
}

OwnRendezvous::OwnRendezvous() {
  if (std::getenv(kRendezvous))
    return;
  path = unusedPath();
  ::setenv(kRendezvous, ("file:" + path).c_str(), /*overwrite=*/1);
}

OwnRendezvous::~OwnRendezvous() {
  if (path.empty())
    return;
  ::unsetenv(kRendezvous);
  // The file still exists if rank 0 was killed before all ranks came; if that was while it wrote, the name
  // ends with its process number.
  const std::filesystem::path own(path);
  const std::string unfinished = own.filename().string() + ".";
  std::error_code ignored;
  std::filesystem::remove(own, ignored);
  for (std::filesystem::directory_iterator file(own.parent_path(), ignored), end; file != end;
       file.increment(ignored))
    if (file->path().filename().string().starts_with(unfinished))
      std::filesystem::remove(file->path(), ignored);
}

} // namespace cgx::cli
