"""Writes a training step for `cgx-opt`, `cgx-run` and `cgx-compile`."""

import contextlib
import inspect
import pathlib
import shlex
import sys
import warnings

import jax
import numpy as np

from cgx_jax import communication, output, partition, safetensors, signature, trees
from cgx_jax.errors import ExportError


def export_step(step, state, batch, folder, *, name="step", donate=True, write_state=True,
                full_paths=False, quiet=False):
    """Exports `step(state, batch)`.

    Writes `<folder>/<name>.mlir`, the text that JAX prints for the step, debug info included
    and nothing changed, and `<folder>/state.safetensors`, the state with one tensor for each
    leaf, named as the text names the argument: `state['params']['w']` for a step that calls
    its first parameter `state`. Where the step leaves communication to a partitioner, the text
    has the program of one rank that the installed jaxlib makes of it, with its names.

    Args:
      step: a function of two arguments, plain or jitted. It is exported for as many ranks as its
        mesh has devices: XLA_FLAGS=--xla_force_host_platform_device_count=N gives N to a CPU. It
        holds its collectives itself (`jax.shard_map`), or says by shardings how arrays are split.
        A plain function is jitted here, a jitted one taken as it is.
      state: what the step updates: a tree of arrays, as the first step gets it, with its shardings.
      batch: a tree of arrays, or of `jax.ShapeDtypeStruct`, with the shapes and shardings of one
        step's global batch. Its values do not matter.
      folder: where to write; made when it does not exist.
      name: of the program's file, without `.mlir`.
      donate: whether a plain function is jitted with its state donated, so that each step
        updates it in place. False for an evaluation step.
      write_state: False leaves `state.safetensors` alone, as for an evaluation step that
        shares the state of the training step beside it; the state may then be shapes, too.
      full_paths: True keeps the folders of source files in the debug info; by default it has
        `train.py:31`, which says nothing about the machine it was made on.
      quiet: True says nothing; by default a line on standard error says what was written, and the next command.

    Returns:
      The path of the program's file.

    Raises:
      ExportError: a leaf is not an array, the step does not take two arguments, no partitioner makes a
        program of one rank, or the text disagrees with the names and types that were to be written.
    """
    parameters = _parameter_names(step)
    trees_of = dict(zip(parameters, (state, batch)))
    _check_leaves(trees_of)

    jitted = step if hasattr(step, "lower") else jax.jit(step, donate_argnums=(0,) if donate else ())
    first = _next_state(jitted, state, batch)
    with _source_paths(full_paths):
        lowered = jitted.lower(state, batch)
        text = lowered.as_text(debug_info=True)
        if unread := _unread(text, state, parameters[0], first):
            if jitted is step:
                warnings.warn(f"the step writes {', '.join(unread)} without reading it, so JAX drops it from the arguments "
                              f"and trained states will lack it: jit the step with keep_unused=True", stacklevel=2)
            else:
                jitted = jax.jit(step, donate_argnums=(0,) if donate else (), keep_unused=True)
                lowered = jitted.lower(state, batch)
                text = lowered.as_text(debug_info=True)

    tensors = {leaf_name: _as_written(leaf_name, leaf, write_state)
               for leaf_name, leaf in trees.named_leaves(state, parameters[0]).items()}
    _check_text(text, tensors, trees.named_leaves(batch, parameters[1]), parameters)
    _check_feeding(lowered, first, parameters[0])
    feeds = _feeds(state, parameters[0], first, text)
    text = _with_communication(lowered, text, feeds)

    folder = pathlib.Path(folder)
    output.make_folder(folder)
    program = folder / f"{name}.mlir"
    output.write(program, [text.encode()])
    if write_state:
        safetensors.save(folder / "state.safetensors", tensors)
    if not quiet:
        print(_summary(program, tensors if write_state else {}, lowered), file=sys.stderr)
    return program


