"""Trains a classifier of handwritten digits whose parameters are split between processes (FSDP2): what is gathered and what is reduced
travels compressed.

    torchrun --nproc-per-node 2 sharded.py
    torchrun --nproc-per-node 4 sharded.py --replicas 2

With replicas (HSDP) the parameters are split between the ranks of each, which would be those of a host, and gradients are
summed over the replicas, which would be hosts: a second hop, with a codec of its own.
"""

import argparse
import json
import os
import pathlib

import cgx_torch
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

BATCH, EPOCHS = 64, 10
DATA = pathlib.Path(__file__).resolve().parents[1] / "mlp-digits"


def load(name):
    """Returns the images and labels in a file of tensors (safetensors)."""
    content = bytearray((DATA / f"{name}.safetensors").read_bytes())
    length = int.from_bytes(content[:8], "little")
    tensors = []
    for entry in json.loads(content[8:8 + length]).values():
        first, end = entry["data_offsets"]
        dtype = {"F32": torch.float32, "I32": torch.int32}[entry["dtype"]]
        tensors.append(torch.frombuffer(content[8 + length + first:8 + length + end], dtype=dtype).reshape(entry["shape"]))
    return tensors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicas", type=int, default=1)
    replicas = parser.parse_args().replicas
    dist.init_process_group("gloo")
    torch.set_num_threads(max(1, os.cpu_count() // dist.get_world_size()))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    ranks = dist.get_world_size()
    mesh = init_device_mesh("cpu", (replicas, ranks // replicas), mesh_dim_names=("replica", "shard"))
    mesh = mesh if replicas > 1 else mesh["shard"]
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    compressed = cgx_torch.compress(model, weights="bits=8", gradients="bits=4", replicas="bits=8", report=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

    image, label = load("train")
    mine = BATCH // dist.get_world_size()
    for epoch in range(EPOCHS):
        order = torch.randperm(len(image), generator=torch.Generator().manual_seed(epoch))
        for first in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[first + dist.get_rank() * mine:][:mine]
            loss = nn.functional.cross_entropy(model(image[batch]), label[batch].long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    image, label = load("validation")
    with torch.no_grad():
        accuracy = (model(image).argmax(1) == label).float().mean()
    counters = compressed.telemetry()
    if dist.get_rank() == 0:
        print(f"accuracy {accuracy.item():.2%}, {counters['raw_bytes'] / counters['wire_bytes']:.1f} times fewer bytes")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
