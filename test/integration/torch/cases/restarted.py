"""A rank of a torchrun job that fails in its first life and trains to the end in the next.

    python restarted.py HOW

HOW is "killed", "raises" or "changed" (the second life has another model). Prints "trained" with the number of the life."""

import os
import signal
import sys

import cgx_torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

how, life = sys.argv[1], int(os.environ["TORCHELASTIC_RESTART_COUNT"])
torch.set_num_threads(1)
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
store = next(dist.rendezvous("env://", rank, ranks))[0]  # it outlives this process
# Gloo mistakes entries of an earlier life for those of this one, so it gets a prefix for each life. cgx needs none.
dist.init_process_group("gloo", store=dist.PrefixStore(f"life {life}", store), rank=rank, world_size=ranks)
dist.distributed_c10d._get_default_store = lambda: store
torch.manual_seed(0)
width = 128 if how == "changed" and life else 64
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(32, width), torch.nn.ReLU(), torch.nn.Linear(width, 32)))
model.register_comm_hook(cgx_torch.state(model, bits=4, min_elements=0, timeout=20), cgx_torch.hook)
for step in range(6):
    model.zero_grad()
    model(torch.randn(8, 32)).square().mean().backward()
    if life == 0 and step == 4 and rank == 1:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise RuntimeError("the first life ends here")
print(f"trained in life {life}", flush=True)
dist.barrier()
dist.destroy_process_group()
