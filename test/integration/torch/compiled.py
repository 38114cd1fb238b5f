"""One rank of a job whose step torch compiles.

    python compiled.py RANK RANKS PORT JOB

JOB is JSON:
  step      "functional" (functional collectives in the step), "written" (parameters written in place) or "ddp"
  options   of cgx_torch.backend; null: the inner backend alone
  inner     the inner backend
  groups    of "ddp": ranks that train a model together, by default all
  steps     how many
  resume_at a step before which the state is saved and read back

Prints a line of JSON: the losses, a digest of the parameters, the report, telemetry."""

import hashlib
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "torch")]
os.environ.setdefault("USE_LIBUV", "0")  # Debian's torch has no libuv

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives

import cgx_torch


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 64), torch.nn.ReLU(),
                               torch.nn.Linear(64, 10))


def mean(value):
    return collectives.all_reduce(value, "sum", dist.group.WORLD) / dist.get_world_size()


def functional(job):
    """Returns a step that is a function from parameters to parameters."""
    net = model()
    params = {name: each.detach().clone() for name, each in net.named_parameters()}

    def loss_of(params, x, label):
        return torch.nn.functional.cross_entropy(torch.func.functional_call(net, params, (x,)), label)

    def step(params, x, label):
        grads, loss = torch.func.grad_and_value(loss_of)(params, x, label)
        return {name: each - 0.1 * mean(grads[name]) for name, each in params.items()}, mean(loss)

    backend = make_backend(job, None)
    compiled = torch.compile(step, backend=backend)
    state = {"params": params}

    def train(x, label):
        state["params"], loss = compiled(state["params"], x, label)
        return loss
    return train, lambda: state["params"].values(), backend


def written(job):
    """Returns a step that writes parameters and moments in place, as Adam does, after a backward pass that is not
    compiled."""
    net = model()
    moments = [(torch.zeros_like(each), torch.zeros_like(each)) for each in net.parameters()]
    parameters = list(net.parameters())

    def update(grads, rate):
        with torch.no_grad():
            for parameter, grad, (first, second) in zip(parameters, grads, moments):
                grad = mean(grad)
                first.mul_(0.9).add_(grad, alpha=0.1)
                second.mul_(0.99).addcmul_(grad, grad, value=0.01)
                parameter.sub_(rate * first / (second.sqrt() + 1e-6))

    backend = make_backend(job, None)
    compiled = torch.compile(update, backend=backend)

    def train(x, label):
        loss = torch.nn.functional.cross_entropy(net(x), label)
        compiled(torch.autograd.grad(loss, parameters), 0.003)
        loss = loss.detach().clone()
        dist.all_reduce(loss)
        return loss / dist.get_world_size()
    return train, lambda: parameters, backend


def ddp(job):
    """Compiles the whole step of DistributedDataParallel."""
    torch._dynamo.config.optimize_ddp = "python_reducer"
    torch._dynamo.config.compiled_autograd = True
    groups = [(ranks, dist.new_group(ranks)) for ranks in job.get("groups", [])]  # all ranks create each group
    group = next((group for ranks, group in groups if dist.get_rank() in ranks), None)
    net = torch.nn.parallel.DistributedDataParallel(model(), process_group=group)
    backend = make_backend(job, net)
    if job["options"] is not None:
        net.register_comm_hook(backend, cgx_torch.hook)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    @torch.compile(backend=backend)
    def step(x, label):
        loss = torch.nn.functional.cross_entropy(net(x), label)
        loss.backward()
        return loss

    def train(x, label):
        optimizer.zero_grad()
        loss = step(x, label).detach().clone()
        optimizer.step()
        dist.all_reduce(loss)
        return loss / dist.get_world_size()
    return train, net.parameters, backend


def make_backend(job, net):
    if job["options"] is None:
        return job["inner"]
    return cgx_torch.backend(net, inner=job["inner"], **job["options"])


def main(rank, ranks, port, job):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": str(rank), "WORLD_SIZE": str(ranks)}
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    job = job[rank] if isinstance(job, list) else job
    train, parameters, backend = {"functional": functional, "written": written, "ddp": ddp}[job["step"]](job)
    samples, centres = torch.Generator().manual_seed(rank), torch.randn(10, 64, generator=torch.Generator().manual_seed(9))
    losses = []
    for step in range(job.get("steps", 6)):
        label = torch.randint(0, 10, (16,), generator=samples)
        x = centres[label] + 0.5 * torch.randn(16, 64, generator=samples)
        if step == job.get("resume_at"):
            backend.load_state_dict(backend.state_dict())
        losses.append(train(x, label).item())
    ours = None if job["options"] is None else backend
    values = [each.detach().numpy() for each in parameters()]
    print(json.dumps({"losses": losses, "bits": hashlib.sha256(b"".join(each.tobytes() for each in values)).hexdigest(),
                      "parameters": [each.ravel()[:50].tolist() for each in values],
                      "layers": ours and [layer for graph in ours.report("json") for layer in graph["layers"]],
                      "telemetry": ours and ours.telemetry(),
                      "state": ours and [sorted(graph["tensors"]) for graph in ours.state_dict()["graphs"]]}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]))
