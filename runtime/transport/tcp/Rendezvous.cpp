//===-- transport/tcp/Rendezvous.cpp - How ranks find and connect to each other -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rendezvous.h"

#include "transport/MostTelling.h"
#include "transport/TestDelay.h"
#include "transport/tcp/RendezvousAddress.h"

#include "cgx/formats/SystemError.h"

#include <algorithm>
#include <asio/ip/udp.hpp>
#include <cstring>
#include <list>
#include <thread>

namespace cgx::tcp {

using asio::ip::tcp;

/// The time between two attempts to find rank 0.
static constexpr std::chrono::milliseconds kRetry{20};
/// The time that the others wait longer than rank 0, which then reports what went wrong. Telling all that the
/// job is over may take as long.
static constexpr std::chrono::seconds kGrace{1};
/// The time that rank 0 stays for ranks that come late.
static constexpr std::chrono::milliseconds kLinger{3000};

uint32_t connectionsOf(const TcpOptions &options) {
  return 1 + std::max(options.streams, EagerSlots::kLanes);
}

static WireAddress wireOf(const tcp::endpoint &endpoint) {
  WireAddress wire;
  wire.port = endpoint.port();
  if (endpoint.address().is_v4()) {
    wire.family = 4;
    std::ranges::copy(endpoint.address().to_v4().to_bytes(), wire.bytes.begin());
  } else {
    wire.family = 6;
    std::ranges::copy(endpoint.address().to_v6().to_bytes(), wire.bytes.begin());
  }
  return wire;
}

/// Returns nothing if no rank can listen at the address.
static std::optional<tcp::endpoint> endpointOf(const WireAddress &wire) {
  if (wire.port == 0 || (wire.family != 4 && wire.family != 6))
    return std::nullopt;
  if (wire.family == 6)
    return tcp::endpoint(asio::ip::address_v6(wire.bytes), wire.port);
  asio::ip::address_v4::bytes_type bytes;
  std::copy_n(wire.bytes.begin(), bytes.size(), bytes.begin());
  return tcp::endpoint(asio::ip::address_v4(bytes), wire.port);
}

namespace {

/// The message of rank 0 when all ranks have joined: a number that differs between starts of the job, and the
/// address of each rank.
struct Roster {
  Bytes32 session;
  std::vector<WireAddress> addresses;
};

/// The part of the rendezvous that rank 0 and the others share.
class RendezvousRank {
public:
  RendezvousRank(const TransportConfig &config, const TcpOptions &options)
      : config(config), options(options), network(std::make_shared<Network>()), place(options, config.job),
        begun(Clock::now()), deadline(begun + config.timeout) {
    joined.network = network;
    joined.peers.resize(config.ranks);
    for (uint32_t rank = 0; rank < config.ranks; ++rank)
      if (rank != config.rank)
        joined.peers[rank].resize(connectionsOf(options));
  }

protected:
  Status useSecret(const std::string &secret) {
    key = authenticate(std::as_bytes(std::span(secret)), "cgx tcp job", {});
    if (options.tls == TcpOptions::Tls::Off || network->tls)
      return Status();
    Result<std::shared_ptr<TlsContext>> made = TlsContext::create(options, key);
    if (made.ok())
      network->tls = *made;
    return made.status();
  }

  Hello hello(uint32_t connection) const {
    Hello made;
    made.rank = config.rank;
    made.ranks = config.ranks;
    made.connection = connection;
    made.streams = options.streams;
    made.job = hashOf(config.job);
    return made;
  }

  /// Mixes the session's number into the key: from now on only ranks of this very start of the job can
  /// authenticate.
  void enter(const Bytes32 &session) { key = authenticate(key, "cgx tcp session", {session}); }

