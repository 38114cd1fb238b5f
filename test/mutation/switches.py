"""Many faults in one build: each is written into its source as a branch that the environment variable CGX_FAULT chooses.

A fault that cannot be written so, because its expression goes on in another line or is no value of the same type, has to
be made by editing and building again. What is written here is conservative; the compiler says what was not enough so.
"""

import re

import faults as made

# This is for the top of a file with faults. A constant expression must not call it, because the fault would never be
# chosen there, and the compiler reports that. CGX_FAULT_TRACE names a folder, in which the file CGX_TEST collects the
# faults that a test reaches.
HEADER = """\
#ifndef CGX_FAULT_H
#define CGX_FAULT_H
#ifndef __cplusplus
#define cgxFault(number) 0
#define bool(value) (value)
#else
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
inline const int cgxFaultChosen = getenv("CGX_FAULT") ? atoi(getenv("CGX_FAULT")) : 0;
inline const char *const cgxFaultTrace = getenv("CGX_FAULT_TRACE");
inline bool cgxFaultSeen[10000];
__attribute__((noinline)) inline void cgxFaultReached(int number) {
  if (__atomic_exchange_n(&cgxFaultSeen[number], true, __ATOMIC_RELAXED))
    return;
  char text[1000];
  const char *test = getenv("CGX_TEST");
  snprintf(text, sizeof(text), "%s/%s", cgxFaultTrace, test ? test : "unknown");
  int file = open(text, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  int length = snprintf(text, sizeof(text), "%d\\n", number);
  if (file < 0 || write(file, text, length) != length)
    abort();
  close(file);
}
inline bool cgxFaultNow(int number) {
  if (__builtin_expect(cgxFaultTrace != nullptr, 0))
    cgxFaultReached(number);
  return cgxFaultChosen == number;
}
constexpr bool cgxFault(int number) { return number > 0 && cgxFaultNow(number); }
#endif
#endif
"""
# This is for the end of lit's configuration. It gives tests their names and the number of the fault.
LIT = """
import os

import lit.formats

for name in ("CGX_FAULT", "CGX_FAULT_TRACE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def execute(self, test, lit_config, original=lit.formats.ShTest.execute):
    test.config.environment["CGX_TEST"] = "lit+" + "+".join(test.path_in_suite)
    return original(self, test, lit_config)


lit.formats.ShTest.execute = execute
"""

OPERATOR = re.compile(r" (\|\||&&|[=!<>]=|(?:<<|>>|[-+*/%&|^])?=|<<|>>|[-+*/%&|^<>?:])(?= |$)")
PRECEDENCE = {op: level for level, ops in enumerate(
    ["? :", "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"]) for op in ops.split()}
EDGE, OPERAND = -1, 100  # Brackets, commas and statements bind least; what has no operator binds most.
OPERATIONS = ("comparison", "logic", "arithmetic", "shift")
BOOLEAN = ("condition", "negation", "logic")
OPENERS, CLOSERS = "([{", ")]}"


def code_of(line, blank):
    """Returns the line with literals blanked and without the comment at its end."""
    comment = re.search("\x00+$", blank)
    return (blank[:comment.start()] if comment and line[comment.start()] == "/" else blank).rstrip()


def is_balanced(code):
    depth = 0
    for char in code:
        depth += (char in OPENERS) - (char in CLOSERS)
        if depth < 0:
            return False
    return depth == 0


def precedence(operator):
    return PRECEDENCE.get(operator, EDGE)  # An assignment's sides are whole expressions.


def begins_statement(before):
    """Returns true if a statement begins after a line of code with this end."""
    if before == "" or before[-1] in ";{}:" or before.endswith(" else"):
        return True
    return before[-1] == ")" and re.match(r" *(\} )?(if|else if|for|while) ", before) is not None


def left_of(code, begin, least, before):
    """Returns where the operand left of `begin` starts whose operators bind like `least` or more, or None where that is
    not clear."""
    ends = {match.end(): match for match in OPERATOR.finditer(code)}
    depth, at = 0, begin
    while at > 0:
        char = code[at - 1]
        if depth == 0 and at in ends:
            level = precedence(ends[at].group(1))
            if level < least or (level == least and level in (1, 2)):
                return at
            at = ends[at].start()
            continue
        if depth == 0 and (char in OPENERS + ",;" or re.search(r"\breturn $", code[:at])):
            return at
        depth += (char in CLOSERS) - (char in OPENERS)
        at -= 1
    end = re.search(r" (\|\||&&|[-+*/%&|^?:=<>]+)$", before)
    if end:
        return 0 if precedence(end.group(1)) < least else None
    return 0 if before[-1:] in (*"([{,", "") or begins_statement(before) else None


