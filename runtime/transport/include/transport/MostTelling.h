//===-- transport/MostTelling.h - Of many reasons, one ----------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who tries again and again fails for one reason after another, and reports one. The last is often the least:
// a rank that was refused for its secret finds nobody once the others have given up.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_TRANSPORT_MOSTTELLING_H
#define CGX_RUNTIME_TRANSPORT_MOSTTELLING_H

#include <string>
#include <utility>

namespace cgx {

/// How much a reason tells, from the least on.
enum class Telling {
  Nothing, ///< nobody is known to have been there
  Refusal, ///< nobody took the connection, or who did hung up without a word
  Silence, ///< somebody was there, and did not answer
  Answer,  ///< somebody answered, and said or showed why not
};

/// Keeps the reason that tells most; of those that tell as much, the latest.
class MostTelling {
public:
  MostTelling() = default;
  /// What holds as long as nothing is heard.
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
