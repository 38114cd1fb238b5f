//===-- CommandLine.cpp - Parts common to all command lines -----*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Cli/CommandLine.h"

#include "ParseMessages.h"

#include "cgx/Cli/ConfigFile.h"
#include "cgx/Cli/Version.h"
#include "cgx/formats/Closest.h"

#include <cmath>
#include <cstdio>

namespace cgx::cli {

static std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : typedCommands(app))
    for (const CLI::Option *option : command->get_options())
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
  return names;
}

static std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// The treatment of words after an option that takes one.
enum class Words {
  Refused,
  Quoted,   ///< they are one value: --compress "bits=4 bucket=128"
  Repeated, ///< each is a value: --set a=1 --set b=2
};

static Words wordsOf(const CLI::App &app, std::string_view option) {
  for (const CLI::App *command : typedCommands(app))
    if (const CLI::Option *found = command->get_option_no_throw(std::string(option))) {
      const std::string type = found->get_type_name();
      if (type == kOptionsOfAnother || type.ends_with("CODEC") || type.starts_with('"'))
        return Words::Quoted;
      if (found->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll)
        return Words::Repeated;
    }
  return Words::Refused;
}

/// Returns the advice for words that the shell took apart, as in `--compress bits=4 bucket=128`, or that
/// follow an option which takes one at a time. It is empty where the word that `refused` names is no such
/// word.
static std::string quoting(const CLI::App &app, std::string_view refused, int argc, const char *const *argv) {
  for (int first = 1; first + 2 < argc; ++first) {
    const Words words = wordsOf(app, argv[first]);
    const std::string option = argv[first];
    std::string quoted, repeated;
    int end = first + 1;
    for (; end < argc && argv[end][0] != '-'; ++end) {
      quoted += (quoted.empty() ? "" : " ") + std::string(argv[end]);
      repeated += " " + option + " " + argv[end];
    }
    const std::string_view second = end > first + 2 ? argv[first + 2] : "";
    if (second.find('=') == std::string_view::npos || refused.find(second) == std::string_view::npos)
      continue;
    if (words == Words::Quoted)
      return ": quote what belongs together, " + option + " \"" + quoted + "\"";
    if (words == Words::Repeated)
      return ": name the option again for each," + repeated;
  }
  return "";
}

/// Lets each option take one value at a time. For an option that may be repeated, CLI11 would also take the
/// words after its value, and the step among them.
static void takeOneValueAtATime(CLI::App &app) {
  for (CLI::Option *option : app.get_options([](const CLI::Option *) { return true; }))
    if (!option->get_positional() && option->get_expected_max() == 1)
      option->allow_extra_args(false);
  for (CLI::App *command : app.get_subcommands([](CLI::App *) { return true; }))
    takeOneValueAtATime(*command);
}

/// Returns " (did you mean '--ranks'?)" or ": ADVICE" for the first unknown option or command. The text is
/// empty if all are known, or if none is similar.
static std::string suggestion(const CLI::App &app, int argc, const char *const *argv,
                              const Advices &advices) {
  const std::vector<std::string> commands = commandNames(app);
  const bool lacksCommand = !commands.empty() && app.get_subcommands().empty();
  const std::string unknown = unknownOption(app, argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--")
      break;
    if (!unknown.empty() && word.substr(0, word.find('=')) == unknown) {
      const auto advice = advices.find(unknown);
      return advice == advices.end() ? formats::askMeant(unknown, optionNames(app)) : ": " + advice->second;
    }
    if (lacksCommand && !word.starts_with("-"))
      return formats::askMeant(word, commands);
  }
  return "";
}

/// Throws for an option with an empty value, as from a shell variable that is not set. Most options would act
/// as if they were absent, and a run would end without saving.
static void refuseEmpty(const CLI::App &app) {
  for (const CLI::App *command : typedCommands(app))
    for (const CLI::Option *option : command->get_options())
      if (option->get_type_name() != kOptionsOfAnother)
        for (const std::string &value : option->results())
          if (value.empty())
            throw CLI::ValidationError(option->get_name(), "expected a value, got ''");
}

std::optional<int> parse(CLI::App &app, int argc, const char *const *argv, const Advices &advices) {
  app.set_version_flag("--version", app.get_name() + " " + version());
  takeOneValueAtATime(app);
  try {
    app.parse(argc, argv);
    refuseEmpty(app);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      app.exit(error); // prints help or the version
      return 0;
    }
    const std::string advice = dynamic_cast<const CLI::ExtrasError *>(&error)
                                   ? quoting(app, error.what(), argc, argv)
                                   : std::string();
    std::fprintf(stderr, "%s: error: %s%s%s (see --help)\n", app.get_name().c_str(),
                 messageOf(app, error, argc, argv).c_str(),
                 placeInConfigFile(app, error.what(), argc, argv).c_str(),
                 (advice.empty() ? suggestion(app, argc, argv, advices) : advice).c_str());
    return 2;
  }
}

CLI::Validator finiteNumber() {
  return {[](const std::string &text) {
            double value = 0;
            const bool isFinite = !CLI::detail::lexical_cast(text, value) || std::isfinite(value);
            return isFinite ? std::string() : "expected a number, got '" + text + "'";
          },
          ""};
}

} // namespace cgx::cli
