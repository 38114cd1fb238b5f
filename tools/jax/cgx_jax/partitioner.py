"""Partitions a step with the installed jaxlib, in a process of its own.

    python -m cgx_jax.partitioner REQUEST RESPONSE

REQUEST is a JSON file, `{"program": text, "devices": 4, "partitioner": "xla" or "shardy", "use_shardy":
true, "feeds": [[result, argument], ...]}`; RESPONSE becomes one, `{"program": text,
"communicates": whether a collective reaches what is fed}` or `{"error": message}`. Partitioners check what they are given by aborting, so `partition.py` runs this as a child,
which has as many virtual CPU devices as the step has ranks.
"""

import json
import pathlib
import re
import sys
import tempfile

import jax
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir, passmanager
from jax.extend import mlir as mlir_extend
from jaxlib import _hlo

from cgx_jax import communication, hlo_shardings
from cgx_jax.module import Mesh, PartitionError, as_jax_prints, dictionaries, inputs_of, main_of, pin, results_of


def partition(request):
    """Returns the program of one rank, as the one manual computation in a @main with the signature of the step: shapes,
    names, donation and shardings."""
    by = {"xla": ByXla, "shardy": ByShardy}[request["partitioner"]]
    with mlir.make_ir_context():
        step = ir.Module.parse(request["program"])
        ranks = by(step, request)
        # The next step takes a result as its argument, so both get one sharding.
        feeds = request["feeds"]
        if any(ranks.outputs[result] != ranks.inputs[argument] for result, argument in feeds):
            for result, argument in feeds:
                pin(main_of(step), "arg_attrs", argument, ranks.mesh, ranks.inputs[argument])
                pin(main_of(step), "res_attrs", result, ranks.mesh, ranks.inputs[argument])
            ranks = by(step, request)
            for result, argument in feeds:
                if ranks.outputs[result] != ranks.inputs[argument]:
                    raise PartitionError(f"result {result} of @main stays split over {ranks.outputs[result]}, the "
                                         f"argument that it is for over {ranks.inputs[argument]}")
        wrap(step, ranks)
        return {"program": step.operation.get_asm(enable_debug_info=True) + "\n",
                "communicates": communication.reaches(step, [result for result, _ in feeds])}


class ByXla:
    """XLA's partitioner, which makes the program of one rank that XLA runs for the step on CPUs. `module` has it as its
    @main; `inputs` and `outputs` are the axes of `mesh` that each dimension of each argument and result is split
    over.

    `module` has it as its @main; `inputs` and `outputs` are the axes of `mesh` that each dimension of
    each argument and result is split over."""

    def __init__(self, step, request):
        self.mesh = Mesh.of(step, request["devices"])
        proto = _partitioned_hlo(step, request["devices"], request["use_shardy"])
        try:
            self.module = ir.Module.parse(mlir_extend.hlo_to_stablehlo(proto))
        except Exception as error:
            raise PartitionError(f"XLA's program of one rank has no form in StableHLO: {error}") from None
        attributes = self.module.operation.attributes
        self.inputs = self._axes(attributes["mhlo.spmd_parameters_shardings"], inputs_of(main_of(step)), "argument")
        self.outputs = self._axes(attributes["mhlo.spmd_output_sharding"], results_of(main_of(step)), "result")
        as_jax_prints(self.module)

    def _axes(self, attribute, types, what):
        texts = ([ir.StringAttr(each).value for each in attribute] if isinstance(attribute, ir.ArrayAttr)
                 else hlo_shardings.split_tuple(ir.StringAttr(attribute).value))
        if len(texts) != len(types):
            raise PartitionError(f"expected a sharding for each {what}, got {len(texts)} for {len(types)}")
        found = []
        for index, (text, type_) in enumerate(zip(texts, types)):
            shape = ir.RankedTensorType(type_).shape
            axes = hlo_shardings.axes_of(text, len(shape), self.mesh.sizes)
            if axes is None:
                raise PartitionError(f"{what} {index} of @main ({type_}) is split as {text}, which the axes of the "
                                     f"mesh {self.mesh.sizes} cannot say")
            for size, parts in zip(shape, map(self.mesh.parts, axes)):
                if size % parts:
                    raise PartitionError(f"{what} {index} of @main ({type_}): a dimension of {size} is split into "
                                         f"{parts} parts, which are not of one size; pad it, or give it a sharding "
                                         f"that divides it")
            found.append(axes)
        return found


