"""Reads the files that `cgx-run --save` writes."""

import re

import jax
import jax.numpy as jnp
import numpy as np

from cgx_jax import safetensors, trees


def restore(path, like):
    """Returns the state in a file of `cgx-run --save`, or of `export_step`, as a tree.

    Args:
      path: the file.
      like: a tree of the structure, shapes and element types of the state, such as the one that training began
        with; its shardings are taken, too. Leaves may be `jax.ShapeDtypeStruct`.

    Raises:
      ValueError: the file has no such state: leaves are missing, or of other shapes or types.
    """
    tensors = safetensors.load(path)
    leaves, tree = jax.tree.flatten(like)
    names = list(trees.named_leaves(like, ""))
    # The names of all tensors begin with the step's name for its state.
    called = sorted({name[:len(name) - len(names[0])] for name in tensors if names and name.endswith(names[0])},
                    key=lambda parameter: -sum(parameter + name in tensors for name in names))
    called = [parameter for parameter in called if re.fullmatch(r"\w*", parameter)]
    parameter = called[0] if called else "state"
    wrong = [] if names else ["expected a tree with leaves, got none"]
    for name, leaf in zip(names, leaves):
        tensor = tensors.get(parameter + name)
        if tensor is None:
            wrong.append(f"{parameter}{name}: expected {_described(*_wanted(leaf))}, which the file does not have")
        elif difference := _difference(leaf, tensor):
            wrong.append(f"{parameter}{name}: {difference}")
    if any(parameter + name not in tensors for name in names):
        taken = {parameter + name for name in names}
        wrong += [f"{name}: {_described(tensor.dtype, tensor.shape)} in the file, which 'like' does not have"
                  for name, tensor in tensors.items() if name not in taken and not name.startswith("cgx.codec_state/")]
    if wrong:
        raise ValueError(f"{path}: expected the state that 'like' is, got another; {len(wrong)} "
                         f"{'tensor differs' if len(wrong) == 1 else 'tensors differ'}:\n  " + "\n  ".join(wrong))
    return tree.unflatten([_as(leaf, tensors[parameter + name]) for name, leaf in zip(names, leaves)])


def _described(dtype, shape):
    return f"{np.dtype(dtype).name} of shape {tuple(shape)}"


def _wanted(leaf):
    """Returns the element type and shape in which a leaf is written."""
    if trees.is_key(leaf):
        data = jax.eval_shape(jax.random.key_data, leaf)
        return data.dtype, data.shape
    dtype = leaf.dtype if hasattr(leaf, "dtype") else np.result_type(leaf)
    return jax.dtypes.canonicalize_dtype(dtype), np.shape(leaf)


def _difference(leaf, tensor):
    """Returns why a tensor of the file is not that leaf, or "" if it is."""
    dtype, shape = _wanted(leaf)
    if np.issubdtype(dtype, np.complexfloating) and tensor.shape == (*shape, 2):
        return ""
    if tensor.shape == shape and tensor.dtype == dtype:
        return ""
    return f"expected {_described(dtype, shape)}, got {_described(tensor.dtype, tensor.shape)}"


def _as(leaf, tensor):
    """Returns a tensor of a file as the array for the tree."""
    if trees.is_key(leaf):
        return jax.random.wrap_key_data(jnp.asarray(tensor), impl=jax.random.key_impl(leaf))
    dtype, shape = _wanted(leaf)
    if np.issubdtype(dtype, np.complexfloating) and tensor.shape == (*shape, 2):
        tensor = (tensor[..., 0] + 1j * tensor[..., 1]).astype(dtype)
    return jax.device_put(tensor, getattr(leaf, "sharding", None))
