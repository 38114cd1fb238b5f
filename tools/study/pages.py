"""The parts that the pages of studies share: a description of the machine that was measured, and tables."""

import os
import pathlib
import platform


def machine():
    """Returns the number of cores, and the name of the processor."""
    models = {line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")}
    return f"{os.cpu_count()} cores of {', '.join(sorted(models)) or platform.machine()}"


def table(header, lines, numbers=False):
    """Returns a Markdown table. With `numbers`, all columns but the first are aligned to the right."""
    rule = [":--"] + ["--:"] * (len(header) - 1) if numbers else ["---"] * len(header)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines]) + "\n"
