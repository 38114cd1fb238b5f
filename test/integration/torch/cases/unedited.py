"""A script that does not mention cgx, unless CGX_TEST_INSTALL has options of install: for test_install.py.

    python unedited.py ddp|hooked|fsdp|flat|none

Prints a line of JSON: the loss of each step, and whether all ranks hold the same parameters."""

import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

os.environ.setdefault("USE_LIBUV", "0")
dist.init_process_group("gloo")
if "CGX_TEST_INSTALL" in os.environ:
    import cgx_torch
    cgx_torch.install(**json.loads(os.environ["CGX_TEST_INSTALL"]))
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))
if sys.argv[1] == "fsdp":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for each in model:
        if isinstance(each, torch.nn.Linear):
            fully_shard(each, mesh=mesh)
    wrapped = fully_shard(model, mesh=mesh)
elif sys.argv[1] == "flat":
    from torch.distributed.fsdp import FullyShardedDataParallel
    model[0] = FullyShardedDataParallel(model[0], device_id=torch.device("cpu"))
    wrapped = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
elif sys.argv[1] == "none":
    wrapped = model
else:
    wrapped = DistributedDataParallel(model)
if sys.argv[1] == "hooked":
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
    wrapped.register_comm_hook(None, allreduce_hook)
optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.05)
# Without a wrapper the ranks do not communicate, so they train on equal samples.
samples = torch.Generator().manual_seed(0 if sys.argv[1] == "none" else dist.get_rank())
losses = []
for step in range(5):
    x = torch.randn(32, 64, generator=samples)
    loss = (wrapped(x) - x[:, :8]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
if sys.argv[1] == "flat":
    with FullyShardedDataParallel.summon_full_params(wrapped):
        whole = [each.detach().clone() for each in wrapped.parameters()]
else:
    whole = [each.full_tensor() if hasattr(each, "full_tensor") else each.detach() for each in wrapped.parameters()]
mine = torch.cat([each.flatten() for each in whole])
first = mine.clone()
dist.broadcast(first, 0)
print(json.dumps({"losses": losses, "alike": bool((first == mine).all())}), flush=True)
