#!/usr/bin/env python3
# Part of cgx, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drives cgx-opt over mutated modules: each is taken or refused with an error, and no signal ends the program.

    mutated_modules.py --cgx-opt bin/cgx-opt --fuzz bin/cgx-fuzz-program --runs 200 --seed 1 test/lit/stablehlo ...
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PIPELINES = [
    ["--verify-roundtrip"],
    ["--cgx-import", "--cgx-compress=bits=4 min-elements=1", "--cgx-report=format=json"],
    ["--cgx-import", "--cgx-compress=bits=4 min-elements=1", "--cgx-lower-to-llvm"],
]


def crash_of(program, pipeline, modules):
    """Returns why the program's end is a fault, or None."""
    result = subprocess.run(
        [program, "-", "--split-input-file", "--allow-unregistered-dialect", "-o", "/dev/null", *pipeline],
        input=b"\n// -----\n".join(modules), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=600)
    if result.returncode < 0:
        return f"signal {-result.returncode}"
    if result.returncode != 0 and b"error" not in result.stderr:
        return f"exit code {result.returncode} without an error"
    return None


def find_crash(program, pipeline, named):
    """Returns the first of the modules that crashes the program alone, and how."""
    problem = crash_of(program, pipeline, [text for _, text in named])
    if problem is None:
        return None
    if len(named) == 1:
        return named[0][0], problem
    half = len(named) // 2
    return find_crash(program, pipeline, named[:half]) or find_crash(program, pipeline, named[half:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cgx-opt", required=True)
    parser.add_argument("--fuzz", required=True, help="cgx-fuzz-program, which makes the modules")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("seeds", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.fuzz, f"-runs={options.runs}", f"-seed={options.seed}", f"-write={folder}",
                        *options.seeds], check=True)
        named = [(path.name, path.read_bytes().replace(b"// -----", b"//"))
                 for path in sorted(pathlib.Path(folder).iterdir(), key=lambda path: int(path.name))]
        # A file with such a number is rejected as a whole, before its other modules are read.
        named = [(name, text) for name, text in named if not re.search(rb"%[\w$.-]+#\d{7}", text)]
        for pipeline in PIPELINES:
            for begin in range(0, len(named), 100):
                crash = find_crash(options.cgx_opt, pipeline, named[begin:begin + 100])
                if crash:
                    sys.exit(f"module {crash[0]} of these seeds: {crash[1]} in cgx-opt {' '.join(pipeline)}; write it "
                             f"with {options.fuzz} -write=FOLDER -runs=1 -seed={crash[0]} {' '.join(options.seeds)}")
    print(f"{options.runs} mutated modules, {len(PIPELINES)} pipelines, seed {options.seed}")


if __name__ == "__main__":
    main()
