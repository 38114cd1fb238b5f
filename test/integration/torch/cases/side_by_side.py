"""Trains several models in one process, each with a state of its own, and copies of them under plain
DistributedDataParallel.

    python side_by_side.py SEED ROUNDS THREADS

Threads of cgx are held up at random. With THREADS, each model is trained on a thread of the user's own, in a process group of its own.
Prints the largest difference of a gradient."""

import random
import sys
import threading
import time

import cgx_torch
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

STEPS = 5  # buckets are sent whole from the third step on


def hold_up(random_numbers):
    """Lets threads of cgx wait before each of their operations."""
    thread = sys.modules["cgx_torch.thread"].Thread
    submit = thread.submit

    def late(self, body):
        seconds = random_numbers.choice([0, 0, 0.002, 0.02])

        def wait_first():
            time.sleep(seconds)
            body()
        submit(self, wait_first)
    thread.submit = late


def net(kind):
    torch.manual_seed(kind)
    width = 32 * (1 + kind % 2)  # some have equal architectures
    return torch.nn.Sequential(torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 8))


def train(model, plain, steps, found):
    for step in range(steps):
        x = torch.randn(8, 16, generator=torch.Generator().manual_seed(10 * step + dist.get_rank()))
        for each in (model, plain):
            each.zero_grad()
            (each(x) - step).square().mean().backward()
        found += [(ours.grad - theirs.grad).abs().max().item() for ours, theirs in zip(model.parameters(), plain.parameters())]


def train_together(pairs, steps, found):
    """Runs one backward pass over all models."""
    for step in range(steps):
        x = torch.randn(8, 16, generator=torch.Generator().manual_seed(10 * step + dist.get_rank()))
        for side in zip(*pairs):
            for each in side:
                each.zero_grad()
            sum((1 + number) * (each(x) - step).square().mean() for number, each in enumerate(side)).backward()
        for model, plain in pairs:
            found += [(ours.grad - theirs.grad).abs().max().item() for ours, theirs in zip(model.parameters(), plain.parameters())]


def main(seed, rounds, on_threads):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    same, own = random.Random(seed), random.Random(1000 * seed + dist.get_rank())
    hold_up(own)
    groups = [dist.new_group() for _ in range(4)] if on_threads else [None] * 4
    found, expected = [], 0
    for _ in range(rounds):
        pairs, states = [], []
        for index in range(same.randint(2, 4)):
            model, plain = (DistributedDataParallel(net(same_kind), process_group=groups[index])
                            for same_kind in [same.choice([0, 2, 1])] for _ in range(2))
            states.append(cgx_torch.state(model, codec="identity", timeout=60))
            model.register_comm_hook(states[-1], cgx_torch.hook)
            pairs.append((model, plain))
            expected += STEPS * 4  # parameters
        if on_threads:
            threads = [threading.Thread(target=train, args=(*pair, STEPS, found)) for pair in pairs]
            for each in threads:
                time.sleep(own.choice([0, 0.01]))
                each.start()
            for each in threads:
                each.join()
        else:
            train_together(pairs, STEPS, found)
        for each in states:
            each.close()
    assert len(found) == expected, f"a thread ended early: {len(found)} gradients of {expected}"
    print(max(found), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["threads"])
