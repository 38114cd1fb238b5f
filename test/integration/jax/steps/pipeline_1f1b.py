"""A pipeline of four stages that does one microbatch forward and one backward in each tick (1F1B): gradients of activations
are permuted back in the loop that permutes activations on, and a stage keeps no more inputs than are on their way."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
MICROBATCHES, WIDTH = 6, 32
TICKS, KEPT = MICROBATCHES + 2 * (RANKS - 1), 2 * RANKS


def layer(stage, x):
    return jnp.tanh(x @ stage["w"][0] + stage["b"][0])


def make(devices):
    def local_step(state, batch):
        stages, rank = state["stages"], lax.axis_index("stage")
        inputs, targets = (batch[name].reshape(MICROBATCHES, -1, WIDTH) for name in "xy")
        on = [(stage, (stage + 1) % RANKS) for stage in range(RANKS)]
        back = [(target, source) for source, target in on]

        def tick(carry, time):
            arrived, came_back, kept, grads, loss = carry
            ahead, behind = time - rank, time - (2 * (RANKS - 1) - rank)
            is_ahead, is_behind = ((0 <= number) & (number < MICROBATCHES) for number in (ahead, behind))
            ahead, behind = (jnp.clip(number, 0, MICROBATCHES - 1) for number in (ahead, behind))
            taken = jnp.where(rank == 0, inputs[ahead], arrived)
            kept = jnp.where(is_ahead, kept.at[ahead % KEPT].set(taken), kept)
            done, pull = jax.vjp(layer, stages, kept[behind % KEPT])
            error = done - targets[behind]
            change, returned = pull(jnp.where(rank == RANKS - 1, 2 * error / (error.size * MICROBATCHES), came_back))
            grads = jax.tree.map(lambda sum, one: sum + jnp.where(is_behind, one, 0), grads, change)
            loss += jnp.where(is_behind & (rank == RANKS - 1), jnp.mean(error ** 2) / MICROBATCHES, 0.0)
            return (lax.ppermute(layer(stages, taken), "stage", on), lax.ppermute(returned, "stage", back), kept, grads, loss), None

        nothing = jnp.zeros_like(inputs[0])
        begin = (nothing, nothing, jnp.zeros((KEPT, *nothing.shape)), jax.tree.map(jnp.zeros_like, stages), 0.0)
        (*_, grads, loss), _ = lax.scan(tick, begin, jnp.arange(TICKS))
        return {"stages": models.sgd(stages, grads)}, {"loss": lax.psum(loss, "stage")}

    rng = np.random.default_rng(0)
    stages = {"w": models.matrix(rng, RANKS, WIDTH, WIDTH), "b": np.zeros((RANKS, WIDTH), np.float32)}
    batch = {name: rng.normal(0, 1, (24, WIDTH)).astype(np.float32) for name in "xy"}
    return models.data_parallel(local_step, devices, P("stage"), P(), stage=RANKS), {"stages": stages}, batch
