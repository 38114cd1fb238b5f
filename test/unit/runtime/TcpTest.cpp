//===-- TcpTest.cpp - Admission to a job over TCP ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job.h"
#include "transport/MessageBatch.h"
#include "transport/kinds/TransportKinds.h"
#include "transport/routed/LocalRanks.h"
#include "transport/tcp/Handshake.h"
#include "transport/tcp/RendezvousAddress.h"

#include <arpa/inet.h>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace cgx::test {
namespace {

using namespace std::chrono_literals;

using Connected = Result<std::unique_ptr<Transport>>;

constexpr const char *kSecret = "0123456789abcdef0123456789abcdef";

sockaddr_in loopback(uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(port);
  return name;
}

/// Returns true if a process listens at that port now.
bool connectTo(int descriptor, uint16_t port) {
  const sockaddr_in name = loopback(port);
  return ::connect(descriptor, reinterpret_cast<const sockaddr *>(&name), sizeof name) == 0;
}

void awaitListener(uint16_t port) {
  for (const auto end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(1ms)) {
    const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool isThere = connectTo(probe, port);
    close(probe);
    if (isThere)
      return;
  }
  FAIL() << "nobody came to listen at port " << port;
}

/// A port of the loopback at which nobody listens, and which no other process on this machine gets, because
/// it is bound. A process that asks for this port can still bind it.
class HeldPort {
public:
  HeldPort() : holder(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in name = loopback(0);
    socklen_t length = sizeof name;
    const int yes = 1;
    EXPECT_EQ(setsockopt(holder, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    EXPECT_EQ(bind(holder, reinterpret_cast<sockaddr *>(&name), length), 0);
    EXPECT_EQ(getsockname(holder, reinterpret_cast<sockaddr *>(&name), &length), 0);
    number = ntohs(name.sin_port);
  }
  ~HeldPort() { close(holder); }
  HeldPort(const HeldPort &) = delete;
  HeldPort &operator=(const HeldPort &) = delete;

  operator uint16_t() const { return number; }
  /// Listens at the port itself.
  int listenHere() const {
    EXPECT_EQ(listen(holder, 5), 0);
    return holder;
  }

private:
  int holder;
  uint16_t number = 0;
};

testing::AssertionResult failsWith(const Status &status, cgx_status code, const std::string &text) {
  if (status.getCode() == code && status.message().find(text) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << status.getCode() << ": " << status.message();
}

class TcpTest : public testing::Test {
protected:
  TransportConfig config(uint32_t rank, uint32_t ranks = 2) const {
    return {.job = job,
            .rank = rank,
            .ranks = ranks,
            .timeout = 15000ms,
            .tcp = {.rendezvous = "127.0.0.1:" + std::to_string(uint16_t(port)), .secret = kSecret}};
  }

  static Connected connect(const TransportConfig &config) { return connectTransport("tcp", config); }

  /// Connects as every rank, each with the configuration that `change` makes, and then sends a text around.
  std::vector<Status> run(uint32_t ranks, const std::function<void(TransportConfig &)> &change) {
    std::vector<Status> statuses(ranks);
    runThreads(ranks, [&](uint32_t rank) {
      TransportConfig own = config(rank, ranks);
      change(own);
      Connected transport = connect(own);
      statuses[rank] = transport.ok() ? talk(**transport) : transport.status();
    });
    return statuses;
  }

  static Status talk(Transport &transport) {
    MessageBatch exchange(transport, 20000ms);
    const uint32_t word = transport.rank();
    std::vector<uint32_t> heard(transport.ranks());
    for (uint32_t rank = 0; rank < transport.ranks(); ++rank)
      if (rank != transport.rank()) {
        exchange.send(rank, {.step = 1}, {std::as_bytes(std::span(&word, 1))});
        exchange.receive(rank, {.step = 1}, {std::as_writable_bytes(std::span(&heard[rank], 1))});
      }
    Status status = exchange.finish();
    for (uint32_t rank = 0; rank < transport.ranks() && status.ok(); ++rank)
      EXPECT_EQ(heard[rank], rank == transport.rank() ? 0 : rank);
    return status;
  }

  void expectAllWell(const std::vector<Status> &statuses) {
    for (const Status &status : statuses)
      EXPECT_TRUE(status.ok()) << status.message();
  }

  std::string job = uniqueJob();
  HeldPort port;
};

TEST_F(TcpTest, RanksMeetAtAHostAndPort) {
  expectAllWell(run(4, [](TransportConfig &) {}));
}

TEST_F(TcpTest, APortWithoutASecretIsRefused) {
  TransportConfig own = config(0);
  own.tcp.secret.clear();
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected a secret for the rendezvous"));
  own.tcp.secret = "short";
  EXPECT_TRUE(
      failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected a secret of 16 to 4096 bytes, got 5"));
}

TEST_F(TcpTest, ASecretFileThatOthersMayReadIsRefused) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / (job + ".secret");
  std::ofstream(path) << kSecret << "\n";
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  auto change = [&](TransportConfig &own) {
    own.tcp.secret.clear();
    own.tcp.secretFile = path;
  };
  TransportConfig own = config(0);
  change(own);
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "chmod 600"));
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  expectAllWell(run(2, change));
  std::filesystem::remove(path);
}

TEST_F(TcpTest, ASecretFileThatCannotBeReadToItsEndIsRefusedWithTheReason) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / (job + ".secret");
  TransportConfig own = config(0);
  own.tcp.secret.clear();
  own.tcp.secretFile = path;
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "No such file or directory"));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(
      failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected somebody to write to this pipe"));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  std::filesystem::permissions(path, std::filesystem::perms(0700));
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "Is a directory"));
  std::filesystem::remove(path);
  std::ofstream(path) << std::string(size_t{1} << 20, 'x');
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected at most"));
  std::filesystem::remove(path);
}

