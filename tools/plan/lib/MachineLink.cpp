//===-- MachineLink.cpp - The link of a measured machine --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineLink.h"

#include "cgx/formats/Machine.h"
#include "cgx/formats/TextFile.h"
#include "cgx/plan/Error.h"

namespace cgx::plan {

bool isMachineFile(const std::string &link) { return link.ends_with(".json"); }

Link loadMachineLink(const std::string &path) {
  std::string text;
  if (std::string wrong = formats::readTextFile(path, text); !wrong.empty())
    throw Error("cannot read '" + path + "': " + wrong);
  Link link;
  if (std::string wrong = formats::readMachineLink(text, link.bytesPerSecond, link.latencySeconds);
      !wrong.empty())
    throw Error("'" + path + "': " + wrong);
  return link;
}

} // namespace cgx::plan
