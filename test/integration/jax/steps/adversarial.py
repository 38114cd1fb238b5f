"""A GAN: two networks and two gradients, of which the second is taken through the first network's update."""

import jax
import jax.numpy as jnp
import numpy as np

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        def of_discriminator(params, batch):
            fake = models.dense(state["generator"], batch["noise"])
            return jnp.mean(jax.nn.softplus(-models.dense(params, batch["x"])) +
                            jax.nn.softplus(models.dense(params, fake)))
        loss, grads = models.averaged(of_discriminator, state["discriminator"], batch)
        discriminator = models.sgd(state["discriminator"], grads)

        def of_generator(params, batch):
            return jnp.mean(jax.nn.softplus(-models.dense(discriminator, models.dense(params, batch["noise"]))))
        _, grads = models.averaged(of_generator, state["generator"], batch)
        return {"generator": models.sgd(state["generator"], grads), "discriminator": discriminator}, {"loss": loss}

    rng = np.random.default_rng(0)
    batch = {"x": models.labelled(32)["x"], "noise": rng.normal(0, 1, (64, 16)).astype(np.float32)}
    state = {"generator": models.dense_params(16, 64, 32), "discriminator": models.dense_params(32, 64, 1)}
    return models.data_parallel(local_step, devices), state, batch
