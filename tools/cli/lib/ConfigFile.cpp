//===-- ConfigFile.cpp - Options of a run in a file -------------*- C++ -*-===//
//
// Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cgx/Cli/ConfigFile.h"

#include "cgx/formats/Closest.h"

#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <sstream>

namespace cgx::cli {

namespace {

constexpr const char *kOption = "--config";

std::string trimmed(const std::string &text) { return CLI::detail::trim_copy(text); }

/// A line of the file: `name = value` or `[table]`.
struct Line {
  int number;
  std::string table, name;
};

/// A reader that accepts what CLI11 accepts, and rejects what CLI11 would misinterpret.
class ConfigFile : public CLI::ConfigTOML {
public:
  ConfigFile(const CLI::App &app, std::vector<std::string> tables) : app_(app), tables_(std::move(tables)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream &input) const override {
    std::ostringstream all;
    all << input.rdbuf();
    lines_ = scan(all.str());
    for (const Line &line : lines_)
      check(line);
    std::istringstream again(withoutCommentsAtTables(all.str()));
    std::vector<CLI::ConfigItem> options, words;
    for (CLI::ConfigItem &item : CLI::ConfigTOML::from_config(again)) {
      if (item.name == "++" || item.name == "--") // these mark the beginning and the end of a table
        continue;
      (item.parents.empty() ? options : words).push_back(std::move(item));
    }
    for (const std::string &table : tables_)
      join(table, words, options);
    std::erase_if(options, [&](const CLI::ConfigItem &item) { return isFlagThatIsOff(item); });
    return options;
  }

  /// Returns the line of an option, or 0.
  int lineOf(const std::string &name) const {
    for (const Line &line : lines_)
      if ((line.table.empty() ? line.name : line.table) == name)
        return line.number;
    return 0;
  }

  std::string path() const {
    const CLI::Option *option = app_.get_option_no_throw(kOption);
    return option && !option->empty() ? option->results().front() : "";
  }

private:
  [[noreturn]] void refuse(int line, const std::string &what) const {
    throw CLI::ConfigError(path() + ":" + std::to_string(line) + ": " + what, CLI::ExitCodes::ConfigError);
  }

  /// Removes comments after table names, because CLI11 recognizes a table only if its line ends with it.
  static std::string withoutCommentsAtTables(const std::string &text) {
    static const std::regex header(R"(^\s*(\[[^\[\]]+\])\s*#.*)");
    std::istringstream input(text);
    std::string result;
    for (std::string line; std::getline(input, line);)
      result += std::regex_replace(line, header, "$1") + "\n";
    return result;
  }

  /// Returns the lines, and rejects those that CLI11 cannot tell apart or would take twice.
  std::vector<Line> scan(const std::string &text) const {
    static const std::regex header(R"(\[([^\[\]]+)\]\s*(#.*)?)"), entry(R"(([A-Za-z0-9_-]+)\s*=\s*(\S.*))");
    std::vector<Line> lines;
    std::istringstream input(text);
    std::string table, raw;
    int listBegan = 0;
    for (int number = 1; std::getline(input, raw); ++number) {
      const std::string line = trimmed(raw);
      if (line.empty() || line.front() == '#')
        continue;
      if (listBegan != 0) {
        if (line.find('#') != std::string::npos)
          refuse(number, "expected no # inside of a list, got '" + line + "'");
        listBegan = line.back() == ']' ? 0 : listBegan;
        continue;
      }
      std::smatch match;
      if (std::regex_match(line, match, header)) {
        table = trimmed(match[1]);
        lines.push_back({number, table, ""});
      } else if (std::regex_match(line, match, entry)) {
        const std::string value = match[2];
        checkValue(number, value);
        listBegan = value.front() == '[' && value.find(']') == std::string::npos ? number : 0;
        for (const Line &earlier : lines)
          if (!earlier.name.empty() && earlier.table == table && earlier.name == match[1])
            refuse(number, "expected each name once, got '" + earlier.name + "', which stands in line " +
                               std::to_string(earlier.number) + ", too");
        lines.push_back({number, table, match[1]});
      } else {
        refuse(number, "expected NAME = VALUE, [TABLE] or # a comment, got '" + line + "'");
      }
    }
    if (listBegan != 0)
      refuse(listBegan, "expected a list that ends with ] at the end of a line");
    return lines;
  }

