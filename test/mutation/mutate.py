#!/usr/bin/env python3
"""Makes small faults at random, one at a time, and lists those that no test notices.

Each fault is made in a copy of the tree under build/mutation, which is built and tested as far as the first failure:
tests that are near first. A fault that does not compile does not count. What nobody notices is printed as a change of
one line; those that change nothing anybody could see stand with their reason in `explained.txt`.

    test/mutation/mutate.py --count 200                  # hours
    test/mutation/mutate.py --count 5 --under passes/rewrite

Results are added to build/mutation/results.jsonl as they come; a run that is interrupted goes on where it was with
--resume, which skips what has a result. Exit status: 0 where nine of ten are noticed or explained, else 1.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import faults as made  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "mutation"
TREE = PLACE / "tree"
WANTED = 0.9

# Where faults are made, and what notices them: ninja's targets, then commands, the nearest and shortest first. {build} is
# the folder of the build.
LIT = ["lit-22", "-q", "{build}/test/lit"]
CTEST = ["ctest", "--test-dir", "{build}", "--stop-on-failure", "--output-on-failure", "-j2", "--timeout", "900"]
Part = collections.namedtuple("Part", "under suffixes targets commands")
PARTS = [
    Part("passes/import", (".cpp",), ["cgx-opt", "cgx-compile", "cgx-run"],
         [LIT, CTEST + ["-R", "integration-jax-(labels|collectives|meshes|parity|step_inputs)|integration-run-local"]]),
    Part("passes/rewrite", (".cpp",), ["cgx-opt", "cgx-compile", "cgx-run"],
         [LIT, CTEST + ["-R", "integration-run-(compress|sharded|planning)|integration-overlap|integration-jax-parity"]]),
    Part("passes/lower", (".cpp",), ["cgx-opt", "cgx-compile", "cgx-run"],
         [LIT, CTEST + ["-R", "integration-lowering|integration-linear-algebra|integration-jax-(narrow_types|compress)"]]),
    Part("dialect", (".cpp",), ["cgx-opt"], [LIT]),
    *[Part(f"kernels/{folder}", (".cpp", ".h"), ["cgx-kernels-test"], [["{build}/bin/cgx-kernels-test", "--gtest_brief=1"]])
      for folder in ("arithmetic", "cpu")],
    Part("runtime/schedule", (".h",), ["all"], [CTEST + ["-R", "runtime.(Schedule|Cost|Collective|AllReduce|Algorithm)"]]),
    Part("runtime/collective", (".cpp", ".h"), ["all"],
         [CTEST + ["-R", "runtime.(Collective|AllReduce|Algorithm|FactoredAllReduce|ErrorFeedback|Replica)"]]),
    Part("runtime/transport", (".cpp", ".h"), ["all"],
         [CTEST + ["-R", "runtime.(Transport|Tcp|Start|SegmentSafety|Context|Fault|Collective)|integration-mpi"]]),
    Part("runtime/plan", (".cpp", ".h"), ["cgx-plan-tests"], [["{build}/bin/cgx-plan-tests", "--gtest_brief=1"]]),
    Part("runtime", (".cpp", ".h"), ["all"], [CTEST + ["-R", r"runtime\.|unit-run|formats|output"]]),
]


def part_of(path):
    return next(part for part in PARTS if path.startswith(part.under + "/"))


def preset_of(part):
    """Kernels and runtime are built without the compiler: minutes less."""
    return "runtime-only" if part.under.startswith(("kernels", "runtime")) else "release"


def candidates(under):
    """(path, fault) of everything that can be changed below the folders `under`."""
    listing = subprocess.run(["git", "ls-files", *under], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for path in listing.split():
        part = next((one for one in PARTS if path.startswith(one.under + "/")), None)
        if part and path.endswith(part.suffixes) and "cuda" not in path:
            for fault in made.faults((ROOT / path).read_text()):
                if " = delete" not in fault.before:
                    yield path, fault


def sample(under, count, seed):
    """`count` faults, no two of one line; each file is as likely as it has lines that can be changed."""
    chosen = list(candidates(under))
    random.Random(seed).shuffle(chosen)
    seen = set()
    for path, fault in chosen:
        if (path, fault.line) not in seen and len(seen) < count:
            seen.add((path, fault.line))
            yield path, fault


def prepare(presets):
    """A clean copy of what is committed, built."""
    subprocess.run(["git", "worktree", "remove", "--force", TREE], cwd=ROOT, check=False, capture_output=True)
    shutil.rmtree(TREE, ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
    subprocess.run(["git", "worktree", "add", "--detach", TREE, "HEAD"], cwd=ROOT, check=True, capture_output=True)
    (TREE / "build").mkdir()
    if (ROOT / "build" / "venv").exists():
        (TREE / "build" / "venv").symlink_to(ROOT / "build" / "venv")
    for preset in presets:
        print(f"building {preset}", flush=True)
        subprocess.run(["cmake", "--preset", preset, "-DCGX_CUDA=OFF"], cwd=TREE, check=True, capture_output=True)
        subprocess.run(["ninja", "-C", f"build/{preset}", "--quiet"], cwd=TREE, check=True)


def notices(part, log):
    """'does not compile', the command that failed, or None."""
    build = f"build/{preset_of(part)}"
    if subprocess.run(["ninja", "-C", build, *part.targets], cwd=TREE, stdout=log, stderr=log, check=False).returncode:
        return "does not compile"
    for command in part.commands:
        command = [word.format(build=build) for word in command]
        try:
            status = subprocess.run(command, cwd=TREE, stdout=log, stderr=log, timeout=1800, check=False).returncode
        except subprocess.TimeoutExpired:
            status = 1  # A test that never ends has noticed.
        if status:
            return command[-1] if command[0] == "ctest" else pathlib.Path(command[0]).name
    return None


def explained():
    """Faults that nobody can see, as `path: before => after`, each under its reason."""
    lines = (pathlib.Path(__file__).with_name("explained.txt")).read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def key(path, fault):
    return f"{path}: {fault.before.strip()} => {fault.after.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="faults to make (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    parser.add_argument("--under", action="append", metavar="FOLDER", help="make them below this folder only; may be repeated")
    parser.add_argument("--list", action="store_true", help="print them and make none")
    parser.add_argument("--resume", action="store_true", help="skip what has a result already")
    options = parser.parse_args()

    chosen = list(sample(options.under or [part.under for part in PARTS], options.count, options.seed))
    if options.list:
        for path, fault in chosen:
            print(f"{fault.kind:12} {key(path, fault)}")
        return 0
    results = PLACE / "results.jsonl"
    known = {}
    if options.resume and results.exists():
        known = {one["fault"]: one["noticed"] for one in map(json.loads, results.read_text().splitlines())}
    elif results.exists():
        results.unlink()
    if any(key(path, fault) not in known for path, fault in chosen):
        prepare(sorted({preset_of(part_of(path)) for path, _ in chosen}))

    for number, (path, fault) in enumerate(chosen, 1):
        name = key(path, fault)
        if name not in known:
            source, begun = TREE / path, time.monotonic()
            whole = source.read_text()
            source.write_text(fault.apply(whole))
            with open(PLACE / "last.log", "w") as log:
                known[name] = notices(part_of(path), log)
            source.write_text(whole)
            with open(results, "a") as out:
                out.write(json.dumps({"fault": name, "kind": fault.kind, "noticed": known[name]}) + "\n")
            print(f"{number}/{len(chosen)} {time.monotonic() - begun:4.0f} s  {known[name] or 'NOT NOTICED'}  {name}", flush=True)

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
