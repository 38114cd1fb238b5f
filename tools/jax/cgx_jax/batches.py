"""The data of a training run as one file."""

from cgx_jax import safetensors, trees


def write_batches(path, batch, *, name="batch"):
    """Writes the samples that a step is to be trained on or evaluated with.

    `cgx-run` takes batch after batch from the leading dimension: with a step that was
    exported for 64 samples, step k sees the samples [64 k, 64 k + 64) of each tensor. Shuffle
    before writing, or pass `--shuffle`. A tensor may be narrower than the step's argument
    where every value fits (bytes for an int32 argument): it is widened on the way.

    Args:
      path: the file to write.
      batch: a tree of arrays of the structure that the step's batch has, each of shape
        [samples, ...], with any number of samples.
      name: of the step's parameter that takes a batch.

    Raises:
      ValueError: the tree is empty, or the leading dimensions differ.
      TypeError: a leaf is not an array, or has an element type without a name in the format.
    """
    tensors = {}
    for leaf_name, leaf in trees.named_leaves(batch, name).items():
        if not hasattr(leaf, "shape"):
            raise TypeError(f"{leaf_name}: expected an array, got {type(leaf).__name__}")
        if not leaf.shape:
            raise ValueError(f"{leaf_name}: expected a leading dimension of samples, got a scalar")
        tensors[leaf_name] = leaf
    if not tensors:
        raise ValueError(f"{name}: expected at least one array, got an empty tree")
    samples = {leaf_name: leaf.shape[0] for leaf_name, leaf in tensors.items()}
    if len(set(samples.values())) != 1:
        raise ValueError(f"{name}: expected one number of samples, got {samples}")
    safetensors.save(path, tensors)