TEST_F(TcpTest, ARankWithAnotherSecretIsNamedByAll) {
  const std::vector<Status> statuses = run(3, [](TransportConfig &own) {
    own.timeout = 1500ms;
    if (own.rank == 1)
      own.tcp.secret = "another secret of the same job";
  });
  EXPECT_TRUE(failsWith(statuses[1], CGX_MISMATCH,
                        "rank 0 is not there: who listens at 127.0.0.1:" + std::to_string(uint16_t(port)) +
                            " has another secret"));
  for (uint32_t rank : {0u, 2u}) {
    EXPECT_TRUE(failsWith(statuses[rank], CGX_TIMEOUT, "rank 1 did not join"));
    EXPECT_TRUE(failsWith(statuses[rank], CGX_TIMEOUT, "said to be rank 1 and did not prove"));
  }
}

/// Answers the first connection to the port as rank 0 of a job with another secret.
void answerWithAnotherSecret(int listener, const std::string &job) {
  const int client = accept(listener, nullptr, nullptr);
  tcp::Hello own;
  own.ranks = 2;
  own.job = tcp::hashOf(job);
  tcp::Handshake handshake(tcp::Handshake::Role::Server, own, tcp::randomBytes());
  while (handshake.outgoing().empty()) {
    const ssize_t count = recv(client, handshake.incoming().data(), handshake.incoming().size(), 0);
    ASSERT_GT(count, 0);
    ASSERT_TRUE(handshake.received(uint64_t(count)).ok());
  }
  ASSERT_EQ(send(client, handshake.outgoing().data(), handshake.outgoing().size(), MSG_NOSIGNAL),
            ssize_t(handshake.outgoing().size()));
  char byte;
  (void)!recv(client, &byte, 1, 0); // until the other end has closed
  close(client);
}

// The answer is kept even if the next hundred attempts are refused or unanswered, because they say less.
TEST_F(TcpTest, AnAnswerOutlivesWhatIsHeardLater) {
  for (const bool staysSilent : {false, true}) {
    SCOPED_TRACE(staysSilent ? "silence" : "refusal");
    auto held = std::make_unique<HeldPort>();
    const int listener = held->listenHere();
    const std::string rendezvous = rendezvousOf(job), path = rendezvous.substr(5);
    std::ofstream(path) << "cgx-tcp 1\n127.0.0.1\n" << uint16_t(*held) << "\n" << kSecret << "\n";
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    std::thread answering([&] {
      answerWithAnotherSecret(listener, job);
      if (!staysSilent)
        held.reset();
    });
    TransportConfig own = config(1);
    own.timeout = 1000ms;
    own.tcp = {.rendezvous = rendezvous};
    const std::string where = "127.0.0.1:" + std::to_string(uint16_t(*held));
    EXPECT_TRUE(
        failsWith(connect(own).status(), CGX_TIMEOUT,
                  "rank 0 did not join within 1000 ms: who listens at " + where + " has another secret"));
    answering.join();
    std::filesystem::remove(path);
  }
}

