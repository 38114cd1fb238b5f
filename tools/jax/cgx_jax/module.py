"""Reads and writes MLIR modules for the partitioner's child: signatures, meshes, groups."""

import itertools
import json
import re

import numpy as np
from jax._src.lib.mlir import ir


class PartitionError(Exception):
    """The step has no program for one rank; the message says why."""


def main_of(module):
    """Returns the function @main."""
    for op in module.body.operations:
        if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main":
            return op.operation
    raise PartitionError("expected a function @main")


def inputs_of(function):
    """Returns the types of a function's arguments."""
    return list(ir.FunctionType(function.attributes["function_type"].value).inputs)


def results_of(function):
    """Returns the types of a function's results."""
    return list(ir.FunctionType(function.attributes["function_type"].value).results)


def dictionaries(function, name):
    """Returns the attributes of each argument ("arg_attrs") or result ("res_attrs") as dicts."""
    if name in function.attributes:
        return [{entry.name: entry.attr for entry in ir.DictAttr(each)} for each in function.attributes[name]]
    return [{} for _ in (inputs_of if name == "arg_attrs" else results_of)(function)]


def set_dictionaries(function, name, entries):
    """Replaces the attributes that `dictionaries` returned."""
    function.attributes[name] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in entries])


class Mesh:
    """The axes of a step: `symbol` of the sdy.mesh, `sizes` by axis name, the first one major."""

    def __init__(self, symbol, sizes):
        self.symbol, self.sizes = symbol, sizes

    @staticmethod
    def of(module, devices):
        """Returns the first mesh that has all devices in order. Adds one when there is none."""
        for op in module.body.operations:
            if op.operation.name == "sdy.mesh":
                sizes = _sizes(op.attributes["mesh"])
                if sizes and np.prod(list(sizes.values()), dtype=np.int64) == devices:
                    return Mesh(op.attributes["sym_name"].value, sizes)
        sizes = {f"axis{i}": factor for i, factor in enumerate(_prime_factors(devices))}
        axes = ", ".join(f'"{name}"={size}' for name, size in sizes.items())
        with ir.InsertionPoint.at_block_begin(module.body), ir.Location.unknown():
            ir.Operation.create("sdy.mesh", attributes={
                "sym_name": ir.StringAttr.get("cgx_mesh"), "mesh": ir.Attribute.parse(f"#sdy.mesh<[{axes}]>")})
        return Mesh("cgx_mesh", sizes)

    def sharding(self, axes):
        """Returns `<@mesh, [{"data"}, {}]>`, given the axes that each dimension is split over."""
        dimensions = ", ".join("{" + ", ".join(map(json.dumps, names)) + "}" for names in axes)
        return f"<@{self.symbol}, [{dimensions}]>"

    def parts(self, names):
        """Returns the number of parts of a dimension that is split over the named axes."""
        return int(np.prod([self.sizes[name] for name in names], dtype=np.int64))

    def local(self, type_, axes):
        """Returns the type of one rank's part."""
        type_ = ir.RankedTensorType(type_)
        shape = [size // self.parts(names) for size, names in zip(type_.shape, axes)]
        return ir.RankedTensorType.get(shape, type_.element_type, type_.encoding, loc=ir.Location.unknown())


def pin(function, name, index, mesh, axes):
    """Sets the sharding of an argument or a result."""
    entries = dictionaries(function, name)
    entries[index].pop("mhlo.sharding", None)
    entries[index]["sdy.sharding"] = ir.Attribute.parse(f"#sdy.sharding{mesh.sharding(axes)}")
    set_dictionaries(function, name, entries)


def attributes_of(op):
    """Returns an op's attributes by name."""
    return {op.attributes[i].name: op.attributes[i].attr for i in range(len(op.attributes))}


def as_jax_prints(module):
    """Rewrites a partitioner's output in the form that JAX prints: groups of ranks as lists, StableHLO's ops, and no
    attributes for XLA."""
    meshes = {op.attributes["sym_name"].value: str(op.attributes["mesh"])
              for op in module.body.operations if op.operation.name == "sdy.mesh"}
    foreign, unknown = [], []

    def visit(op):
        for name in attributes_of(op):
            # After partitioning, Shardy's attributes about local values have no meaning.
            if name.startswith(("mhlo.", "xla_", "sdy.sharding")) and op.name != "builtin.module":
                del op.attributes[name]
        if op.name == "func.func":
            for name in ("arg_attrs", "res_attrs"):
                if name in op.attributes:
                    set_dictionaries(op, name, [{key: value for key, value in each.items() if key != "sdy.sharding"}
                                                for each in dictionaries(op, name)])
        groups = str(op.attributes["replica_groups"]) if "replica_groups" in op.attributes else ""
        if "replica_group_mesh_axes" in groups:
            op.attributes["replica_groups"] = ir.DenseElementsAttr.get(np.array(_groups(groups, meshes), np.int64))
        if op.name in ("mhlo.copy", "stablehlo.dot", *_OF_CHLO):
            foreign.append(op)
        elif op.name.startswith("mhlo."):
            unknown.append(f"{op.name} at {op.location}")
        return ir.WalkResult.ADVANCE
    module.operation.walk(visit)
    if unknown:
        raise PartitionError(f"its program of one rank has ops that are not StableHLO's: {', '.join(unknown[:3])}")
    for op in foreign:
        if op.name == "mhlo.copy":
            op.results[0].replace_all_uses_with(op.operands[0])
        elif op.name == "stablehlo.dot":
            contracted = ir.RankedTensorType(op.operands[0].type).rank - 1
            _replace(op, "stablehlo.dot_general", dot_dimension_numbers=ir.Attribute.parse(
                f"#stablehlo.dot<lhs_contracting_dimensions = [{contracted}], rhs_contracting_dimensions = [0]>"))
        else:
            _replace(op, _OF_CHLO[op.name])
        op.erase()


# XLA has these as ops of its own, which JAX prints as ops of chlo.
_OF_CHLO = {f"mhlo.{name}": f"chlo.{name}" for name in
            ("acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "sinh")} | {"mhlo.topk": "chlo.top_k"}


def _replace(op, name, **attributes):
    """Replaces an op by one of another name with the same operands, results and attributes, and some more."""
    with ir.InsertionPoint(op), op.location:
        other = ir.Operation.create(name, results=[result.type for result in op.results],
                                    operands=list(op.operands), attributes=attributes_of(op) | attributes)
    for result, own in zip(op.results, other.results):
        result.replace_all_uses_with(own)


def _groups(text, meshes):
    """Returns the lists of ranks of `#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [...]>`."""
    symbol = re.search(r"mesh = @(\w+|\"[^\"]*\")", text)
    mesh = meshes[symbol[1].strip('"')] if symbol else text.split("axes = [#stablehlo.axis_ref")[0]
    sizes = {name: int(size) for name, size in re.findall(r'(?:name = )?"([^"]+)"(?:\s*=\s*|, size = )(\d+)', mesh)}
    order = re.search(r"device_ids\s*=\s*(?:dense<)?\[([\d, ]+)\]", mesh)
    count = int(np.prod(list(sizes.values()), dtype=np.int64))
    devices = np.array([int(d) for d in order[1].split(",")] if order else range(count))
    references = re.findall(r'axis_ref<name = "([^"]+)"(?:, sub_axis_info = \((\d+)\)(\d+))?', text)

    # An axis of which a part is used becomes three axes: before the part, the part, and after it.
    names, shape, wanted = [], [], []
    for name, size in sizes.items():
        cuts = sorted({1, size} | {b for n, before, part in references if n == name and part
                                   for b in (int(before), int(before) * int(part))})
        for begin, end in itertools.pairwise(cuts):
            names.append((name, begin, end))
            shape.append(end // begin)
        if size == 1:
            names.append((name, 1, 1))
            shape.append(1)
    for name, before, part in references:
        begin, end = (int(before), int(before) * int(part)) if part else (1, sizes[name])
        wanted += [i for i, (n, b, e) in enumerate(names) if n == name and begin <= b and e <= end]
    others = [i for i in range(len(names)) if i not in wanted]
    group = int(np.prod([shape[i] for i in wanted], dtype=np.int64))
    return devices.reshape(shape).transpose(others + wanted).reshape(-1, group).tolist()


def _sizes(attribute):
    """Returns the sizes of an sdy.mesh by axis name, or None when its devices are in another order."""
    text = str(attribute)
    if "device_ids" in text:
        return None
    return {name: int(size) for name, size in re.findall(r'"([^"]+)"\s*=\s*(\d+)', text)}


def _prime_factors(number):
    factor = 2
    while number > 1:
        if number % factor:
            factor += 1
        else:
            yield factor
            number //= factor
