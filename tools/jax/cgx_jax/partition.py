"""Finds out whether a step leaves communication to a partitioner, and has it partitioned.

A step under `jax.jit` alone defines how its arrays are split, not what is communicated. cgx takes the program of one
rank, so the exporter has the user's own jaxlib make it, in a process of its own: partitioners check what they are given
by aborting.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jax

from cgx_jax.errors import ExportError

# Plain jit runs the program of XLA's partitioner. Shardy's own passes help where that program has no form in StableHLO.
PARTITIONERS = ("xla", "shardy")


def ranks_of(module):
    """Returns the number of devices that a lowered module is for."""
    attributes = module.operation.attributes
    counts = [attributes[name].value for name in ("mhlo.num_replicas", "mhlo.num_partitions") if name in attributes]
    return max([1, *counts])


def is_left_to_a_partitioner(module):
    """Returns true if part of a lowered module is split over devices outside of `jax.shard_map`, or over an axis that
    no `shard_map` names."""
    attributes = module.operation.attributes
    if "mhlo.num_partitions" not in attributes or attributes["mhlo.num_partitions"].value == 1:
        return False
    return _Splits(module).found


class _Splits:
    """An analysis that follows split values through the functions of a module to the ops that read them."""

    def __init__(self, module):
        self.functions = {op.attributes["sym_name"].value: op.operation for op in module.body.operations
                          if op.operation.name == "func.func"}
        self.meshes = {op.attributes["sym_name"].value: str(op.attributes["mesh"])
                       for op in module.body.operations if op.operation.name == "sdy.mesh"}
        self.results = {}
        self.found = False
        self._follow("main", tuple(map(_is_split, _shardings_of(self.functions["main"], "arg_attrs"))))

    def _follow(self, name, split):
        """Returns which results of a function are split when these arguments are."""
        if (name, split) in self.results:
            return self.results[name, split]
        block = self.functions[name].regions[0].blocks[0]
        values = {argument for argument, is_split in zip(block.arguments, split) if is_split}
        for op in block.operations:
            op = op.operation
            reads = tuple(operand in values for operand in op.operands)
            if op.name == "func.return":
                self.results[name, split] = reads
            elif op.name == "func.call":
                results = self._follow(op.attributes["callee"].value, reads)
                values |= {result for result, is_split in zip(op.results, results) if is_split}
            elif op.name == "sdy.manual_computation":
                self._check_axes(op)
                shardings = re.findall(r"<@[^<>]*>", str(op.attributes["out_shardings"]))
                values |= {result for result, text in zip(op.results, shardings) if _is_split(text)}
            elif (text := _asked_sharding(op)) is not None:
                if _is_split(text):
                    values.add(op.results[0])
                self.found |= reads[0] and not _is_split(text)
            else:
                self.found |= any(reads) or self._has_splits_inside(op)
        return self.results[name, split]

    def _check_axes(self, computation):
        """Looks for axes of more than one device that a shard_map leaves to the partitioner."""
        manual = re.findall(r'"([^"]+)"', str(computation.attributes["manual_axes"]))
        shardings = str(computation.attributes["in_shardings"]) + str(computation.attributes["out_shardings"])
        for symbol in set(re.findall(r"@([\w.$-]+)", shardings)):
            for axis, size in re.findall(r'"([^"]+)"\s*=\s*(\d+)', self.meshes.get(symbol, "")):
                self.found |= int(size) > 1 and axis not in manual

    def _has_splits_inside(self, op):
        """Returns true if an op is part of GSPMD's form of shard_map, or a loop or branch that splits something."""
        if op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value.startswith("SPMD"):
            return True
        return any(inner.operation.name == "sdy.manual_computation" or _is_split(_asked_sharding(inner.operation) or "")
                   or inner.operation.name == "func.call" and self._calls_splits(inner.operation)
                   or self._has_splits_inside(inner.operation)
                   for region in op.regions for block in region.blocks for inner in block.operations)

    def _calls_splits(self, call):
        """Returns true if a function that a loop calls splits something."""
        self._follow(call.attributes["callee"].value, (False,) * len(call.operands))
        callee = self.functions[call.attributes["callee"].value]
        return any(op.operation.name == "sdy.manual_computation" or _is_split(_asked_sharding(op.operation) or "")
                   for op in callee.regions[0].blocks[0].operations)


