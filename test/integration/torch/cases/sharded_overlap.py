"""One rank of a model under FSDP2 whose exchanges go on while it computes.

    python sharded_overlap.py HOW

HOW is one of
  waits       an exchange comes to its end only once the training thread has computed what comes after it: a gather that was asked for
              ahead, and a reduction, whose gradients are there as the backward pass ends
  hands_over  a gather ends, and what is run next does not
  fails       a backward pass that ends with an exception of the user's, behind reductions that were started
  breaks      an exchange fails on its thread
  infers      a forward pass in inference mode
  watched     a hook of the user's looks at gradients as they arrive

Prints what came of it as JSON."""

import json
import sys
import threading

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import cgx_torch
from cgx_torch.sharded_line import Line
from cgx_torch.sharded_overlap import Overlap

PATIENCE = 30  # seconds to wait for an event before the test fails


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(64, 64) for _ in range(4)])
        # Forward passes of the blocks, followed by their backward passes.
        self.reached = [threading.Event() for _ in range(8)]
        self.breaks_at = None

    def forward(self, x):
        for place, block in enumerate(self.blocks):
            x = torch.tanh(block(x))
            self.reached[place].set()
            if x.requires_grad:
                x.register_hook(lambda _, place=place: self._passed(place))
        return x

    def _passed(self, place):
        if place == self.breaks_at:
            raise ValueError("a user's own")
        self.reached[4 + place].set()


def make(prefetches=False):
    torch.manual_seed(0)
    model = Blocks()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    if prefetches:
        for here, ahead in zip(model.blocks, model.blocks[1:]):
            here.set_modules_to_forward_prefetch([ahead])
    return model, cgx_torch.compress(model, timeout=60)


def inputs():
    return torch.randn(8, 64, generator=torch.Generator().manual_seed(dist.get_rank()))


def around_exchanges(before):
    """Calls `before(what)` before each exchange, on the thread that runs it."""
    run = Line.run

    def run_behind(self, exchange, step, operands, what):
        before(what)
        return run(self, exchange, step, operands, what)
    Line.run = run_behind


def waits():
    model, _ = make(prefetches=True)
    training, awaited = threading.current_thread(), {}
    begun = {0: threading.Event(), 2: threading.Event()}
    # The training thread must not wait before the exchange has begun, because it would run the exchange itself.
    model.blocks[0].register_forward_hook(lambda *_: begun[0].wait(PATIENCE) and None)
    model.blocks[2].register_full_backward_hook(lambda *_: begun[2].wait(PATIENCE) and None)

    def before(what):
        # The forward pass of the first block requests the gather of the second, and the backward pass of the block
        # before the last waits for the last block's reduction.
        for said, block, place in (("gathering the weights of blocks.1 ", 0, 0), ("reducing the gradients of blocks.3 ", 2, 4 + 1)):
            if what.startswith(said) and said not in awaited:
                begun[block].set()
                awaited[said] = threading.current_thread() is not training and model.reached[place].wait(PATIENCE)
    around_exchanges(before)
    model(inputs()).square().sum().backward()
    return {"awaited": awaited, "gradients": [each.grad is not None for each in model.parameters()]}


def hands_over():
    """A thread that waits for a gather continues as the gather ends, whatever is run next: 50 times, because the order
    of threads is random."""
    overlap, went_on = Overlap(torch.device("cpu")), [True]
    while all(went_on) and len(went_on) <= 50:
        begun, one, other = threading.Event(), threading.Event(), threading.Event()
        gathered = overlap.gather(lambda begun=begun, one=one: begun.set() or one.wait(PATIENCE))
        overlap.gather(lambda other=other: other.wait(2 * PATIENCE))
        begun.wait(PATIENCE)
        waiting = threading.Thread(target=gathered.wait)
        waiting.start()
        one.set()
        waiting.join(PATIENCE)
        went_on.append(not waiting.is_alive())
        other.set()
        waiting.join()
        overlap.settle()
    return {"went_on": went_on}


def fails():
    model, state = make()
    around_exchanges(lambda what: threading.Event().wait(0.3 if what.startswith("reducing") else 0))
    model.breaks_at = 1
    said = None
    try:
        model(inputs()).square().sum().backward()
    except ValueError as error:
        said = str(error)
    there = [each.grad is not None for each in model.parameters()]
    model.reset_iter_state() if hasattr(model, "reset_iter_state") else model._get_fsdp_state()._reset_iter_state()
    model.zero_grad()
    threading.Event().wait(1)
    late = [each.grad is not None for each in model.parameters()]
    model.breaks_at = None
    model(inputs()).square().sum().backward()
    return {"said": said, "there": there, "late": late, "again": [each.grad is not None for each in model.parameters()]}


def breaks():
    model, _ = make()

    def before(what):
        if what.startswith("reducing the gradients of blocks.2 "):
            raise cgx_torch.RuntimeFailure(what)
    around_exchanges(before)
    try:
        model(inputs()).square().sum().backward()
    except cgx_torch.RuntimeFailure as error:
        return {"said": str(error), "on": threading.current_thread() is threading.main_thread()}
    return {"said": None}


def infers():
    model, _ = make(prefetches=True)
    with torch.no_grad():
        expected = model(inputs())
    with torch.inference_mode():
        given = model(inputs())
    return {"same": torch.equal(expected, given.clone())}


def watched():
    model, _ = make()
    seen = []
    for name, each in model.named_parameters():
        each.register_post_accumulate_grad_hook(lambda parameter, name=name: seen.append(
            [name, parameter.grad is not None, threading.current_thread() is threading.main_thread()]))
    model(inputs()).square().sum().backward()
    return {"seen": seen}


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    print(json.dumps(globals()[sys.argv[1]]()), flush=True)
    dist.barrier()
    dist.destroy_process_group()
