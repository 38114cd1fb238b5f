#!/usr/bin/env python3
"""Runs tests many times, in random order and under changing load. Each failure is a fault, of test or product.

    test/suite/soak.py runtime-only release --rounds 20 --match 'tcp|fault' --in all

tools/check --soak calls it. Each round draws one of the loads (one test at a time; four tests for each core; as many tests as
cores beside a busy loop on each; everything on one core) and one of the surroundings asked for. In half of the rounds ranks wait at
random before they send, accept, join or unlink, where the build has CGX_TEST_DELAYS (runtime-only has). Exit status: 0 where
nothing failed, 1 where a test did, 2 for wrong usage.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

import builds
import check
import surroundings


class Load:
    """Other work on the machine during a round.

    Attributes:
      parallel: tests at once.
      wrapper: a command in front of ctest.
    """

    def __init__(self, name, parallel, wrapper=(), busy=0):
        self.name, self.parallel, self.wrapper, self._busy = name, parallel, list(wrapper), busy

    @contextlib.contextmanager
    def applied(self):
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self._busy)]
        try:
            yield
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()


def loads():
    cores = os.cpu_count()
    return [Load("alone", 1), Load("crowded", 4 * cores), Load("busy", cores, busy=cores),
            Load("one core", cores, wrapper=["taskset", "-c", "0"])]


def main(arguments):
    parser = argparse.ArgumentParser(prog="test/suite/soak.py", description=__doc__.splitlines()[0])
    parser.add_argument("presets", nargs="+", metavar="PRESET", help="of CMakePresets.json, built")
    parser.add_argument("--rounds", type=int, required=True, metavar="N")
    parser.add_argument("--match", default="", metavar="PATTERN", help="a regular expression of test names; all without it")
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="LABEL", help="tests with one of these labels")
    parser.add_argument("--in", dest="places", nargs="+", default=["plain"], metavar="SURROUNDING",
                        help=f"'all', or some of {', '.join(each.name for each in surroundings.ALL)}")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31), help="of the delays; ctest draws the order")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"expected a positive number of rounds, got {options.rounds}")
    places = choose(parser, options.places)
    draw = random.Random(options.seed)
    print(f"soak: seed {options.seed}", flush=True)
    failures = collections.defaultdict(list)
    if not any(re.search(options.match, test.name) for preset in options.presets for test in builds.Build(preset).tests()):
        parser.error(f"expected a pattern that some test's name matches, got '{options.match}'")
    with check.own_surroundings():
        for number in range(1, options.rounds + 1):
            # Every load and every surrounding is used before one is repeated.
            load, place = loads()[number % 4], places[number % len(places)]
            with load.applied(), place.entered() as (wrapper, environment):
                if number // 4 % 2 == 0:
                    environment = environment | {"CGX_TEST_DELAYS": str(draw.randrange(1 << 31))}
                for preset in options.presets:
                    for outcome in run_round(builds.Build(preset), options, number, load, place, wrapper, environment):
                        failures[preset, outcome.name].append((number, load.name, place.name, outcome.failed_cases()))
    return report(failures, options.rounds)


def choose(parser, names):
    """Returns the surroundings of these names that are possible here."""
    if names == ["all"]:
        names = [each.name for each in surroundings.ALL]
    places = []
    for name in names:
        place = surroundings.named(name)
        if place is None:
            parser.error(f"expected a surrounding of {', '.join(each.name for each in surroundings.ALL)}, got '{name}'")
        if reason := place.why_not():
            print(f"soak: without the surrounding {name}: {reason}", flush=True)
        else:
            places.append(place)
    if not places:
        parser.error("none of these surroundings can be had here")
    return places


def run_round(build, options, number, load, place, wrapper, environment):
    """Runs one round in one build, and returns the outcomes that failed."""
    names = [test.name for test in build.tests()
             if re.search(options.match, test.name) and not test.labels & set(options.leave_out)]
    if not names:
        print(f"soak: {build.preset} has no test that matches '{options.match}'", flush=True)
        return []
    # Any user may write into this folder, and files that another mount namespace writes there can be seen.
    junit = pathlib.Path(os.environ["TMPDIR"]) / f"{build.preset}.{number}.xml"
    found = build.run(names, junit, parallel=load.parallel, options=["--schedule-random"], wrapper=[*load.wrapper, *wrapper],
                      environment=environment, quiet=True)
    kept = build.root / "build" / "junit"
    kept.mkdir(parents=True, exist_ok=True)
    shutil.copy(junit, kept / f"soak.{junit.name}")
    failed = [outcome for outcome in found if not outcome.passed]
    delays = f", CGX_TEST_DELAYS={environment['CGX_TEST_DELAYS']}" if "CGX_TEST_DELAYS" in environment else ""
    skipped = sum(len(outcome.skips()) for outcome in found)
    print(f"round {number}, {build.preset}, {load.name}, {place.name}: {len(found)} tests, {len(failed)} failed, "
          f"{skipped} cases skipped{delays}", flush=True)
    for outcome in failed:
        print(f"  {outcome.name}: {', '.join(outcome.failed_cases()) or outcome.output[-300:]}", flush=True)
    return failed


def report(failures, rounds):
    """Prints failures by test and returns the exit status."""
    print(f"\n== soak: {rounds} rounds")
    for (preset, name), found in sorted(failures.items(), key=lambda item: -len(item[1])):
        cases = list(dict.fromkeys(case for *_, failed in found for case in failed))
        print(f"  failed {len(found)} of {rounds}  {name} ({preset}) in rounds "
              f"{', '.join(f'{number} ({load}, {place})' for number, load, place, _ in found)}{': ' if cases else ''}{', '.join(cases)}")
        print(f"             {check.repeat(preset, name)}")
    if not failures:
        print("  no failure")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
