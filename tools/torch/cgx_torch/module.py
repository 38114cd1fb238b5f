"""What the compiler is asked: a program whose collectives are the all-reduces of a model's gradients."""

import json

import torch
from cgx_core import compiler

_ELEMENT_TYPES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64"}


def within(model):
    """The module that DistributedDataParallel and torch.compile are put around, in whichever order, and the process group of
    the former; None where there is none."""
    group = None
    while True:
        if isinstance(model, torch.nn.parallel.DistributedDataParallel):
            model, group = model.module, model.process_group
        elif type(model).__name__ == "OptimizedModule":  # of torch 2, which takes seconds to import what defines it
            model = model._orig_mod
        else:
            return model, group


def finds_unused(model):
    """Whether DistributedDataParallel drops gradients of parameters that no rank used."""
    while type(model).__name__ == "OptimizedModule":
        model = model._orig_mod
    return bool(getattr(model, "find_unused_parameters", False)) and isinstance(model, torch.nn.parallel.DistributedDataParallel)


def name_of(name):
    """What a parameter is called whether or not torch.compile was put around the modules that hold it."""
    return name.replace("_orig_mod.", "")


def takes(dtype):
    """Whether gradients of an element type are the compiler's. Others travel as torch sends them."""
    return dtype in _ELEMENT_TYPES


def real_type_of(parameter):
    """Of the elements of a gradient as DistributedDataParallel hands it out: of a complex one the parts, side by side."""
    return torch.empty(0, dtype=parameter.dtype).real.dtype if parameter.is_complex() else parameter.dtype


def text_of(parameters, groups, ranks, types=None):
    """The program of one rank: a mean of each parameter's gradient over all ranks, one all-reduce for each group.

    Args:
      parameters: {name: parameter}.
      groups: lists of names, whose gradients travel together.
      ranks: how many.
      types: of the gradients, {name: dtype}; by default those of the parameters.
    """
    names = [name for group in groups for name in group]
    types = {name: _type_of(name, parameters[name], (types or {}).get(name) or real_type_of(parameters[name])) for name in names}
    values = {name: f"%arg{index}" for index, name in enumerate(names)}
    # Random numbers belong to the parameter, whatever it travels with.
    origins = {name: f"{index}, 0" for index, name in enumerate(parameters)}
    everyone = f"#cgx.groups<[[{', '.join(map(str, range(ranks)))}]]>"
    lines, results = [], {}
    for number, group in enumerate(groups):
        outputs = f"%{number}" if len(group) == 1 else f"%{number}:{len(group)}"
        results |= {name: f"%{number}" if len(group) == 1 else f"%{number}#{index}" for index, name in enumerate(group)}
        # No codec takes complex numbers, whose parts are no elements of a matrix.
        layers = ", ".join(f"#cgx.layer<{_quoted(name)}, {'other' if parameters[name].is_complex() else 'gradient'}>" for name in group)
        lines.append(f"    {outputs} = cgx.all_reduce mean({', '.join(values[name] for name in group)}) "
                     f"{{origins = array<i64: {', '.join(origins[name] for name in group)}>, "
                     f"id = {number} : i64, groups = {everyone}, codecs = [{', '.join(['#cgx.identity'] * len(group))}], "
                     f"layers = [{layers}]}} : {', '.join(types[name] for name in group)}")
    arguments = ", ".join(f"{values[name]}: {types[name]}" for name in names)
    listed = ", ".join(types[name] for name in names)
    return "\n".join([f"module attributes {{cgx.num_ranks = {ranks} : i64}} {{",
                      f"  func.func public @main({arguments}) -> ({listed}) {{", *lines,
                      f"    return {', '.join(results[name] for name in names)} : {listed}", "  }", "}", ""])


def compile_text(text, options, plan_path):
    """Has the compiler decide what travels how."""
    # The groups are those of the text.
    return compiler.run(text, [compiler.pipeline("cgx-compress", dict(options, plan=plan_path, group_bytes=0)),
                               "--cgx-report", "--cgx-emit-manifest"], name="<gradients>")


def places_of(manifest):
    """{layer: (collective, operand)}."""
    return {operand["layer"]: (collective["id"], index) for collective in manifest["collectives"]
            for index, operand in enumerate(collective["operands"])}


def _type_of(name, parameter, dtype):
    element = _ELEMENT_TYPES.get(dtype)
    if element is None:
        raise TypeError(f"{name}: expected a gradient of {', '.join(map(str, _ELEMENT_TYPES))}, got {dtype}")
    shape = [*parameter.shape, 2] if parameter.is_complex() else parameter.shape
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def _quoted(name):
    """A string of MLIR."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:02X}"
                         for byte in name.encode()) + '"'
