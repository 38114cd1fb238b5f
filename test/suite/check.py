#!/usr/bin/env python3
"""Runs the tests of existing builds, and ends with one table: failed, flaky, skipped, left out.

    test/suite/check.py runtime-only release --leave-out long

tools/check calls it after building them. A test that fails is repeated alone; if it passes then, the table calls it
flaky, which still counts as a failure. Exit status: 0 where everything passed, 1 where something failed or was skipped
that --known-skips does not list, 2 for wrong usage.
"""

import argparse
import contextlib
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time

import builds
import outcomes

# Tests that do not depend on the compiler run in the build without one, where both builds are tested.
WITHOUT_COMPILER = "without-compiler"


def main(arguments):
    parser = argparse.ArgumentParser(prog="test/suite/check.py", description=__doc__.splitlines()[0])
    parser.add_argument("presets", nargs="+", metavar="PRESET", help="of CMakePresets.json, built")
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="LABEL", help="tests with one of these labels")
    parser.add_argument("--known-skips", type=pathlib.Path, metavar="FILE", help="fail on a skip whose reason FILE does not list")
    parser.add_argument("--not-built", nargs="*", default=[], metavar="PRESET", help="builds that failed: part of the table")
    options = parser.parse_args(arguments)
    known = outcomes.read_known_skips(options.known_skips) if options.known_skips else None
    began = time.monotonic()
    results = []
    with own_surroundings():
        for preset in options.presets:
            labels = set(options.leave_out)
            if preset == "release" and "runtime-only" in options.presets:
                labels.add(WITHOUT_COMPILER)
            results.append(run_build(builds.Build(preset), labels))
    return report(results, options.leave_out, known, options.not_built, time.monotonic() - began)


@contextlib.contextmanager
def own_surroundings():
    """Gives this run its own folders for temporary files and compiled steps, so that two runs on one machine do not
    collide."""
    folder = tempfile.mkdtemp(prefix="cgx-suite-")
    os.chmod(folder, 0o1777)  # tests also run as other users
    os.environ["TMPDIR"] = folder
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Result:
    """The results of one build's tests."""

    def __init__(self, build, found, again, left_out):
        self.preset, self.left_out = build.preset, left_out
        self.outcomes = found
        passed_alone = {outcome.name for outcome in again if outcome.passed}
        self.flaky = [outcome for outcome in found if not outcome.passed and outcome.name in passed_alone]
        self.failed = [outcome for outcome in found if not outcome.passed and outcome.name not in passed_alone]
        self.skips = [skip for outcome in found for skip in outcome.skips()]


def run_build(build, labels):
    """Runs the tests of a build that have none of the labels, and repeats those that fail once, alone."""
    print(f"\n== test: {build.preset}", flush=True)
    tests = build.tests()
    names = [test.name for test in tests if not test.labels & labels]
    junit = build.root / "build" / "junit" / f"{build.preset}.xml"
    found = build.run(names, junit)
    failed = [outcome.name for outcome in found if not outcome.passed]
    if failed:
        print(f"\n== once more, alone: {', '.join(failed)}", flush=True)
    again = build.run(failed, junit.with_suffix(".again.xml"), parallel=1)
    return Result(build, found, again, [test.name for test in tests if test.labels & labels - {WITHOUT_COMPILER}])


def report(results, leave_out, known, not_built, seconds):
    """Prints the table and returns the exit status."""
    print("\n== results")
    for preset in not_built:
        print(f"  not built  {preset}: cmake --build --preset {preset}")
    for kind in ("failed", "flaky"):
        for result in results:
            for outcome in getattr(result, kind):
                cases = outcome.failed_cases()
                print(f"  {kind:<9}  {outcome.name} ({result.preset}){': ' + ', '.join(cases[:5]) if cases else ''}"
                      f"{', ...' if len(cases) > 5 else ''}\n             {repeat(result.preset, outcome.name)}")
    skips = [skip for result in results for skip in result.skips]
    for reason, cases in outcomes.by_reason(skips).items():
        tests = sorted({skip.test for skip in cases})
        print(f"  skipped    {len(cases)} case{'s' * (len(cases) != 1)}: {reason} ({', '.join(tests[:4])}{', ...' * (len(tests) > 4)})")
    unlisted = [skip for result in results for skip in outcomes.unknown_skips(result.preset, result.skips, known or [])
                if known is not None]
    for reason in outcomes.by_reason(unlisted):
        print(f"  a skip that the list of known ones lacks: {reason}")
    left_out = sorted({name for result in results for name in result.left_out})
    failed = sum(len(result.failed) + len(result.flaky) for result in results)
    passed = sum(len(result.outcomes) for result in results) - failed
    print(f"The tests took {int(seconds) // 60} min {int(seconds) % 60} s. Records: build/junit/.")
    print(f"tests: {passed} passed, {failed} failed, {len(left_out)} skipped")
    if left_out:
        print(f"Left out, {len(left_out)} tests with a label of {', '.join(leave_out)}: {' '.join(left_out)}. tools/check --full runs them all.")
    return 1 if failed or unlisted or not_built else 0


def repeat(preset, name):
    """Returns the command that runs one test alone."""
    return shlex.join(["ctest", "--preset", preset, "-R", f"^{name}$"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