def _summary(program, tensors, lowered):
    """Returns a summary of the files that were written, with the command to type next."""
    ranks = partition.ranks_of(lowered.compiler_ir("stablehlo"))
    written = f"cgx: wrote {program} ({ranks} rank{'s' if ranks != 1 else ''})"
    file = shlex.quote(str(program))
    if not tensors:
        return f"{written}; next: cgx run TRAINING.mlir ... --eval {file} --eval-data DATA.safetensors"
    layers = sum(np.ndim(tensor) > 1 for tensor in tensors.values())
    state = program.with_name("state.safetensors")
    return (f"{written} and {state} ({len(tensors)} tensor{'s' if len(tensors) != 1 else ''}, {layers} of two dimensions or more); next: cgx run {file} "
            f"--compress bits=4 --state {shlex.quote(str(state))} --data DATA.safetensors (of cgx_jax.write_batches)")


def _parameter_names(step):
    """Returns the names of the step's two parameters, which begin the names of its arguments."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        parameters = inspect.signature(step).parameters.values()
    except (TypeError, ValueError) as error:
        raise ExportError(f"expected a function step(state, batch), got {step!r}: {error}") from None
    names = [p.name for p in parameters if p.kind in positional and p.default is p.empty]
    if len(names) != 2:
        raise ExportError(f"expected a step of two arguments, the state and a batch, got "
                          f"{getattr(step, '__name__', step)}({', '.join(p.name for p in parameters)}): "
                          f"gather what it updates in one tree and what it reads in another")
    return names


def _check_leaves(trees_of):
    """Raises ExportError for leaves that are no arrays, and warns of element types that may change."""
    for parameter, tree in trees_of.items():
        for name, leaf in trees.named_leaves(tree, parameter).items():
            if isinstance(leaf, jax.ShapeDtypeStruct):
                continue
            if not trees.is_array(leaf):
                raise ExportError(f"{name}: expected an array, got {type(leaf).__name__}: "
                                  f"close over it, or take it out of the tree")
            if trees.is_weak(leaf):
                warnings.warn(f"{name} is weakly typed ({leaf!r}): the step may return another element "
                              f"type than it takes; write jnp.float32({leaf}) or the type that you mean",
                              stacklevel=3)


def _check_text(text, state, batch, parameters):
    """Compares the arguments that the text has with the tensors that are about to be written.

    The text may lack leaves that the step does not use: JAX drops those."""
    replicas = signature.replicas(text)
    arguments = signature.main_arguments(text)
    for index, argument in enumerate(arguments):
        if argument.name is None:
            raise ExportError(f"argument {index} of @main ({argument.type}) has no name in the text that "
                              f"JAX {jax.__version__} printed")
        if argument.name in batch:
            continue
        if argument.name.startswith("flat_args["):
            raise ExportError(f"argument {index} of @main is called {argument.name}: jax.pmap loses the names of "
                              f"its arguments. Export a function around it: "
                              f"lambda {', '.join(parameters)}: step({', '.join(parameters)})")
        if argument.name not in state:
            raise ExportError(f"argument {index} of @main is called {argument.name} by JAX {jax.__version__}: "
                              f"expected a leaf of {' or '.join(parameters)}. A closure that holds a traced or "
                              f"sharded array is an argument, too: pass it as part of the state")
        expected = [signature.tensor_type(shape, state[argument.name].dtype)
                    for shape in _printed_shapes(state[argument.name].shape, replicas)]
        if argument.type not in expected:
            raise ExportError(f"{argument.name}: expected {expected[0]} as in the state, got {argument.type} in "
                              f"the text")
    names = [argument.name for argument in arguments]
    if len(set(names)) != len(names):
        raise ExportError(f"expected different names for all arguments of @main, got {names}")


def _printed_shapes(shape, replicas):
    """Returns the shapes that the text may have for a tensor: its own, and in the per-replica programs of jax.pmap
    before JAX 0.8 that of one replica's slice."""
    return [shape, (1, *shape[1:])] if shape and shape[0] == replicas > 1 else [shape]


