"""Converts the codec state of a sharded model that another number of ranks saved.

Error feedback of a reduce-scatter owes, on each rank, something of each element of the whole layer; what matters is the sum over
ranks. Of that each rank takes over what is of its own shard.
"""

import math
import re

import torch
import torch.distributed as dist
from cgx_core.warned import warn


def read(folder, key, own):
    """Returns the states that torch.distributed.checkpoint saved under a key: only that of `own` ("rank 0 of 4") if it
    is there, otherwise those of all ranks. Raises ValueError where there is none."""
    import torch.distributed.checkpoint as checkpoint  # exists as of torch 2.0
    saved = checkpoint.FileSystemReader(folder).read_metadata().state_dict_metadata
    places = {name: re.fullmatch(rf"{re.escape(key)}\.(rank \d+ of \d+)\.(.*)", name) for name in saved}
    places = {name: (found[1], found[2]) for name, found in places.items() if found}
    if not places:
        raise ValueError(f"{folder}: expected the state of cgx under {key!r}, got {', '.join(sorted({name.split('.')[0] for name in saved}))}")
    if own in {rank for rank, _ in places.values()}:
        places = {name: place for name, place in places.items() if place[0] == own}
    tensors = {name: torch.empty(saved[name].size, dtype=saved[name].properties.dtype) for name in places}
    checkpoint.load(tensors, checkpoint_id=folder, no_dist=True)
    states = {}
    for name, (rank, rest) in places.items():
        state = states.setdefault(rank, {"tensors": {}})
        if rest.startswith("tensors."):
            state["tensors"][rest.removeprefix("tensors.")] = tensors[name]
        else:
            state[rest] = tensors[name]
    return states


def reshard(states, comms):
    """Redistributes the error feedback of other ranks to these modules. State that cannot be taken over is dropped,
    with a warning."""
    some = next(iter(states.values()))
    if len(some["steps"]) != len(comms):
        raise ValueError(f"expected the state of {len(comms)} modules, got that of {len(some['steps'])}")
    dropped = {name for state in states.values() for name, each in state["tensors"].items() if each.numel()}
    for number, comm in enumerate(comms):
        comm.step, comm.replicas.step = some["steps"][number].tolist()
        if comm.part.shards is None or comm.part.replicas is not None:
            continue
        line, rank = comm.reduces.line, comm.reduces.line.group.rank
        for layer in comm.reduces.layers():
            fresh = line.memory().copy({layer.name})
            taken = dict(fresh)  # codecs start from some of it
            for name, mine in fresh.items():
                owed = _sum(states, f"shards {name}", number, mine, layer) if name.startswith("residual[") else None
                if owed is not None:
                    shards = torch.zeros(line.group.ranks, layer.shard)
                    shards[rank] = torch.nn.functional.pad(owed, (0, shards.numel() - len(owed))).view_as(shards)[rank]
                    taken[name] = shards.flatten().to(mine.dtype)
                    dropped.discard(f"shards {name}")
            line.restore(taken, {layer.name})
        comm.reduces.unit = 1.0
    if dropped and dist.get_rank() == 0:
        warn(f"what codecs of {len(states)} ranks remembered is lost on another number of ranks: {', '.join(sorted(dropped))}")


def _sum(states, name, module, like, layer):
    """Returns the error feedback of all ranks for a whole layer, in the unit that the optimizer sees, or None where it
    is not known."""
    if not like.dtype.is_floating_point or getattr(layer.parameter.fsdp_placement, "dim", None) != 0:
        return None
    elements, total = math.prod(layer.shape), None
    for state in states.values():
        mine = state["tensors"].get(name)
        if mine is None or len(mine) % like.element_size() or len(mine) // like.element_size() < elements:
            return None
        if state["units"][module][1] != 1.0:  # with replicas, each has a residual of its own
            return None
        mine = mine.view(like.dtype)[:elements].float() * state["units"][module][0]
        total = mine if total is None else total + mine
    return total