  /// Keeps a connection that a client has opened after all ranks have joined.
  Status take(PendingConnection &client) {
    const Hello &peer = client.handshake.peer();
    const bool isExpected = peer.rank > config.rank && peer.rank < config.ranks &&
                            peer.connection < connectionsOf(options) &&
                            !joined.peers[peer.rank][peer.connection];
    if (!isExpected)
      return Status::error(CGX_MISMATCH, "rank ", peer.rank, " asked rank ", config.rank, " for connection ",
                           peer.connection, ": expected a higher rank and one of 0 to ",
                           connectionsOf(options) - 1, " that it has not made yet");
    joined.peers[peer.rank][peer.connection] = std::move(client.channel);
    return Status();
  }

  /// Returns the higher ranks whose connections are missing.
  std::string awaited() const {
    std::string names;
    for (uint32_t rank = config.rank + 1; rank < config.ranks; ++rank)
      if (std::ranges::any_of(joined.peers[rank], [](const auto &channel) { return !channel; }))
        names += concat(names.empty() ? "" : ", ", rank);
    return names;
  }

  /// A connection to a lower rank that has not answered yet.
  struct PendingPeer {
    uint32_t rank, connection;
    PendingConnection pending;
  };

  /// Takes the connections of higher ranks, and waits for those to lower ranks. `listen` reads the messages
  /// of ranks that are connected already, over the connections of `others`; they may end the job.
  template <typename Listen>
  Status takeAll(Listener &listener, std::span<const Watch> others, Clock::time_point until, Listen listen) {
    while (!awaited().empty() || !pendingPeers.empty()) {
      std::vector<Watch> watches(others.begin(), others.end());
      for (const PendingPeer &visit : pendingPeers)
        watches.push_back(visit.pending.watch());
      for (PendingConnection &client : listener.welcome(watches, until))
        if (Status status = take(client); !status.ok())
          return status;
      if (Status status = listen(); !status.ok())
        return status;
      if (Clock::now() >= until && !awaited().empty())
        return Status::error(CGX_TIMEOUT, "rank ", awaited(), " did not connect to rank ", config.rank,
                             " within ", config.timeout.count(), " ms", troublesOf(listener));
    }
    return Status();
  }

  static std::string troublesOf(const Listener &listener) {
    const std::string words = listener.troubles();
    return words.empty() ? "" : "; " + words;
  }

  /// Returns the address at which this rank listens: `otherwise` if none was configured.
  Result<tcp::endpoint> ownAddress(const std::string &otherwise, const std::string &port) {
    Result<std::vector<tcp::endpoint>> found =
        resolve(*network, options.address.empty() ? otherwise : options.address, port);
    if (!found.ok())
      return found.status();
    return found->front();
  }

  const TransportConfig &config;
  const TcpOptions &options;
  std::shared_ptr<Network> network;
  RendezvousAddress place;
  Clock::time_point begun, deadline;
  Bytes32 key{};
  Joined joined;
  std::list<PendingPeer> pendingPeers;
};

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

class FirstRank final : public RendezvousRank {
public:
  using RendezvousRank::RendezvousRank;

  Result<Joined> run() {
    Status status = open();
    if (status.ok()) {
      status = gather();
      if (status.ok()) {
        place.takeDown();
        status = connectAll();
      }
      if (!status.ok())
        dismiss(status);
      place.takeDown();
    }
    if (!status.ok())
      return status;
    return std::move(joined);
  }

private:
  Status open() {
    std::string secret = options.secret;
    const bool isPublic = options.rendezvous == TcpOptions::Rendezvous::HostPort;
    if (secret.empty() && !isPublic) {
      const Bytes32 random = randomBytes();
      static constexpr char digits[] = "0123456789abcdef";
      for (std::byte byte : random)
        secret += {digits[unsigned(byte) >> 4], digits[unsigned(byte) & 15]};
    }
    if (Status status = checkAlone(); !status.ok())
      return status;
    if (Status status = useSecret(secret); !status.ok())
      return status;
    Result<tcp::endpoint> where =
        ownAddress(isPublic ? options.host : "127.0.0.1", isPublic ? options.port : "0");
    if (!where.ok())
      return where.status();
    Result<tcp::acceptor> acceptor = listenAt(*network, *where);
    if (!acceptor.ok())
      return whoHas(*where, acceptor.status());
    listener.emplace(*network, std::move(*acceptor));
    listener->answerWith(hello(0), key);
    const tcp::endpoint own = listener->endpoint();
    return place.announce({.host = own.address().to_string(),
                           .port = std::to_string(own.port()),
                           .secret = options.secret.empty() ? secret : ""});
  }

