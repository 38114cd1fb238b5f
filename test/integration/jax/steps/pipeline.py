"""A pipeline of four stages and four microbatches (GPipe): a loop of ticks, in each of which activations are
permuted to the next stage. Nothing is reduced but the loss: each rank updates its own stage."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
MICROBATCHES, WIDTH = 4, 32


def make(devices):
    def loss_fn(stage, batch):
        rank = lax.axis_index("stage")
        inputs, targets = (batch[name].reshape(MICROBATCHES, -1, WIDTH) for name in "xy")

        def tick(carry, time):
            arrived, loss = carry
            taken = jnp.where(rank == 0, inputs[jnp.clip(time, 0, MICROBATCHES - 1)], arrived)
            done = jnp.tanh(taken @ stage["w"][0] + stage["b"][0])
            left = time - (RANKS - 1)
            error = jnp.mean((done - targets[jnp.clip(left, 0, MICROBATCHES - 1)]) ** 2)
            loss += jnp.where((rank == RANKS - 1) & (left >= 0), error, 0.0)
            ring = [(stage, (stage + 1) % RANKS) for stage in range(RANKS)]
            return (lax.ppermute(done, "stage", ring), loss), None

        (_, loss), _ = lax.scan(tick, (jnp.zeros_like(inputs[0]), 0.0), jnp.arange(MICROBATCHES + RANKS - 1))
        return loss / MICROBATCHES

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["stages"], batch)
        return {"stages": models.sgd(state["stages"], grads)}, {"loss": lax.psum(loss, "stage")}

    rng = np.random.default_rng(0)
    stages = {"w": models.matrix(rng, RANKS, WIDTH, WIDTH), "b": np.zeros((RANKS, WIDTH), np.float32)}
    batch = {name: rng.normal(0, 1, (16, WIDTH)).astype(np.float32) for name in "xy"}
    return models.data_parallel(local_step, devices, P("stage"), P(), stage=RANKS), {"stages": stages}, batch
