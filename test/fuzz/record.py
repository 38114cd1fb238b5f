#!/usr/bin/env python3
"""Keeps the record, in executions.json, of how often each fuzz target ran without a fault.

    record.py --left N TARGET     prints how many executions are left to N
    record.py --done TARGET       prints how many there are
    record.py --add LOG TARGET    adds those that libFuzzer counts at the end of a run (-print_final_stats=1)

With --plain, those without sanitizers, which are counted apart. A target of which a fault was found and mended begins anew: take its entry out.
"""

import argparse
import datetime
import json
import pathlib
import re
import sys

RECORD = pathlib.Path(__file__).with_name("executions.json")


def final(log, name):
    """Returns a number of libFuzzer's final statistics, or None if the run did not get there."""
    found = re.findall(rf"^stat::{name}:\s+(\d+)$", log, re.M)
    return int(found[-1]) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--left", type=int, metavar="N")
    parser.add_argument("--done", action="store_true")
    parser.add_argument("--add", type=pathlib.Path, metavar="LOG")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--record", type=pathlib.Path, default=RECORD, help="the file; executions.json beside this")
    parser.add_argument("target")
    args = parser.parse_args()
    record = json.loads(args.record.read_text()) if args.record.exists() else {}
    name = f"{args.target} without sanitizers" if args.plain else args.target
    entry = record.get(name, {"executions": 0, "seconds": 0})
    if args.done:
        print(entry["executions"])
        return 0
    if args.left is not None:
        print(max(args.left - entry["executions"], 0))
        return 0
    log = args.add.read_text(errors="replace")
    executions, rate = final(log, "number_of_executed_units"), final(log, "average_exec_per_sec")
    if executions is None:
        print(f"record: {args.add}: expected stat::number_of_executed_units at the end of a run", file=sys.stderr)
        return 1
    entry["executions"] += executions
    entry["seconds"] += round(executions / rate) if rate else 0
    entry["last"] = datetime.date.today().isoformat()
    record[name] = entry
    args.record.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
    print(f"{name}: {entry['executions']} executions in {entry['seconds']} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
