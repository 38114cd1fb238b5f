"""One process of a job: a compressed, data-parallel step over the devices of all processes.

    python process.py INDEX PROCESSES PORT JOB

JOB is JSON, of all processes or a list of one for each:

  options   of cgx_jax.compress; null leaves the step to JAX
  model     the job of models.py: dense, or fsdp
  steps     how many
  devices   numbers of the devices, in the order of the mesh
  says      a step before which this process prints "here"
  dies_at   a step before which this process is killed
  stops_at  a step before which this process is stopped, and does not go on

Prints a line of JSON: the last loss, a digest of this process's parameters (of fsdp, of all of them), its ranks and the transport. When a step fails,
prints what was raised and when, and ends with status 7."""

import hashlib
import json
import os
import pathlib
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools" / "jax")]

import jax
import numpy as np

import cgx_jax
import models


def main(index, processes, port, job):
    jax.distributed.initialize(f"localhost:{port}", processes, index)
    job = job[index] if isinstance(job, list) else job
    make = {"dense": models.dense_job, "fsdp": models.fsdp_job}[job.get("model", "dense")]
    step, params, batch = make([jax.devices()[index] for index in job.get("devices", range(jax.device_count()))])
    if job["options"] is not None:
        step = cgx_jax.compress(step, **({"timeout": 20} | job["options"]))
    for number in range(job.get("steps", 10)):
        for fault, sent in (("dies_at", signal.SIGKILL), ("stops_at", signal.SIGSTOP)):
            if job.get(fault) == number:
                os.kill(os.getpid(), sent)
        if job.get("says") == number:
            print("here", flush=True)
        params, loss = step(params, batch)
        loss.block_until_ready()
    if job.get("model") == "fsdp":
        mesh = jax.tree.leaves(params)[0].sharding.mesh
        params = jax.jit(lambda tree: tree, out_shardings=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))(params)
    shards = [np.asarray(shard.data).tobytes() for leaf in jax.tree.leaves(params) for shard in leaf.addressable_shards[:1]]
    answer = {"loss": float(loss.addressable_shards[0].data), "bits": hashlib.sha256(b"".join(shards)).hexdigest()}
    if job["options"] is not None:
        answer |= {"ranks": sorted(step.telemetry()), "transport": step.transport()}
    print(json.dumps(answer))


if __name__ == "__main__":
    # A shell script that starts the suite with & has interrupts ignored in every process below it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main(*map(int, sys.argv[1:4]), json.loads(sys.argv[4]))
    except Exception as error:
        print(json.dumps({"raised": f"{type(error).__name__}: {error}"}), flush=True)
        # Process 0 hosts JAX's coordination service; if it ended first, the others would be ended before they have
        # reported. JAX's own shutdown would wait for processes that are dead.
        time.sleep(3 if sys.argv[1] == "0" else 0)
        os._exit(7)
