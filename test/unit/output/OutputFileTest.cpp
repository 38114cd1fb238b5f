//===-- OutputFileTest.cpp - Files appear whole, links stay -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/output/OutputFile.h"
#include "cgx/output/OutputFolder.h"

#include "UnfinishedFile.h"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace cgx;
namespace fs = std::filesystem;

namespace {

class OutputFile : public testing::Test {
protected:
  OutputFile() {
    std::string pattern = (fs::temp_directory_path() / "cgx-output-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  ~OutputFile() override { fs::remove_all(folder); }

  std::string at(const std::string &name) const { return (folder / name).string(); }

  static std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  static mode_t modeOf(const std::string &path) {
    struct stat status = {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 0777;
  }

  fs::path folder;
};

TEST_F(OutputFile, IsReplacedAsAWholeAndKeepsItsPermissions) {
  EXPECT_EQ(writeOutput(at("a"), "one"), "");
  ASSERT_EQ(::chmod(at("a").c_str(), 0640), 0);
  const int old = ::open(at("a").c_str(), O_RDONLY);
  EXPECT_EQ(writeOutput(at("a"), "two"), "");
  char bytes[8];
  EXPECT_EQ(::read(old, bytes, sizeof bytes), 3); // a reader of the old file still gets the old bytes
  EXPECT_EQ(std::string(bytes, 3), "one");
  ::close(old);
  EXPECT_EQ(read(at("a")), "two");
  EXPECT_EQ(modeOf(at("a")), mode_t{0640});
  EXPECT_EQ(entries(), std::vector<std::string>{"a"});
}

TEST_F(OutputFile, OfAProgramCanBeRun) {
  const mode_t mask = ::umask(022);
  EXPECT_EQ(writeOutput(at("a"), "", FileMode::Program), "");
  EXPECT_EQ(writeOutput(at("b"), ""), "");
  EXPECT_EQ(modeOf(at("b")), mode_t{0644});
  EXPECT_EQ(writeOutput(at("b"), "", FileMode::Program), "");
  EXPECT_EQ(modeOf(at("b")), mode_t{0755});
  EXPECT_EQ(writeOutput(at("c"), ""), "");
  ::umask(mask);
  EXPECT_EQ(modeOf(at("a")), mode_t{0755});
  EXPECT_EQ(modeOf(at("c")), mode_t{0644});
}

TEST_F(OutputFile, IsMadeInFoldersThatTheirOwnerCanUseWhateverTheMask) {
  const mode_t mask = ::umask(0777);
  EXPECT_EQ(makeOutputFolder(at("a/b/")), "");
  EXPECT_EQ(makeOutputFolder(at("private"), FolderMode::Private), "");
  EXPECT_EQ(writeOutput(at("private/a"), "", FileMode::Private), "");
  ::umask(002);
  EXPECT_EQ(makeOutputFolder(at("a/open")), "");
  EXPECT_EQ(makeOutputFolder(at("a/private"), FolderMode::Private), "");
  ::umask(mask);
  EXPECT_EQ(modeOf(at("a")), mode_t{0700});
  EXPECT_EQ(modeOf(at("a/b")), mode_t{0700});
  EXPECT_EQ(modeOf(at("private")), mode_t{0700});
  EXPECT_EQ(modeOf(at("private/a")), mode_t{0600});
  EXPECT_EQ(modeOf(at("a/open")), mode_t{0775});
  EXPECT_EQ(modeOf(at("a/private")), mode_t{0700});
  ASSERT_EQ(::chmod(at("a/b").c_str(), 0750), 0);
  EXPECT_EQ(makeOutputFolder(at("a/b")), "");
  EXPECT_EQ(modeOf(at("a/b")), mode_t{0750}); // an existing folder keeps its mode
  EXPECT_EQ(makeOutputFolder(at("private/a/c")),
            "cannot make folder '" + at("private/a/c") + "': File exists");
}

TEST_F(OutputFile, BehindLinksIsReplacedAndTheLinksStay) {
  fs::create_directories(folder / "deep");
  ASSERT_EQ(writeOutput(at("deep/target"), "one"), "");
  fs::create_symlink("deep/target", at("relative"));
  fs::create_symlink(at("relative"), at("absolute"));
  EXPECT_EQ(writeOutput(at("absolute"), "two"), "");
  EXPECT_TRUE(fs::is_symlink(at("absolute")) && fs::is_symlink(at("relative")));
  EXPECT_FALSE(fs::is_symlink(at("deep/target")));
  EXPECT_EQ(read(at("deep/target")), "two");
}

TEST_F(OutputFile, BehindALinkToNothingIsMade) {
  fs::create_symlink("target", at("link"));
  EXPECT_EQ(writeOutput(at("link"), "text"), "");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read(at("target")), "text");
}

TEST_F(OutputFile, OfAnotherUserInAFolderForAllIsNeitherFollowedNorReplaced) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root can give a file to another user";
  const uid_t other = 65534;
  ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
  ASSERT_EQ(writeOutput(at("secret"), "one"), "");
  fs::create_symlink("secret", at("link"));
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0666), 0);
  ASSERT_EQ(writeOutput(at("file"), "theirs"), "");
  for (const char *name : {"link", "pipe", "file"}) {
    ASSERT_EQ(::lchown(at(name).c_str(), other, other), 0);
    ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);
    EXPECT_NE(checkOutput(at(name)).find("Permission denied"), std::string::npos) << name;
    EXPECT_NE(writeOutput(at(name), "two").find("Permission denied"), std::string::npos) << name;
    // In a folder where only its owner may write, these files exist with the owner's consent.
    if (std::string_view(name) == "pipe")
      continue;
    ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
    EXPECT_EQ(writeOutput(at(name), "one"), "") << name;
  }
  EXPECT_EQ(read(at("secret")), "one");
  // If the folder is theirs, they may be replaced.
  ASSERT_EQ(::lchown(at("link").c_str(), other, other), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);
  ASSERT_EQ(::chown(folder.c_str(), other, other), 0);
  EXPECT_EQ(writeOutput(at("link"), "two"), "");
}

