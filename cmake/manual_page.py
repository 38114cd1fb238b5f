#!/usr/bin/env python3
"""manual_page.py: makes the manual page of a program from its --help and that of its subcommands.

Usage: manual_page.py --name cgx-run --summary "train on several ranks" --version 0.1.0 --output cgx-run.1 PROGRAM

Headings in capitals become sections, lists become lists, and commands stay as they were typed. Two kinds of help are
understood: that of CLI11, and that of LLVM's command lines.
"""

import argparse
import pathlib
import re
import subprocess

HEADING = re.compile(r"[A-Z][A-Z ]+$")
USAGE = re.compile(r"usage: +(.*)", re.IGNORECASE)
OVERVIEW = re.compile(r"OVERVIEW: +[\w-]+: +(.*)")
GROUP = re.compile(r"([A-Z][\w' ./+-]*):$")
LLVM_ENTRY = re.compile(r"( +)((?:--?|=)\S.*?) +- +(.*)")  # "  --name=<value>   - what"
COMMAND_INDENT = 4  # the indentation of commands in examples
COLUMN = 34  # the column of descriptions, equal in all tools


def escape(text):
    """Escapes text for roff. All characters stay as they are, so that text that is copied from the page can be typed."""
    for character, name in (("\\", "\\e"), ("-", "\\-"), ("^", "\\(ha"), ("~", "\\(ti"), ("`", "\\(ga"), ("'", "\\(aq")):
        text = text.replace(character, name)
    return text.replace(".", "\\&.", 1) if text.startswith(".") else text


def bold(text):
    return "\\fB" + escape(text) + "\\fR"


def indent_of(line):
    return len(line) - len(line.lstrip())


class Page:
    def __init__(self):
        self.lines, self.depth, self.literal = [], 0, False

    def add(self, *lines):
        self.lines += lines

    def nest(self, depth):
        self.end_literal()
        self.add(*[".RS"] * (depth - self.depth), *[".RE"] * (self.depth - depth))
        self.depth = depth

    def heading(self, macro, text):
        self.nest(0)
        self.add(f'{macro} "{escape(text)}"')

    def entry(self, name, text, depth=0):
        self.nest(depth)
        self.add(".TP", bold(name), *([escape(text)] if text else []))

    def paragraph(self, text):
        self.nest(0)
        self.add(".PP", escape(text))

    def text(self, text):
        self.end_literal()
        self.add(escape(text))

    def command(self, text):
        if not self.literal:
            self.add(".PP", ".RS 4", ".EX")
            self.literal = True
        self.add(escape(text))

    def end_literal(self):
        if self.literal:
            self.add(".EE", ".RE")
            self.literal = False


