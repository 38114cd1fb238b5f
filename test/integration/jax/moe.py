"""A transformer-like stack of mixtures of experts: tokens go to the ranks that hold their experts, by top-1 or top-2 with a
capacity, and back. The experts lie along one axis of the mesh, samples along all."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

WIDTH, HIDDEN, CAPACITY, SAMPLES = 64, 96, 6, 16  # SAMPLES are per rank


def route(probabilities, top):
    """Returns [token, expert, place] of 0 and 1, and a copy with the gates' weights. Tokens beyond the capacity are
    dropped."""
    experts = probabilities.shape[1]
    weights, chosen = lax.top_k(probabilities, top)
    weights /= jnp.sum(weights, axis=1, keepdims=True) if top > 1 else 1
    mask, gates, taken = 0, 0, jnp.zeros(experts)
    for k in range(top):
        mine = jax.nn.one_hot(chosen[:, k], experts)
        place = jnp.sum((jnp.cumsum(mine, axis=0) - 1 + taken) * mine, axis=1).astype(jnp.int32)
        here = mine[:, :, None] * jax.nn.one_hot(place, CAPACITY)[:, None, :]
        taken = taken + jnp.sum(mine, axis=0)
        mask, gates = mask + here, gates + here * weights[:, k, None, None]
    return mask, gates


def normalized(x):
    return (x - jnp.mean(x, axis=1, keepdims=True)) * lax.rsqrt(jnp.var(x, axis=1, keepdims=True) + 1e-5)


def mixture(x, router, expert, axis, top):
    """Returns the experts' outputs for each token, and the loss of unequal load."""
    probabilities = jax.nn.softmax(x @ router)
    mask, gates = route(probabilities, top)
    inbox = lax.all_to_all(jnp.einsum("tec,td->ecd", mask, x), axis, split_axis=0, concat_axis=1, tiled=True)
    hidden = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", inbox, expert["up"]))
    done = jnp.einsum("ecf,efd->ecd", hidden, expert["down"])
    outbox = lax.all_to_all(done, axis, split_axis=1, concat_axis=0, tiled=True)
    share = jnp.mean(jnp.max(mask, axis=2), axis=0)
    balance = jnp.sum(lax.pmean(share, axis) * jnp.mean(probabilities, axis=0)) * mask.shape[1]
    return jnp.einsum("tec,ecd->td", gates, outbox), balance


def make(devices, top=1, layers=1, experts=4, remat=False, **axes):
    """Returns (step, state, batch). `axes` are those of the mesh, the last of which has the experts."""
    axes = axes or {"expert": len(devices)}
    names, axis = tuple(axes), list(axes)[-1]
    others = names[:-1]

    def layer(x, router, expert):
        made, balance = mixture(normalized(x), router, expert, axis, top)
        return x + made, balance

    def loss_fn(both, batch):
        params, held = both
        x = jnp.tanh(batch["x"] @ params["input"])
        balance = 0
        for i in range(layers):
            each = jax.checkpoint(layer) if remat else layer
            x, more = each(x, params[f"router{i}"], held[f"layer{i}"])
            balance += more
        return models.cross_entropy(x @ params["output"], batch["y"]) + 0.01 * balance

    def local_step(state, batch):
        loss, (grads, own) = jax.value_and_grad(loss_fn)((state["params"], state["experts"]), batch)
        # The gradient of an expert's own loss terms already comes from all ranks of its axis.
        own = jax.tree.map(lambda g: g / axes[axis], own)
        own = lax.pmean(own, others) if others else own
        return ({"params": models.sgd(state["params"], lax.pmean(grads, names)), "experts": models.sgd(state["experts"], own)},
                {"loss": lax.pmean(loss, names)})

    rng = np.random.default_rng(0)
    params = {"input": models.matrix(rng, 32, WIDTH), "output": models.matrix(rng, WIDTH, 10),
              **{f"router{i}": models.matrix(rng, WIDTH, experts) for i in range(layers)}}
    held = {f"layer{i}": {"up": models.matrix(rng, experts, WIDTH, HIDDEN), "down": models.matrix(rng, experts, HIDDEN, WIDTH)}
            for i in range(layers)}
    step = models.data_parallel(local_step, devices, {"params": P(), "experts": P(axis)}, P(names), **axes)
    return step, {"params": params, "experts": held}, models.labelled(32, samples=SAMPLES * len(devices))
