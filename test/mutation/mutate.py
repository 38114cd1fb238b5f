#!/usr/bin/env python3
"""Makes small faults at random and lists those that no test notices.

A copy of the tree under build/mutation is built once, with all faults in it as branches that the environment chooses
(switches.py). One run of the near tests without a fault says which tests reach which fault: a test that does not reach
it cannot notice it, nor can one that fails in this run, which is named and left out. Then each fault is chosen in turn
and the tests that reach it run, the shortest first, until one fails; what none of them notices gets the far tests of
its part with --far (minutes each). A fault that cannot be chosen so is made by editing, after all others: edit, build,
all near tests.

A fault that does not compile does not count. What nobody notices is printed as a change of one line; those that change
nothing anybody could see stand with their reason in `explained.txt`.

    test/mutation/mutate.py --count 200                  # an hour or two
    test/mutation/mutate.py --count 5 --under passes/rewrite

Results are added to build/mutation/results.jsonl as they come; a run that is interrupted goes on where it was with
--resume, which keeps the copy and skips what has a result. --again runs those that nobody noticed once more, with the
tests as they are now. Exit status: 0 where nine of ten are noticed or explained, else 1.
"""

import argparse
import collections
import functools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import faults as made  # noqa: E402
import switches  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "mutation"
TREE = PLACE / "tree"
BUILD = TREE / "build" / "release"
JOBS = f"-j{os.cpu_count()}"
WANTED = 0.9
# Compiling costs most, so code that is not slow itself is hardly optimized.
LEVELS = {"tools": "-O0", "test": "-O1"}

# A group is built and tested together. Its near tests are lit's for the compiler, and unit tests by their names in
# ctest for the rest, without those that wait for something that does not come or run long on purpose.
Group = collections.namedtuple("Group", "name targets has_lit tests")
GROUPS = [
    Group("compiler", ["cgx-opt", "cgx_plugin", "cgx-compile"], True, "^$"),
    Group("kernels", ["cgx-kernels-test", "cgx-plan-tests"], False, r"^(unit-kernels|plan\.unit)$"),
    Group("layers", ["cgx-layers-tests", "cgx-opt"], True, r"^layers\.unit$"),
    Group("runtime", [f"test/unit/{name}/all" for name in ("runtime", "run", "formats", "output")], False,
          r"^(runtime\.|unit-run$|unit-output$|.*formats)"),
]
LEFT_OUT = r"EnduranceTest|runtime.exports|\.long$"
MOST_BYTES = 24 << 30  # of address space, because a fault may request all memory
FIRST_OF_LIT = 6  # This many tests of lit run first: most faults are noticed by them.

# A part names the sources with faults, and its far tests.
Part = collections.namedtuple("Part", "under suffixes group far")
PARTS = [
    Part("passes/import", (".cpp",), "compiler",
         "integration-jax-(labels|collectives|meshes|parity|step_inputs)|integration-run-local"),
    Part("passes/rewrite", (".cpp",), "compiler",
         "integration-run-(compress|sharded|planning)|integration-overlap|integration-jax-parity"),
    Part("passes/lower", (".cpp",), "compiler", "integration-jax-(compress|partition|collectives)"),
    Part("passes/native", (".cpp",), "compiler",
         "integration-lowering|integration-linear-algebra|integration-jax-(narrow_types|compress)"),
    Part("dialect", (".cpp",), "compiler", "integration-lowering|integration-jax-(collectives|meshes)"),
    Part("kernels/arithmetic", (".cpp", ".h"), "kernels", "integration-(format|quantize)"),
    Part("kernels/cpu", (".cpp", ".h"), "kernels", "integration-(format|quantize)"),
    Part("runtime/layers", (".cpp", ".h"), "layers", "integration-python-layers"),
    Part("runtime/plan", (".cpp", ".h"), "kernels", "integration-plan"),
    Part("runtime/transport", (".cpp", ".h"), "runtime", "integration-(mpi|run-faults)|emulated-nccl"),
    Part("runtime", (".cpp", ".h"), "runtime", "integration-(run-compress|plan|abi)"),
]


@functools.lru_cache(maxsize=None)
def source(path):
    """Returns the text of a file as it was committed when the copy was made, because later changes are not tested."""
    place = TREE if TREE.exists() else ROOT
    return subprocess.run(["git", "show", f"HEAD:{path}"], cwd=place, capture_output=True, text=True, check=True).stdout