class Help:
    """A parser of one help text, that of a program or of one of its commands."""

    # These groups become sections of a manual page. All others are placed below the one before.
    SECTIONS = {"Options": "OPTIONS", "OPTIONS": "OPTIONS", "Positionals": "ARGUMENTS", "Commands": "COMMANDS", "Subcommands": "COMMANDS"}

    def __init__(self, page, text, is_command=False):
        self.page, self.lines, self.usage, self.commands = page, text.expandtabs().splitlines(), "", []
        self.group, self.fresh, self.depths, self.is_command = "", True, [], is_command
        self.list_indent = -1
        self.is_llvm = text.startswith("OVERVIEW:")

    def run(self):
        while self.lines:
            self.line(self.lines.pop(0))
        self.page.nest(0)

    def line(self, line):
        text = line.strip()
        if not text:
            self.page.end_literal()
            self.fresh = True
        elif indent_of(line) == 0:
            self.outer(text)
        elif self.group in ("EXAMPLES", "EXIT STATUS") or HEADING.match(self.group):
            self.inner(line, text)
        elif self.group:
            self.listed(line, text)
        else:
            self.flowing(text)

    def outer(self, text):
        if match := USAGE.match(text):
            self.usage, self.fresh = match[1], True
        elif match := GROUP.match(text):
            self.group, self.depths = match[1], []
            if self.is_command or match[1] not in self.SECTIONS:
                self.page.heading(".SS", match[1])
            else:
                self.page.heading(".SH", self.SECTIONS[match[1]])
        elif HEADING.match(text):
            self.group = text
            self.page.heading(".SH", text)
        else:
            self.group = ""
            self.flowing(OVERVIEW.sub(r"\1", text))
        if self.group:
            self.fresh = True

    def flowing(self, text):
        if self.fresh:
            self.page.paragraph(text)
        else:
            self.page.text(text)
        self.fresh = False

    def inner(self, line, text):
        """Takes a line below a heading in capitals: an example, a status, a list in two columns, or text."""
        if self.group == "EXIT STATUS" and re.match(r"\d {2,}\S", text):
            for number, meaning in re.findall(r"(\d+(?: \+ \w)?) {2,}(\S.*?)(?= {4}\d| *$)", text):
                self.page.entry(number, meaning)
        elif self.group == "EXAMPLES" and indent_of(line) >= COMMAND_INDENT:
            self.page.command(line[COMMAND_INDENT:])
            self.fresh = True
        elif self.group != "EXAMPLES" and (match := re.match(r"(\S.*?) {2,}(\S.*)", text)):
            self.page.entry(match[1], match[2])
            self.fresh, self.list_indent = False, indent_of(line)
        else:
            if indent_of(line) <= self.list_indent:  # the list ends here
                self.fresh, self.list_indent = True, -1
            self.flowing(text)

    def listed(self, line, text):
        """Takes an option, a command or an argument, with the text below it."""
        indent = indent_of(line)
        if match := self.is_llvm and LLVM_ENTRY.match(line):
            while self.depths and self.depths[-1] > indent:
                self.depths.pop()
            if not self.depths or self.depths[-1] < indent:
                self.depths.append(indent)
            depth = len(self.depths) - 1
            # Options of a pass are written inside the value of the pass.
            name = match[2].lstrip("-") if self.is_of_a_pass(indent) else match[2]
            self.page.entry(name, match[3], depth)
        elif indent <= 6 and text.endswith(":") or text == "Compiler passes to run":
            self.depths = []
            if text != "Compiler passes to run":
                self.page.heading(".SS", text.rstrip(":"))
        elif indent <= 4:
            name, what = self.split_entry(line)
            self.page.entry(name, what)
            if self.group in ("Commands", "Subcommands"):
                self.commands.append(name)
        else:
            self.page.text(text)

    def split_entry(self, line):
        """Splits an option from its description, which may be in the next line, or follow a single space."""
        if match := re.match(r"(\S.*?) {2,}(\S.*)", line.strip()):
            return match[1], match[2]
        is_whole = self.lines and indent_of(self.lines[0]) >= COLUMN
        return (line.strip(), "") if is_whole else (line[:COLUMN].strip(), line[COLUMN:].strip())

    @staticmethod
    def is_of_a_pass(indent):
        return indent >= 8


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout


def has(program, command):
    """Returns false where a build lacks what the command needs."""
    return subprocess.run([program, command, "--help"], capture_output=True, check=False).returncode == 0


def strip_repeated(text, whole):
    """Returns the help of a subcommand without the parts that the program's help has: examples and statuses."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if HEADING.match(line) and line in whole.splitlines():
            return "\n".join(lines[:i])
    return text


def make(program, name, summary, version):
    text = help_of(program)
    # The first line repeats the name, and is kept where it contains a description.
    described = re.sub(rf"\A{name} - (.*\n)(?=\s*Usage:)", lambda match: match[1][0].upper() + match[1][1:], text)
    body = Page()
    reader = Help(body, re.sub(rf"\A{name} - .*\n", "", described))
    reader.run()
    head = Page()
    # Hyphenation would be copied with the words, so it is turned off, as are wide spaces.
    head.add(".nr HY 0", f'.TH "{escape(name.upper())}" 1 "" "cgx {version}" "cgx"', ".nh", ".ad l")
    head.heading(".SH", "NAME")
    head.add(f"{escape(name)} \\- {escape(summary)}")
    head.heading(".SH", "SYNOPSIS")
    head.add(bold(name) + " " + escape(reader.usage.removeprefix(name).strip()))
    head.heading(".SH", "DESCRIPTION")
    # The commands of cgx are programs with manual pages of their own.
    for command in (command for command in reader.commands if name != "cgx" and has(program, command)):
        inner = Page()
        of_command = Help(inner, strip_repeated(help_of(program, command), text), is_command=True)
        of_command.run()
        body.heading(".SH", f"{name} {command}")
        if of_command.usage:
            body.add(escape(of_command.usage))
        body.lines += inner.lines
    return "\n".join(head.lines + body.lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("--name", "--summary", "--version", "--output"):
        parser.add_argument(option, required=True)
    parser.add_argument("program")
    options = parser.parse_args()
    pathlib.Path(options.output).write_text(make(options.program, options.name, options.summary, options.version), encoding="utf-8")


if __name__ == "__main__":
    main()