TEST_F(TcpTest, ARankOfAnotherJobIsToldSo) {
  const std::vector<Status> statuses = run(2, [](TransportConfig &own) {
    own.timeout = 1500ms;
    if (own.rank == 1)
      own.job += ".other";
  });
  EXPECT_TRUE(failsWith(statuses[1], CGX_MISMATCH, "is a rank of another job"));
  EXPECT_TRUE(failsWith(statuses[0], CGX_TIMEOUT, "is a rank of another job"));
}

TEST_F(TcpTest, TwoJobsAtOnePortAreToldApart) {
  std::thread first([&] {
    TransportConfig own = config(0);
    own.timeout = 5000ms;
    EXPECT_TRUE(failsWith(connect(own).status(), CGX_TIMEOUT, "rank 1 did not join"));
  });
  awaitListener(port);
  TransportConfig own = config(0);
  own.job += ".other";
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT,
                        "is a rank of another job: give each job a port"));
  first.join();
}

TEST_F(TcpTest, APortThatSomethingElseHasIsNamed) {
  port.listenHere();
  EXPECT_TRUE(failsWith(connect(config(0)).status(), CGX_INVALID_ARGUMENT,
                        "cannot listen at 127.0.0.1:" + std::to_string(uint16_t(port))));
}

TEST_F(TcpTest, NonsenseOfARendezvousIsRefused) {
  for (const char *rendezvous :
       {"", "host", "host:", ":29500", "host:0", "host:65536", "::1:29500", "file:"}) {
    TransportConfig own = config(0);
    own.tcp.rendezvous = rendezvous;
    EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected a ")) << rendezvous;
  }
  TransportConfig own = config(1);
  own.tcp.rendezvous = "no-such-host.invalid:29500";
  EXPECT_TRUE(
      failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "cannot resolve 'no-such-host.invalid'"));
  own = config(0);
  own.tcp.rendezvous = "192.0.2.1:29500"; // belongs to nobody, by RFC 5737
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected an address of this host"));
}

// The others then wait for it in shared memory, which does not show that it ever existed.
TEST_F(TcpTest, ARankThatDiesBeforeItJoinsTheSharedMemoryIsNamedByAll) {
  runProcesses(4, [&](uint32_t rank) {
    Connected transport = connectTransport(rank == 2 ? "tcp" : "shm+tcp", config(rank, 4));
    if (rank == 2) {
      ASSERT_TRUE(transport.ok()) << transport.status().message();
      EXPECT_TRUE(findLocalRanks(**transport, 15000ms).ok());
      _exit(HasFailure()); // without a goodbye
    }
    EXPECT_TRUE(failsWith(transport.status(), CGX_PEER_DIED, "rank 2 died"));
  });
  EXPECT_EQ(leftovers(job), "");
}

/// A port of its own whose first connection is forwarded to another port, until it is held back.
class Forwarded {
public:
  explicit Forwarded(uint16_t port) : listener(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name = loopback(0);
    socklen_t length = sizeof name;
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&name), length), 0);
    EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr *>(&name), &length), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    own = ntohs(name.sin_port);
    thread = std::thread([this, port] { forward(port); });
  }
  ~Forwarded() {
    hold();
    close(listener);
    for (int end : ends)
      if (end >= 0)
        close(end);
  }

  uint16_t port() const { return own; }

  /// Waits, for a limited time, until something was sent and nothing more follows.
  void awaitSilence() {
    const auto end = std::chrono::steady_clock::now() + 30s;
    for (uint64_t before = 0; before == 0 || before != said; std::this_thread::sleep_for(300ms)) {
      before = said;
      if (std::chrono::steady_clock::now() >= end)
        return;
    }
  }
  void hold() {
    held = true;
    if (thread.joinable())
      thread.join();
  }

private:
  void forward(uint16_t port) {
    pollfd waiting{listener, POLLIN, 0};
    while (!held && poll(&waiting, 1, 10) == 0)
      ;
    if (held)
      return; // no connection came
    ends = {accept(listener, nullptr, nullptr), socket(AF_INET, SOCK_STREAM, 0)};
    while (!held && !connectTo(ends[1], port))
      std::this_thread::sleep_for(10ms);
    pollfd both[] = {{ends[0], POLLIN, 0}, {ends[1], POLLIN, 0}};
    while (!held) {
      poll(both, 2, 10);
      for (int from : {0, 1}) {
        char bytes[4096];
        const ssize_t count = recv(both[from].fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count > 0 && send(ends[1 - from], bytes, size_t(count), MSG_NOSIGNAL) == count)
          said += uint64_t(count);
      }
    }
  }

  int listener;
  uint16_t own = 0;
  std::atomic<bool> held{false};
  std::atomic<uint64_t> said{0};
  std::array<int, 2> ends{-1, -1}; ///< the client's end, and the end towards the other port
  std::thread thread;
};

