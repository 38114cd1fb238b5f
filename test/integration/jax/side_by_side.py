"""Several compressed steps in each process of a job, called from threads of the user's own.

    python side_by_side.py INDEX PROCESSES PORT SEED ROUNDS

In each round every process makes the same two to four steps, some of them equal but for their data, and calls each on a thread that
is held up at random. Where there is one process, a further thread calls the first of the steps with other data at the same time: the
order of such calls is nobody's. Prints the largest distance of a result from what the step is by hand, and how many were compared."""

import pathlib
import random
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "jax")]

import jax
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import cgx_jax

CALLS = 3
SHAPES = ((16, 8), (64, 32), (64, 32), (128, 16))  # two of them are equal


def step_over(mesh):
    def step(w, x):
        return w - 0.5 * lax.pmean(x * w, "data")
    return jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(P(), P("data")), out_specs=P()))


def by_hand(w, x):
    """Computes the step by hand; `x` has the rows of all devices."""
    parts = x.reshape(-1, *w.shape)
    return w - 0.5 * (parts * w).mean(axis=0)


class Caller(threading.Thread):
    """A thread that calls one step again and again, and keeps how far its results are from those by hand."""

    def __init__(self, step, mesh, shape, seed, own):
        super().__init__()
        self.farthest, self.compared, self.raised = 0.0, 0, None
        self._step, self._mesh, self._shape, self._numbers = step, mesh, shape, np.random.default_rng(seed)
        self._delays = [own.choice([0, 0, 0.002, 0.01]) for _ in range(CALLS)]

    def run(self):
        try:
            for delay in self._delays:
                w = self._numbers.normal(size=self._shape).astype(np.float32)
                x = self._numbers.normal(size=(self._mesh.size * self._shape[0], self._shape[1])).astype(np.float32)
                time.sleep(delay)
                # Each process contributes its own part.
                rows = jax.make_array_from_callback(x.shape, NamedSharding(self._mesh, P("data")), lambda place, x=x: x[place])
                result = self._step(w, rows).addressable_shards[0].data
                self.farthest = max(self.farthest, float(np.abs(np.asarray(result) - by_hand(w, x)).max()))
                self.compared += 1
        except Exception as error:
            self.raised = error


def main(index, processes, port, seed, rounds):
    if processes > 1:
        jax.distributed.initialize(f"localhost:{port}", processes, index)
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    same, own = random.Random(seed), random.Random(1000 * seed + index)
    farthest, compared = 0.0, 0
    for _ in range(rounds):
        shapes = [same.choice(SHAPES) for _ in range(same.randint(2, 4))]
        steps = [cgx_jax.compress(step_over(mesh), codec="identity", timeout=60) for _ in shapes]
        seeds = [same.randrange(1 << 30) for _ in range(len(steps) + 1)]
        callers = [Caller(step, mesh, shape, seed, own) for step, shape, seed in zip(steps, shapes, seeds)]
        if processes == 1:
            callers.append(Caller(steps[0], mesh, shapes[0], seeds[-1], own))
        for each in own.sample(callers, len(callers)):
            each.start()
        for each in callers:
            each.join()
            if each.raised:
                raise each.raised
            farthest, compared = max(farthest, each.farthest), compared + each.compared
        for step in steps:
            step.close()
    print(farthest, compared, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
