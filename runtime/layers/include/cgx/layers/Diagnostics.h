//===-- Diagnostics.h - Messages about decisions ----------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CGX_LAYERS_DIAGNOSTICS_H
#define CGX_LAYERS_DIAGNOSTICS_H

#include <string>
#include <vector>

namespace cgx::layers {

enum class Severity { Error, Warning };

/// A sentence for the user, and the notes below it.
struct Diagnostic {
  Severity severity;
  std::string message;
  std::vector<std::string> notes = {};
};

/// Diagnostics in the order in which they were added.
class Diagnostics {
public:
  /// Adds an error. Returns false, so that a function can fail in one statement.
  bool fail(std::string message, std::vector<std::string> notes = {}) {
    all.push_back({Severity::Error, std::move(message), std::move(notes)});
    return false;
  }
  void warn(std::string message) { all.push_back({Severity::Warning, std::move(message)}); }

  const std::vector<Diagnostic> &get() const { return all; }

  /// Returns the errors with their notes, one on each line.
  std::string errors() const {
    std::string text;
    for (const Diagnostic &diagnostic : all) {
      if (diagnostic.severity != Severity::Error)
        continue;
      text.append(text.empty() ? "" : "\n").append(diagnostic.message);
      for (const std::string &note : diagnostic.notes)
        text.append("\n").append(note);
    }
    return text;
  }

private:
  std::vector<Diagnostic> all;
};

} // namespace cgx::layers

#endif // CGX_LAYERS_DIAGNOSTICS_H
