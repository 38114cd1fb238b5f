"""Writes a training step as `cgx-opt`, `cgx-run` and `cgx-compile` read it."""

import contextlib
import inspect
import pathlib
import warnings

import jax

from cgx_jax import safetensors, signature, trees


class ExportError(ValueError):
    """The step, its state or its batch cannot be exported; the message says why."""


def export_step(step, state, batch, folder, *, name="step", donate=True, write_state=True,
                full_paths=False):
    """Exports `step(state, batch)`.

    Writes `<folder>/<name>.mlir`, the text that JAX prints for the step, debug info included
    and nothing changed, and `<folder>/state.safetensors`, the state with one tensor for each
    leaf, named as the text names the argument: `state['params']['w']` for a step that calls
    its first parameter `state`.

    Args:
      step: a function of two arguments, plain or jitted. To be run on N ranks it holds its
        collectives itself (`jax.shard_map` over a mesh of N devices), so export on N devices:
        XLA_FLAGS=--xla_force_host_platform_device_count=N gives them to a CPU. A plain function
        is jitted here, a jitted one taken as it is.
      state: what the step updates: a tree of arrays, as the first step gets it.
      batch: a tree of arrays, or of `jax.ShapeDtypeStruct`, with the shapes of one step's
        global batch. Its values do not matter.
      folder: where to write; made when it does not exist.
      name: of the program's file, without `.mlir`.
      donate: whether a plain function is jitted with its state donated, so that each step
        updates it in place. False for an evaluation step.
      write_state: False leaves `state.safetensors` alone, as for an evaluation step that
        shares the state of the training step beside it.
      full_paths: True keeps the folders of source files in the debug info; by default it has
        `train.py:31`, which says nothing about the machine it was made on.

    Returns:
      The path of the program's file.

    Raises:
      ExportError: a leaf is not an array, the step does not take two arguments, or the text
        disagrees with the names and types that were to be written.
    """
    parameters = _parameter_names(step)
    trees_of = dict(zip(parameters, (state, batch)))
    _check_leaves(trees_of)

    jitted = step if hasattr(step, "lower") else jax.jit(step, donate_argnums=(0,) if donate else ())
    with _source_paths(full_paths):
        lowered = jitted.lower(state, batch)
        text = lowered.as_text(debug_info=True)

    tensors = {leaf_name: trees.to_numpy(leaf)
               for leaf_name, leaf in trees.named_leaves(state, parameters[0]).items()}
    _check_text(text, tensors, trees.named_leaves(batch, parameters[1]), parameters)
    _check_feeding(jitted, lowered, state, batch, parameters[0])

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / f"{name}.mlir"
    program.write_text(text)
    if write_state:
        safetensors.save(folder / "state.safetensors", tensors)
    return program


def _parameter_names(step):
    """The names of the step's two parameters, which begin the names of its arguments."""
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
    """Refuses leaves that are no arrays, and warns of element types that may change."""
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
    """The shapes that the text may have for a tensor: its own, and in the per-replica programs of
    jax.pmap before JAX 0.8 that of one replica's slice."""
    return [shape, (1, *shape[1:])] if shape and shape[0] == replicas > 1 else [shape]


def _check_feeding(jitted, lowered, state, batch, parameter):
    """Warns when a donated state does not come back: training could not go on."""
    donated = any(info.donated for info in jax.tree.leaves(lowered.args_info))
    if not donated:
        return
    result = jax.eval_shape(jitted, state, batch)
    candidates = [result, *result] if isinstance(result, (tuple, list)) else [result]
    if isinstance(result, dict):
        candidates += result.values()

    def shapes(tree):
        return [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(tree)]

    expected = jax.eval_shape(lambda tree: tree, state)
    structure = jax.tree.structure(expected)
    if not any(jax.tree.structure(c) == structure and shapes(c) == shapes(expected) for c in candidates):
        warnings.warn(f"the step returns no tree of the structure, shapes and element types of {parameter}: "
                      f"its next step cannot be fed from this one", stacklevel=3)


@contextlib.contextmanager
def _source_paths(full):
    """Makes JAX print the base names of source files, unless the user chose otherwise."""
    option = "jax_hlo_source_file_canonicalization_regex"
    before = getattr(jax.config, option)
    if not full and before is None:
        jax.config.update(option, r".*/")
    try:
        yield
    finally:
        jax.config.update(option, before)
