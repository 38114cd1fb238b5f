//===-- Find.cpp - Where plugins are ----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/pjrt/Find.h"

#include "cgx/pjrt/Plugin.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace fs = std::filesystem;

namespace cgx::pjrt {

namespace {

/// Returns the folders and files in a folder, sorted; none where it cannot be read.
std::vector<fs::path> entriesOf(const fs::path &folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
    entries.push_back(each->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<std::string> split(const char *text) {
  std::vector<std::string> parts;
  std::istringstream stream(text ? text : "");
  for (std::string part; std::getline(stream, part, ':');)
    if (!part.empty())
      parts.push_back(part);
  return parts;
}

/// Adds the folders where a prefix of Python keeps packages. Debian has those of its own in
/// lib/python3/dist-packages.
void addPackagesOf(const fs::path &prefix, std::vector<std::string> &folders) {
  std::error_code error;
  for (const fs::path &version : entriesOf(prefix / "lib"))
    if (version.filename().string().starts_with("python3"))
      for (const char *name : {"site-packages", "dist-packages"})
        if (fs::is_directory(version / name, error))
          folders.push_back((version / name).string());
}

/// Adds those of the first interpreter whose prefix has packages: scripts that stand for another, as those of
/// pyenv, have none.
void addPythonOnPath(std::vector<std::string> &folders) {
  for (const std::string &folder : split(std::getenv("PATH"))) {
    std::error_code error;
    if (!folders.empty())
      return;
    if (fs::exists(fs::path(folder) / "python3", error))
      addPackagesOf(fs::path(folder).parent_path(), folders);
  }
}

/// Adds the folder of packages below which this program is, where a wheel brought it.
void addOwn(std::vector<std::string> &folders) {
  std::error_code error;
  for (fs::path place = fs::read_symlink("/proc/self/exe", error); place.has_relative_path();
       place = place.parent_path())
    if (place.filename() == "site-packages" || place.filename() == "dist-packages")
      folders.push_back(place.string());
}

bool isPluginOfXla(const fs::path &file) {
  const std::string name = file.filename().string();
  return name.starts_with("pjrt_c_api_") && name.ends_with("_plugin.so");
}

void addPluginsIn(const fs::path &packages, std::vector<std::string> &plugins) {
  for (const char *space : {"jax_plugins", "xla_plugins"})
    for (const fs::path &package : entriesOf(packages / space))
      for (const fs::path &file : entriesOf(package))
        if (file.extension() == ".so")
          plugins.push_back(file.string());
  for (const fs::path &package : entriesOf(packages))
    for (const fs::path &file : entriesOf(package))
      if (isPluginOfXla(file) || file.filename() == "libtpu.so")
        plugins.push_back(file.string());
}

/// Keeps the first of each, in their order.
void dropRepeated(std::vector<std::string> &paths) {
  std::vector<std::string> kept;
  for (const std::string &path : paths)
    if (std::find(kept.begin(), kept.end(), path) == kept.end())
      kept.push_back(path);
  paths = std::move(kept);
}

std::string listed(const std::vector<std::string> &paths) {
  std::string text;
  for (const std::string &path : paths)
    text += (text.empty() ? "'" : ", '") + path + "'";
  return text;
}

} // namespace

std::vector<std::string> packageFolders() {
  std::vector<std::string> folders;
  for (const char *variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char *prefix = std::getenv(variable); prefix && *prefix)
      addPackagesOf(prefix, folders);
  if (folders.empty())
    addPythonOnPath(folders);
  addOwn(folders);
  dropRepeated(folders);
  return folders;
}

std::vector<std::string> findPlugins() {
  std::vector<std::string> plugins = split(std::getenv(kPluginVariable));
  for (const std::string &folder : packageFolders())
    addPluginsIn(folder, plugins);
  dropRepeated(plugins);
  return plugins;
}

std::string findPlugin(const std::string &platform) {
  const auto isMeant = [&](const std::string &path) {
    return fs::path(path).filename().string().find(platform) != std::string::npos;
  };
  std::vector<std::string> named = split(std::getenv(kPluginVariable)), found;
  for (const std::vector<std::string> &plugins : {named, findPlugins()}) {
    std::copy_if(plugins.begin(), plugins.end(), std::back_inserter(found), isMeant);
    if (!found.empty())
      break; // of what the variable names, Python's packages have others
  }
  if (found.size() == 1)
    return found.front();
  if (found.size() > 1)
    throw Error("expected one plugin for the device '" + platform + "', got " + listed(found) +
                ": give the path of one in its place, or name it in " + kPluginVariable);
  const std::vector<std::string> folders = packageFolders();
  throw Error(
      "found no plugin for the device '" + platform + "' in " + kPluginVariable +
      (folders.empty() ? "" : ", nor in " + listed(folders)) +
      ": install one into the Python environment that is active (docs/devices.md says which), or give "
      "its path in the place of the name");
}

} // namespace cgx::pjrt