def part_of(path):
    return next(part for part in PARTS if path.startswith(part.under + "/"))


def candidates(under):
    """Returns (path, fault) of everything that can be changed below the folders `under`."""
    listing = subprocess.run(["git", "ls-tree", "-r", "--name-only", "HEAD", *under], cwd=TREE if TREE.exists() else ROOT,
                             capture_output=True, text=True, check=True).stdout
    for path in listing.split():
        part = next((one for one in PARTS if path.startswith(one.under + "/")), None)
        if part and path.endswith(part.suffixes) and "cuda" not in path:
            for fault in made.faults(source(path)):
                if " = delete" not in fault.before:
                    yield path, fault


def sample(under, count, seed):
    """Returns `count` faults, no two in one line. The probability of a file is proportional to its lines that can be
    changed."""
    chosen = list(candidates(under))
    random.Random(seed).shuffle(chosen)
    seen = set()
    for path, fault in chosen:
        if (path, fault.line) not in seen and len(seen) < count:
            seen.add((path, fault.line))
            yield path, fault


def run(command, log, timeout, **environment):
    """Returns the status of a command and its seconds. A command that never ends counts as failed."""
    begun = time.monotonic()
    whole = {**os.environ, "GTEST_FAIL_FAST": "1", "GTEST_BRIEF": "1", **environment}
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))  # noqa: E731
    child = subprocess.Popen(command, cwd=TREE, stdout=log, stderr=log, env=whole, start_new_session=True, preexec_fn=limit)
    try:
        status = child.wait(timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        status = 1
    return status, time.monotonic() - begun


def copy_tree():
    """Makes a clean, configured copy of the committed tree, whose lit tests get the number of the fault."""
    subprocess.run(["git", "worktree", "remove", "--force", TREE], cwd=ROOT, check=False, capture_output=True)
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
    subprocess.run(["git", "worktree", "add", "--detach", TREE, "HEAD"], cwd=ROOT, check=True, capture_output=True)
    (TREE / "build").mkdir()
    if (ROOT / "build" / "venv").exists():
        (TREE / "build" / "venv").symlink_to(ROOT / "build" / "venv")
    (PLACE / "fault.h").write_text(switches.HEADER)
    for folder, level in LEVELS.items():
        lists = TREE / folder / "CMakeLists.txt"
        lists.write_text(f"add_compile_options({level})\n{lists.read_text()}")
    options = ["-DCGX_CUDA=OFF", "-DCGX_WARNINGS_AS_ERRORS=OFF"]
    subprocess.run(["cmake", "--preset", "release", *options], cwd=TREE, check=True, capture_output=True)
    tell_lit()


def tell_lit():
    with open(TREE / "test" / "lit" / "lit.cfg.py", "a") as config:
        config.write(switches.LIT)


def take_tests():
    """Copies the current tests, committed or not; the tested sources stay."""
    for folder in ("lit", "unit"):
        shutil.copytree(ROOT / "test" / folder, TREE / "test" / folder, dirs_exist_ok=True)
    tell_lit()


def write_switches(numbered, left_out=()):
    """Writes {number: (path, fault)} into the copy, without some of them, and returns the numbers that could be
    written."""
    files = collections.defaultdict(dict)
    for number, (path, fault) in numbered.items():
        files[path]
        if number not in left_out:
            files[path][number] = fault
    written = set()
    for path, these in files.items():
        text, numbers = switches.write(source(path), these, PLACE / "fault.h")
        if (TREE / path).read_text() != text:  # otherwise it would be compiled again
            (TREE / path).write_text(text)
        written |= numbers
    return written


def build_switches(group, numbered, left_out):
    """Builds the targets of a group with all faults but some as branches, as far as they compile, and returns their
    numbers."""
    written = write_switches(numbered, left_out)
    while True:
        print(f"building {group.name} with {len(written)} faults as branches", flush=True)
        command = ["ninja", "-C", BUILD, JOBS, "-k0", *group.targets]
        built = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=False)
        (PLACE / "build.log").write_text(built.stdout)
        if built.returncode == 0:
            return written
        blamed = switches.blamed(built.stdout)
        wrong = {number for number in written
                 if any(file.endswith(numbered[number][0]) and line == numbered[number][1].line for file, line in blamed)}
        if not wrong:
            sys.exit(f"no fault explains why this does not build: {PLACE / 'build.log'}")
        print(f"{len(wrong)} do not compile as branches: {sorted(wrong)}", flush=True)
        left_out |= wrong
        written = write_switches(numbered, left_out)


