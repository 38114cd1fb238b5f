"""Double Q-learning: a second network, copied from the first every other step, says what to learn from it."""

import jax
import jax.numpy as jnp
import numpy as np

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        best = jnp.argmax(models.dense(state["params"], batch["next"]), axis=1)
        value = jnp.take_along_axis(models.dense(state["target"], batch["next"]), best[:, None], axis=1)[:, 0]
        wanted = batch["reward"] + 0.99 * (1 - batch["done"]) * value

        def loss_fn(params, batch):
            chosen = jnp.take_along_axis(models.dense(params, batch["x"]), batch["action"][:, None], axis=1)[:, 0]
            error = jnp.abs(chosen - wanted)
            return jnp.mean(jnp.where(error < 1, 0.5 * error ** 2, error - 0.5))
        loss, grads = models.averaged(loss_fn, state["params"], batch)
        params, count = models.sgd(state["params"], grads), state["count"] + 1
        target = jax.tree.map(lambda new, old: jnp.where(count % 2 == 0, new, old), params, state["target"])
        return {"params": params, "target": target, "count": count}, {"loss": loss}

    rng = np.random.default_rng(0)
    batch = {"x": rng.normal(0, 1, (32, 16)), "next": rng.normal(0, 1, (32, 16)), "reward": rng.normal(0, 1, 32),
             "done": rng.random(32) < 0.1}
    batch = {name: leaf.astype(np.float32) for name, leaf in batch.items()}
    batch["action"] = rng.integers(0, 4, 32).astype(np.int32)
    params = models.dense_params(16, 64, 4)
    return models.data_parallel(local_step, devices), {"params": params, "target": params, "count": np.int32(0)}, batch