def right_of(code, end, least, after):
    """Returns where the operand right of `end` ends, by that rule."""
    begins = {match.start(): match for match in OPERATOR.finditer(code)}
    depth, at = 0, end
    while at < len(code):
        char = code[at]
        if depth == 0 and at in begins:
            if precedence(begins[at].group(1)) <= least:
                return at
            at = begins[at].end()
            continue
        if depth == 0 and char in CLOSERS + ",;":
            return at
        depth += (char in OPENERS) - (char in CLOSERS)
        at += 1
    if depth:
        return None
    begin = re.match(r" *(\|\||&&|[?:+*/%]|<<|[)\]},;])", after)
    return at if begin and precedence(begin.group(1)) <= least else None


def changed_part(fault):
    """Returns [begin, end) of the changed part in the line before, and its end in the line after: whole words or
    operators."""
    before, after = fault.before, fault.after
    begin, tail, shorter = 0, 0, min(len(before), len(after))
    while begin < shorter and before[begin] == after[begin]:
        begin += 1
    while tail < shorter - begin and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end = len(before) - tail
    if fault.kind != "negation":
        part = r"\S" if fault.kind in OPERATIONS else r"\w"
        begin = re.search(f"{part}*$", before[:begin]).start()
        end += re.match(f"{part}*", before[end:]).end()
    return begin, end, end + len(after) - len(before)


def least_binding(fault, begin, end, end_after):
    """Returns the precedence of the changed operator, in the line before or after, whichever is lower."""
    if fault.kind == "condition":
        return EDGE + 0.5  # This covers everything between the parentheses.
    if fault.kind not in OPERATIONS:
        return OPERAND
    return min(PRECEDENCE[fault.before[begin:end]], PRECEDENCE[fault.after[begin:end_after]])


def switched(lines, blank, fault, number):
    """Returns the line with both readings, of which CGX_FAULT=number chooses one, or None where that cannot be written."""
    at = fault.line - 1
    code = code_of(fault.before, blank[at])
    if re.search(r"\bconstexpr\b|\balignas\(|^ +[\w:<>]+ \w+\[[^\]]*\](, \w+.*)?;$", code):
        return None  # this has to be constant
    around = [code_of(line, text) for line, text in zip(lines, blank)]
    before = next((line for line in reversed(around[:at]) if line and not line.startswith("#")), "")
    after = next((line for line in around[at + 1:] if line and not line.startswith("#")), "")
    indent = fault.before[:len(code) - len(code.lstrip())]
    is_whole = code.endswith(";") and is_balanced(code) and code.count(";") == 1 and begins_statement(before)
    if fault.kind in ("statement", "jump") or (is_whole and re.match(r" +return\b", code)):
        if not is_whole:
            return None
        tail = len(fault.before) - len(code)  # a comment
        changed, kept = fault.after[:len(fault.after) - tail].strip(), fault.before[:len(code)].strip()
        return f"{indent}{{ if (cgxFault({number})) {{ {changed} }} else {{ {kept} }} }}"

    begin, end, end_after = changed_part(fault)
    least = least_binding(fault, begin, end, end_after)
    left = left_of(code, begin, least, before)
    right = right_of(code, end, least, after)
    if left is None or right is None:
        return None
    left += len(code[left:]) - len(code[left:].lstrip())
    one, other = fault.before[left:right].rstrip(), fault.after[left:right + end_after - end].rstrip()
    inside = code[left:right]
    if not one or not other or not is_balanced(inside) or (fault.kind == "condition" and re.search(r" = |;", inside)):
        return None
    cast = "bool" if fault.kind in BOOLEAN else ""
    return f"{fault.before[:left]}(cgxFault({number}) ? {cast}({other}) : {cast}({one})){fault.before[left + len(one):]}"


def write(text, numbered, header):
    """Returns the text with the faults of {number: fault} that can be written so, and the set of their numbers."""
    lines, blank = text.split("\n"), made.blanked(text).split("\n")
    written = {number: switched(lines, blank, fault, number) for number, fault in numbered.items()}
    written = {number: line for number, line in written.items() if line}
    for number, line in written.items():
        lines[numbered[number].line - 1] = line
    begin = f'#include "{header}"\n#line 1\n' if written else ""
    return begin + "\n".join(lines), set(written)


def blamed(output):
    """Returns (name of the file, line) of every place in a compiler's errors."""
    why = r"(?:(?:fatal )?error:|required |in .constexpr)"
    where = re.compile(rf"^(?P<file>[^\s:]+):(?P<line>\d+)(?::\d+)?: +{why}", re.M)
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", output)
    return {(match["file"], int(match["line"])) for match in where.finditer(plain)}