// The rank has sent its hello to rank 0, and does not receive the addresses of the others. They wait for its
// answer, and also for one another's, but must blame only this rank.
TEST_F(TcpTest, ARankThatFallsSilentWhileOthersConnectIsNamedByAll) {
  constexpr uint32_t ranks = 5, silent = 2;
  Forwarded between(port);
  const std::vector<Status> statuses = run(ranks, [&](TransportConfig &own) {
    own.timeout = 3000ms;
    if (own.rank == silent)
      own.tcp.rendezvous = "127.0.0.1:" + std::to_string(between.port());
    if (own.rank == ranks - 1) {
      between.awaitSilence();
      between.hold();
    }
  });
  EXPECT_TRUE(failsWith(statuses[0], CGX_TIMEOUT, "rank 2 did not connect to rank 0")) << "rank 0";
  for (uint32_t rank : {1, 3, 4})
    EXPECT_TRUE(failsWith(statuses[rank], CGX_TIMEOUT, "rank 2 did not")) << "rank " << rank;
}

TEST_F(TcpTest, StrangersDoNotKeepRanksFromMeeting) {
  std::atomic<bool> ends{false};
  std::thread stranger([&] {
    std::vector<int> open;
    for (int i = 0; !ends; ++i) {
      const int one = socket(AF_INET, SOCK_STREAM, 0);
      if (connectTo(one, port) && i % 2)
        (void)!::send(one, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL);
      open.push_back(one); // and sends nothing more
      std::this_thread::sleep_for(2ms);
    }
    for (int one : open)
      close(one);
  });
  expectAllWell(run(3, [](TransportConfig &own) {
    if (own.rank == 2)
      std::this_thread::sleep_for(200ms);
  }));
  ends = true;
  stranger.join();
}

/// Connections to a port that send nothing.
class Strangers {
public:
  Strangers(uint16_t port, int count) {
    awaitListener(port);
    for (int i = 0; i < count; ++i) {
      ends.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_TRUE(connectTo(ends.back(), port));
    }
  }
  ~Strangers() {
    for (int end : ends)
      close(end);
  }

private:
  std::vector<int> ends;
};

/// Limits this process to `more` files beyond those that are open.
void limitDescriptors(rlim_t more) {
  const int next = dup(0); // the lowest free number
  close(next);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = rlim_t(next) + more;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

// Strangers would otherwise use up all descriptors of rank 0 during the time that they have to identify
// themselves.
TEST_F(TcpTest, StrangersDoNotTakeTheLastDescriptors) {
  runProcesses(3, [&](uint32_t rank) {
    if (rank == 2) { // not a rank, but the strangers, who come first and stay
      const Strangers strangers(port, 200);
      std::this_thread::sleep_for(4s);
      return;
    }
    if (rank == 0)
      limitDescriptors(40);
    else
      std::this_thread::sleep_for(1s);
    TransportConfig own = config(rank);
    own.timeout = 3000ms;
    Connected transport = connect(own);
    ASSERT_TRUE(transport.ok()) << transport.status().message();
    EXPECT_TRUE(talk(**transport).ok());
  });
}

TEST_F(TcpTest, ThatTheDescriptorsAreUsedUpIsSaid) {
  runProcesses(2, [&](uint32_t rank) {
    if (rank == 1) {
      const Strangers strangers(port, 60);
      std::this_thread::sleep_for(1s);
      return;
    }
    limitDescriptors(20);
    TransportConfig own = config(0);
    own.timeout = 2000ms;
    const Status status = connect(own).status();
    EXPECT_TRUE(failsWith(status, CGX_TIMEOUT, "rank 1 did not join"));
    EXPECT_TRUE(failsWith(status, CGX_TIMEOUT, "since this process may open no more files (ulimit -n)"));
  });
}

TEST_F(TcpTest, TlsWithKeysFromTheSecret) {
  expectAllWell(run(3, [](TransportConfig &own) { own.tcp.tls = "psk"; }));
}

TEST_F(TcpTest, TlsOnOneSideOnlyIsAnErrorOnBoth) {
  const std::vector<Status> statuses = run(2, [](TransportConfig &own) {
    own.timeout = 1200ms;
    if (own.rank == 1)
      own.tcp.tls = "psk";
  });
  EXPECT_FALSE(statuses[0].ok() || statuses[1].ok());
  EXPECT_TRUE(failsWith(statuses[0], CGX_TIMEOUT, "rank 1 did not join"));
}

TEST_F(TcpTest, TlsNeedsItsFiles) {
  TransportConfig own = config(0);
  own.tcp.tls = "certificates";
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected three files"));
  own.tcp.certificate = own.tcp.key = own.tcp.authority = "/nowhere.pem";
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT,
                        "cannot use the TLS certificate '/nowhere.pem'"));
}

