//===-- TextFile.cpp - Files of text, of bounded length -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/formats/TextFile.h"

#include "cgx/formats/SystemError.h"

#include "cgx/formats/InputFile.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace cgx::formats {

std::string readTextFile(const std::string &path, std::string &text, size_t most) {
  text.clear();
  std::string wrong;
  const int file = openInput(path, InputKind::Stream, wrong);
  if (file < 0)
    return wrong;
  ssize_t got = 1;
  char piece[1 << 16];
  while (got > 0 && text.size() <= most) {
    do
      got = read(file, piece, sizeof piece);
    while (got < 0 && errno == EINTR);
    if (got > 0)
      text.append(piece, size_t(got));
  }
  const int error = errno;
  close(file);
  if (got < 0)
    return systemErrorText(error);
  if (text.size() > most)
    return "expected at most " + std::to_string(most) + " bytes";
  return "";
}

} // namespace cgx::formats
