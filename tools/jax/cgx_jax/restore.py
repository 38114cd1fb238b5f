"""Takes back what `cgx-run --save` wrote."""

import re

import jax
import jax.numpy as jnp
import numpy as np

from cgx_jax import safetensors, trees


def restore(path, like):
    """The state in a file of `cgx-run --save`, or of `export_step`, as a tree.

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
    # What the step calls its state begins the names of all of its tensors.
    called = sorted({name[:len(name) - len(names[0])] for name in tensors if names and name.endswith(names[0])},
                    key=lambda parameter: -sum(parameter + name in tensors for name in names))
    called = [parameter for parameter in called if re.fullmatch(r"\w*", parameter)]
    parameter = called[0] if called else "state"
    missing = [parameter + name for name in names if parameter + name not in tensors]
    if missing:
        raise ValueError(f"{path}: expected a tensor {missing[0]}, and {len(missing) - 1} more that are not there; the "
                         f"file has {', '.join(list(tensors)[:5])}{', ...' if len(tensors) > 5 else ''}")
    return tree.unflatten([_as(leaf, tensors[parameter + name], parameter + name, path)
                           for name, leaf in zip(names, leaves)])


def _as(leaf, tensor, name, path):
    """A tensor of a file as the array that stands in a tree."""
    if trees.is_key(leaf):
        return jax.random.wrap_key_data(jnp.asarray(tensor), impl=jax.random.key_impl(leaf))
    dtype = leaf.dtype if hasattr(leaf, "dtype") else np.result_type(leaf)
    shape, dtype = np.shape(leaf), jax.dtypes.canonicalize_dtype(dtype)
    if np.issubdtype(dtype, np.complexfloating) and tensor.shape == (*shape, 2):
        tensor = (tensor[..., 0] + 1j * tensor[..., 1]).astype(dtype)
    if tensor.shape != shape or tensor.dtype != dtype:
        raise ValueError(f"{path}: {name}: expected {dtype} of shape {shape}, got {tensor.dtype} of shape {tensor.shape}")
    return jax.device_put(tensor, getattr(leaf, "sharding", None))
