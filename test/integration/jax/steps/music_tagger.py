"""A user's own step, unlike the examples in everything that may differ: two ranks, a mesh axis
called `workers`, a registered dataclass as the state, Adam written out with its counter, an
embedding read in bars with a kernel of rank three, several labels per sample, regularisation,
results in another order, parameters called neither params nor anything like it."""

import dataclasses
import typing

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 2
NOTES, TAGS, TIME, BAR = 89, 24, 32, 4


class Moments(typing.NamedTuple):
    first: dict
    second: dict


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Tagger:
    weights: dict
    moments: Moments
    updates: jax.Array


def make(devices):
    def scores(weights, notes):
        x = weights["notes"][notes.reshape(-1, TIME // BAR, BAR)]
        x = jnp.einsum("stbn,bnf->stf", x, weights["bars"][0]) + weights["bars"][1]
        x = jnp.maximum(x, 0.01 * x)
        x = jnp.concatenate([x.mean(1), x.max(1)], axis=-1)
        return x @ weights["tags"][0] + weights["tags"][1]

    def objective(weights, melody):
        logits = scores(weights, melody["notes"])
        tagged = melody["tags"].astype(jnp.float32)
        entropy = jnp.logaddexp(0.0, logits) - tagged * logits
        penalty = sum(jnp.vdot(w, w) for w in jax.tree.leaves(weights))
        return entropy.mean() + 1e-4 * penalty

    def learn(tagger, melody):
        value, slope = lax.pmean(jax.value_and_grad(objective)(tagger.weights, melody), "workers")
        updates = tagger.updates + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, tagger.moments.first, slope)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, tagger.moments.second, slope)
        rate = 3e-3 * jnp.sqrt(1 - 0.999 ** updates) / (1 - 0.9 ** updates)
        weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), tagger.weights, first, second)
        return value, Tagger(weights, Moments(first, second), updates)

    def step(tagger, melody):
        return jax.shard_map(learn, mesh=models.mesh_of(devices, workers=RANKS), in_specs=(P(), P("workers")),
                             out_specs=(P(), P()), check_vma=False)(tagger, melody)

    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.normal(0, shape[-2] ** -0.5, shape).astype(np.float32)

    weights = {"notes": normal(NOTES, 48), "bars": (normal(BAR, 48, 64), np.zeros(64, np.float32)),
               "tags": (normal(128, TAGS), np.zeros(TAGS, np.float32))}
    zeros = jax.tree.map(np.zeros_like, weights)
    tagger = Tagger(weights, Moments(zeros, zeros), np.int32(0))
    notes = rng.integers(0, NOTES, (48, TIME))
    tags = np.stack([(notes % TAGS == tag).any(1) for tag in range(TAGS)], axis=1)
    return step, tagger, {"notes": notes.astype(np.int32), "tags": tags}