def _asked_sharding(op):
    """Returns the text of the sharding that an op requests, or None when the op is no such request."""
    if op.name in ("sdy.sharding_constraint", "sdy.reshard"):
        return str(op.attributes["sharding"])
    if op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == "Sharding":
        return str(op.attributes["mhlo.sharding"]) if "mhlo.sharding" in op.attributes else ""
    return None


def _is_split(text):
    """Returns true if the text of a sharding splits a dimension."""
    return bool(re.search(r'\{[^{}]*"', text.split("replicated=")[0].split("<@")[-1])) or "devices=" in text


def _shardings_of(function, name):
    """Returns the texts of the shardings of a function's arguments or results."""
    if name not in function.attributes:
        return [""] * len(function.regions[0].blocks[0].arguments)
    texts = []
    for entries in function.attributes[name]:
        said = {entries[i].name: str(entries[i].attr) for i in range(len(entries))}
        texts.append(said.get("sdy.sharding", said.get("mhlo.sharding", "")))
    return texts


def partition(text, devices, feeds):
    """Partitions the text of a step.

    Args:
      text: of the lowered step, with locations.
      devices: how many the step is for.
      feeds: pairs (result, argument) of indices of @main, where the next step takes a result of
        this one as an argument.

    Returns:
      The text of one rank's program in the signature of the step, and whether a collective reaches
      what the step updates.

    Raises:
      ExportError: neither XLA's partitioner nor Shardy's passes made one.
    """
    failures = []
    for partitioner in PARTITIONERS:
        answer = _ask(partitioner, text, devices, feeds)
        if "program" in answer:
            return answer["program"], answer["communicates"]
        failures.append(f"{partitioner}: {answer['error']}")
    raise ExportError(
        f"the step leaves its communication to a partitioner, and jaxlib {jax.lib.__version__} makes no program of "
        f"one rank of it\n  " + "\n  ".join(failures) + "\nwrite that part of the step with jax.shard_map, which says "
        "itself what is communicated")


def _ask(partitioner, text, devices, feeds):
    """Runs one partitioner in a child process. Returns the answer of `partitioner.py`."""
    flags = [flag for flag in os.environ.get("XLA_FLAGS", "").split()
             if not flag.startswith(("--xla_force_host_platform_device_count", "--xla_dump"))]
    # Variables that choose where the parent runs are not passed to the child.
    inherited = {name: value for name, value in os.environ.items()
                 if name not in ("JAX_NUM_CPU_DEVICES", "JAX_PLATFORM_NAME")}
    environment = inherited | {
        "JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join([*flags, f"--xla_force_host_platform_device_count={devices}"]),
        "JAX_ENABLE_COMPILATION_CACHE": "0",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(pathlib.Path(__file__).resolve().parents[1]),
                                                    os.environ.get("PYTHONPATH")]))}
    with tempfile.TemporaryDirectory() as folder:
        request, response = pathlib.Path(folder, "request.json"), pathlib.Path(folder, "response.json")
        request.write_text(json.dumps({"program": text, "devices": devices, "feeds": feeds, "partitioner": partitioner,
                                       "use_shardy": "sdy.mesh" in text or "mhlo.sharding" not in text}))
        child = subprocess.run([sys.executable, "-m", "cgx_jax.partitioner", str(request), str(response)],
                               env=environment, capture_output=True, text=True, check=False)
        if response.exists():
            return json.loads(response.read_text())
    said = [line for line in child.stderr.splitlines() if line.strip() and not line.startswith((" ", "***"))]
    fatal = [line for line in said if re.search(r"Check failed|LLVM ERROR|Error|fatal", line)] or said
    return {"error": f"the partitioner ended with status {child.returncode}: {' '.join(fatal[-1:])[:600]}"}
