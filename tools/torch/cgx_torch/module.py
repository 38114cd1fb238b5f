"""What is asked about a model: collectives that are the all-reduces of its gradients."""

import torch
from cgx_core import layers

FLOATS = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64"}


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
    """Whether gradients of an element type may be compressed. Others travel as torch sends them."""
    return dtype in FLOATS


def real_type_of(parameter):
    """Of the elements of a gradient as DistributedDataParallel hands it out: of a complex one the parts, side by side."""
    return torch.empty(0, dtype=parameter.dtype).real.dtype if parameter.is_complex() else parameter.dtype


def collectives_of(parameters, groups, types=None, exact=()):
    """The collectives of a step: a mean of each parameter's gradient over all ranks, one all-reduce for each group.

    Args:
      parameters: {name: parameter}.
      groups: lists of names, whose gradients travel together.
      types: of the gradients, {name: dtype}; by default those of the parameters.
      exact: names of those that codecs leave alone, whatever the options say.
    """
    # Random numbers belong to the parameter, whatever it travels with.
    places = {name: index for index, name in enumerate(parameters)}

    def operand(name):
        parameter = parameters[name]
        dtype = (types or {}).get(name) or real_type_of(parameter)
        # What is of another kind has no codec. None takes complex numbers, whose parts are no elements of a matrix.
        kind = "other" if parameter.is_complex() or name in exact else "gradient"
        shape = [*parameter.shape, 2] if parameter.is_complex() else parameter.shape
        return layers.operand(name, kind, element_type(name, dtype), shape, (places[name], 0))

    return [layers.collective(number, "all_reduce", [operand(name) for name in group], reduction="mean")
            for number, group in enumerate(groups)]


def places_of(manifest):
    """{layer: (collective, operand)}."""
    return {operand["layer"]: (collective["id"], index) for collective in manifest["collectives"]
            for index, operand in enumerate(collective["operands"])}


def element_type(name, dtype):
    """What manifests call the elements of a gradient."""
    element = FLOATS.get(dtype)
    if element is None:
        raise TypeError(f"{name}: expected a gradient of {', '.join(map(str, FLOATS))}, got {dtype}")
    return element