  /// Checks that no other rank 0 of this job already listens at the address in the rendezvous file.
  Status checkAlone() {
    if (options.rendezvous != TcpOptions::Rendezvous::File)
      return Status();
    Result<std::optional<Announcement>> found = place.find(deadline);
    if (!found.ok())
      return found.status();
    if (!*found)
      return Status();
    if (Status status = useSecret(options.secret.empty() ? (*found)->secret : options.secret); !status.ok())
      return status;
    Result<std::vector<tcp::endpoint>> endpoints = resolve(*network, (*found)->host, (*found)->port);
    Status told = endpoints.ok() ? ask(endpoints->front()) : Status();
    network->tls.reset(); // its key was that of the other rank 0
    return told.getCode() == CGX_INVALID_ARGUMENT ? told : Status();
  }

  /// Returns the answer that the process which listens there gives to a second rank 0.
  Status ask(const tcp::endpoint &endpoint) {
    const Clock::time_point soon = std::min(deadline, Clock::now() + kGrace);
    Result<std::unique_ptr<Channel>> there = connectTo(
        *network, endpoint, Handshake(Handshake::Role::Client, hello(0), key), /*expectedRank=*/0, soon);
    if (!there.ok())
      return there.status();
    Result<ControlMessage> heard = (*there)->hear(soon);
    return heard.status();
  }

  Status whoHas(const tcp::endpoint &where, const Status &status) {
    if (status.getCode() != CGX_RESOURCE_EXHAUSTED)
      return Status::error(status.getCode(), "rank 0 ", status.message(),
                           ": expected an address of this host");
    Status told = ask(where);
    if (told.getCode() == CGX_INVALID_ARGUMENT)
      return told;
    return Status::error(CGX_INVALID_ARGUMENT, "rank 0 ", status.message(), "; ",
                         told.getCode() == CGX_MISMATCH ? told.message()
                                                        : "who listens there is no rank of this job",
                         ": give each job a port of its own");
  }

  const std::unique_ptr<Channel> &control(uint32_t rank) const { return joined.peers[rank][0]; }

  std::string missing() const {
    std::string names;
    for (uint32_t rank = 1; rank < config.ranks; ++rank)
      if (!control(rank))
        names += concat(names.empty() ? "" : ", ", rank);
    return names;
  }

  /// No rank sends anything before all have joined: a connection that can be read was closed.
  Status checkMembers() {
    for (uint32_t rank = 1; rank < config.ranks; ++rank) {
      std::byte byte;
      if (!control(rank))
        continue;
      const Channel::Moved moved = control(rank)->read({&byte, 1});
      if (moved.isClosed || moved.bytes != 0)
        return Status::error(CGX_PEER_DIED, "rank ", rank, " died before job '", config.job,
                             "' was complete");
    }
    return Status();
  }

  std::vector<Watch> members() const {
    std::vector<Watch> watches;
    for (uint32_t rank = 1; rank < config.ranks; ++rank)
      if (control(rank))
        watches.push_back({control(rank)->descriptor(), false});
    return watches;
  }

  Status gather() {
    addresses.resize(config.ranks);
    while (!missing().empty()) {
      Status job;
      // Clients that arrive together with one that ends the job are handled too: they wait for an answer.
      for (PendingConnection &client : listener->welcome(members(), deadline))
        if (Status status = admit(client); job.ok())
          job = status;
      if (job.ok())
        job = checkMembers();
      if (!job.ok())
        return job;
      if (Clock::now() >= deadline && !missing().empty())
        return Status::error(CGX_TIMEOUT, "job '", config.job, "' is not complete after ",
                             config.timeout.count(), " ms: rank ", missing(), " did not join",
                             troublesOf(*listener),
                             ": if it was started, its own output says why it is not here");
    }
    return Status();
  }

