//===-- Text.h - Functions for text -----------------------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Text functions that passes have from LLVM, without LLVM.
#ifndef CGX_LAYERS_TEXT_H
#define CGX_LAYERS_TEXT_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cgx::layers {

constexpr bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns the text without spaces at both ends.
std::string_view trim(std::string_view text);

/// Returns the text before and after the first such character; all of it and "" if there is none.
std::pair<std::string_view, std::string_view> splitAt(std::string_view text, char at);

/// Returns the text before the first such character; all of it if there is none.
inline std::string_view takeUntil(std::string_view text, char at) { return text.substr(0, text.find(at)); }

/// Remove a prefix or a suffix; return false if there is none.
bool consumeFront(std::string_view &text, std::string_view front);
bool consumeBack(std::string_view &text, std::string_view back);

std::string join(const std::vector<std::string> &words, std::string_view between);

std::vector<std::string> split(std::string_view text, char at);

/// Return a name with dashes for underscores, and the other way around.
std::string withDashes(std::string_view name);
std::string withUnderscores(std::string_view name);

} // namespace cgx::layers

#endif // CGX_LAYERS_TEXT_H