constexpr const char *kNeedsOpenssl =
    "certificates are made by the program openssl, which tools/setup installs";

/// An authority that signs certificates for one job.
class Authority {
public:
  explicit Authority(const std::string &name)
      : folder(std::filesystem::temp_directory_path() / (name + ".authority")) {
    std::filesystem::create_directory(folder);
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority -keyout "
        "ca.key -out "
        "ca.pem");
    run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=rank -keyout rank.key -out "
        "rank.csr");
    run("x509 -req -in rank.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out rank.pem");
  }
  ~Authority() { std::filesystem::remove_all(folder); }

  void use(TransportConfig &own) const {
    own.tcp.tls = "certificates";
    own.tcp.secret.clear();
    own.tcp.certificate = folder / "rank.pem";
    own.tcp.key = folder / "rank.key";
    own.tcp.authority = folder / "ca.pem";
  }
  bool isMade() const { return std::filesystem::exists(folder / "rank.pem"); }

private:
  void run(const std::string &arguments) {
    (void)!std::system(("cd '" + folder.string() + "' && openssl " + arguments + " >/dev/null 2>&1").c_str());
  }
  std::filesystem::path folder;
};

TEST_F(TcpTest, TlsWithCertificatesNeedsNoSecret) {
  const Authority authority(job);
  ASSERT_TRUE(authority.isMade()) << kNeedsOpenssl;
  expectAllWell(run(3, [&](TransportConfig &own) { authority.use(own); }));
}

TEST_F(TcpTest, ACertificateOfAnotherAuthorityIsTurnedAway) {
  const Authority authority(job), other(job + ".other");
  ASSERT_TRUE(authority.isMade() && other.isMade()) << kNeedsOpenssl;
  const std::vector<Status> statuses = run(2, [&](TransportConfig &own) {
    own.timeout = 1200ms;
    (own.rank == 0 ? authority : other).use(own);
  });
  EXPECT_TRUE(failsWith(statuses[0], CGX_TIMEOUT, "rank 1 did not join"));
  EXPECT_TRUE(failsWith(statuses[1], CGX_MISMATCH, "does not agree about TLS"));
}

/// A store like that of a framework, within one process.
struct Store {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;

  static cgx_status set(void *self, const char *key, const void *value, uint64_t bytes) {
    auto &store = *static_cast<Store *>(self);
    std::lock_guard lock(store.mutex);
    store.values[key] = std::string(static_cast<const char *>(value), bytes);
    store.changed.notify_all();
    return CGX_OK;
  }
  static cgx_status get(void *self, const char *key, uint32_t timeout, void *value, uint64_t room,
                        uint64_t *bytes) {
    auto &store = *static_cast<Store *>(self);
    std::unique_lock lock(store.mutex);
    if (!store.changed.wait_for(lock, std::chrono::milliseconds(timeout),
                                [&] { return store.values.contains(key); }))
      return CGX_TIMEOUT;
    const std::string &found = store.values[key];
    *bytes = found.size();
    std::memcpy(value, found.data(), std::min<uint64_t>(room, found.size()));
    return CGX_OK;
  }
  void serve(TransportConfig &own) {
    own.tcp = {};
    own.tcp.storeSet = set;
    own.tcp.storeGet = get;
    own.tcp.store = this;
  }
};

TEST_F(TcpTest, RanksMeetThroughAStore) {
  Store store;
  expectAllWell(run(4, [&](TransportConfig &own) { store.serve(own); }));
  ASSERT_EQ(store.values.size(), 1u);
  EXPECT_EQ(store.values.begin()->first, "cgx/" + job + "/rendezvous");
}