  /// Admits a rank. Returns an error if the job cannot run; a rank that cannot take part is told why.
  Status admit(PendingConnection &client) {
    const Hello &peer = client.handshake.peer();
    const Clock::time_point soon = Clock::now() + kGrace;
    Status job, own;
    if (peer.ranks != config.ranks)
      job = Status::error(CGX_MISMATCH, "ranks of job '", config.job,
                          "' differ in the number of ranks: ", config.ranks, " on rank 0, ", peer.ranks,
                          " on rank ", peer.rank);
    else if (peer.streams != options.streams)
      job = Status::error(CGX_MISMATCH, "ranks of job '", config.job,
                          "' differ in the number of streams: ", options.streams, " on rank 0, ",
                          peer.streams, " on rank ", peer.rank);
    else if (peer.rank >= config.ranks || peer.connection != 0)
      own = Status::error(CGX_INVALID_ARGUMENT, "expected a rank below ", config.ranks, ", got ", peer.rank);
    else if (peer.rank == 0 || control(peer.rank))
      own = Status::error(CGX_INVALID_ARGUMENT, "rank ", peer.rank, " has joined job '", config.job,
                          "' already");
    if (!job.ok() || !own.ok()) {
      (void)client.channel->tell(failureMessage(job.ok() ? own : job), soon);
      if (peer.rank != 0 && peer.rank < config.ranks)
        told[peer.rank] = true;
      return job;
    }
    addresses[peer.rank] = peer.listens;
    testDelay("tcp: before a welcome");
    if (Status status = client.channel->tell({.kind = ControlKind::Admitted}, soon); !status.ok())
      return Status(); // the client has gone
    joined.peers[peer.rank][0] = std::move(client.channel);
    return Status();
  }

  Status connectAll() {
    const Bytes32 session = randomBytes();
    const Clock::time_point until = std::max(deadline, Clock::now() + kGrace);
    enter(session);
    Hello complete = hello(0);
    complete.isComplete = 1;
    listener->answerWith(complete, key);
    for (uint32_t rank = 1; rank < config.ranks; ++rank) {
      testDelay("tcp: before a rank hears of all");
      Status status = control(rank)->tell({.kind = ControlKind::Ready}, until);
      if (status.ok())
        status = control(rank)->writeAll(session, until);
      if (status.ok())
        status = control(rank)->writeAll(std::as_bytes(std::span(addresses)), until);
      if (!status.ok())
        return Status::error(status.getCode(), "rank ", rank, ": ", status.message());
    }
    answers.resize(config.ranks);
    if (Status status = takeAll(*listener, members(), until, [&] { return listen(); }); !status.ok())
      return status;
    // The others wait longer, and report for which rank.
    const Clock::time_point end = until + 3 * kGrace;
    while (!unready().empty()) {
      if (Clock::now() >= end)
        return Status::error(CGX_TIMEOUT, "rank ", unready(), " did not connect to all others within ",
                             config.timeout.count(), " ms");
      waitForAny(members(), std::min(end, Clock::now() + kRetry));
      if (Status status = listen(); !status.ok())
        return status;
    }
    for (uint32_t rank = 1; rank < config.ranks; ++rank) {
      testDelay("tcp: before a rank hears that all are ready");
      (void)control(rank)->tell({.kind = ControlKind::Ready}, end);
    }
    return Status();
  }

  /// Reads the messages of the others while they connect to each other: that they are ready, or why they
  /// cannot be.
  Status listen() {
    for (uint32_t rank = 1; rank < config.ranks; ++rank)
      if (const Status status = answers[rank].look(*control(rank)); !status.ok())
        return control(rank)->isClosed()
                   ? Status::error(CGX_PEER_DIED, "rank ", rank, " died before job '", config.job,
                                   "' was complete")
                   : Status::error(status.getCode(), "rank ", rank, " gave up: ", status.message());
    return Status();
  }

