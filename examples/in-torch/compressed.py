"""Trains a classifier of handwritten digits, data-parallel over processes: plain.py and two lines more.

    torchrun --nproc-per-node 2 compressed.py
"""

import json
import os
import pathlib

import cgx_torch
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BATCH, EPOCHS = 64, 20
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
    dist.init_process_group("gloo")
    torch.set_num_threads(max(1, os.cpu_count() // dist.get_world_size()))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
    ddp_model = DistributedDataParallel(model)
    ddp_model.register_comm_hook(cgx_torch.state(ddp_model, bits=4, report=True), cgx_torch.hook)
    optimizer = torch.optim.AdamW(ddp_model.parameters(), lr=2e-3)

    image, label = load("train")
    mine = BATCH // dist.get_world_size()
    for epoch in range(EPOCHS):
        shuffled = torch.randperm(len(label), generator=torch.Generator().manual_seed(epoch))
        for first in range(0, len(label) - BATCH + 1, BATCH):
            rows = shuffled[first + dist.get_rank() * mine:][:mine]
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(ddp_model(image[rows]), label[rows].long())
            loss.backward()
            optimizer.step()

    image, label = load("validation")
    accuracy = (model(image).argmax(1) == label).float().mean()
    if dist.get_rank() == 0:
        print(f"loss {loss.item():.4f}, accuracy {accuracy.item():.2%}")


if __name__ == "__main__":
    main()
