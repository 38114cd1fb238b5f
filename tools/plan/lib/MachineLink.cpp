//===-- MachineLink.cpp - The link of a measured machine --------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineLink.h"

#include "cgx/plan/Error.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace cgx::plan {

bool isMachineFile(const std::string &link) { return link.ends_with(".json"); }

Link loadMachineLink(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    throw Error("cannot read '" + path + "'");
  nlohmann::json machine = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!machine.is_object() || machine.value("cgx_machine", nlohmann::json()) != 1)
    throw Error("'" + path + "': expected 'cgx_machine' of version 1, as cgx-bench calibrate writes it");
  auto positive = [&](const char *name) {
    nlohmann::json value = machine.value("link", nlohmann::json::object()).value(name, nlohmann::json());
    if (!value.is_number() || !(value.get<double>() > 0))
      throw Error("'" + path + "': expected a number above 0 as '" + name + "' of 'link'");
    return value.get<double>();
  };
  return {positive("bytes_per_second"), positive("latency_seconds")};
}

} // namespace cgx::plan