  std::string unready() const {
    std::string names;
    for (uint32_t rank = 1; rank < config.ranks; ++rank)
      if (!answers[rank].hasCome())
        names += concat(names.empty() ? "" : ", ", rank);
    return names;
  }

  /// Tells all ranks that have come, and those that still come, why there is no job.
  void dismiss(const Status &reason) {
    testDelay("tcp: before all are sent home");
    const Clock::time_point soon = Clock::now() + kGrace;
    const ControlMessage message =
        failureMessage(Status::error(reason.getCode(), "rank 0 gave up: ", reason.message()));
    for (uint32_t rank = 1; rank < config.ranks; ++rank)
      if (control(rank))
        (void)control(rank)->tell(message, soon);
    if (reason.getCode() != CGX_MISMATCH)
      return;
    for (const Clock::time_point end = Clock::now() + kLinger; hasUntold() && Clock::now() < end;)
      for (PendingConnection &client : listener->welcome({}, end)) {
        (void)client.channel->tell(message, soon);
        if (const uint32_t rank = client.handshake.peer().rank; rank != 0 && rank < config.ranks)
          told[rank] = true;
      }
  }

  bool hasUntold() const {
    for (uint32_t rank = 1; rank < config.ranks; ++rank)
      if (!control(rank) && !told[rank])
        return true;
    return false;
  }

  std::optional<Listener> listener;
  std::vector<WireAddress> addresses;
  std::vector<ControlReply> answers; ///< indexed by rank, once all have come
  std::vector<bool> told =
      std::vector<bool>(config.ranks); ///< ranks that were told that they cannot take part
};

//===----------------------------------------------------------------------===//
// The other ranks
//===----------------------------------------------------------------------===//

class LaterRank final : public RendezvousRank {
public:
  LaterRank(const TransportConfig &config, const TcpOptions &options) : RendezvousRank(config, options) {
    deadline += kGrace;
  }

  Result<Joined> run() {
    if (Status status = findFirst(); !status.ok())
      return status;
    Result<Roster> roster = receiveRoster();
    if (!roster.ok())
      return roster.status();
    Status status = connectAll(*roster);
    const std::unique_ptr<Channel> &first = joined.peers[0][0];
    if (!status.ok()) {
      (void)first->tell(failureMessage(status), Clock::now() + kGrace);
      return status;
    }
    testDelay("tcp: before rank 0 hears that this one is ready");
    if (status = first->tell({.kind = ControlKind::Ready}, deadline); status.ok())
      status = fromFirst.await(*first, deadline + 4 * kGrace);
    if (!status.ok())
      return ofFirst(status);
    return std::move(joined);
  }

private:
  /// Adds the name of rank 0 to an error of its connection. A message that rank 0 sent names it already.
  Status ofFirst(const Status &status) const {
    if (status.getCode() == CGX_TIMEOUT && status.message() == kNoAnswer)
      return Status::error(CGX_TIMEOUT, "rank 0 did not answer for ", config.timeout.count(), " ms");
    if (status.getCode() != CGX_PEER_DIED || status.message().find("rank ") != std::string::npos)
      return status;
    return Status::error(CGX_PEER_DIED, "rank 0 died before job '", config.job, "' was complete");
  }

  /// Tries to find rank 0 until it admits this rank, or the deadline has passed.
  Status findFirst() {
    reasons = MostTelling(concat("it has not come to ", place.describe()));
    for (;;) {
      if (std::optional<Status> over = tryFirst())
        return *over;
      if (Clock::now() >= deadline)
        return Status::error(CGX_TIMEOUT, "rank 0 did not join within ", config.timeout.count(),
                             " ms: ", reasons.words());
      std::this_thread::sleep_for(kRetry);
    }
  }

  /// Records a reason for trying again, and returns nothing.
  std::optional<Status> again(Telling telling, std::string words) {
    reasons.hear(telling, std::move(words));
    return std::nullopt;
  }

