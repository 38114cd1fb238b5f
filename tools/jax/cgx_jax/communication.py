"""Checks that the updates of a step are communicated at all."""

import re

import jax

_COLLECTIVES = ("all_gather", "all_reduce", "all_to_all", "async_start", "collective_broadcast", "collective_permute",
                "reduce_scatter", "recv", "send")


def reaches(module, results):
    """Returns true if a collective reaches one of the results of @main.

    Args:
      module: a lowered step whose collectives are explicit.
      results: indices of the results to look at.
    """
    functions = {op.attributes["sym_name"].value: op.operation for op in module.body.operations
                 if op.operation.name == "func.func"}
    block = functions["main"].regions[0].blocks[0]
    end = list(block.operations)[-1]
    return _depends([end.operands[i] for i in results], functions)


def updates(module, feeds):
    """Returns the results among `feeds`, pairs (result, argument) of @main, that training changes: floating-point
    numbers that do not come back as they went in, as those of an evaluation do. Integers are counters or keys."""
    functions = {op.attributes["sym_name"].value: op.operation for op in module.body.operations
                 if op.operation.name == "func.func"}
    end = list(functions["main"].regions[0].blocks[0].operations)[-1]
    return [result for result, argument in feeds
            if not re.search(r"[x<]u?i\d+>", str(end.operands[result].type))
            and _origin(functions["main"], result, functions) != argument]


_RETURNS_ITS_OPERAND = ("sdy.sharding_constraint", "sdy.reshard", "stablehlo.optimization_barrier")


def _origin(op, result, functions):
    """Returns which argument of a function or manual computation a result is, or None where it is computed."""
    block = op.regions[0].blocks[0]
    value = list(block.operations)[-1].operands[result]
    while hasattr(value.owner, "name"):  # the owner of an argument is a block
        owner = value.owner
        index = list(owner.results).index(value)
        if owner.name in ("func.call", "sdy.manual_computation"):
            inner = functions[owner.attributes["callee"].value] if owner.name == "func.call" else owner
            index = _origin(inner, index, functions)
        elif owner.name == "stablehlo.custom_call":
            index = 0 if owner.attributes["call_target_name"].value == "Sharding" else None
        elif owner.name not in _RETURNS_ITS_OPERAND:
            index = None
        if index is None:
            return None
        value = owner.operands[index]
    arguments = list(block.arguments)
    return arguments.index(value) if value in arguments else None


def _depends(values, functions):
    """Returns true if one of the values is computed from a collective, in their block or the ones around it. An op with
    regions (a loop, a branch) or a call is taken as a whole; a manual computation is followed result by result."""
    pending, seen = list(values), set()
    while pending:
        value = pending.pop()
        owner = value.owner
        if not hasattr(owner, "name") or value in seen:  # an argument, whose owner is a block
            continue
        seen.add(value)
        if owner.name == "sdy.manual_computation":
            end = list(owner.regions[0].blocks[0].operations)[-1]
            if _depends([end.operands[list(owner.results).index(value)]], functions):
                return True
            pending += owner.operands
        elif _communicates(owner, functions):
            return True
        else:
            pending += _read_by(owner)
    return False


def _read_by(op):
    """Returns the values that an op reads, including those that its branches and loops take from around them."""
    values = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                values += _read_by(inner.operation)
    return values


def _communicates(op, functions):
    """Returns true if an op is a collective, or contains or calls one."""
    dialect, _, name = op.name.partition(".")
    if dialect == "stablehlo" and name in _COLLECTIVES:
        return True
    if op.name == "func.call":
        return _communicates(functions[op.attributes["callee"].value], functions)
    return any(_communicates(inner.operation, functions)
               for region in op.regions for block in region.blocks for inner in block.operations)


def of_one_device():
    """Returns the warning about a step for one device, with a remedy. If JAX has several devices, the cause is that all
    arguments are on one."""
    said = "the step is for one device: nothing is communicated, and cgx has nothing to compress. "
    if jax.device_count() > 1:
        return (f"{said}Its arguments lie on one of {jax.device_count()} devices: split the batch over a mesh of them, "
                f"jax.device_put(batch, NamedSharding(mesh, PartitionSpec('data'))), and put the state on all, "
                f"jax.device_put(state, NamedSharding(mesh, PartitionSpec()))")
    return (f"{said}Split its batch over a mesh of N devices; XLA_FLAGS=--xla_force_host_platform_device_count=N, set before "
            f"JAX is imported, makes N of a CPU")
