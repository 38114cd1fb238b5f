//===-- transport/MostTelling.h - The most telling of many reasons -*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that retries fails for one reason after another, and reports one of them. The last is often the least
// helpful: a rank that was rejected for its secret finds nobody once the others have given up.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MOSTTELLING_H
#define CGX_RUNTIME_TRANSPORT_MOSTTELLING_H

#include <string>
#include <utility>

namespace cgx {

/// The degree to which a reason explains a failure, in ascending order.
enum class Telling {
  Nothing, ///< nobody is known to have listened
  Refusal, ///< the connection was refused, or closed without a word
  Silence, ///< the other side accepted, and did not answer
  Answer,  ///< the other side answered, and said or showed why not
};

/// The reason that explains most; among equals, the latest.
class MostTelling {
public:
  MostTelling() = default;
  /// Starts with the text that holds until something is known.
  explicit MostTelling(std::string words) : text(std::move(words)) {}

  void hear(Telling how, std::string words) {
    if (how < telling)
      return;
    telling = how;
    text = std::move(words);
  }

  const std::string &words() const { return text; }

private:
  Telling telling = Telling::Nothing;
  std::string text;
};

} // namespace cgx

#endif // CGX_RUNTIME_TRANSPORT_MOSTTELLING_H