TEST_F(OutputFile, LinksInACircleAreAnError) {
  fs::create_symlink("b", at("a"));
  fs::create_symlink("a", at("b"));
  EXPECT_NE(writeOutput(at("a"), "text").find("Too many levels"), std::string::npos);
  EXPECT_NE(checkOutput(at("a")), "");
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(OutputFile, ThatIsAPipeIsWrittenTo) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", at("link"));
  std::string got;
  std::thread reader([&] { got = read(at("pipe")); });
  EXPECT_EQ(writeOutput(at("link"), "text"), "");
  reader.join();
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(OutputFile, ThatIsADeviceStaysOne) {
  fs::create_symlink("/dev/null", at("link"));
  EXPECT_EQ(checkOutput(at("link")), "");
  EXPECT_EQ(writeOutput(at("link"), "text"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_NE(writeOutput("/dev/full", "text").find("No space left"), std::string::npos);
}

/// A scope in which standard output is a file, positioned after its beginning.
class Redirected {
public:
  explicit Redirected(const std::string &path) : old_(::dup(STDOUT_FILENO)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    std::fflush(stdout);
    ::dup2(fd, STDOUT_FILENO);
    ::close(fd);
    (void)!::write(STDOUT_FILENO, "before ", 7);
  }
  ~Redirected() {
    ::dup2(old_, STDOUT_FILENO);
    ::close(old_);
  }

private:
  int old_;
};

TEST_F(OutputFile, ThatIsStandardOutputGoesOnWhereThatIs) {
  for (const char *name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    {
      Redirected redirected(at("out"));
      EXPECT_TRUE(isStandardOutput(name)) << name;
      EXPECT_EQ(checkOutput(name), "");
      EXPECT_EQ(writeOutput(name, "text"), "");
      (void)!::write(STDOUT_FILENO, " behind", 7);
    }
    EXPECT_EQ(read(at("out")), "before text behind") << name;
    fs::remove(at("out"));
  }
  EXPECT_TRUE(fs::is_symlink("/dev/stdout"));
  EXPECT_FALSE(fs::exists("-"));
  EXPECT_FALSE(isStandardOutput(at("out")) || isStandardOutput(""));
}

TEST_F(OutputFile, OfAReaderThatHasGoneIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_NE(writeOutput("/dev/fd/" + std::to_string(ends[1]), "text").find("Broken pipe"), std::string::npos);
  ::close(ends[1]);
}

TEST_F(OutputFile, ThatCannotBeWrittenLeavesNothing) {
  fs::create_directories(folder / "taken");
  for (const std::string &name : {std::string("taken"), std::string("missing/a"), std::string("taken/")}) {
    EXPECT_NE(checkOutput(at(name)), "") << name;
    EXPECT_NE(writeOutput(at(name), "text").find("cannot write"), std::string::npos) << name;
  }
  EXPECT_EQ(entries(), std::vector<std::string>{"taken"});
}

TEST_F(OutputFile, IsTheSameBehindLinksAndFoldersOnly) {
  fs::create_symlink("a", at("link"));
  EXPECT_TRUE(isSameFile(at("a"), at("a")) && isSameFile(at("link"), at("a")) &&
              isSameFile(at("./a"), at("a")));
  EXPECT_FALSE(isSameFile(at("a"), at("b")) || isSameFile("/dev/null", "/dev/null") || isSameFile("-", "-"));
  ASSERT_EQ(writeOutput(at("a"), "text"), "");
  EXPECT_TRUE(isSameFile(at("link"), at("a")));
  fs::create_hard_link(at("a"), at("b")); // each path is replaced separately
  EXPECT_FALSE(isSameFile(at("a"), at("b")));
}

TEST_F(OutputFile, WithANameIsGoneWithASignal) {
  const pid_t child = ::fork();
  if (child == 0) {
    output::UnfinishedFile file(at("a"), 0666, output::Naming::Early);
    ::_exit(!file.isOpen() || entries().size() != 1 || ::raise(SIGTERM) != 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_TRUE(entries().empty());
}

TEST_F(OutputFile, WithoutANameIsGoneWhateverEndsTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    output::UnfinishedFile file(at("a"), 0666);
    ::_exit(!file.isOpen() || ::write(file.get(), "half", 4) != 4 || ::raise(SIGKILL) != 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_TRUE(entries().empty());
}

TEST_F(OutputFile, IsTheSameHoweverItGotItsName) {
  for (output::Naming naming : {output::Naming::Late, output::Naming::Early}) {
    output::UnfinishedFile file(at("a"), 0666, naming);
    ASSERT_TRUE(file.isOpen());
    ASSERT_EQ(::write(file.get(), "text", 4), 4);
    EXPECT_TRUE(file.moveTo(at("a")));
    EXPECT_EQ(read(at("a")), "text");
  }
  EXPECT_EQ(entries(), std::vector<std::string>{"a"});
}

} // namespace
