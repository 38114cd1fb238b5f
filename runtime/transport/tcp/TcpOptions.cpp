//===-- transport/tcp/TcpOptions.cpp - The options of TCP -------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/tcp/TcpOptions.h"

#include "cgx/formats/SystemError.h"
#include "cgx/formats/TextFile.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace cgx::tcp {

/// A shorter secret could be guessed from a proof that a stranger has seen.
static constexpr size_t kShortestSecret = 16, kLongestSecret = 4096;

static std::string orElse(const std::string &given, const char *variable) {
  const char *value = given.empty() ? std::getenv(variable) : nullptr;
  return value ? value : given;
}

static std::optional<uint32_t> numberOf(const std::string &text) {
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Splits "HOST:PORT" or "[ADDRESS]:PORT".
static Status splitHostPort(const std::string &text, TcpOptions &options) {
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    options.host = text.substr(0, colon);
    options.port = text.substr(colon + 1);
    if (options.host.size() > 2 && options.host.front() == '[' && options.host.back() == ']')
      options.host = options.host.substr(1, options.host.size() - 2);
    else if (options.host.find(':') != std::string::npos)
      options.host.clear(); // it is an IPv6 address without brackets
  }
  const std::optional<uint32_t> port = numberOf(options.port);
  if (options.host.empty() || !port || *port == 0 || *port > 65535)
    return Status::error(
        CGX_INVALID_ARGUMENT,
        "expected a rendezvous such as 'host:29500', '[fe80::1]:29500' or 'file:/path', got '", text, "'");
  return Status();
}

static Status chooseRendezvous(const TcpConfig &config, TcpOptions &options) {
  if (bool(config.storeSet) != bool(config.storeGet))
    return Status(CGX_INVALID_ARGUMENT, "expected a store to have both functions, set and get");
  if (config.storeSet) {
    options.rendezvous = TcpOptions::Rendezvous::Store;
    options.store = config;
    return Status();
  }
  const std::string rendezvous = orElse(config.rendezvous, "CGX_TCP_RENDEZVOUS");
  if (rendezvous.empty())
    return Status(CGX_INVALID_ARGUMENT,
                  "expected a rendezvous for tcp: 'HOST:PORT', where rank 0 listens, or "
                  "'file:PATH' (CGX_TCP_RENDEZVOUS)");
  if (!rendezvous.starts_with("file:"))
    return splitHostPort(rendezvous, options);
  options.rendezvous = TcpOptions::Rendezvous::File;
  options.path = rendezvous.substr(5);
  if (options.path.empty())
    return Status::error(CGX_INVALID_ARGUMENT, "expected a path behind 'file:', got '", rendezvous, "'");
  return Status();
}

static Result<std::string> readSecret(const std::string &path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return Status::error(CGX_INVALID_ARGUMENT, "cannot read the secret file '", path,
                         "': ", formats::systemErrorText(errno));
  if ((info.st_mode & 077) != 0)
    return Status::error(CGX_INVALID_ARGUMENT, "expected that nobody else may read the secret file '", path,
                         "': chmod 600 ", path);
  std::string text;
  if (const std::string wrong = formats::readTextFile(path, text, kLongestSecret + 2); !wrong.empty())
    return Status::error(CGX_INVALID_ARGUMENT, "cannot read the secret file '", path, "': ", wrong);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.pop_back();
  return text;
}

static Status chooseSecret(const TcpConfig &config, TcpOptions &options) {
  options.secret = orElse(config.secret, "CGX_TCP_SECRET");
  if (const std::string path = orElse(config.secretFile, "CGX_TCP_SECRET_FILE");
      options.secret.empty() && !path.empty()) {
    Result<std::string> read = readSecret(path);
    if (!read.ok())
      return read.status();
    options.secret = *read;
    if (options.secret.empty())
      return Status::error(CGX_INVALID_ARGUMENT, "expected a secret in '", path, "', got an empty file");
  }
  if (options.secret.empty()) {
    if (options.rendezvous == TcpOptions::Rendezvous::HostPort &&
        options.tls != TcpOptions::Tls::Certificates)
      return Status::error(CGX_INVALID_ARGUMENT, "expected a secret for the rendezvous ", options.host, ":",
                           options.port,
                           ", which anybody could join: the same file of mode 600 on all hosts "
                           "(CGX_TCP_SECRET_FILE, cgx-run --secret-file), such as of 'openssl rand -hex 32', "
                           "CGX_TCP_SECRET, or TLS certificates");
    return Status();
  }
  if (options.secret.size() < kShortestSecret || options.secret.size() > kLongestSecret)
    return Status::error(CGX_INVALID_ARGUMENT, "expected a secret of ", kShortestSecret, " to ",
                         kLongestSecret, " bytes, got ", options.secret.size());
  return Status();
}

static Status chooseTls(const TcpConfig &config, TcpOptions &options) {
  const std::string tls = orElse(config.tls, "CGX_TCP_TLS");
  options.certificate = orElse(config.certificate, "CGX_TCP_TLS_CERTIFICATE");
  options.key = orElse(config.key, "CGX_TCP_TLS_KEY");
  options.authority = orElse(config.authority, "CGX_TCP_TLS_CA");
  if (tls == "psk")
    options.tls = TcpOptions::Tls::Psk;
  else if (tls == "certificates")
    options.tls = TcpOptions::Tls::Certificates;
  else if (!tls.empty() && tls != "off")
    return Status::error(CGX_INVALID_ARGUMENT, "expected TLS to be off, psk or certificates, got '", tls,
                         "'");
  const bool hasFiles = !options.certificate.empty() || !options.key.empty() || !options.authority.empty();
  if (options.tls != TcpOptions::Tls::Certificates && hasFiles)
    return Status(CGX_INVALID_ARGUMENT, "expected TLS to be 'certificates' where its files are named");
  if (options.tls == TcpOptions::Tls::Certificates &&
      (options.certificate.empty() || options.key.empty() || options.authority.empty()))
    return Status(CGX_INVALID_ARGUMENT,
                  "expected three files for TLS with certificates: the certificate, its key "
                  "and the authority");
  return Status();
}

Result<TcpOptions> TcpOptions::from(const TransportConfig &config) {
  TcpOptions options;
  if (config.ranks > kMostRanks)
    return Status::error(CGX_INVALID_ARGUMENT, "expected at most ", kMostRanks, " ranks over tcp, got ",
                         config.ranks);
  if (Status status = chooseRendezvous(config.tcp, options); !status.ok())
    return status;
  if (Status status = chooseTls(config.tcp, options); !status.ok())
    return status;
  if (Status status = chooseSecret(config.tcp, options); !status.ok())
    return status;
  options.address = orElse(config.tcp.address, "CGX_TCP_ADDRESS");
  if (const char *streams = std::getenv("CGX_TCP_STREAMS"); streams && config.tcp.streams == 0)
    options.streams = numberOf(streams).value_or(0);
  else
    options.streams = config.tcp.streams == 0 ? 1 : config.tcp.streams;
  if (options.streams == 0)
    return Status::error(CGX_INVALID_ARGUMENT, "expected CGX_TCP_STREAMS to be 1 to ", kMostStreams,
                         ", got '", std::getenv("CGX_TCP_STREAMS"), "'");
  if (options.streams > kMostStreams)
    return Status::error(CGX_INVALID_ARGUMENT, "expected 1 to ", kMostStreams,
                         " streams between two ranks, got ", options.streams);
  return options;
}

} // namespace cgx::tcp
