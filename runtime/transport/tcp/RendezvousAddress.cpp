//===-- transport/tcp/RendezvousAddress.cpp - Where rank 0 can be found -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "transport/tcp/RendezvousAddress.h"

#include "cgx/formats/SystemError.h"

#include "transport/TestDelay.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cgx::tcp {

static constexpr size_t kLongestText = 4096 + 512;
static constexpr const char *kTitle = "cgx-tcp 1";

std::string encode(const Announcement &announcement) {
  return concat(kTitle, "\n", announcement.host, "\n", announcement.port, "\n", announcement.secret, "\n");
}

/// Takes the next line from the text; returns nothing if it has no end.
static std::optional<std::string> takeLine(std::string_view &text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string line(text.substr(0, end));
  text.remove_prefix(end + 1);
  return line;
}

Result<Announcement> decodeAnnouncement(const std::string &text) {
  std::string_view rest = text;
  const auto title = takeLine(rest), host = takeLine(rest), port = takeLine(rest), secret = takeLine(rest);
  const bool isSound = text.size() <= kLongestText && title == kTitle && secret && rest.empty() &&
                       !host->empty() && !port->empty() && port->size() <= 5 &&
                       port->find_first_not_of("0123456789") == std::string::npos;
  if (!isSound)
    return Status(CGX_INVALID_ARGUMENT, "expected what rank 0 of a job over tcp wrote, got other bytes");
  return Announcement{*host, *port, *secret};
}

std::string RendezvousAddress::describe() const {
  switch (options.rendezvous) {
  case TcpOptions::Rendezvous::File:
    return concat("file:", options.path);
  case TcpOptions::Rendezvous::Store:
    return concat("the store's ", storeKey());
  case TcpOptions::Rendezvous::HostPort:
    break;
  }
  return concat(options.host, ":", options.port);
}

static Status systemError(const std::string &what) {
  return Status::error(CGX_INVALID_ARGUMENT, what, ": ", formats::systemErrorText(errno));
}

/// Creates a file of this user's alone in the folder of `path`: without a name, so that a rank that is killed
/// leaves none, or called `fresh` if the file system or a missing /proc requires a name at once. Returns -1
/// as the system call does.
static int openFresh(const std::string &path, const std::string &fresh, bool &isNamed) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  isNamed = ::access("/proc/self/fd", X_OK) != 0;
  int file = isNamed ? -1 : ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0)
    return file;
  isNamed = true;
  (void)::unlink(fresh.c_str());
  return ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/// Gives the file its name. It replaces a file that an earlier start may have left.
static bool putAt(const std::string &path, int file, const std::string &fresh, bool isNamed) {
  testDelay("tcp: before the file has its name");
  if (isNamed)
    return ::rename(fresh.c_str(), path.c_str()) == 0;
  const std::string self = concat("/proc/self/fd/", file);
  while (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0)
    if (errno != EEXIST || (::unlink(path.c_str()) != 0 && errno != ENOENT))
      return false;
  return true;
}

Status RendezvousAddress::writeFile(const std::string &text) {
  const std::string fresh = concat(options.path, ".", getpid());
  bool isNamed = false;
  const int file = openFresh(options.path, fresh, isNamed);
  if (file < 0)
    return systemError(concat("cannot write the rendezvous file '", isNamed ? fresh : options.path, "'"));
  // Other processes of this user must be able to read the file, whatever the umask is.
  const bool isThere = ::fchmod(file, 0600) == 0 &&
                       ::write(file, text.data(), text.size()) == ssize_t(text.size()) &&
                       putAt(options.path, file, fresh, isNamed);
  const Status status =
      isThere ? Status() : systemError(concat("cannot write the rendezvous file '", options.path, "'"));
  if (isThere) {
    own = file;
    return status;
  }
  ::close(file);
  if (isNamed)
    (void)::unlink(fresh.c_str());
  return status;
}

Status RendezvousAddress::announce(const Announcement &announcement) {
  const std::string text = encode(announcement);
  Status status;
  if (options.rendezvous == TcpOptions::Rendezvous::File)
    status = writeFile(text);
  else if (options.rendezvous == TcpOptions::Rendezvous::Store)
    if (const cgx_status code =
            options.store.storeSet(options.store.store, storeKey().c_str(), text.data(), text.size());
        code != CGX_OK)
      status = Status::error(code, "the store did not take ", storeKey());
  return status;
}

void RendezvousAddress::takeDown() {
  if (own < 0)
    return;
  testDelay("tcp: before the file is taken down");
  // A file that a later start has put there is left alone. No other file can have this one's number while it
  // is open.
  struct stat there{}, put{};
  if (::fstat(own, &put) == 0 && ::lstat(options.path.c_str(), &there) == 0 && there.st_dev == put.st_dev &&
      there.st_ino == put.st_ino)
    (void)::unlink(options.path.c_str());
  ::close(own);
  own = -1;
}

RendezvousAddress::~RendezvousAddress() {
  if (own >= 0)
    ::close(own);
}

Result<std::optional<Announcement>> RendezvousAddress::readFile() const {
  // The file is opened without blocking: somebody may have put a pipe there to which nobody writes.
  const int file = ::open(options.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && errno == ENOENT)
    return std::optional<Announcement>();
  if (file < 0)
    return systemError(concat("cannot read the rendezvous file '", options.path, "'"));
  struct stat info{};
  std::string text(kLongestText + 1, '\0');
  const bool isOwn = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == ::geteuid() &&
                     (info.st_mode & 077) == 0;
  const ssize_t length = ::read(file, text.data(), text.size());
  ::close(file);
  if (!isOwn)
    return Status::error(
        CGX_INVALID_ARGUMENT, "expected '", options.path, "' to be a file of user ", ::geteuid(),
        " that nobody else may open (mode 600): who else may write there says where the job meets");
  text.resize(size_t(std::max<ssize_t>(length, 0)));
  Result<Announcement> read = decodeAnnouncement(text);
  if (!read.ok())
    return read.status().within(options.path);
  return std::optional(*read);
}

Result<std::optional<Announcement>>
RendezvousAddress::askStore(std::chrono::steady_clock::time_point deadline) const {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  std::string text(kLongestText, '\0');
  uint64_t bytes = 0;
  const cgx_status code =
      options.store.storeGet(options.store.store, storeKey().c_str(), uint32_t(std::max<int64_t>(left, 0)),
                             text.data(), text.size(), &bytes);
  if (code == CGX_TIMEOUT)
    return std::optional<Announcement>();
  if (code != CGX_OK)
    return Status::error(code, "the store did not give ", storeKey());
  if (bytes > text.size())
    return Status::error(CGX_INVALID_ARGUMENT, "expected at most ", text.size(), " bytes in ", describe(),
                         ", got ", bytes);
  text.resize(bytes);
  Result<Announcement> read = decodeAnnouncement(text);
  if (!read.ok())
    return read.status().within(describe());
  return std::optional(*read);
}

Result<std::optional<Announcement>>
RendezvousAddress::find(std::chrono::steady_clock::time_point deadline) const {
  switch (options.rendezvous) {
  case TcpOptions::Rendezvous::File:
    return readFile();
  case TcpOptions::Rendezvous::Store:
    return askStore(deadline);
  case TcpOptions::Rendezvous::HostPort:
    break;
  }
  return std::optional(Announcement{options.host, options.port, ""});
}

} // namespace cgx::tcp
