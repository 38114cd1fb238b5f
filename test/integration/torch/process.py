"""One rank of a job that trains under DistributedDataParallel.

    python process.py RANK RANKS PORT JOB

JOB is JSON, one object for all ranks or a list of one for each:
  options    of cgx_torch.state; null: no hook
  steps      how many
  unused     the model has a layer that its forward pass skips on odd steps
  rebuilds   False keeps the buckets of the first step (static_graph)
  dtype      of the model, such as "bfloat16"
  resume_at  a step before which the state is saved and read back into a hook and a model made anew
  dies_at    a step in which this rank is killed
  adopts     [step, plan]: a plan to adopt before a step
  adapt      arguments of cgx_torch.Adaptation

Prints a line of JSON: the loss, a digest and the sum of the parameters, what travelled together, telemetry."""

import hashlib
import io
import json
import os
import pathlib
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "torch")]

os.environ.setdefault("USE_LIBUV", "0")  # Debian's torch has no libuv

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import cgx_torch


class Model(torch.nn.Module):
    def __init__(self, unused):
        super().__init__()
        self.input = torch.nn.Linear(64, 256)
        self.side = torch.nn.Linear(256, 256) if unused else None
        self.hidden = torch.nn.Linear(256, 256)
        self.output = torch.nn.Linear(256, 10)

    def forward(self, x, with_side):
        x = torch.relu(self.input(x))
        if self.side is not None and with_side:
            x = torch.relu(self.side(x))
        return self.output(torch.relu(self.hidden(x)))


def make(job):
    torch.manual_seed(0)
    model = Model(job.get("unused", False)).to(getattr(torch, job.get("dtype", "float32")))
    model = DistributedDataParallel(model, bucket_cap_mb=0.1, find_unused_parameters=job.get("unused", False))
    state = None
    if job["options"] is not None:
        adapt = cgx_torch.Adaptation(**job["adapt"]) if "adapt" in job else None
        state = cgx_torch.state(model, adapt=adapt, **job["options"])
        model.register_comm_hook(state, cgx_torch.hook)
    return model, state, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def resumed(job, model, state, optimizer):
    """Restores everything from a checkpoint."""
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "cgx": state.state_dict()}, file)
    state.close()
    file.seek(0)
    saved = torch.load(file)
    model, state, optimizer = make(job)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    state.load_state_dict(saved["cgx"])
    return model, state, optimizer


def main(rank, ranks, port, job):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": str(rank), "WORLD_SIZE": str(ranks)}
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    job = job[rank] if isinstance(job, list) else job
    model, state, optimizer = make(job)
    samples = torch.Generator().manual_seed(rank)
    for step in range(job.get("steps", 6)):
        x = torch.randn(16, 64, generator=samples).to(next(model.parameters()).dtype)
        label = torch.randint(0, 10, (16,), generator=samples)
        if step == job.get("resume_at"):
            model, state, optimizer = resumed(job, model, state, optimizer)
        if step == job.get("dies_at"):
            os.kill(os.getpid(), signal.SIGKILL)
        if step == job.get("adopts", [None])[0]:
            state.adopt_plan(job["adopts"][1])
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, step % 2 == 0).float(), label)
        loss.backward()
        optimizer.step()
    values = [each.detach().float().numpy() for each in model.parameters()]
    print(json.dumps({"loss": loss.item(), "bits": hashlib.sha256(b"".join(each.tobytes() for each in values)).hexdigest(),
                      "parameters": [each.ravel()[:50].tolist() for each in values],
                      "groups": state and state._groups, "transport": state and state.transport(), "report": state and state.report(),
                      "telemetry": state and state.telemetry(), "plan": state and state.plan(),
                      "meetings": state and sum(count + 1 for count in state._group._counts.values()),
                      "state": state and sorted(state.state_dict()["tensors"])}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]))
