//===-- Cache.cpp - Cache of compiled steps ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------------===//
#include "Cache.h"

#include "cgx/formats/SystemError.h"

#include "cgx/output/OutputFile.h"
#include "cgx/output/OutputFolder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cgx::compile {
namespace {

constexpr size_t digestBytes = 32;

std::string digest(llvm::StringRef bytes) {
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes));
  return std::string(reinterpret_cast<const char *>(hash.data()), hash.size());
}

std::string serialize(const Artifact &artifact) {
  llvm::msgpack::Document document;
  llvm::msgpack::ArrayDocNode root = document.getRoot().getArray(/*Convert=*/true);
  root.push_back(document.getNode(llvm::StringRef(artifact.manifest)));
  for (const std::string &file : artifact.files)
    root.push_back(document.getNode(llvm::MemoryBufferRef(file, "")));
  std::string bytes;
  document.writeToBlob(bytes);
  return digest(bytes) + bytes;
}

std::optional<Artifact> deserialize(llvm::StringRef bytes) {
  llvm::StringRef content = bytes.drop_front(std::min(digestBytes, bytes.size()));
  llvm::msgpack::Document document;
  if (bytes.take_front(digestBytes) != digest(content) || !document.readFromBlob(content, /*Multi=*/false) ||
      !document.getRoot().isArray())
    return std::nullopt;
  Artifact artifact;
  for (llvm::msgpack::DocNode &node : document.getRoot().getArray())
    if (node.getKind() == llvm::msgpack::Type::String)
      artifact.manifest = node.getString();
    else
      artifact.files.push_back(node.getBinary().getBuffer().str());
  return artifact;
}

/// Returns the file that contains this code. For a program, dladdr returns the name by which it was started,
/// such as one found on PATH.
const char *fileOfThisCode() {
  Dl_info self;
  link_map *loaded = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&fileOfThisCode), &self, reinterpret_cast<void **>(&loaded),
               RTLD_DL_LINKMAP))
    return "";
  return *loaded->l_name == '\0' ? "/proc/self/exe" : loaded->l_name;
}

/// Returns a text that changes whenever this compiler is rebuilt, or nothing.
std::optional<std::string> describeCompiler() {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(fileOfThisCode(), status))
    return std::nullopt;
  return std::to_string(status.getSize()) + " " +
         std::to_string(status.getLastModificationTime().time_since_epoch().count()) + " " +
         std::to_string(status.getUniqueID().getFile());
}

std::string describeProcessor(const Options &options) {
  if (options.cpu != "native")
    return options.cpu;
  std::string text = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return text + " " + llvm::join(features, ",");
}

std::string chooseFolder() {
  llvm::SmallString<128> folder;
  if (std::optional<std::string> given = llvm::sys::Process::GetEnv("CGX_CACHE_DIR"))
    folder = *given;
  // The default of XDG.
  else if (llvm::sys::path::cache_directory(folder) && llvm::sys::path::is_absolute(folder))
    llvm::sys::path::append(folder, "cgx");
  else if (folder.clear(); llvm::sys::path::home_directory(folder))
    llvm::sys::path::append(folder, ".cache", "cgx");
  if (!folder.empty())
    llvm::sys::path::append(folder, "steps");
  return std::string(folder);
}

llvm::SmallString<128> getPath(llvm::StringRef folder, llvm::StringRef key) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "llvmcache-" + key); // pruneCache looks for names of this form
  return path;
}

} // namespace

std::optional<Cache> Cache::open(std::string &error) {
  std::string folder = chooseFolder();
  if (folder.empty()) {
    error = "there is neither CGX_CACHE_DIR nor a home folder";
    return std::nullopt;
  }
  if (error = makeOutputFolder(folder, FolderMode::Private); !error.empty())
    return std::nullopt;
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) {
    error = "cannot open folder '" + folder + "': " + formats::systemErrorText(errno);
    return std::nullopt;
  }
  std::shared_ptr<const int> held(new int(opened), [](const int *descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  struct stat status;
  if (::fstat(opened, &status) != 0 || status.st_uid != ::geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH))) {
    error = "folder '" + folder + "' can be written by other users";
    return std::nullopt;
  }
  // From here on, use this folder, even if its name is given to another one. Without /proc only the name is
  // left.
  if (std::string name = "/proc/self/fd/" + std::to_string(opened); ::access(name.c_str(), X_OK) == 0)
    folder = name;
  return Cache(std::move(held), folder);
}

std::string Cache::getKey(llvm::StringRef program, const Options &options) {
  static const std::optional<std::string> compiler = describeCompiler();
  // If the compiler cannot be identified, the number of its process takes its place, so that no other
  // compiler shares the entry.
  const std::string made =
      compiler ? *compiler : "process " + std::to_string(llvm::sys::Process::getProcessId());
  std::string all = "cgx step 1\n" + made + "\n" + LLVM_VERSION_STRING + "\n" + describeProcessor(options) +
                    "\n" + std::to_string(static_cast<int>(options.output)) + "\n";
  return llvm::toHex(digest(all + program.str()), /*LowerCase=*/true);
}

std::optional<Artifact> Cache::find(llvm::StringRef key) const {
  llvm::SmallString<128> path = getPath(folder, key);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  std::optional<Artifact> artifact = deserialize((*buffer)->getBuffer());
  if (!artifact)
    llvm::sys::fs::remove(path); // so that it is compiled again
  return artifact;
}

void Cache::store(llvm::StringRef key, const Artifact &artifact) const {
  // If the disk is full, the next call compiles again. LLVM's own localCache would end the process.
  if (!cgx::writeOutput(getPath(folder, key).str().str(), serialize(artifact), FileMode::Private).empty())
    return;
  llvm::CachePruningPolicy policy;
  policy.MaxSizeBytes = uint64_t(1) << 30;
  llvm::pruneCache(folder, policy);
}

} // namespace cgx::compile
