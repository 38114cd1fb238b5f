//===-- ParseMessages.cpp - Errors of a command line ------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParseMessages.h"

#include "cgx/formats/Closest.h"

#include <algorithm>
#include <regex>

namespace cgx::cli {

std::vector<const CLI::App *> typedCommands(const CLI::App &app) {
  std::vector<const CLI::App *> typed = {&app};
  for (const CLI::App *command : app.get_subcommands())
    for (const CLI::App *inner : typedCommands(*command))
      typed.push_back(inner);
  return typed;
}

std::string unknownOption(const CLI::App &app, int argc, const char *const *argv) {
  const std::vector<const CLI::App *> typed = typedCommands(app);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    if (word == "--")
      break;
    const auto has = [&](const CLI::App *command) { return command->get_option_no_throw(name) != nullptr; };
    if (word.starts_with("--") && std::none_of(typed.begin(), typed.end(), has))
      return name;
  }
  return "";
}

static std::string listOf(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// Returns the message for a command that needs one of its own commands after it and got none.
static std::string lackingCommand(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command :
       typedCommands(app).back()->get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return "expected a command: " + listOf(names);
}

/// Returns the words that no option takes, in the order of the command line; CLI11 lists values before their
/// options.
static std::string refusedWords(const CLI::App &app, const std::string &message, int argc,
                                const char *const *argv) {
  if (const std::string unknown = unknownOption(app, argc, argv); !unknown.empty())
    return "no such option " + unknown;
  return "expected no more words, got '" + message.substr(message.find(": ") + 2) + "'";
}

static std::string lackingOption(const CLI::App &app, const std::string &name) {
  for (const CLI::App *command : typedCommands(app))
    if (const CLI::Option *option = command->get_option_no_throw(name); option && option->get_positional())
      return (option->get_expected_max() > 1 ? "expected " : "expected a ") + option->get_single_name() +
             (option->get_lnames().empty() ? "" : ", or " + name);
  return "expected " + name;
}

/// Removes zeros after the point: 1000000.000000 -> 1000000.
static std::string withoutZeros(std::string number) {
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.')
      number.pop_back();
  }
  return number;
}

std::string messageOf(const CLI::App &app, const CLI::ParseError &error, int argc, const char *const *argv) {
  const std::string message = error.what();
  std::smatch found;
  const auto is = [&](const char *pattern) { return std::regex_match(message, found, std::regex(pattern)); };

  if (dynamic_cast<const CLI::ExtrasError *>(&error))
    return refusedWords(app, message, argc, argv);
  if (is("A subcommand is required"))
    return lackingCommand(app);
  if (is("(\\S+) is required"))
    return lackingOption(app, found[1]);
  if (is("(\\S+): \\d+ required \\S+ missing"))
    return found[1].str() + ": expected a value, got none";
  if (is("(\\S+): At Most 1 required but received (\\d+)"))
    return found[1].str() + ": expected once, got " + found[2].str() + " times";
  if (is("(\\S+): Value (.*) not in range (\\S+) to (\\S+)"))
    return found[1].str() + ": expected a number from " + withoutZeros(found[3]) + " to " +
           withoutZeros(found[4]) + ", got '" + found[2].str() + "'";
  if (is("(\\S+): (.*) not in \\{(.*)\\}")) {
    const std::vector<std::string> names = CLI::detail::split(found[3], ',');
    return found[1].str() + ": expected one of " + listOf(names) + ", got '" + found[2].str() + "'" +
           formats::askMeant(found[2].str(), names);
  }
  if (is("Could not convert: (\\S+) = (.*)"))
    return found[1].str() + ": expected no value, true or false, got '" + found[2].str() + "'";
  if (is("(.*) was not readable \\(missing\\?\\)"))
    return "cannot read '" + found[1].str() + "'";
  return message;
}

} // namespace cgx::cli
