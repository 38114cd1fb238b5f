"""Runs ctest in one build: lists its tests, and runs some of them."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import typing

import outcomes

ROOT = pathlib.Path(__file__).resolve().parents[2]
# for a suite that hangs; the longest tests set a limit of their own
TIMEOUT = 900
# more than any test prints, because the skips may be anywhere in the output
OUTPUT_BYTES = 64 << 20


class Test(typing.NamedTuple):
    name: str
    labels: frozenset


class Build:
    """A build of build/PRESET.

    Args:
      preset: its name in CMakePresets.json.
      root: where the tree is.
    """

    def __init__(self, preset, root=ROOT):
        self.preset, self.root = preset, pathlib.Path(root)

    def tests(self):
        """Returns all tests, in the order of ctest."""
        listed = json.loads(subprocess.run(["ctest", "--preset", self.preset, "--show-only=json-v1"], check=True,
                                           cwd=self.root, capture_output=True, text=True).stdout)
        return [Test(each["name"], frozenset(label for entry in each["properties"] if entry["name"] == "LABELS"
                                             for label in entry["value"])) for each in listed["tests"]]

    def run(self, names, junit, parallel=None, options=(), wrapper=(), environment=None, quiet=False):
        """Runs the tests of these names, and returns their outcomes.

        Args:
          names: of tests; none of them is missing.
          junit: the file for ctest's record.
          parallel: how many at once; by default as many as there are cores.
          options: more of ctest's.
          wrapper: a command that runs ctest in other surroundings.
          environment: variables beside those of this process.
          quiet: prints only what fails.
        """
        if not names:
            return []
        junit = pathlib.Path(junit)
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.unlink(missing_ok=True)
        command = [*wrapper, "ctest", "--preset", self.preset, "--timeout", str(TIMEOUT),
                   "--parallel", str(parallel or os.cpu_count()), "--output-junit", str(junit),
                   "--test-output-size-passed", str(OUTPUT_BYTES), "--test-output-size-failed", str(OUTPUT_BYTES),
                   "--no-tests=error", "-R", _any_of(names), *options]
        done = subprocess.run(command, env=os.environ | (environment or {}), check=False, cwd=self.root,
                              stdout=subprocess.DEVNULL if quiet else None)
        if not junit.exists():
            raise SystemExit(f"check: expected {junit} of ctest, which ended with {done.returncode}: {shlex.join(command[:6])} ...")
        found = outcomes.read_junit(junit)
        missing = set(names) - {outcome.name for outcome in found}
        return found + [outcomes.Outcome(name, False, 0, "ctest did not run it") for name in sorted(missing)]


def _any_of(names):
    return "^(" + "|".join(re.escape(name) for name in names) + ")$"
