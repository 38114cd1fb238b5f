"""One rank of jobs that train a small language model under FSDP2, one after the other.

    python sharded.py JOBS

JOBS is a list in JSON, of objects:
  cgx         arguments of cgx_torch.compress; null: plain torch
  steps, rate  how many, and of learning
  replicas    of HSDP
  model       "gpt" (default), or "branches": layers that some steps do not use
  reshard     reshard_after_forward: true, false or how many ranks
  param_dtype, reduce_dtype   of the mixed precision policy, such as "bfloat16"
  mixed       the norms stay in f32 (param_dtype_override_fn)
  ddp         DistributedDataParallel in place of FSDP2
  replicate   "fsdp" or "ddp": the replicate() that is made of which, in place of fully_shard
  hooks       every module has an all-reduce hook, which halves what it gets
  gathers_late   set_requires_all_reduce: of micro-batches the last sums over replicas
  at_once     fully_shard is called for all blocks at once
  frozen      the embedding gets no gradient
  accumulate  micro-batches of a step
  no_sync     gradients travel with the last of them only
  divide      what set_gradient_divide_factor gets
  sum_only    set_force_sum_reduction_for_comms
  profiled    the steps between which it is measured, [first, last]
  resume_at   a step before which everything is saved with torch.distributed.checkpoint, and read back into a model made anew
  stateful    torch.distributed.checkpoint is given the state itself, and not what it says
  dies        [rank, step]: the rank that is killed then
  odd_one     the rank that uses the branch that others do not
  scaled      the loss by a GradScaler
  overflows   the step before which another one has a gradient that is not finite, and is skipped
  measures    seconds of an element, exact and with codecs, that each rank sees, by never_slower=True: [[exact, coded] of each rank],
              each {kind of collective: seconds}; of what is resumed the other way round
  careful_one the rank that says never_slower=True
  late        seconds that some exchanges wait before they begin, on some ranks
  flips       the step before which the frozen embedding is trained
  grad_types  gradients of every other parameter are bfloat16, so that torch packs them in another order than the parameters
  step_types  of the branches one has gradients of f32, the others of bfloat16, and the sum of a step has their common type

Prints a line of JSON for each: losses, a digest of the whole parameters and of the rank's shards, the report and telemetry."""

import hashlib
import json
import os
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from loaded import compilers
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

import cgx_torch
from cgx_core import gain
from cgx_torch import links
from cgx_torch.sharded_line import Line

