"""The updates that were applied to a model that FSDP2 splits and the residuals of codecs add up to the gradients. The
parameters stay unchanged.

    python sharded_conservation.py REPLICAS OPTIONS [TO [FROM]]

OPTIONS are JSON. What is owed is saved in the folder TO, and the run goes on from FROM, of another number of ranks. Prints, for each matrix, the part of what was handed in that is missing, on rank 0, and the part that is owed."""

import json
import pathlib
import sys

import cgx_torch
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

STEPS = 10


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.enter, self.side, self.leave = (torch.nn.Linear(*sizes) for sizes in ((64, 256), (256, 256), (256, 64)))

    def forward(self, x, with_side):
        x = torch.relu(self.enter(x))
        return self.leave(torch.relu(self.side(x)) if with_side else x)


def loss(model, step):
    """Returns a loss whose gradients point in one direction in all steps, so that losses of a codec add up. In some
    steps one layer has none."""
    x = torch.randn(32, 64, generator=torch.Generator().manual_seed(1000 + 10 * (step % 3) + dist.get_rank()))
    return (model(x, step % 4 != 2) - 1).square().mean()


def owed(state, name, replicas):
    """Returns this rank's residual of a layer, in the unit that the optimizer sees: sums of the first hop are divided
    by the second."""
    mine, = state.state_dict().values()
    (of_shards, of_replicas), = mine["units"].tolist()
    total = 0.0
    for kind, unit in (("shards", of_shards * (of_replicas if replicas > 1 else 1.0)), ("replicas", of_replicas), ("copies", of_replicas)):
        for saved, each in mine["tensors"].items():
            if saved.startswith(f"{kind} residual[{name}]") and each.numel():
                total += each.view(torch.float32).double().sum().item() * unit
    return total


def main(replicas, options, to=None, from_=None):
    ranks = dist.get_world_size()
    mesh = init_device_mesh("cpu", (replicas, ranks // replicas), mesh_dim_names=("replica", "shard"))
    alone, model = Model(), Model()
    fully_shard(model, mesh=mesh if replicas > 1 else mesh["shard"])
    state = cgx_torch.compress(model, weights=None, min_elements=0, **options)
    names = [name for name, each in alone.named_parameters() if each.ndim > 1]
    handed, applied = (dict.fromkeys(names, 0.0) for _ in range(2))
    if from_:
        state.load_checkpoint(from_)
        earlier = json.loads(pathlib.Path(from_, "books.json").read_text())
        applied = {name: earlier["applied"][name] for name in names}
        handed = {name: earlier["handed"][name] if dist.get_rank() == 0 else 0.0 for name in names}
    for step in range(STEPS if not from_ else 3):
        alone.zero_grad()
        loss(alone, step).backward()
        model.zero_grad()
        loss(model, step).backward()
        for name in names:
            if alone.get_parameter(name).grad is not None:
                handed[name] += alone.get_parameter(name).grad.double().sum().item() / ranks
            if model.get_parameter(name).grad is not None:
                applied[name] += model.get_parameter(name).grad.full_tensor().double().sum().item()
    books = torch.tensor([[handed[name], owed(state, name, replicas)] for name in names], dtype=torch.float64)
    dist.all_reduce(books)
    if to:
        checkpoint.save({"cgx": state.state_dict()}, checkpoint_id=to)
        if dist.get_rank() == 0:
            sums = {"applied": applied, "handed": dict(zip(names, books[:, 0].tolist()))}
            pathlib.Path(to, "books.json").write_text(json.dumps(sums))
    if dist.get_rank() == 0:
        books = dict(zip(names, books.tolist()))
        print(json.dumps({"missing": {name: abs(books[name][0] - applied[name] - books[name][1]) / abs(books[name][0]) for name in names},
                          "owed": {name: abs(books[name][1] / books[name][0]) for name in names}}), flush=True)
    state.close()


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    main(int(sys.argv[1]), json.loads(sys.argv[2]), *sys.argv[3:])
    dist.barrier()
    dist.destroy_process_group()