  std::optional<Status> tryFirst() {
    Result<std::optional<Announcement>> found = place.find(deadline);
    if (!found.ok())
      return found.status();
    if (!*found)
      return std::nullopt;
    network->tls.reset();
    if (Status status = useSecret(options.secret.empty() ? (*found)->secret : options.secret); !status.ok())
      return status;
    Result<std::vector<tcp::endpoint>> endpoints = resolve(*network, (*found)->host, (*found)->port);
    if (!endpoints.ok())
      return endpoints.status();
    // A name may resolve to several addresses, of which rank 0 has one.
    for (const tcp::endpoint &endpoint : *endpoints)
      if (std::optional<Status> over = connectFirst(endpoint); over || Clock::now() >= deadline)
        return over;
    return std::nullopt;
  }

  std::optional<Status> connectFirst(const tcp::endpoint &endpoint) {
    listener.reset();
    // This rank listens only at the address from which it sees rank 0, so that it is reachable no further
    // than rank 0 is.
    Result<tcp::endpoint> own = listeningAddress(endpoint);
    if (!own.ok())
      return notFound(own.status());
    Result<tcp::acceptor> acceptor = listenAt(*network, *own);
    if (!acceptor.ok())
      return Status::error(CGX_INVALID_ARGUMENT, "rank ", config.rank, " ", acceptor.status().message());
    listener.emplace(*network, std::move(*acceptor));
    Hello said = hello(0);
    const tcp::endpoint bound = listener->endpoint();
    said.listens = wireOf(bound.address().is_unspecified() ? tcp::endpoint(seenAs, bound.port()) : bound);
    Result<std::unique_ptr<Channel>> channel = connectTo(
        *network, endpoint, Handshake(Handshake::Role::Client, said, key), /*expectedRank=*/0, deadline);
    if (!channel.ok())
      return notFound(channel.status());
    if (Result<ControlMessage> heard = (*channel)->hear(deadline); !heard.ok())
      return notLetIn(heard.status(), (*channel)->isClosed(), describe(endpoint));
    joined.peers[0][0] = std::move(*channel);
    return Status();
  }

  /// Decides after a failed connection to rank 0 whether to try again. A process that listens at the address
  /// in a file or store may belong to an earlier start of the job, which this one replaces.
  std::optional<Status> notFound(const Status &status) {
    switch (status.getCode()) {
    case CGX_MISMATCH:
      if (options.rendezvous == TcpOptions::Rendezvous::HostPort)
        return Status::error(CGX_MISMATCH, "rank 0 is not there: ", status.message());
      return again(Telling::Answer, status.message());
    case CGX_PEER_DIED:
      return again(Telling::Refusal, status.message());
    case CGX_TIMEOUT:
      return again(Telling::Silence, status.message());
    default:
      return status;
    }
  }

  /// Decides after an answer of rank 0 whether to try again. A rank 0 that gave up or has gone may be started
  /// again.
  std::optional<Status> notLetIn(const Status &status, bool isClosed, const std::string &where) {
    if (isClosed)
      return again(Telling::Answer, concat("it hung up at ", where));
    if (status.getCode() == CGX_TIMEOUT && status.message() == kNoAnswer)
      return again(Telling::Silence, concat("it did not answer at ", where));
    if (status.getCode() == CGX_TIMEOUT || status.getCode() == CGX_PEER_DIED)
      return again(Telling::Answer, status.message());
    return status;
  }

  /// Returns the address of this host from which it sees rank 0, unless one was configured.
  Result<tcp::endpoint> listeningAddress(const tcp::endpoint &first) {
    std::error_code error;
    asio::ip::udp::socket route(network->io); // connecting it sends nothing: it only finds the route
    const asio::ip::udp::endpoint there(first.address(), first.port());
    route.open(there.protocol(), error);
    if (!error)
      route.connect(there, error);
    const auto local = error ? asio::ip::udp::endpoint() : route.local_endpoint(error);
    if (error)
      return notReached(first, formats::systemErrorText(error));
    seenAs = local.address();
    return ownAddress(seenAs.to_string(), "0");
  }

