"""One process of a job: a step of data parallelism over the devices of all of them, compressed.

    python process.py INDEX PROCESSES PORT BITS

Prints a line of JSON: the last loss, a digest of this process's parameters, and the transport."""

import hashlib
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "jax")]

import jax
import numpy as np

import cgx_jax
import models


def main(index, processes, port, bits):
    jax.distributed.initialize(f"localhost:{port}", processes, index)
    step, params, batch = models.dense_job()
    step = cgx_jax.compress(step, bits=bits, timeout=20)
    for _ in range(10):
        params, loss = step(params, batch)
    shards = [np.asarray(shard.data).tobytes() for leaf in jax.tree.leaves(params) for shard in leaf.addressable_shards[:1]]
    print(json.dumps({"loss": float(loss.addressable_shards[0].data), "bits": hashlib.sha256(b"".join(shards)).hexdigest(),
                      "ranks": sorted(step.telemetry())}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