def _as_written(name, leaf, write):
    """Returns the contents of `state.safetensors` for a leaf; if nothing is written, an object of its shape and type."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        if write:
            raise ExportError(f"{name}: expected an array, got a ShapeDtypeStruct: state.safetensors has the values "
                              f"that training begins with. Pass arrays, or write_state=False")
        return jax.eval_shape(jax.random.key_data, leaf) if trees.is_key(leaf) else leaf
    if isinstance(leaf, jax.Array) and not leaf.is_fully_addressable:
        raise ExportError(f"{name}: expected an array whose parts all lie on devices of this process, got one of "
                          f"{leaf.sharding}: export from a single process, with as many virtual devices as the job has "
                          f"ranks (XLA_FLAGS=--xla_force_host_platform_device_count=N)")
    return trees.to_numpy(leaf)


def _next_state(jitted, state, batch):
    """Returns the index of the next state's first leaf in the results of the step, or None where the step returns no
    tree of the state's structure, shapes and element types."""
    result = jax.eval_shape(jitted, state, batch)

    def described(tree):
        return jax.tree.structure(tree), [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(tree)]

    expected = described(jax.eval_shape(lambda tree: tree, state))
    if described(result) == expected:
        return 0
    parts = result if isinstance(result, (tuple, list)) else []
    if isinstance(result, dict):
        parts = [result[key] for key in sorted(result)]
    first = 0
    for part in parts:
        if described(part) == expected:
            return first
        first += len(jax.tree.leaves(part))
    return None


def _check_feeding(lowered, first, parameter):
    """Warns if a donated state is not returned, so that training could not continue."""
    if first is None and any(info.donated for info in jax.tree.leaves(lowered.args_info)):
        warnings.warn(f"the step returns no tree of the structure, shapes and element types of {parameter}: "
                      f"its next step cannot be fed from this one", stacklevel=3)


def _unread(text, state, parameter, first):
    """Returns the leaves of a returned state for which the text has no argument, because the step computes them without
    it."""
    if first is None:
        return []
    arguments = {argument.name for argument in signature.main_arguments(text)}
    return [name for name in trees.named_leaves(state, parameter) if name not in arguments]


def _feeds(state, parameter, first, text):
    """Returns pairs (result, argument) of @main for which the next step takes the result as the argument. The text may
    lack arguments that the step does not use."""
    if first is None:
        return []
    indices = {argument.name: index for index, argument in enumerate(signature.main_arguments(text))}
    return [(first + offset, indices[name]) for offset, name in enumerate(trees.named_leaves(state, parameter))
            if name in indices]


def _with_communication(lowered, text, feeds):
    """Returns the text of the step with its collectives: unchanged, or from the partitioner where the step leaves them
    to it. Warns of an update for which nothing is communicated."""
    module = lowered.compiler_ir("stablehlo")
    devices = partition.ranks_of(module)
    updates = communication.updates(module, feeds)
    if devices == 1:
        if updates:
            warnings.warn(communication.of_one_device(), stacklevel=3)
        return text
    if partition.is_left_to_a_partitioner(module):
        text, communicates = partition.partition(text, devices, feeds)
    else:
        communicates = communication.reaches(module, updates)
    if updates and not communicates:
        warnings.warn(f"the step is for {devices} devices, but no collective reaches what it updates: each of them would "
                      f"do the same, or train by itself. Split the batch over the mesh (PartitionSpec(\"data\") in "
                      f"in_specs or in the NamedSharding of the batch), and inside of jax.shard_map average the gradients "
                      f"with jax.lax.pmean", stacklevel=3)
    return text


@contextlib.contextmanager
def _source_paths(full):
    """Lets JAX print the base names of source files, unless the user chose otherwise."""
    option = "jax_hlo_source_file_canonicalization_regex"
    before = getattr(jax.config, option)
    if not full and before is None:
        jax.config.update(option, r".*/")
    try:
        yield
    finally:
        jax.config.update(option, before)
