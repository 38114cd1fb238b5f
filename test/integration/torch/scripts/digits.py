"""The samples and the start of the scripts, without cgx."""

import os

import torch
import torch.distributed as dist

STEPS = 20


def start():
    """Returns (rank, ranks)."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    return dist.get_rank(), dist.get_world_size()


def batches(rank, count=STEPS, size=16):
    """Returns (points, labels) of ten clouds."""
    centres = torch.randn(10, 64, generator=torch.Generator().manual_seed(9))
    random = torch.Generator().manual_seed(rank + 1)
    for _ in range(count):
        labels = torch.randint(0, 10, (size,), generator=random)
        yield centres[labels] + 0.5 * torch.randn(size, 64, generator=random), labels


def perceptron():
    return torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(),
                               torch.nn.Linear(256, 10))


def finish(loss):
    """Prints the mean over all ranks of the last loss."""
    loss = loss.detach().clone().float()
    dist.all_reduce(loss)
    print(f"loss {loss.item() / dist.get_world_size():.6f}", flush=True)
    dist.destroy_process_group()  # otherwise a thread of Gloo may still run when the process ends, which crashes torch 1.13
