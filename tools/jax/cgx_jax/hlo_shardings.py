"""Converts XLA's shardings to the axes of a mesh.

XLA describes how a tensor is split by tiles and a list of devices, `{devices=[2,1,2]<=[2,2]T(1,0)
last_tile_dim_replicate}`, or (as of jaxlib 0.12) by the axes of a mesh that it names itself, `{mesh['a'=2,'b'=2],
device_ids=([2,2]T(1,0)), [{'b'}, {'a':(1)2}]}`; a program of a rank by the axes of the step's mesh, `[{"model"}, {}]`.
"""

import itertools
import re

import numpy as np


def split_tuple(text):
    """Splits a tuple such as `{{replicated}, /*index=1*/{devices=[4]<=[4]}}` into its shardings. A single sharding
    gives itself."""
    text = re.sub(r"/\*.*?\*/", "", text).strip()
    if not text.startswith("{{"):
        return [text] if text != "{}" else []
    parts, depth = [], 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "{" and depth == 2:
            begin = at
        elif character == "}" and depth == 1:
            parts.append(text[begin:at + 1])
    return parts


def tiles(text, rank, devices):
    """Returns the position of each device's tile.

    Args:
      text: one sharding, as XLA prints it.
      rank: of the tensor.
      devices: how many there are.

    Returns:
      (counts, positions): the number of tiles along each dimension, and an array of
      [devices, rank] with the place of each device's tile; None where tensors are not split
      over all devices alike.
    """
    body = text.strip()[1:-1]
    said = re.sub("'[^']*'", "", body)  # leave out the names of axes
    if re.search("maximal|manual|unreduced", said):
        return None
    if not body or re.search(r"\breplicated\b(?!=)", said):
        return (1,) * rank, np.zeros((devices, rank), np.int64)
    if body.startswith("mesh["):
        return _tiles_of_mesh(body, rank, devices)
    match = re.match(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))", body)
    if not match:
        return None
    counts = _integers(match[1])
    order = _permuted(match[2], match[3], devices) if match[2] else np.array(_integers(match[4]))
    positions = np.zeros((devices, len(counts)), np.int64)
    positions[order] = np.stack(np.unravel_index(np.arange(devices), counts), axis=1)
    return tuple(counts[:rank]), positions[:, :rank]


def _tiles_of_mesh(body, rank, devices):
    """Does the work of `tiles` for `mesh['a'=2,'b'=2], device_ids=(...), [{'b'}, {'a':(1)2}]`."""
    sizes = {name: int(size) for name, size in re.findall(r"'([^']*)'=(\d+)", body.partition("]")[0])}
    if np.prod(list(sizes.values()), dtype=np.int64) != devices:
        return None
    ids = re.search(r"device_ids=\((?:\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))\)", body)
    order = np.arange(devices)
    if ids:
        order = _permuted(ids[1], ids[2], devices) if ids[1] else np.array(_integers(ids[3]))
    coordinates = dict(zip(sizes, np.unravel_index(np.arange(devices), tuple(sizes.values()))))
    listed = re.search(r"[\])], \[((?:\{[^{}]*\}(?:, )?)*)\]", body)
    dimensions = re.findall(r"\{([^{}]*)\}", listed[1]) if listed else []
    counts, positions = [1] * rank, np.zeros((devices, rank), np.int64)
    for dimension, text in enumerate(dimensions[:rank]):
        place = np.zeros(devices, np.int64)
        for name, before, part in re.findall(r"'([^']*)'(?::\((\d+)\)(\d+))?", text):
            before, part = (int(before), int(part)) if part else (1, sizes[name])
            after = sizes[name] // (before * part)
            place = place * part + coordinates[name] // after % part
            counts[dimension] *= part
        positions[order, dimension] = place
    return tuple(counts), positions


def _permuted(shape, axes, devices):
    """Returns the devices of `[2,2]T(1,0)`, in order."""
    order = np.arange(devices).reshape(_integers(shape))
    return (order.transpose(_integers(axes)) if axes else order).reshape(-1)


def axes_of(text, rank, mesh):
    """Returns the mesh axes that each dimension is split over, major first.

    Args:
      text: one sharding, as XLA prints it.
      rank: of the tensor.
      mesh: sizes by axis name, the first one major.

    Returns:
      A tuple of axis names for each dimension, or None where these axes cannot say it.
    """
    sizes = tuple(mesh.values())
    devices = int(np.prod(sizes))
    tiled = tiles(text, rank, devices)
    if tiled is None:
        return None
    counts, positions = tiled
    coordinates = np.stack(np.unravel_index(np.arange(devices), sizes), axis=1)
    names = [name for name, size in mesh.items() if size > 1]
    index = {name: i for i, name in enumerate(mesh)}

    def splitting(dimension):
        for length in range(len(names) + 1):
            for chosen in itertools.permutations(names, length):
                if np.prod([mesh[name] for name in chosen], dtype=np.int64) != counts[dimension]:
                    continue
                place = np.zeros(devices, np.int64)
                for name in chosen:
                    place = place * mesh[name] + coordinates[:, index[name]]
                if np.array_equal(place, positions[:, dimension]):
                    return chosen
        return None

    found = tuple(splitting(dimension) for dimension in range(rank))
    return None if None in found else found


def _integers(text):
    return tuple(int(number) for number in text.split(","))