# Groups of ranks must be lists, because groups that XLA gives by the axes of a mesh lose the order of its devices on
# their way to StableHLO (jaxlib 0.10.2). Releases without such groups do not know the option either.
_LISTS_OF_RANKS = {"xla_enable_rgv3_materialization": False}


def _partitioned_hlo(step, devices, use_shardy):
    """Returns the serialized HloModuleProto after XLA's partitioner."""
    try:
        proto = _dump_of_partitioner(step, devices, use_shardy, _LISTS_OF_RANKS)
    except PartitionError as error:
        if not any(option in str(error) for option in _LISTS_OF_RANKS):
            raise
        proto = _dump_of_partitioner(step, devices, use_shardy, {})
    text = _hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string()
    if re.search(r"replica_groups=mesh\[[^\n]*device_ids=", text):
        raise PartitionError("it says groups of ranks by a mesh whose devices are in an order of their own, which has no "
                             "form in StableHLO")
    return proto


def _dump_of_partitioner(step, devices, use_shardy, more_options):
    def is_open(name):
        """Returns, for each argument or result, if the step leaves its sharding to the partitioner."""
        return [not {"sdy.sharding", "mhlo.sharding"} & set(each) for each in dictionaries(main_of(step), name)]

    with tempfile.TemporaryDirectory() as folder:
        options = compiler.get_compile_options(
            num_replicas=1, num_partitions=devices, device_assignment=np.arange(devices).reshape(1, devices),
            # Only the partitioner's output is needed, so the passes after it should be quick.
            env_options_overrides={"xla_dump_to": folder, "xla_dump_hlo_pass_re": "spmd.*",
                                   "xla_dump_hlo_as_proto": True, "xla_backend_optimization_level": 0,
                                   "xla_llvm_disable_expensive_passes": True, **more_options})
        build = options.executable_build_options
        build.use_shardy_partitioner = use_shardy
        build.allow_spmd_sharding_propagation_to_parameters = is_open("arg_attrs")
        build.allow_spmd_sharding_propagation_to_output = is_open("res_attrs")
        failure = "it wrote no program"
        try:
            jax.devices()[0].client.compile_and_load(
                step.operation.get_asm(enable_debug_info=True), xla_client.DeviceList(tuple(jax.devices())), options)
        except Exception as error:
            failure = str(error)  # it matters only if it came before the partitioner had finished
        left = sorted(pathlib.Path(folder).glob("*after_spmd-partitioning*.hlo.pb"))
        if not left:
            raise PartitionError(failure)
        return _first_field(left[-1].read_bytes())


def _first_field(message):
    """Returns the first field of a serialized protocol buffer, which is a message: the module of an HloProto."""
    if message[0] != 0x0a:
        raise PartitionError("expected a dump of XLA to begin with its module")
    length = shift = 0
    for at, byte in enumerate(message[1:], 1):
        length |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return message[at + 1:at + 1 + length]
    raise PartitionError("expected a dump of XLA, got a part of one")


class ByShardy:
    """Shardy's passes as the partitioner. XLA itself runs the first of them."""

    def __init__(self, step, request):
        self.mesh = Mesh.of(step, request["devices"])
        self.module = ir.Module.parse(step.operation.get_asm(enable_debug_info=True))
        self._run("sdy-propagation-pipeline")
        self._run("sdy-export-pipeline{enable-insert-explicit-collectives=true}")
        self.inputs = self._axes("arg_attrs", inputs_of(main_of(self.module)))
        self.outputs = self._axes("res_attrs", results_of(main_of(self.module)))
        self._run("sdy-convert-global-to-local")
        as_jax_prints(self.module)

    def _run(self, pass_):
        try:
            passmanager.PassManager.parse(f"builtin.module({pass_})").run(self.module.operation)
        except Exception as error:
            raise PartitionError(f"{pass_.split('{')[0]}: {error}") from None

    def _axes(self, name, types):
        found = []
        for entries, type_ in zip(dictionaries(main_of(self.module), name), types):
            text = str(entries.get("sdy.sharding", ""))
            if re.search(r'":\(', text):
                raise PartitionError(f"{type_} is split over a part of a mesh axis: {text}")
            listed = re.search(r"\[((?:\{[^{}]*\}(?:, )?)*)\]", text)  # leave out the axes of a mesh that is spelled out
            found.append(tuple(tuple(re.findall(r'"([^"]+)"', part)) for part in re.findall(r"{([^{}]*)}", listed[1]))
                         if listed else ((),) * ir.RankedTensorType(type_).rank)
        return found


