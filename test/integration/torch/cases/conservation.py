"""The updates that were applied and the residuals of codecs add up to the gradients, over a history of steps. The
parameters stay unchanged.

    python conservation.py HISTORY OPTIONS

HISTORY is the name of a function below, OPTIONS are JSON. Prints, for each parameter that is compressed, the part of what was handed
in that is missing, on rank 0."""

import json
import sys

import cgx_torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 12


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.enter, self.side, self.leave = (torch.nn.Linear(*sizes) for sizes in ((64, 256), (256, 256), (256, 64)))

    def forward(self, x, with_side=True):
        x = torch.relu(self.enter(x))
        return self.leave(torch.relu(self.side(x)) if with_side else x)


class Books:
    """The totals of one model: contributed, applied and owed, as sums over ranks and elements."""

    def __init__(self, options, **ddp):
        self.model = DistributedDataParallel(Model(), bucket_cap_mb=0.1, **ddp)
        self.state = cgx_torch.state(self.model, **options)
        self.model.register_comm_hook(self.state, cgx_torch.hook)
        self.alone = Model()
        self.handed, self.applied = ({name: 0.0 for name, _ in self.alone.named_parameters()} for _ in range(2))

    def loss(self, model, step, *branch):
        """Returns a loss whose gradients point in one direction in all steps, so that losses of a codec add up."""
        x = torch.randn(32, 64, generator=torch.Generator().manual_seed(1000 + 10 * (step % 3) + dist.get_rank()))
        return (model(x, *branch) - 1).square().mean()

    def hand_in(self, step, *branch):
        """Records this rank's gradients."""
        self.alone.zero_grad()
        self.loss(self.alone, step, *branch).backward()
        for name, each in self.alone.named_parameters():
            if each.grad is not None:
                self.handed[name] += each.grad.double().sum().item()

    def apply(self):
        """Records the gradients that the optimizer would see."""
        for name, each in self.model.module.named_parameters():
            if each.grad is not None:
                self.applied[name] += each.grad.double().sum().item()

    def missing(self, scale=1.0):
        tensors = self.state.state_dict()["tensors"]
        found = {}
        for name in self.handed:
            # The residual of a returned chunk is in units of the mean.
            owed = sum(each.view(torch.float32).double().sum().item() * (dist.get_world_size() if tensor.endswith("result") else 1)
                       for tensor, each in tensors.items() if tensor.startswith(f"residual[{name}]"))
            if any(tensor.startswith(f"residual[{name}]") for tensor in tensors):
                sums = torch.tensor([self.handed[name], owed / scale, self.applied[name]], dtype=torch.float64)
                dist.all_reduce(sums)  # each rank applied the mean, so this is a sum over all
                found[name] = abs((sums[0] - sums[1] - sums[2]).item()) / abs(sums[0].item())
        return found


def always(books):
    for step in range(STEPS):
        books.model.zero_grad()
        books.loss(books.model, step).backward()
        books.hand_in(step)
        books.apply()


def branch_that_all_ranks_skip(books):
    for step in range(STEPS):
        books.model.zero_grad()
        books.loss(books.model, step, step % 2 == 0).backward()
        books.hand_in(step, step % 2 == 0)
        books.apply()


def branch_that_one_rank_takes(books):
    for step in range(STEPS):
        mine = step % 3 == dist.get_rank()
        books.model.zero_grad()
        books.loss(books.model, step, mine).backward()
        books.hand_in(step, mine)
        books.apply()


def scaled(books, bad=()):
    """Runs under a GradScaler whose scale is changed by hand once, grows by itself, and falls where a gradient is not
    finite."""
    scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=4), torch.optim.SGD(books.model.parameters(), lr=0.0)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = scaler.scale(books.loss(books.model, step))
        if step in bad and dist.get_rank() == 0:
            loss = loss * float("inf")
        loss.backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        if step not in bad:
            books.hand_in(step)
            books.apply()
        scaler.update(*([2.0] if step == STEPS // 2 else []))
    return scaler.get_scale()


def skipped(books):
    return scaled(books, bad=(0, 3, 7))


def undone(books):
    for step in range(STEPS):
        books.model.zero_grad()
        books.loss(books.model, step).backward()
        if step % 4 == 1:  # an exception of the user's own, for example
            books.state.undo()
            continue
        books.hand_in(step)
        books.apply()


def joined(books):
    """Runs ranks that end at different times; a rank that has ended contributes nothing."""
    with books.model.join():
        for step in range(STEPS - 4 * (dist.get_rank() == 0)):
            books.model.zero_grad()
            books.loss(books.model, step).backward()
            books.hand_in(step)
            books.apply()
    # At the end it takes the parameters of the others, and with them the updates that were applied.
    applied = torch.tensor(list(books.applied.values()), dtype=torch.float64)
    dist.broadcast(applied, 1)
    books.applied = dict(zip(books.applied, applied.tolist()))


def main(history, options):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    books = Books(options, **({"find_unused_parameters": True} if history.startswith("branch") else {}))
    scale = globals()[history](books)
    missing = books.missing(scale or 1.0)
    counters = books.state.telemetry()["layers"]
    if dist.get_rank() == 0:
        print(json.dumps({"missing": missing, "wire": {name: counters[name]["wire_bytes"] for name in missing}}), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
