//===-- cgx/pjrt/Find.h - Where plugins are ---------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_PJRT_FIND_H
#define CGX_PJRT_FIND_H

#include <string>
#include <vector>

namespace cgx::pjrt {

/// Names a plugin, or several with ':' between them, which are looked at before Python's packages.
inline constexpr const char *kPluginVariable = "CGX_PJRT";

/// Returns the folders of Python's packages that this process would import from: of the environment that is
/// active, else of `python3`, and the one that this program was installed into.
std::vector<std::string> packageFolders();

/// Returns the plugins of kPluginVariable and of Python's packages, by the names that vendors give their
/// files.
std::vector<std::string> findPlugins();

/// Returns the one that brings this platform ("cpu", "cuda", "tpu"), by its file's name. Throws Error where
/// there is none, or more than one.
std::string findPlugin(const std::string &platform);

} // namespace cgx::pjrt

#endif // CGX_PJRT_FIND_H
