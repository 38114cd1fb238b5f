//===-- Machine.cpp - Machine files ------------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "Bench.h"
#include "cgx/formats/CodecJson.h"
#include "cgx/formats/Parse.h"
#include "cgx/formats/TextFile.h"

namespace cgx::bench {

formats::Codec namedCodec(const cgx_codec &codec) { return formats::parseCodec(writeCodec(codec)); }

formats::Machine loadMachine(const std::string &path) {
  std::string text;
  if (std::string wrong = formats::readTextFile(path, text); !wrong.empty())
    throw Error("cannot read '" + path + "': " + wrong);
  formats::Machine machine;
  if (std::string wrong = formats::readMachine(text, machine); !wrong.empty())
    throw Error("machine '" + path + "': " + wrong);
  return machine;
}

} // namespace cgx::bench