  /// Checks a value: CLI11 ends it at the first '#', and takes several words as several values.
  void checkValue(int number, const std::string &value) const {
    static const std::regex known(
        R"((("[^"\\#]*"|'[^'#]*'|true|false|[+-]?[0-9][0-9.eE+-]*)\s*(#.*)?)|(\[[^#]*(\]\s*#.*)?))");
    if (!std::regex_match(value, known))
      refuse(number, "expected a \"text\" without \" \\ and # inside, a 'text', a number, true, false or a "
                     "[list, of, them], got " +
                         value);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const CLI::Option *option : app_.get_options())
      if (option->get_configurable())
        for (const std::string &name : option->get_lnames())
          names.push_back(name);
    return names;
  }

  void check(const Line &line) const {
    const bool isTable = line.name.empty();
    if (!line.table.empty() && !isTable)
      return; // another tool checks its own options
    const std::vector<std::string> known = isTable ? tables_ : names();
    const std::string name = isTable ? line.table : line.name;
    for (const Line &other : lines_)
      if (isTable && other.table.empty() && other.name == name)
        refuse(line.number, "expected '" + name + "' as a table or as a text, got both: line " +
                                std::to_string(other.number) + " has it, too");
    if (std::find(known.begin(), known.end(), name) != known.end())
      return;
    const std::string meant = formats::closest(name, known);
    refuse(line.number, "expected " +
                            (isTable ? "a table [" + CLI::detail::join(known, "], [") + "]"
                                     : "the name of an option of " + app_.get_name()) +
                            ", got '" + name + "'" +
                            (meant.empty() ? "" : " (did you mean '" + meant + "'?)"));
  }

  /// Joins the entries of a table to the value of one option.
  static void join(const std::string &table, const std::vector<CLI::ConfigItem> &entries,
                   std::vector<CLI::ConfigItem> &options) {
    std::string words;
    bool isGiven = false;
    for (const CLI::ConfigItem &entry : entries) {
      if (entry.parents != std::vector<std::string>{table})
        continue;
      isGiven = true;
      std::string name = entry.name, value = CLI::detail::join(entry.inputs, ",");
      std::replace(name.begin(), name.end(), '_', '-'); // Python's spelling
      if (value == "false")
        continue;
      if (value.find(' ') != std::string::npos)
        value = "{" + value + "}";
      words += (words.empty() ? "" : " ") + name + (value == "true" ? "" : "=" + value);
    }
    if (!isGiven)
      return;
    CLI::ConfigItem option;
    option.name = table;
    option.inputs = {words};
    options.push_back(std::move(option));
  }

  bool isFlagThatIsOff(const CLI::ConfigItem &item) const {
    const CLI::Option *option = app_.get_option_no_throw("--" + item.name);
    return option && option->get_expected_max() == 0 && item.inputs == std::vector<std::string>{"false"};
  }

  const CLI::App &app_;
  std::vector<std::string> tables_;
  /// The lines of the file that was read; mutable because CLI11 reads with const functions.
  mutable std::vector<Line> lines_;
};

/// Returns a value in TOML: numbers bare, everything else quoted.
std::string valueOf(const std::string &text) {
  static const std::regex number(R"(0|[1-9][0-9]*|[0-9]+\.[0-9]+)");
  if (std::regex_match(text, number))
    return text;
  const char quote = text.find_first_of("\"\\") == std::string::npos ? '"' : '\'';
  return quote + text + quote;
}

} // namespace

void addConfigFile(CLI::App &app, std::vector<std::string> tables) {
  app.set_config(kOption)
      ->description("Options in TOML, by their long names: steps = 440; those given here hold over its own")
      ->type_name("FILE.toml")
      ->group("Input")
      ->configurable(false);
  app.add_flag("--print-config")
      ->description("Print the options that hold as such a file, and end")
      ->group("Output")
      ->configurable(false);
  app.config_formatter(std::make_shared<ConfigFile>(app, std::move(tables)));
}

std::string placeInConfigFile(const CLI::App &app, const std::string &message, int argc,
                              const char *const *argv) {
  const auto file = std::dynamic_pointer_cast<const ConfigFile>(app.get_config_formatter());
  if (!file || !message.starts_with("--"))
    return "";
  const std::string name = message.substr(2, message.find_first_of(": ") - 2);
  for (int i = 1; i < argc; ++i)
    if (const std::string_view word = argv[i]; word.substr(0, word.find('=')) == "--" + name)
      return "";
  const int line = file->lineOf(name);
  return line == 0 ? "" : " (" + file->path() + ":" + std::to_string(line) + ")";
}

std::string writeConfigFile(const CLI::App &app) {
  std::string given, defaults;
  for (const CLI::Option *option : app.get_options()) {
    if (option->get_lnames().empty() || !option->get_configurable())
      continue;
    const std::string name = option->get_lnames().front() + " = ";
    if (option->empty()) {
      if (!option->get_default_str().empty() && option->get_expected_max() != 0 &&
          option->get_multi_option_policy() != CLI::MultiOptionPolicy::TakeAll)
        defaults += "# " + name + valueOf(option->get_default_str()) + "\n";
      continue;
    }
    if (option->get_expected_max() == 0) {
      given += name + "true\n";
    } else if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll) {
      std::vector<std::string> values;
      for (const std::string &value : option->results())
        values.push_back(valueOf(value));
      given += name + "[" + CLI::detail::join(values, ", ") + "]\n";
    } else {
      given += name + valueOf(option->results().back()) + "\n";
    }
  }
  return given + defaults;
}

} // namespace cgx::cli
