//===-- JsonBuilder.h - Builder of JSON documents ---------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This class is in a header for its test, which counts how often names are compared.
//
//===----------------------------------------------------------------------===//
#ifndef CGX_RUNTIME_FORMATS_JSONBUILDER_H
#define CGX_RUNTIME_FORMATS_JSONBUILDER_H

#include "cgx/formats/Json.h"

#include <set>
#include <vector>

namespace cgx::formats {

/// Builds a document from the values that the parser reports. The parser itself does not recurse; its own
/// callback interface would search all members of an object after each of them.
template <typename Json> class JsonBuilder final : public nlohmann::json_sax<Json> {
public:
  using typename nlohmann::json_sax<Json>::number_integer_t;
  using typename nlohmann::json_sax<Json>::number_unsigned_t;
  using typename nlohmann::json_sax<Json>::number_float_t;
  using typename nlohmann::json_sax<Json>::string_t;
  using typename nlohmann::json_sax<Json>::binary_t;

  explicit JsonBuilder(size_t depth) : mostDepth(depth) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &) override { return false; } // text has no binary values
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    Json &object = *open_.back();
    if (!names_.back().insert(name).second) {
      wrong = place() + ": '" + name + "' is there twice";
      return false;
    }
    // The member is appended, so that its place need not be searched.
    if constexpr (requires(typename Json::object_t members) { members.back(); }) { // the object is a list
      auto &members = object.template get_ref<typename Json::object_t &>();
      members.emplace_back(name, nullptr);
      member = &members.back().second;
    } else {
      member = &object[name];
    }
    key_.back() = std::move(name);
    return true;
  }

  bool parse_error(size_t, const std::string &, const nlohmann::json::exception &error) override {
    // Removes the library's prefix from "[json.exception.parse_error.101] parse error at line 1, column 2:
    // ...".
    wrong = error.what();
    if (size_t end = wrong.find("] "); wrong.starts_with('[') && end != std::string::npos)
      wrong.erase(0, end + 2);
    if (constexpr std::string_view start = "parse error at "; wrong.starts_with(start))
      wrong.erase(0, start.size());
    return false;
  }

  Json document;
  std::string wrong;

private:
  template <typename Value> bool add(Value &&value) {
    if (open_.empty()) {
      document = std::forward<Value>(value);
      last = &document;
    } else if (open_.back()->is_array()) {
      open_.back()->push_back(Json(std::forward<Value>(value)));
      last = &open_.back()->back();
    } else {
      *member = std::forward<Value>(value);
      last = member;
    }
    return true;
  }

  bool open(Json container) {
    if (open_.size() == mostDepth) {
      wrong =
          place() + ": expected at most " + std::to_string(mostDepth) + " arrays and objects in each other";
      return false;
    }
    add(std::move(container));
    // Nothing is appended to an array while one of its elements is open, so this address stays valid.
    open_.push_back(last);
    names_.emplace_back();
    key_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    names_.pop_back();
    key_.pop_back();
    return true;
  }

  /// Returns the path of the open containers, the first few of them, such as "layers[3].codec".
  std::string place() const {
    constexpr size_t most = 6;
    std::string text;
    for (size_t i = 0; i + 1 < open_.size() && i < most; ++i)
      text +=
          open_[i]->is_array() ? "[" + std::to_string(open_[i]->size() - 1) + "]" : (i ? "." : "") + key_[i];
    if (open_.size() > most + 1)
      text += "...";
    return text.empty() ? "at the top" : text;
  }

  const size_t mostDepth;
  std::vector<Json *> open_;
  std::vector<std::set<string_t>> names_;
  std::vector<string_t> key_;
  Json *member = nullptr, *last = nullptr;
};

} // namespace cgx::formats

#endif // CGX_RUNTIME_FORMATS_JSONBUILDER_H