def unit_tests(group):
    command = ["ctest", "--test-dir", BUILD, "-N", "-R", group.tests, "-E", LEFT_OUT]
    listing = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True).stdout
    return re.findall(r"Test +#\d+: (\S+)", listing)


def ctest(expression):
    return ["ctest", "--test-dir", BUILD, "--stop-on-failure", "--output-on-failure", "--timeout", "600",
            "-R", expression]


def trace(group):
    """Runs each near test without a fault: {test: (seconds, faults that it reaches)}."""
    folder = PLACE / "trace"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    told = {"CGX_FAULT": "0", "CGX_FAULT_TRACE": str(folder)}
    seconds = {}
    with open(PLACE / "trace.log", "w") as log:
        if group.has_lit:
            status, _ = run(["lit-22", "-q", "-j2", "-o", PLACE / "lit.json", BUILD / "test" / "lit"], log, 3600, **told)
            if status:
                sys.exit(f"lit fails without a fault: {log.name}")
            for test in json.loads((PLACE / "lit.json").read_text())["tests"]:
                seconds["lit+" + test["name"].split(" :: ")[-1].replace("/", "+")] = test["elapsed"]
        for name in unit_tests(group):
            status, took = run(ctest(f"^{re.escape(name)}$"), log, 1800, CGX_TEST=name, **told)
            if status:  # it has deadlines, which other work on the machine may break, so it could detect nothing
                print(f"  {name} fails without a fault, and is left out: {log.name}", flush=True)
                continue
            seconds[name] = took
            print(f"  {name} {took:.0f} s", flush=True)
    lines = {name: (folder / name).read_text().split() if (folder / name).exists() else [] for name in seconds}
    return {name: (seconds[name], sorted(set(map(int, lines[name])))) for name in seconds}


def near(tests, log, fault):
    """Returns the first of these tests {name: seconds} that fails, or None."""
    lit = sorted((name for name in tests if name.startswith("lit+")), key=tests.get)
    files = [str(BUILD / "test" / "lit" / name[4:].replace("+", "/")) for name in lit]
    command = ["lit-22", "-q", "-j2", "--order=lexical", "--max-failures", "1"]
    for some in (files[:FIRST_OF_LIT], files[FIRST_OF_LIT:]):
        if some and run(command + some, log, 900, CGX_FAULT=fault)[0]:
            return "lit"
    for name in sorted(set(tests) - set(lit), key=tests.get):
        # Ranks that wait may fail for lack of a processor, but hardly twice.
        times = 2 if name.startswith("runtime.") else 1
        if all(run(ctest(f"^{re.escape(name)}$"), log, 60 + 10 * tests[name], CGX_FAULT=fault)[0]
               for _ in range(times)):
            return name
    return None


def far(part, log, fault):
    """Returns true if a far test fails. Far tests need more than the targets of a group."""
    if subprocess.run(["ninja", "-C", BUILD, JOBS, "all"], cwd=TREE, stdout=log, stderr=log, check=False).returncode:
        sys.exit(f"the far tests do not build: {log.name}")
    return "far tests" if run([*ctest(part.far), "-j2"], log, 3600, CGX_FAULT=fault)[0] else None


def edited(group, path, fault, seconds, log):
    """Makes the fault by editing, and returns 'does not compile', the test that fails, or None."""
    source = TREE / path
    whole = source.read_text()
    source.write_text(fault.apply(source(path)))
    try:
        command = ["ninja", "-C", BUILD, JOBS, *group.targets]
        if subprocess.run(command, cwd=TREE, stdout=log, stderr=log, check=False).returncode:
            return "does not compile"
        return near(seconds, log, "0")
    finally:
        source.write_text(whole)


def explained():
    """Returns faults that cannot be detected, as `path: before => after`, each with its reason."""
    lines = (pathlib.Path(__file__).with_name("explained.txt")).read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def key(path, fault):
    return f"{path}: {fault.before.strip()} => {fault.after.strip()}"


