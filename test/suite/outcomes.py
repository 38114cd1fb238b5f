"""Reads the outcome of each test and of each of its cases, from the JUnit file of ctest and the output of the tests."""

import ast
import collections
import pathlib
import re
import typing
import xml.etree.ElementTree


class Skip(typing.NamedTuple):
    """A case that did not run."""
    test: str  # its name in ctest
    case: str
    reason: str


class Outcome(typing.NamedTuple):
    """A test of ctest after a run."""
    name: str
    passed: bool
    seconds: float
    output: str

    def skips(self):
        return [Skip(self.name, case, reason) for case, reason in skipped_cases(self.output)]

    def failed_cases(self):
        return failed_cases(self.output)


def read_junit(path):
    """Returns the outcomes in a file of `ctest --output-junit`."""
    root = xml.etree.ElementTree.parse(pathlib.Path(path)).getroot()
    return [Outcome(case.get("name"), case.get("status") == "run", float(case.get("time") or 0), case.findtext("system-out") or "")
            for case in root.iter("testcase")]


# A line reads "test_x (__main__.T.test_x) ... skipped 'reason'". A docstring may be in a line of its own before the
# dots, and the arguments of a subtest may follow the name.
_UNITTEST_CASE = re.compile(r"^\s*(\w+ \([\w.]+\).*?)(?: \.\.\. .*)?$")
_UNITTEST_SKIP = re.compile(r"\.\.\. skipped (?P<reason>'.*'|\".*\")$")
_UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): (\w+) \(([\w.]+)\)")
_GOOGLETEST_REASON = re.compile(r"^\S.*:\d+: Skipped$")
_GOOGLETEST_SKIP = re.compile(r"^\[  SKIPPED \] (\S+?),? .*\(\d+ ms\)$")
_GOOGLETEST_FAILED = re.compile(r"^\[  FAILED  \] (\S+?),? .*\(\d+ ms\)$")
_LIT_UNSUPPORTED = re.compile(r"^Unsupported Tests \(\d+\):$")
_LIT_CASE = re.compile(r"^  \w+ :: (\S+)$")
_LIT_FAILED = re.compile(r"^FAIL: (\w+ :: \S+)")


def skipped_cases(output):
    """Returns (case, reason) of every case that unittest, GoogleTest or lit reported as skipped."""
    lines = output.splitlines()
    found = []
    case, reason, in_unsupported = "?", [], False
    for line in lines:
        if match := _UNITTEST_CASE.match(line):
            case = match[1]
        if match := _UNITTEST_SKIP.search(line):
            found.append((case, ast.literal_eval(match["reason"])))
        if _GOOGLETEST_REASON.match(line):
            reason = []
        elif match := _GOOGLETEST_SKIP.match(line):
            found.append((match[1], " ".join(part for part in reason if part) or "no reason given"))
            reason = []
        else:
            reason.append(line.strip())
        if _LIT_UNSUPPORTED.match(line):
            in_unsupported = True
        elif in_unsupported and (match := _LIT_CASE.match(line)):
            found.append((match[1], "this build lacks a feature that the test requires"))
        else:
            in_unsupported = False
    return found


def failed_cases(output):
    """Returns the cases that failed, in order, each once."""
    found = []
    for line in output.splitlines():
        for pattern in (_UNITTEST_FAILED, _GOOGLETEST_FAILED, _LIT_FAILED):
            if match := pattern.match(line):
                found.append(f"{match[2].removeprefix('__main__.')}" if pattern is _UNITTEST_FAILED else match[1])
    return list(dict.fromkeys(found))


def by_reason(skips):
    """Returns {reason: skips}, the most frequent first."""
    grouped = collections.defaultdict(list)
    for skip in skips:
        grouped[skip.reason].append(skip)
    return dict(sorted(grouped.items(), key=lambda item: -len(item[1])))


def read_known_skips(path):
    """Returns [(pattern, why)] of a list in which each line is a regular expression for "PRESET: REASON", a bar, and
    why the skip is acceptable."""
    known = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, bar, why = line.partition(" | ")
        if not bar or not why.strip():
            raise ValueError(f"{path}:{number}: expected 'PATTERN | WHY', got '{line}'")
        known.append((re.compile(pattern.strip()), why.strip()))
    return known


def unknown_skips(preset, skips, known):
    """Returns the skips of a build for which no pattern matches "PRESET: REASON" as a whole."""
    return [skip for skip in skips if not any(pattern.fullmatch(f"{preset}: {skip.reason}") for pattern, _ in known)]