  Result<Roster> receiveRoster() {
    const std::unique_ptr<Channel> &first = joined.peers[0][0];
    Roster roster;
    roster.addresses.resize(config.ranks);
    Status status = first->hear(deadline).status();
    if (status.ok())
      status = first->readAll(roster.session, deadline);
    if (status.ok())
      status = first->readAll(std::as_writable_bytes(std::span(roster.addresses)), deadline);
    if (!status.ok())
      return ofFirst(status);
    return roster;
  }

  Status connectAll(const Roster &roster) {
    enter(roster.session);
    Hello own = hello(0);
    own.isComplete = 1;
    listener->answerWith(own, key);
    std::error_code ignored;
    const tcp::endpoint first = joined.peers[0][0]->socket().remote_endpoint(ignored);
    // This rank opens all connections at once while it accepts others, so that one silent rank does not delay
    // it for the rest.
    for (uint32_t rank = 0; rank < config.rank; ++rank) {
      std::optional<tcp::endpoint> there = rank == 0 ? first : endpointOf(roster.addresses[rank]);
      if (!there)
        return Status::error(CGX_INTERNAL, "rank 0 says that rank ", rank, " listens nowhere");
      for (uint32_t connection = rank == 0; connection < connectionsOf(options); ++connection) {
        own.connection = connection;
        Result<PendingConnection> called =
            call(*network, *there, Handshake(Handshake::Role::Client, own, key), deadline);
        if (!called.ok())
          return explained(called.status().within(concat("rank ", rank)));
        pendingPeers.push_back({rank, connection, std::move(*called)});
      }
    }
    // A rank that waits for one that does not answer reports it first, and rank 0 passes the report on.
    const Watch watch{joined.peers[0][0]->descriptor(), false};
    return takeAll(*listener, {&watch, 1}, deadline + kGrace, [&] {
      if (const Status status = fromFirst.look(*joined.peers[0][0]); !status.ok())
        return ofFirst(status);
      const Status status = advancePending();
      return status.ok() ? status : explained(status);
    });
  }

  /// Advances the pending connections, and keeps those whose handshake is complete.
  Status advancePending() {
    for (auto next = pendingPeers.begin(); next != pendingPeers.end();) {
      auto &[rank, connection, pending] = *next;
      const PendingConnection::State state = pending.advance();
      if (state == PendingConnection::State::Failed)
        return pending.failure(concat("rank ", rank));
      if (state == PendingConnection::State::Going && Clock::now() >= deadline)
        return Status::error(CGX_TIMEOUT, "rank ", rank, " did not answer at ", pending.from);
      if (state == PendingConnection::State::Going) {
        ++next;
        continue;
      }
      if (const uint32_t other = pending.handshake.peer().rank; other != rank)
        return Status::error(CGX_MISMATCH, "rank ", rank, " at ", pending.from, " is rank ", other);
      joined.peers[rank][connection] = std::move(pending.channel);
      next = pendingPeers.erase(next);
    }
    return Status();
  }

  /// Returns the report of rank 0, if there is one: a rank that closes its connection may have left because
  /// another is gone.
  Status explained(const Status &status) {
    const Status told = fromFirst.await(*joined.peers[0][0], Clock::now() + kGrace);
    const bool isSilent = told.ok() || (told.getCode() == CGX_TIMEOUT && told.message() == kNoAnswer);
    return isSilent ? status : ofFirst(told);
  }

  std::optional<Listener> listener;
  MostTelling reasons;    ///< why rank 0 has not been found yet
  ControlReply fromFirst; ///< its message that all are ready, or why they are not
  asio::ip::address seenAs;
};

} // namespace

Result<Joined> joinJob(const TransportConfig &config, const TcpOptions &options) {
  if (config.ranks == 1)
    return Joined{std::make_shared<Network>(), std::vector<Connections>(1)};
  if (config.rank == 0)
    return FirstRank(config, options).run();
  return LaterRank(config, options).run();
}

} // namespace cgx::tcp