def wrap(step, ranks):
    """Replaces the body of the step's @main by one manual computation of a rank's program."""
    main, local = main_of(step), main_of(ranks.module)
    for name, axes in (("arg_attrs", ranks.inputs), ("res_attrs", ranks.outputs)):
        for index, each in enumerate(axes):
            pin(main, name, index, ranks.mesh, each)
    body, computed = main.regions[0].blocks[0], local.regions[0].blocks[0]
    _check_types(ranks, main, computed)
    for op in reversed(list(body.operations)):
        op.operation.erase()

    def shardings(each):
        return ir.Attribute.parse(f"#sdy.sharding_per_value<[{', '.join(map(ranks.mesh.sharding, each))}]>")

    axes = ", ".join(map(json.dumps, ranks.mesh.sizes))
    with ir.InsertionPoint(body), main.location:
        manual = ir.Operation.create(
            "sdy.manual_computation", results=results_of(main), operands=list(body.arguments), regions=1,
            attributes={"in_shardings": shardings(ranks.inputs), "out_shardings": shardings(ranks.outputs),
                        "manual_axes": ir.Attribute.parse(f"#sdy<manual_axes{{{axes}}}>")})
        ir.Operation.create("func.return", operands=list(manual.results))
    inner = manual.regions[0].blocks.append(*(a.type for a in computed.arguments),
                                            arg_locs=[a.location for a in body.arguments])
    for argument, own in zip(computed.arguments, inner.arguments):
        argument.replace_all_uses_with(own)
    end = list(computed.operations)[-1]
    with ir.InsertionPoint(inner), end.location:
        last = ir.Operation.create("sdy.return", operands=list(end.operands))
    end.operation.erase()
    for op in list(computed.operations):
        op.operation.move_before(last)
    _move_functions(step, ranks.module, manual)
    step.operation.verify()


def _check_types(ranks, main, computed):
    """Checks the program of a rank against the shardings that were read."""
    returned = list(list(computed.operations)[-1].operands)
    for what, types, axes, local in (("argument", inputs_of(main), ranks.inputs, computed.arguments),
                                     ("result", results_of(main), ranks.outputs, returned)):
        if len(types) != len(local):
            raise PartitionError(f"expected {len(types)} {what}s as in the step, got {len(local)}")
        for index, (type_, each, value) in enumerate(zip(types, axes, local)):
            if value.type != ranks.mesh.local(type_, each):
                raise PartitionError(f"{what} {index} of @main: expected {ranks.mesh.local(type_, each)} on a rank for "
                                     f"{type_} split over {each}, got {value.type}")


def _move_functions(step, module, manual):
    """Replaces the step's private functions by those that the program of a rank calls."""
    for op in list(step.body.operations):
        if op.operation.name == "func.func" and op.operation != main_of(step):
            op.operation.erase()
    functions = {op.attributes["sym_name"].value: op for op in module.body.operations
                 if op.operation.name == "func.func"}
    pending, moved = [manual], set()
    while pending:
        text = pending.pop().get_asm(print_generic_op_form=True, enable_debug_info=False)
        for name in re.findall(r'@(?:"([^"]+)"|([\w.$-]+))', text):
            name = name[0] or name[1]
            if name in functions and name != "main" and name not in moved:
                moved.add(name)
                functions[name].operation.move_after(main_of(step))
                pending.append(functions[name].operation)


def main():
    request, response = sys.argv[1:]
    request = json.loads(pathlib.Path(request).read_text())
    try:
        answer = partition(request)
    except PartitionError as error:
        answer = {"error": str(error)}
    pathlib.Path(response).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