def read(results):
    """Returns {fault: the test that detected it}; the last line about a fault counts."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {one["fault"]: one["noticed"] for one in map(json.loads, lines)}


def prepared(group, numbered, again):
    """Returns the numbers of the faults that are branches, and {test: (seconds, faults)}, from an earlier run if there
    is one."""
    kept = PLACE / f"{group.name}.json"
    found = json.loads(kept.read_text()) if kept.exists() else {}
    if "branches" not in found:
        earlier = {number for one in GROUPS if (other := PLACE / f"{one.name}.json").exists()
                   for number in json.loads(other.read_text())["edited"]}
        written = build_switches(group, numbered, earlier)
        found = {"branches": sorted(written), "edited": sorted(set(numbered) - written)}
        kept.write_text(json.dumps(found))
    if "tests" not in found or again:
        subprocess.run(["ninja", "-C", BUILD, JOBS, "--quiet", *group.targets], cwd=TREE, check=True)
        found["tests"] = trace(group)
        kept.write_text(json.dumps(found))
    return set(found["branches"]), found["tests"]


def run_group(group, numbered, known, options):
    """Adds to `known` the tests that detect the faults of a group."""
    of_group = {number: one for number, one in numbered.items() if part_of(one[0]).group == group.name}
    open_still = {number: one for number, one in of_group.items()
                  if key(*one) not in known or (options.again and known[key(*one)] is None)}
    if not open_still:
        return
    branches, tests = prepared(group, numbered, options.again)
    for number, (path, fault) in sorted(open_still.items(), key=lambda one: one[0] not in branches):
        name, begun = key(path, fault), time.monotonic()
        if number not in branches and options.branches_only:
            continue
        reached = {test: took for test, (took, numbers) in tests.items() if number in numbers}
        with open(PLACE / "last.log", "w") as log:
            if number not in branches:
                known[name] = edited(group, path, fault, {test: took for test, (took, _) in tests.items()}, log)
            else:
                known[name] = near(reached, log, str(number))
                if options.far and not known[name]:
                    known[name] = far(part_of(path), log, str(number))
        result = {"number": number, "fault": name, "kind": fault.kind, "noticed": known[name], "tests": len(reached)}
        with open(PLACE / "results.jsonl", "a") as out:
            out.write(json.dumps(result) + "\n")
        said = known[name] or ("NOT NOTICED" if reached or number not in branches else "NOT REACHED")
        print(f"{number} {time.monotonic() - begun:4.0f} s  {said}  {name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="faults to make (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    parser.add_argument("--under", action="append", metavar="FOLDER",
                        help="make them below this folder only; may be repeated")
    parser.add_argument("--list", action="store_true", help="print them and make none")
    parser.add_argument("--group", action="append", choices=[group.name for group in GROUPS],
                        help="make them in this group only; may be repeated")
    parser.add_argument("--resume", action="store_true", help="skip what has a result already")
    parser.add_argument("--again", action="store_true",
                        help="run those that nobody noticed again, with the tests as they are now")
    parser.add_argument("--far", action="store_true", help="what near tests do not notice gets the far ones")
    parser.add_argument("--branches-only", action="store_true", help="leave those that have to be made by editing")
    options = parser.parse_args()

    if not options.list and not options.resume and not options.again:
        copy_tree()
    chosen = list(sample(options.under or [part.under for part in PARTS], options.count, options.seed))
    if options.list:
        for path, fault in chosen:
            print(f"{fault.kind:12} {key(path, fault)}")
        return 0
    numbered = dict(enumerate(chosen, 1))
    results = PLACE / "results.jsonl"
    if options.again:
        take_tests()
    known = read(results)
    for group in GROUPS:
        if not options.group or group.name in options.group:
            run_group(group, numbered, known, options)

    known = {name: known[name] for name in (key(path, fault) for path, fault in chosen) if name in known}
    counted = {name: by for name, by in known.items() if by != "does not compile"}
    reasons = explained()
    survivors = [name for name, by in counted.items() if by is None and name not in reasons]
    noticed = len(counted) - len(survivors)
    print(f"{noticed} of {len(counted)} noticed or explained; {len(known) - len(counted)} did not compile")
    for name in survivors:
        print(f"  {name}")
    return 0 if noticed >= WANTED * len(counted) else 1


if __name__ == "__main__":
    sys.exit(main())
