"""Converts a tree of arrays to named tensors, with the names that JAX gives to arguments."""

import re

import jax
import jax.numpy as jnp
import numpy as np

# A path shows a child without a name of its own like this; JAX prints such an argument as `state[0]`.
_NAMELESS_CHILD = re.compile(r"<flat index ([^>]+)>")


def is_key(leaf):
    """Returns true if a leaf is a typed random key, as `jax.random.key` makes."""
    return isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct)) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def is_array(leaf):
    """Returns true if JAX takes a leaf as an argument of a jitted function, which holds for arrays and numbers."""
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, bool, int, float, complex))


def is_weak(leaf):
    """Returns true if the element type of a leaf yields to that of the other operand, as for `1.0` and
    `jnp.asarray(1.0)`."""
    return isinstance(leaf, (bool, int, float, complex)) or getattr(leaf, "weak_type", False)


def named_leaves(tree, name):
    """Returns the leaves by the name that JAX prints for them.

    Args:
      tree: any tree of arrays.
      name: of the function's parameter that is called with it.

    Returns:
      A dict such as {"state['params']['w']": leaf, "state['opt'][0].count": leaf}.
    """
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {name + _NAMELESS_CHILD.sub(r"\1", jax.tree_util.keystr(path)): leaf for path, leaf in leaves}


def to_numpy(leaf):
    """Returns the NumPy array that a compiled step sees for a leaf: a random key is its bits, a number has JAX's
    default type, and 64-bit arrays are 32 bits wide unless `jax_enable_x64`."""
    if is_key(leaf):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf)
    return array.astype(jax.dtypes.canonicalize_dtype(array.dtype), copy=False)