TEST_F(TcpTest, NonsenseInAStoreIsRefused) {
  Store store;
  store.values["cgx/" + job + "/rendezvous"] = std::string(100000, 'x');
  TransportConfig own = config(1);
  store.serve(own);
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected at most"));
  store.values["cgx/" + job + "/rendezvous"] = "elsewhere";
  EXPECT_TRUE(
      failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected what rank 0 of a job over tcp wrote"));
  own.tcp.storeGet = nullptr;
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "both functions, set and get"));
}

TEST_F(TcpTest, AFileOfADeadJobIsReplaced) {
  const std::string rendezvous = rendezvousOf(job);
  const std::string path = rendezvous.substr(5);
  std::ofstream(path) << "cgx-tcp 1\n127.0.0.1\n" << uint16_t(port) << "\n" << kSecret << "\n";
  std::filesystem::permissions(path, std::filesystem::perms(0600));
  expectAllWell(run(3, [&](TransportConfig &own) { own.tcp = {.rendezvous = rendezvous}; }));
  EXPECT_EQ(leftovers(job), "");
}

TEST_F(TcpTest, NoMaskKeepsOutRanksOfItsUser) {
  const std::string rendezvous = rendezvousOf(job);
  for (const mode_t mask : {0777, 0377, 0077, 0})
    runProcesses(3, [&](uint32_t rank) {
      becomeOrdinaryUser();
      umask(mask);
      TransportConfig own = config(rank, 3);
      own.tcp = {.rendezvous = rendezvous};
      Connected transport = connect(own);
      ASSERT_TRUE(transport.ok()) << transport.status().message();
      EXPECT_TRUE(talk(**transport).ok());
    });
  EXPECT_EQ(leftovers(job), "");
}

TEST_F(TcpTest, ARankThatGoesTakesDownItsOwnFileAndNoOther) {
  tcp::TcpOptions options;
  options.rendezvous = tcp::TcpOptions::Rendezvous::File;
  options.path = rendezvousOf(job).substr(5);
  tcp::RendezvousAddress earlier(options, job), later(options, job);
  ASSERT_TRUE(earlier.announce({.host = "127.0.0.1", .port = "1", .secret = kSecret}).ok());
  ASSERT_TRUE(later.announce({.host = "127.0.0.1", .port = "2", .secret = kSecret}).ok());
  earlier.takeDown();
  Result<std::optional<tcp::Announcement>> found = later.find({});
  ASSERT_TRUE(found.ok() && *found) << found.status().message();
  EXPECT_EQ((*found)->port, "2");
  later.takeDown();
  EXPECT_EQ(leftovers(job), "");
}

TEST_F(TcpTest, APipeInPlaceOfTheFileIsRefusedAndNotWaitedFor) {
  const std::string rendezvous = rendezvousOf(job);
  const std::string path = rendezvous.substr(5);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  TransportConfig own = config(1);
  own.tcp = {.rendezvous = rendezvous};
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "to be a file of user "));
  EXPECT_EQ(::unlink(path.c_str()), 0);
}

TEST_F(TcpTest, AFileThatOthersMayWriteIsRefused) {
  const std::string rendezvous = rendezvousOf(job);
  const std::string path = rendezvous.substr(5);
  std::ofstream(path) << "cgx-tcp 1\n127.0.0.1\n" << uint16_t(port) << "\n" << kSecret << "\n";
  std::filesystem::permissions(path, std::filesystem::perms(0666));
  TransportConfig own = config(1);
  own.tcp = {.rendezvous = rendezvous};
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "mode 600"));
  std::filesystem::remove(path);
}

TEST_F(TcpTest, AnotherNumberOfStreamsIsAMismatchOnEveryRank) {
  // The number of connections that come is equal for one stream and for two.
  for (uint32_t streams : {1, 2, 3})
    for (const Status &status :
         run(3, [&](TransportConfig &own) { own.tcp.streams = own.rank == 1 ? streams + 1 : streams; }))
      EXPECT_TRUE(failsWith(status, CGX_MISMATCH, "differ in the number of streams"));
  TransportConfig own = config(0);
  own.tcp.streams = 17;
  EXPECT_TRUE(failsWith(connect(own).status(), CGX_INVALID_ARGUMENT, "expected 1 to 16 streams"));
}

} // namespace
} // namespace cgx::test