VOCABULARY, WIDTH, LENGTH = 67, 64, 24


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (each.unflatten(-1, (4, -1)).transpose(1, 2) for each in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(-2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(VOCABULARY, WIDTH), nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.ModuleList([Block(), Block()])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.head.weight = self.embed.weight  # tied

    def forward(self, tokens, step):
        x = self.embed(tokens) + self.place
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Branches(nn.Module):
    """A module whose branches have equal sizes; each step uses some of them."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.branches = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(3)])
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, step):
        return self.head(torch.tanh(self.branches[step % 3](self.embed(tokens))))


def make(job):
    torch.manual_seed(0)
    model = Branches() if job.get("model") == "branches" else Gpt()
    if job.get("frozen"):
        model.embed.weight.requires_grad_(False)
    if job.get("ddp"):
        model = nn.parallel.DistributedDataParallel(model)
        state = None if job["cgx"] is None else cgx_torch.compress(model, **job["cgx"])
        return model, state, torch.optim.AdamW(model.parameters(), lr=job.get("rate", 3e-3))
    if job.get("replicate") == "ddp":
        from torch.distributed._composable import replicate
        model = replicate(model)
        state = None if job["cgx"] is None else cgx_torch.compress(model, **job["cgx"])
        return model, state, torch.optim.AdamW(model.parameters(), lr=job.get("rate", 3e-3))
    ranks, replicas = dist.get_world_size(), job.get("replicas", 1)
    mesh = init_device_mesh("cpu", (replicas, ranks // replicas), mesh_dim_names=("replica", "shard"))
    types = {name: getattr(torch, job[name]) for name in ("param_dtype", "reduce_dtype") if name in job}
    if job.get("mixed"):
        norms = {id(each) for part in model.modules() if isinstance(part, nn.LayerNorm) for each in part.parameters()}
        types["param_dtype_override_fn"] = lambda each: torch.float32 if id(each) in norms else None
    how = {"mesh": mesh if replicas > 1 else mesh["shard"], "reshard_after_forward": job.get("reshard", True),
           "mp_policy": MixedPrecisionPolicy(**types)}
    if job.get("step_types"):
        wide = {id(each) for each in model.branches[0].parameters()}
        types = {"param_dtype": torch.bfloat16, "param_dtype_override_fn": lambda each: torch.float32 if id(each) in wide else None}
        how["mp_policy"] = MixedPrecisionPolicy(**types, cast_forward_inputs=False)
    for index, each in enumerate(model.parameters()):
        if job.get("step_types"):
            each.grad_dtype = None
        elif job.get("grad_types"):
            each.grad_dtype = torch.bfloat16 if index % 2 == 0 else torch.float32
    blocks = list(getattr(model, "blocks", ()))
    split = fully_shard
    if job.get("replicate") == "fsdp":
        from torch.distributed._composable.replicate_with_fsdp import replicate as split
        how = {"mesh": mesh["shard"], "mp_policy": MixedPrecisionPolicy(**types)}
    for block in [blocks] if job.get("at_once") else blocks:
        split(block, **how)
    split(model, **how)
    if job.get("hooks"):
        for each in model.modules():
            if isinstance(each, FSDPModule):
                each.set_all_reduce_hook(lambda gradients: gradients.mul_(0.5))
    if "divide" in job:
        for each in model.modules():
            if isinstance(each, FSDPModule):
                each.set_gradient_divide_factor(job["divide"])
    if job.get("sum_only"):
        for each in model.modules():
            if isinstance(each, FSDPModule):
                each.set_force_sum_reduction_for_comms(True)
    state = None if job["cgx"] is None else cgx_torch.compress(model, **job["cgx"])
    if job.get("grad_types") or job.get("step_types"):  # Adam does not take these types
        return model, state, torch.optim.SGD(model.parameters(), lr=0.1)
    return model, state, torch.optim.AdamW(model.parameters(), lr=job.get("rate", 3e-3))


def everything(job, model, optimizer, state):
    saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    return saved if state is None else saved | {"cgx": state if job.get("stateful") else state.state_dict()}


def resumed(job, model, state, optimizer, folder):
    checkpoint.save(everything(job, model, optimizer, state), checkpoint_id=folder)
    if state is not None:
        state.close()
    model, state, optimizer = make(job)
    for each in model.parameters():  # so that the optimizer has tensors to load into
        each.grad = torch.zeros_like(each)
    optimizer.step()
    optimizer.zero_grad()
    # The saved tensors depend on the choice, so there is not yet a place to load all of them into.
    chooses = "measures" in job
    saved = everything(job, model, optimizer, None if chooses else state)
    checkpoint.load(saved, checkpoint_id=folder)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    if chooses:
        state.load_checkpoint(folder)
    elif state is not None and not job.get("stateful"):
        state.load_state_dict(saved["cgx"])
    return model, state, optimizer


def whole(each):
    return each.full_tensor() if hasattr(each, "full_tensor") else each


def be_late(seconds):
    run, times = Line.run, iter(range(1 << 30))

    def run_late(self, *arguments):
        time.sleep(seconds if (next(times) + dist.get_rank()) % 3 == 0 else 0)
        return run(self, *arguments)
    Line.run = run_late


def pretend(measures):
    """Lets this rank measure the given times."""
    def time_of(self, number):
        way = json.loads(list(self._ways)[number // len(gain.LENGTHS)])
        exact = way["codec"]["family"] == "identity"
        return measures[dist.get_rank()][0 if exact else 1][way["kind"]] * gain.LENGTHS[number % len(gain.LENGTHS)]
    links._Trial._time_of = time_of


def train(job):
    rank = dist.get_rank()
    if "measures" in job:
        pretend(job["measures"])
    if rank == job.get("careful_one"):
        job = {**job, "cgx": {**job["cgx"], "never_slower": True}}
    if "late" in job:
        be_late(job["late"])
    model, state, optimizer = make(job)
    profile = None
    generator, losses = torch.Generator().manual_seed(rank), []
    table = torch.randint(0, VOCABULARY, (VOCABULARY,), generator=torch.Generator().manual_seed(99))
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=job.get("scaled", False))
    for step in range(job.get("steps", 6)):
        if step == job.get("resume_at"):
            if "measures" in job:
                pretend([each[::-1] for each in job["measures"]])
            model, state, optimizer = resumed(job, model, state, optimizer, job["folder"])
        if [rank, step] == job.get("dies"):
            os.kill(os.getpid(), signal.SIGKILL)
        if step == job.get("flips"):
            model.embed.weight.requires_grad_(True)
        if step == job.get("overflows"):
            optimizer.zero_grad()
            # Only one layer is affected; the residuals of the others change.
            spoils = model.embed.register_forward_hook(lambda _, __, output: output.register_hook(lambda each: each * float("inf")) and None)
            scaler.scale(model(torch.zeros(1, LENGTH, dtype=torch.long), step).square().mean()).backward()
            spoils.remove()
            scaler.step(optimizer)
            scaler.update()
        if "profiled" in job and step == job["profiled"][0]:
            state.begin_profile()
        if "profiled" in job and step == job["profiled"][1]:
            profile = state.end_profile()
        optimizer.zero_grad()
        batches = job.get("accumulate", 1)
        for batch in range(batches):
            tokens = [torch.randint(0, VOCABULARY, (4,), generator=generator)]
            for _ in range(LENGTH):
                tokens.append(table[tokens[-1]])
            tokens = torch.stack(tokens, 1)
            if job.get("no_sync"):
                model.set_requires_gradient_sync(batch == batches - 1)
            if job.get("gathers_late"):
                model.set_requires_all_reduce(batch == batches - 1)
            with torch.autocast("cpu", torch.bfloat16, enabled=bool(job.get("step_types"))):
                said = model(tokens[:, :-1], step + (rank == job.get("odd_one")))
            loss = nn.functional.cross_entropy(said.float().flatten(0, 1), tokens[:, 1:].flatten()) / batches
            scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        mean = loss.detach() * batches
        dist.all_reduce(mean)
        losses.append(mean.item() / dist.get_world_size())
    with torch.no_grad():
        # The test compares the weights that ranks compute with, after the gather.
        for each in model.modules():
            if isinstance(each, FSDPModule):
                each.unshard()
        gathered = [each.detach().float().clone(memory_format=torch.contiguous_format) for each in model.parameters()]
        gathered = hashlib.sha256(b"".join(each.numpy().tobytes() for each in gathered)).hexdigest()
        for each in model.modules():
            if isinstance(each, FSDPModule):
                each.reshard()
        values = [whole(each.detach()).float().clone(memory_format=torch.contiguous_format).numpy() for each in model.parameters()]
    print(json.dumps({"profile": profile if rank == 0 else None, "losses": losses, "bits": hashlib.sha256(b"".join(each.tobytes() for each in values)).hexdigest(),
                      "gathered": gathered, "values": [float(abs(each).sum()) for each in values],
                      "names": [name for name, _ in model.named_parameters()], "compilers": compilers(),
                      # Pipes are read one after the other, and hold little.
                      **({"layers": state.report("json"), "telemetry": state.telemetry()} if state and rank == 0 else {}),
                      "owed": state and any("residual" in name for each in state.state_dict().values() if isinstance(each, dict)
                                            for name in each.get("tensors", ()))}), flush=True)
    if state is not None:
        state.close()


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for each in json.loads(sys.argv[1]):
        train(each)
    dist.barrier()
    dist.destroy_process_group()
