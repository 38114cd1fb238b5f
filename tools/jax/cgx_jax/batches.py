"""The data of a training run as one file."""

import dataclasses
import json

import jax
import numpy as np

from cgx_jax import safetensors, trees


@dataclasses.dataclass(frozen=True)
class _Marked:
    """A leaf of a batch that has no dimension of samples."""
    leaf: object
    kind: str
    steps: object = None


def per_step(values, steps=None):
    """Marks a leaf of a batch as one value per step, such as a learning rate or a random key.

    Step k of a run takes `values[k]`, counted from step 0 of the whole training, also in a run that
    goes on from a checkpoint. A run that has more steps than there are values is refused.

    Args:
      values: an array [steps, ...], typed random keys among them; or a function of the step's number,
        such as a schedule of optax or `lambda t: jax.random.fold_in(key, t)`.
      steps: how many steps to call a function for.
    """
    return _Marked(values, "per_step", steps)


def constant(value):
    """Marks a leaf of a batch as the same in every step, such as weights of classes."""
    return _Marked(value, "constant")


def write_batches(path, batch, *, name="batch"):
    """Writes the samples that a step is to be trained on or evaluated with.

    `cgx-run` takes batch after batch from the leading dimension: with a step that was
    exported for 64 samples, step k sees the samples [64 k, 64 k + 64) of each tensor. Shuffle
    before writing, or pass `--shuffle`. What has no dimension of samples is marked:

        write_batches("train.safetensors", {
            "x": images, "y": labels,                                           # [samples, ...]
            "lr": per_step(optax.cosine_decay_schedule(1e-3, 1000), steps=1000),
            "key": per_step(jax.random.split(jax.random.key(0), 1000)),
            "weights": constant(class_weights),
        })

    A scalar is constant without a mark. Elements get the type that JAX gives them: 64 bits become 32
    unless `jax_enable_x64` is set, random keys become their bits. A tensor may be narrower than the
    step's argument where every value fits (bytes for an int32 argument): it is widened on the way.

    Args:
      path: the file to write.
      batch: a tree of arrays of the structure that the step's batch has, each of shape
        [samples, ...], with any number of samples, or marked.
      name: of the step's parameter that takes a batch.

    Raises:
      ValueError: the tree is empty, the leading dimensions differ, or a whole number needs more than the 32
        bits that JAX keeps of it.
      TypeError: a leaf is not an array of numbers: an object, a text, a list of numbers, complex numbers.
    """
    tensors, kinds = {}, {"per_step": [], "constant": []}
    for leaf_name, leaf in _leaves(batch, name).items():
        kind, array = _tensor(leaf_name, leaf)
        tensors[leaf_name] = array
        if kind in kinds:
            kinds[kind].append(leaf_name)
    if not tensors:
        raise ValueError(f"{name}: expected at least one array, got an empty tree")
    marked = {leaf_name for names in kinds.values() for leaf_name in names}
    samples = {leaf_name: array.shape[0] for leaf_name, array in tensors.items() if leaf_name not in marked}
    if len(set(samples.values())) > 1:
        raise ValueError(f"{name}: expected one number of samples, got {samples}; what has a value for each step, or "
                         f"the same in all of them, is marked with cgx_jax.per_step or cgx_jax.constant")
    safetensors.save(path, tensors, {f"cgx.{kind}": json.dumps(names) for kind, names in kinds.items() if names})


def _leaves(batch, name):
    """Returns the leaves of a batch by name, with their marks. Whole trees may be marked."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(batch, is_leaf=lambda node: isinstance(node, (_Marked, list)))
    found = {}
    for path, leaf in leaves:
        leaf_name = name + jax.tree_util.keystr(path)
        if isinstance(leaf, list):
            if leaf and all(isinstance(entry, (bool, int, float, complex, str)) for entry in leaf):
                raise TypeError(f"{leaf_name}: expected an array, got a list: numpy.asarray makes one of it")
            found |= {f"{leaf_name}{key}": entry
                      for i, entry in enumerate(leaf) for key, entry in _leaves(entry, f"[{i}]").items()}
        elif isinstance(leaf, _Marked) and not callable(leaf.leaf):
            found |= {leaf_name + key: dataclasses.replace(leaf, leaf=entry)
                      for key, entry in trees.named_leaves(leaf.leaf, "").items()}
        else:
            found[leaf_name] = leaf
    return found


def _tensor(name, leaf):
    """Returns the kind of input that a leaf is, and its elements in the form in which JAX takes them."""
    kind = leaf.kind if isinstance(leaf, _Marked) else "samples"
    if kind == "per_step" and callable(leaf.leaf):
        if leaf.steps is None:
            raise ValueError(f"{name}: expected the number of steps to call a function for, per_step(..., steps=N)")
        array = np.stack([_numbers(name, leaf.leaf(step)) for step in range(leaf.steps)])
    else:
        array = _numbers(name, leaf.leaf if isinstance(leaf, _Marked) else leaf)
    if kind == "samples" and not array.shape:
        kind = "constant"
    if kind == "per_step" and not array.shape:
        raise ValueError(f"{name}: expected a leading dimension of steps, got a scalar; cgx_jax.constant marks what is "
                         f"the same in all")
    return kind, array


def _numbers(name, leaf):
    """Returns a leaf as an array of a type that steps take."""
    if not trees.is_array(leaf) and not hasattr(leaf, "__array__"):
        raise TypeError(f"{name}: expected an array, got {type(leaf).__name__}")
    if trees.is_key(leaf):
        return trees.to_numpy(leaf)
    array = np.asarray(leaf)
    _check_type(name, array)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)  # JAX has no types of another byte order
    _check_range(name, array)
    return trees.to_numpy(array)


def _check_type(name, array):
    if array.dtype.kind in "fiub" or safetensors.is_known(array.dtype):
        return
    hints = {"O": "an array of objects: numpy.stack or numpy.asarray with a dtype makes one of numbers",
             "U": "texts: encode them as numbers", "S": "texts: encode them as numbers",
             "c": "complex numbers: give real and imaginary parts as two arrays",
             "M": "dates: give them as numbers", "m": "durations: give them as numbers"}
    raise TypeError(f"{name}: expected real numbers, got {array.dtype}{list(array.shape)}, "
                    + hints.get(array.dtype.kind, "which no step takes"))


def _check_range(name, array):
    """Raises ExportError for whole numbers whose upper half JAX would drop without a message; in data that is a
    mistake."""
    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    if array.dtype.kind not in "iu" or dtype == array.dtype or array.size == 0:
        return
    least, most = int(array.min()), int(array.max())
    limits = np.iinfo(dtype)
    if least < limits.min or most > limits.max:
        raise ValueError(f"{name}: expected {array.dtype} that fits {dtype}, which JAX makes of it without "
                         f"jax_enable_x64, got {array.dtype}{list(array.shape)} from {least} to {most}")
