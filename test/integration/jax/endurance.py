"""One process of `test_endurance.py`: steps that are compressed, compiled and connected again and again.

    python endurance.py INDEX PROCESSES PORT DEVICES RUNS

In each run the same step is compressed anew, so that devices and processes meet anew, trains for STEPS steps without waiting
between them, and ends its connection. Prints the number of a run when it has ended, and a digest of the parameters, which
are the same in each run. A process that stands still for PATIENCE seconds prints where its threads are, and ends."""

import faulthandler
import hashlib
import os
import pathlib
import sys

STEPS, PATIENCE = 20, 120
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "jax")]


def main(index, processes, port, devices, runs):
    os.environ |= {"XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu"}
    import jax
    import numpy as np

    if processes > 1:
        os.environ["JAX_CPU_COLLECTIVES_IMPLEMENTATION"] = "gloo"
        jax.distributed.initialize(f"localhost:{port}", processes, index)
    import cgx_jax
    import models

    for run in range(runs):
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        step, params, batch = models.dense_job()
        step = cgx_jax.compress(step, bits=4, timeout=100, min_elements=1)
        for _ in range(STEPS):
            params, loss = step(params, batch)
        shards = [np.asarray(leaf.addressable_shards[0].data).tobytes() for leaf in jax.tree.leaves(params)]
        assert np.isfinite(float(loss.addressable_shards[0].data))
        step.close()
        print(f"run {run} {hashlib.sha256(b''.join(shards)).hexdigest()[:16]}", flush=True)
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
