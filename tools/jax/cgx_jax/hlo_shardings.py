"""How XLA's shardings read in the axes of a mesh.

XLA says how a tensor is split by tiles and a list of devices, `{devices=[2,1,2]<=[2,2]T(1,0)
last_tile_dim_replicate}`, a program of a rank by mesh axes, `[{"model"}, {}]`.
"""

import itertools
import re

import numpy as np


def split_tuple(text):
    """The shardings of `{{replicated}, /*index=1*/{devices=[4]<=[4]}}`; of one sharding, itself."""
    text = re.sub(r"/\*.*?\*/", "", text).strip()
    if not text.startswith("{{"):
        return [text] if text != "{}" else []
    return re.findall(r"\{[^{}]*\}", text[1:-1])


def tiles(text, rank, devices):
    """Where each device's tile lies.

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
    if "maximal" in body or "manual" in body or "unreduced" in body:
        return None
    match = re.match(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))", body)
    if not match:
        return ((1,) * rank, np.zeros((devices, rank), np.int64)) if "replicated" in body or not body else None
    counts = _integers(match[1])
    if match[2]:
        order = np.arange(devices).reshape(_integers(match[2]))
        order = order.transpose(_integers(match[3])) if match[3] else order
    else:
        order = np.array(_integers(match[4]))
    order = order.reshape(-1)
    positions = np.zeros((devices, len(counts)), np.int64)
    positions[order] = np.stack(np.unravel_index(np.arange(devices), counts), axis=1)
    return tuple(counts[:rank]), positions[:, :rank]


def axes_of(text, rank, mesh):
    """The mesh axes that each dimension is split over, major first.

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
