"""Training steps of many sorts, small, each with what its collectives are for.

A case is a function that returns (local_step, state, batch); `local_step(state, batch)` runs on each
rank of the axis "data" and returns (next state, metrics). CASES has, for each, the layers that
`cgx-opt` is to find among its collectives of rank 1 or more: {name: kind}.
"""

import functools
import typing

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
WIDTH, CLASSES = 16, 10
GRADIENTS = {f"params/l{i}/{leaf}": "gradient" for i in (0, 1) for leaf in "wb"}
WEIGHTS = {name: "weight" for name in GRADIENTS}
OUTER_GRADIENTS = {name: "outer_gradient" for name in GRADIENTS}


class Case(typing.NamedTuple):
    make: typing.Callable
    layers: dict
    check_vma: bool
    specs: dict  # for the state's entries that are not replicated
    exact: set  # layers that stay uncompressed although their kind is to be compressed
    also: set = frozenset()  # (layer, kind) of other collectives, where one layer has several kinds


CASES = {}


def case(layers, *, check_vma=False, specs=None, exact=(), also=()):
    def register(make):
        CASES[make.__name__] = Case(make, layers, check_vma, specs or {}, set(exact), set(also))
        return make
    return register


def whole_step(name):
    """Returns the step of a case for JAX on RANKS devices, its state and its batch."""
    entry = CASES[name]
    local_step, state, batch = entry.make()
    mesh = models.mesh_of(jax.devices()[:RANKS], data=RANKS)
    state_specs = {key: entry.specs.get(key, P()) for key in state}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=mesh, in_specs=(state_specs, P("data")),
                             out_specs=(state_specs, P()), check_vma=entry.check_vma)(state, batch)

    return step, state, batch


def mean(tree):
    return lax.pmean(tree, "data")


def dense_state(**more):
    return {"params": models.dense_params(WIDTH, 12, CLASSES), **more}, models.labelled(WIDTH)


def zeros(tree):
    return jax.tree.map(jnp.zeros_like, tree)


def ema(old, new, rate=0.9):
    return jax.tree.map(lambda a, b: rate * a + (1 - rate) * b, old, new)


def squares(tree):
    return jax.tree.map(jnp.square, tree)


def under(prefix, kind, names=GRADIENTS):
    """The layers of a dense network below another path of the state."""
    return {name.replace("params", prefix, 1): kind for name in names}


gradients_of = jax.value_and_grad(models.dense_loss)

# ----------------------------------------------------------------------------------------------
# Optimizers
# ----------------------------------------------------------------------------------------------

OPTIMIZERS = {
    "adabelief": optax.adabelief(1e-3),
    "adadelta": optax.adadelta(1e-3),
    "adafactor": optax.adafactor(1e-3, min_dim_size_to_factor=4),
    "adafactor_unfactored": optax.adafactor(1e-3, factored=False),
    "adagrad": optax.adagrad(1e-3),
    "adamax": optax.adamax(1e-3),
    "adamw": optax.adamw(1e-3),
    "adan": optax.adan(1e-3),
    "ademamix": optax.contrib.ademamix(1e-3),
    "adopt": optax.contrib.adopt(1e-3),
    "amsgrad": optax.amsgrad(1e-3),
    "centralize": optax.chain(optax.centralize(), optax.sgd(0.1)),
    "clip": optax.chain(optax.clip(1.0), optax.sgd(0.1)),
    "clip_adaptive": optax.chain(optax.adaptive_grad_clip(0.1), optax.sgd(0.1)),
    "clip_block_rms": optax.chain(optax.clip_by_block_rms(1.0), optax.sgd(0.1)),
    "clip_global_norm": optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)),
    "cocob": optax.contrib.cocob(),
    "dog": optax.contrib.dog(1.0),
    "fromage": optax.fromage(1e-2),
    "if_finite": optax.apply_if_finite(optax.adam(1e-3), 5),
    "lamb": optax.lamb(1e-3),
    "lars": optax.lars(1e-3),
    "lion": optax.lion(1e-4),
    "madgrad": optax.contrib.madgrad(1e-3),
    "momentum": optax.sgd(0.1, momentum=0.9, nesterov=True),
    "multi_steps": optax.MultiSteps(optax.adamw(1e-3), 4),
    "muon": optax.contrib.muon(1e-3),
    "nadam": optax.nadam(1e-3),
    "noisy_sgd": optax.noisy_sgd(0.1),
    "novograd": optax.novograd(1e-3),
    "optimistic": optax.optimistic_gradient_descent(0.1),
    "prodigy": optax.contrib.prodigy(1.0),
    "radam": optax.radam(1e-3),
    "rmsprop": optax.rmsprop(1e-3, centered=True, momentum=0.9),
    "rprop": optax.rprop(1e-3),
    "schedule": optax.sgd(optax.cosine_decay_schedule(0.1, 100)),
    "schedule_free": optax.contrib.schedule_free_adamw(1e-3),
    "sgd": optax.sgd(0.1),
    "sign": optax.sign_sgd(1e-3),
    "sm3": optax.sm3(1e-3),
    "yogi": optax.yogi(1e-3),
    "zero_nans": optax.chain(optax.zero_nans(), optax.sgd(0.1)),
}


def optimized(optimizer):
    def local_step(state, batch):
        loss, grads = mean(gradients_of(state["params"], batch))
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    state, batch = dense_state()
    return local_step, {**state, "opt": optimizer.init(state["params"])}, batch


for optimizer_name, transformation in OPTIMIZERS.items():
    CASES[f"optax_{optimizer_name}"] = Case(functools.partial(optimized, transformation), GRADIENTS, False, {}, set())


@case(GRADIENTS)
def loss_scaled_half():
    """Half-precision gradients of a scaled loss; not finite, the step is left out."""
    def local_step(state, batch):
        def scaled(params, batch):
            half = jax.tree.map(lambda p: p.astype(jnp.float16), params)
            return models.dense_loss(half, {**batch, "x": batch["x"].astype(jnp.float16)}) * state["scale"]

        loss, grads = jax.value_and_grad(scaled)(state["params"], batch)
        grads = jax.tree.map(lambda g: g.astype(jnp.float32) / state["scale"], mean(grads))
        finite = jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]))
        params = jax.tree.map(lambda p, g: jnp.where(finite, p - 0.1 * g, p), state["params"], grads)
        return {"params": params, "scale": jnp.where(finite, state["scale"], state["scale"] / 2)}, {"loss": mean(loss)}

    state, batch = dense_state(scale=np.float32(1024))
    return local_step, state, batch


@case(GRADIENTS)
def stochastically_rounded():
    """Parameters in bf16 alone: random bits are added to those of the update before they are cut."""
    def local_step(state, batch):
        def updated(p, g, key):
            bits = lax.bitcast_convert_type(p.astype(jnp.float32) - 0.1 * g, jnp.uint32)
            bits += jax.random.bits(key, p.shape, jnp.uint16).astype(jnp.uint32)
            return lax.bitcast_convert_type((bits >> 16).astype(jnp.uint16), jnp.bfloat16)

        wide = jax.tree.map(lambda p: p.astype(jnp.float32), state["params"])
        loss, grads = mean(gradients_of(wide, batch))
        leaves, tree = jax.tree.flatten(state["params"])
        keys = jax.random.split(jax.random.fold_in(jax.random.key(0), state["step"]), len(leaves))
        params = tree.unflatten(map(updated, leaves, jax.tree.leaves(grads), keys))
        return {"params": params, "step": state["step"] + 1}, {"loss": loss}

    state, batch = dense_state(step=np.int32(0))
    return local_step, {**state, "params": jax.tree.map(lambda p: jnp.asarray(p, jnp.bfloat16), state["params"])}, batch


@case(GRADIENTS)
def averaged_parameters():
    """The state has the exponential average of the parameters before the parameters."""
    def local_step(state, batch):
        loss, grads = mean(gradients_of(state["params"], batch))
        params = models.sgd(state["params"], grads)
        return {"ema": ema(state["ema"], params), "params": params}, {"loss": loss}

    state, batch = dense_state()
    return local_step, {"ema": state["params"], **state}, batch


@case(GRADIENTS)
def weight_decay_before():
    """The operand of the collective contains the decayed parameter."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        grads = mean(jax.tree.map(lambda g, p: g + 0.01 * p, grads, state["params"]))
        return {"params": models.sgd(state["params"], grads)}, {"loss": mean(loss)}

    return local_step, *dense_state()


@case(GRADIENTS)
def momentum_before():
    """Each rank has a momentum of its own; the update is averaged."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        momentum = ema(state["momentum"], grads)
        return {"params": models.sgd(state["params"], mean(momentum)), "momentum": momentum}, {"loss": mean(loss)}

    state, batch = dense_state()
    return local_step, {**state, "momentum": zeros(state["params"])}, batch


@case(GRADIENTS)
def error_feedback():
    """The user's own sign compression with its error kept."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        wanted = jax.tree.map(jnp.add, grads, state["error"])
        sent = jax.tree.map(lambda w: jnp.sign(w) * jnp.mean(jnp.abs(w)), wanted)
        return {"params": models.sgd(state["params"], mean(sent)),
                "error": jax.tree.map(jnp.subtract, wanted, sent)}, {"loss": mean(loss)}

    state, batch = dense_state()
    return local_step, {**state, "error": zeros(state["params"])}, batch


# ----------------------------------------------------------------------------------------------
# Statistics of gradients
# ----------------------------------------------------------------------------------------------


def per_example_gradients(params, batch):
    return jax.vmap(jax.grad(lambda p, x, y: models.dense_loss(p, {"x": x[None], "y": y[None]})),
                    in_axes=(None, 0, 0))(params, batch["x"], batch["y"])


@case({**GRADIENTS, **under("moments", "other")})
def second_moments():
    """Adam whose second moment is that of each rank's gradient."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        moments = ema(state["moments"], mean(squares(grads)))
        params = jax.tree.map(lambda p, g, v: p - 0.1 * g / (jnp.sqrt(v) + 1e-8), state["params"], mean(grads), moments)
        return {"moments": moments, "params": params}, {"loss": mean(loss)}

    state, batch = dense_state()
    return local_step, {"moments": zeros(state["params"]), **state}, batch


@case({**GRADIENTS, **{f"{name}#statistic": "other" for name in GRADIENTS}})
def second_moments_without_state():
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        params = jax.tree.map(lambda p, g, v: p - 0.1 * g * lax.rsqrt(v + 1e-8), state["params"], mean(grads),
                              mean(squares(grads)))
        return {"params": params}, {"loss": mean(loss)}

    return local_step, *dense_state()


@case({**GRADIENTS, **under("fisher", "other")})
def fisher_of_examples():
    """The diagonal of the empirical Fisher matrix, for elastic weight consolidation."""
    def local_step(state, batch):
        each = per_example_gradients(state["params"], batch)
        fisher = mean(jax.tree.map(lambda g: jnp.mean(g * g, axis=0), each))
        grads = mean(jax.tree.map(lambda g: jnp.mean(g, axis=0), each))
        pulled = jax.tree.map(lambda g, f, p: g + 0.1 * f * p, grads, state["fisher"], state["params"])
        return {"params": models.sgd(state["params"], pulled), "fisher": ema(state["fisher"], fisher)}, {}

    state, batch = dense_state()
    return local_step, {**state, "fisher": zeros(state["params"])}, batch


def hutchinson(params, batch, key):
    leaves, structure = jax.tree.flatten(params)
    signs = structure.unflatten([jax.random.rademacher(k, leaf.shape, jnp.float32)
                                 for k, leaf in zip(jax.random.split(key, len(leaves)), leaves)])
    _, product = jax.jvp(lambda p: jax.grad(models.dense_loss)(p, batch), (params,), (signs,))
    return jax.tree.map(jnp.multiply, signs, product)


@case({**GRADIENTS, **under("hessian", "other")})
def hutchinson_sophia():
    """Products of the Hessian with random signs give its diagonal, by which a gradient is divided."""
    def local_step(state, batch):
        loss, grads = mean(gradients_of(state["params"], batch))
        hessian = ema(state["hessian"], mean(hutchinson(state["params"], batch, state["key"])))
        momentum = ema(state["momentum"], grads)
        params = jax.tree.map(lambda p, m, h: p - 0.1 * jnp.clip(m / jnp.maximum(h, 1e-6), -1, 1), state["params"],
                              momentum, hessian)
        return {"hessian": hessian, "params": params, "momentum": momentum, "key": state["key"] + 1}, {"loss": loss}

    state, batch = dense_state()
    return local_step, {"hessian": zeros(state["params"]), **state, "momentum": zeros(state["params"]),
                        "key": np.zeros(2, np.uint32)}, batch


@case({**GRADIENTS, **under("hessian", "other")})
def hutchinson_sometimes():
    """Computes it in one step of ten."""
    def local_step(state, batch):
        loss, grads = mean(gradients_of(state["params"], batch))
        hessian = lax.cond(state["count"] % 10 == 0,
                           lambda h: ema(h, mean(hutchinson(state["params"], batch, state["key"]))), lambda h: h,
                           state["hessian"])
        params = jax.tree.map(lambda p, g, h: p - 0.1 * g / jnp.maximum(h, 1e-6), state["params"], grads, hessian)
        return {"hessian": hessian, "params": params, "count": state["count"] + 1,
                "key": state["key"] + 1}, {"loss": loss}

    state, batch = dense_state()
    return local_step, {"hessian": zeros(state["params"]), **state, "count": np.int32(0),
                        "key": np.zeros(2, np.uint32)}, batch


@case({**GRADIENTS, **{f"{name}#statistic": "other" for name in GRADIENTS}})
def adahessian():
    """The state keeps the square of the averaged diagonal."""
    def local_step(state, batch):
        loss, grads = mean(gradients_of(state["params"], batch))
        diagonal = mean(hutchinson(state["params"], batch, state["key"]))
        second = ema(state["second"], squares(diagonal))
        params = jax.tree.map(lambda p, g, v: p - 0.1 * g / (jnp.sqrt(v) + 1e-8), state["params"], grads, second)
        return {"second": second, "params": params, "key": state["key"] + 1}, {"loss": loss}

    state, batch = dense_state()
    return local_step, {"second": zeros(state["params"]), **state, "key": np.zeros(2, np.uint32)}, batch


@case({"params/w": "gradient", "factors/input": "other", "factors/output": "other"})
def kfac_factors():
    """Second moments of a layer's input and of its cotangent, both as large as its square weight."""
    def local_step(state, batch):
        w, x = state["params"]["w"], batch["x"]
        y = jnp.tanh(x @ w) - x
        back = 2 * y * (1 - jnp.square(y + x)) / x.shape[0]
        factors = ema(state["factors"], mean({"input": x.T @ x, "output": back.T @ back}))
        grad = mean(x.T @ back)
        eye = jnp.eye(WIDTH)
        update = jnp.linalg.solve(factors["input"] + eye, grad) @ jnp.linalg.inv(factors["output"] + eye)
        return {"params": {"w": w - 0.1 * update}, "factors": factors}, {"loss": mean(jnp.mean(y * y))}

    eye = np.eye(WIDTH, dtype=np.float32)
    return local_step, {"params": {"w": eye}, "factors": {"input": eye, "output": eye}}, models.labelled(WIDTH)


@case({"params/w": "gradient", "left/w": "other", "right/w": "other"})
def shampoo():
    """Each rank's Gram matrices of its gradient, averaged, and their inverse roots by iteration."""
    def root(matrix):
        y, z = matrix / jnp.linalg.norm(matrix), jnp.eye(WIDTH)
        for _ in range(3):
            t = 1.5 * jnp.eye(WIDTH) - 0.5 * z @ y
            y, z = y @ t, t @ z
        return z

    def local_step(state, batch):
        w = state["params"]["w"]
        loss, grad = jax.value_and_grad(lambda w: models.cross_entropy(batch["x"] @ w, batch["y"]))(w)
        left = {"w": 0.9 * state["left"]["w"] + 0.1 * mean(grad @ grad.T)}
        right = {"w": 0.9 * state["right"]["w"] + 0.1 * mean(grad.T @ grad)}
        update = root(left["w"]) @ mean(grad) @ root(right["w"])
        return {"params": {"w": w - 0.1 * update}, "left": left, "right": right}, {"loss": mean(loss)}

    eye = np.eye(WIDTH, dtype=np.float32)
    return local_step, {"params": {"w": eye}, "left": {"w": eye}, "right": {"w": eye}}, models.labelled(WIDTH)


@case({"params/w": "gradient", "rows/w": "other", "columns/w": "other"})
def factored_moments():
    """Adafactor's rows and columns, of each rank's gradient."""
    def local_step(state, batch):
        w = state["params"]["w"]
        loss, grad = jax.value_and_grad(lambda w: models.cross_entropy(batch["x"] @ w, batch["y"]))(w)
        rows = 0.9 * state["rows"]["w"] + 0.1 * mean(jnp.mean(grad * grad, axis=1))
        columns = 0.9 * state["columns"]["w"] + 0.1 * mean(jnp.mean(grad * grad, axis=0))
        scale = lax.rsqrt(rows[:, None] * columns[None] / jnp.mean(rows) + 1e-8)
        return {"params": {"w": w - 0.1 * mean(grad) * scale}, "rows": {"w": rows}, "columns": {"w": columns}}, {
            "loss": mean(loss)}

    return local_step, {"params": {"w": np.eye(WIDTH, CLASSES, dtype=np.float32)},
                        "rows": {"w": np.zeros(WIDTH, np.float32)}, "columns": {"w": np.zeros(CLASSES, np.float32)}
                        }, models.labelled(WIDTH)


@case({**GRADIENTS, **under("noise", "other")})
def gradient_noise():
    """The variance of the ranks' gradients, from their mean and their mean square."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        average = mean(grads)
        deviation = jax.tree.map(lambda g, a: jnp.abs(g - a), grads, average)
        return {"params": models.sgd(state["params"], average),
                "noise": ema(state["noise"], mean(deviation))}, {"loss": mean(loss)}

    state, batch = dense_state()
    return local_step, {**state, "noise": zeros(state["params"])}, batch


@case(GRADIENTS)
def private():
    """DP-SGD: each example's gradient clipped by its norm, noise on the sum."""
    def local_step(state, batch):
        each = per_example_gradients(state["params"], batch)
        norms = jnp.sqrt(sum(jnp.sum(g * g, axis=tuple(range(1, g.ndim))) for g in jax.tree.leaves(each)))
        factor = jnp.minimum(1, 1 / norms)
        clipped = mean(jax.tree.map(lambda g: jnp.tensordot(factor, g, 1) / factor.size, each))
        noise = jax.tree.map(lambda g: 0.01 * jax.random.normal(state["key"], g.shape), clipped)
        params = models.sgd(state["params"], jax.tree.map(jnp.add, clipped, noise))
        return {"params": params, "key": state["key"] + 1}, {"norm": mean(jnp.mean(norms))}

    state, batch = dense_state(key=np.zeros(2, np.uint32))
    return local_step, state, batch


@case({**GRADIENTS, "running/mean": "other", "running/var": "other"})
def observation_statistics():
    """The running normalisation of a reinforcement learner's observations."""
    def local_step(state, batch):
        old = state["running"]
        average, square = mean(jnp.mean(batch["x"], 0)), mean(jnp.mean(batch["x"] ** 2, 0))
        running = ema(old, {"mean": average, "var": square - average ** 2})
        x = (batch["x"] - running["mean"]) * lax.rsqrt(running["var"] + 1e-5)
        loss, grads = mean(gradients_of(state["params"], {**batch, "x": x}))
        return {"params": models.sgd(state["params"], grads), "running": running}, {"loss": loss}

    state, batch = dense_state(running={"mean": np.zeros(WIDTH, np.float32), "var": np.ones(WIDTH, np.float32)})
    return local_step, state, batch


# ----------------------------------------------------------------------------------------------
# Several reductions of one parameter
# ----------------------------------------------------------------------------------------------

SECOND = {f"{name}#2": "gradient" for name in GRADIENTS}


@case({**GRADIENTS, **SECOND})
def sharpness_aware():
    """The first gradient only determines where the second is taken."""
    def local_step(state, batch):
        first = mean(jax.grad(models.dense_loss)(state["params"], batch))
        scale = 0.05 / optax.global_norm(first)
        loss, second = mean(gradients_of(jax.tree.map(lambda p, g: p + scale * g, state["params"], first), batch))
        return {"params": models.sgd(state["params"], second)}, {"loss": loss}

    return local_step, *dense_state()


@case({**GRADIENTS, **SECOND})
def inner_and_outer():
    """First-order meta-learning: a step on one half of the batch, a gradient on the other."""
    def local_step(state, batch):
        halves = jax.tree.map(lambda a: a.reshape(2, -1, *a.shape[1:]), batch)
        first, second = (jax.tree.map(lambda a: a[i], halves) for i in (0, 1))
        adapted = models.sgd(state["params"], mean(jax.grad(models.dense_loss)(state["params"], first)))
        loss, grads = mean(gradients_of(adapted, second))
        return {"params": optax.apply_updates(state["params"], jax.tree.map(lambda g: -0.1 * g, grads))}, {"loss": loss}

    return local_step, *dense_state()


@case(GRADIENTS)
def reduced_twice():
    """Two micro-batches are reduced one by one; the compiler reduces their sum once."""
    def local_step(state, batch):
        halves = jax.tree.map(lambda a: a.reshape(2, -1, *a.shape[1:]), batch)
        first, second = (mean(gradients_of(state["params"], jax.tree.map(lambda a: a[i], halves))) for i in (0, 1))
        loss, grads = jax.tree.map(lambda a, b: (a + b) / 2, first, second)
        opt_state = ema(state["momentum"], grads)
        return {"params": models.sgd(state["params"], opt_state), "momentum": opt_state}, {"loss": loss}

    state, batch = dense_state()
    return local_step, {**state, "momentum": zeros(state["params"])}, batch


# ----------------------------------------------------------------------------------------------
# Branches and loops
# ----------------------------------------------------------------------------------------------


def local_sgd(average):
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        params = average(state["count"], models.sgd(state["params"], grads))
        return {"params": params, "count": state["count"] + 1}, {"loss": mean(loss)}

    state, batch = dense_state(count=np.int32(0))
    return local_step, state, batch


@case(WEIGHTS)
def local_sgd_always():
    return local_sgd(lambda count, params: mean(params))


@case(WEIGHTS)
def local_sgd_in_cond():
    return local_sgd(lambda count, params: lax.cond(count % 8 == 0, mean, lambda p: p, params))


@case(WEIGHTS)
def local_sgd_in_both_branches():
    half = functools.partial(jax.tree.map, lambda p: p.astype(jnp.bfloat16))
    back = functools.partial(jax.tree.map, lambda p: p.astype(jnp.float32))
    return local_sgd(lambda count, params: lax.cond(count % 8 == 0, mean, lambda p: back(mean(half(p))), params))


@case(WEIGHTS)
def local_sgd_in_switch():
    return local_sgd(lambda count, params: lax.switch(
        count % 3, [mean, lambda p: p, lambda p: jax.tree.map(lambda a: (a + mean(a)) / 2, p)], params))


@case(WEIGHTS)
def local_sgd_by_select():
    return local_sgd(lambda count, params: jax.tree.map(
        lambda p: jnp.where(count % 8 == 0, mean(p), p), params))


@case(WEIGHTS)
def local_sgd_in_nested_calls():
    return local_sgd(lambda count, params: lax.cond(
        count % 8 == 0, jax.jit(lambda p: lax.cond(count > 100, jax.checkpoint(mean), lambda q: q, p)), lambda p: p,
        params))


@case(WEIGHTS)
def local_sgd_with_drift():
    """The averaged parameters are also compared with the values before."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        local = models.sgd(state["params"], grads)
        params = mean(local)
        drift = optax.global_norm(jax.tree.map(jnp.subtract, local, params))
        return {"params": params}, {"loss": mean(loss), "drift": mean(drift)}

    return local_step, *dense_state()


@case(WEIGHTS)
def local_steps_in_loop():
    """Eight local steps, then the parameters and their momentum are averaged."""
    def local_step(state, batch):
        def one(i, carried):
            params, momentum = carried
            loss, grads = gradients_of(params, batch)
            momentum = ema(momentum, jax.tree.map(lambda g, p: g + 1e-4 * p, grads, params))
            return models.sgd(params, momentum), momentum

        params, momentum = lax.fori_loop(0, 8, one, (state["params"], state["momentum"]))
        return {"params": mean(params), "momentum": momentum}, {}

    state, batch = dense_state()
    return local_step, {**state, "momentum": zeros(state["params"])}, batch


@case(WEIGHTS)
def averaged_in_loop():
    """Several rounds of local steps and averaging in one call."""
    def local_step(state, batch):
        def one_round(params, _):
            params = lax.fori_loop(0, 3, lambda i, p: models.sgd(p, jax.grad(models.dense_loss)(p, batch)), params)
            return mean(params), None

        params, _ = lax.scan(one_round, state["params"], None, length=4)
        return {"params": params}, {}

    return local_step, *dense_state()


@case(WEIGHTS)
def elastic_averaging():
    """Each rank is pulled towards the mean."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        local = models.sgd(state["params"], grads)
        return {"params": jax.tree.map(lambda p, c: p - 0.3 * (p - c), local, mean(local))}, {"loss": mean(loss)}

    return local_step, *dense_state()


@case(OUTER_GRADIENTS)
def outer_optimizer():
    """DiLoCo: local steps, and at times an outer optimizer for the distance that they moved."""
    optimizer = optax.sgd(0.7, momentum=0.9, nesterov=True)

    def local_step(state, batch):
        def outer(params, start, opt):
            delta = mean(jax.tree.map(jnp.subtract, start, params))
            updates, opt = optimizer.update(delta, opt, start)
            start = optax.apply_updates(start, updates)
            return start, start, opt

        loss, grads = gradients_of(state["params"], batch)
        params = models.sgd(state["params"], grads)
        params, start, opt = lax.cond(state["count"] % 8 == 0, outer, lambda *a: a, params, state["start"],
                                      state["opt"])
        return {"params": params, "start": start, "opt": opt, "count": state["count"] + 1}, {"loss": mean(loss)}

    state, batch = dense_state(count=np.int32(0))
    return local_step, {**state, "start": state["params"], "opt": optimizer.init(state["params"])}, batch


@case(OUTER_GRADIENTS)
def outer_optimizer_after_loop():
    """DiLoCo with its local steps in the call."""
    def local_step(state, batch):
        start = state["params"]
        params = lax.fori_loop(0, 8, lambda i, p: models.sgd(p, jax.grad(models.dense_loss)(p, batch)), start)
        momentum = ema(state["momentum"], mean(jax.tree.map(jnp.subtract, start, params)))
        return {"params": models.sgd(start, momentum), "momentum": momentum}, {}

    state, batch = dense_state()
    return local_step, {**state, "momentum": zeros(state["params"])}, batch


@case(GRADIENTS)
def accumulated_and_reduced_sometimes():
    """The accumulated gradient is reduced in the branch of the last micro-step."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        total = jax.tree.map(jnp.add, state["total"], grads)

        def update(params, total):
            return models.sgd(params, mean(total)), zeros(total)

        params, total = lax.cond(state["count"] % 4 == 3, update, lambda *a: a, state["params"], total)
        return {"params": params, "total": total, "count": state["count"] + 1}, {"loss": mean(loss)}

    state, batch = dense_state(count=np.int32(0))
    return local_step, {**state, "total": zeros(state["params"])}, batch


@case(GRADIENTS)
def reduced_in_scan():
    def local_step(state, batch):
        micro = jax.tree.map(lambda a: a.reshape(4, -1, *a.shape[1:]), batch)

        def accumulate(total, part):
            return jax.tree.map(jnp.add, total, mean(jax.grad(models.dense_loss)(state["params"], part))), None

        grads, _ = lax.scan(accumulate, zeros(state["params"]), micro)
        return {"params": models.sgd(state["params"], grads)}, {}

    return local_step, *dense_state()


@case(GRADIENTS)
def reduced_in_both_branches():
    """A branch clips or does not; the norm chooses the next value."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        grads = lax.cond(optax.global_norm(state["params"]) > 1, mean,
                         lambda g: mean(jax.tree.map(lambda a: a * 0.5, g)), grads)
        return {"params": models.sgd(state["params"], grads)}, {"loss": mean(loss)}

    return local_step, *dense_state()


@case(GRADIENTS)
def many_steps_in_scan():
    """A loop of whole training steps, in which nothing has the name of a parameter."""
    def local_step(state, batch):
        def one(carried, _):
            moments, squared, params = carried
            loss, grads = mean(gradients_of(params, batch))
            moments, squared = ema(moments, grads), ema(squared, squares(grads))
            params = jax.tree.map(lambda p, m, v: p - 0.1 * m / (jnp.sqrt(v) + 1e-8), params, moments, squared)
            return (moments, squared, params), loss

        (m, v, params), losses = lax.scan(one, (state["m"], state["v"], state["params"]), None, length=3)
        return {"m": m, "v": v, "params": params}, {"loss": losses[-1]}

    state, batch = dense_state()
    return local_step, {"m": zeros(state["params"]), "v": zeros(state["params"]), **state}, batch


# ----------------------------------------------------------------------------------------------
# Other training
# ----------------------------------------------------------------------------------------------


@case({**under("generator", "gradient"), **under("critic", "gradient")})
def adversarial():
    """Two networks with an optimizer each."""
    optimizer = optax.adam(1e-3, b1=0.5)

    def local_step(state, batch):
        def critic_loss(critic, generator, batch):
            fake = models.dense(generator, batch["x"])
            return jnp.mean(jax.nn.softplus(-models.dense(critic, batch["real"]))) + jnp.mean(
                jax.nn.softplus(models.dense(critic, fake)))

        def generator_loss(generator, critic, batch):
            return jnp.mean(jax.nn.softplus(-models.dense(critic, models.dense(generator, batch["x"]))))

        grads = mean(jax.grad(critic_loss)(state["critic"], state["generator"], batch))
        updates, critic_opt = optimizer.update(grads, state["critic_opt"])
        critic = optax.apply_updates(state["critic"], updates)
        grads = mean(jax.grad(generator_loss)(state["generator"], critic, batch))
        updates, generator_opt = optimizer.update(grads, state["generator_opt"])
        return {"critic": critic, "generator": optax.apply_updates(state["generator"], updates),
                "critic_opt": critic_opt, "generator_opt": generator_opt}, {}

    generator, critic = models.dense_params(WIDTH, 12, CLASSES), models.dense_params(CLASSES, 12, 4, seed=1)
    state = {"critic": critic, "generator": generator, "critic_opt": optimizer.init(critic),
             "generator_opt": optimizer.init(generator)}
    batch = models.labelled(WIDTH)
    return local_step, state, {**batch, "real": batch["x"][:, :CLASSES]}


@case({**under("policy", "gradient"), "policy/log_std": "gradient", **under("value", "gradient")})
def policy_optimization():
    """PPO with a Gaussian policy and a value function."""
    def local_step(state, batch):
        def loss_fn(trained, batch):
            policy, value = trained["policy"], trained["value"]
            log_std = policy["log_std"]
            average = models.dense({k: v for k, v in policy.items() if k != "log_std"}, batch["x"])
            log_prob = jnp.sum(-0.5 * jnp.square((batch["action"] - average) / jnp.exp(log_std)) - log_std, -1)
            ratio = jnp.exp(log_prob - batch["log_prob"])
            surrogate = jnp.minimum(ratio * batch["advantage"], jnp.clip(ratio, 0.8, 1.2) * batch["advantage"])
            error = models.dense(value, batch["x"])[:, 0] - batch["return"]
            return -jnp.mean(surrogate) + 0.5 * jnp.mean(jnp.square(error)) - 0.01 * jnp.sum(log_std)

        trained = {"policy": state["policy"], "value": state["value"]}
        loss, grads = mean(jax.value_and_grad(loss_fn)(trained, batch))
        return models.sgd(trained, grads), {"loss": loss}

    rng = np.random.default_rng(0)
    samples = 64
    batch = {"x": rng.normal(size=(samples, WIDTH)), "action": rng.normal(size=(samples, CLASSES)),
             **{name: rng.normal(size=samples) for name in ("log_prob", "advantage", "return")}}
    policy = {**models.dense_params(WIDTH, 12, CLASSES), "log_std": np.zeros(CLASSES, np.float32)}
    state = {"policy": policy, "value": models.dense_params(WIDTH, 12, CLASSES)}
    return local_step, state, jax.tree.map(np.float32, batch)


@case(under("online", "gradient"))
def average_that_the_loss_reads():
    """A momentum encoder (MoCo, BYOL, the target network of an actor) stands before the network that it
    follows, and the gradient is computed from both."""
    def local_step(state, batch):
        def loss_fn(params):
            wanted = models.dense(state["average"], batch["x"])
            return models.dense_loss(params, batch) + jnp.mean((models.dense(params, batch["x"]) - wanted) ** 2)

        loss, grads = mean(jax.value_and_grad(loss_fn)(state["online"]))
        online = models.sgd(state["online"], grads)
        return {"online": online, "average": ema(state["average"], online)}, {"loss": loss}

    params, batch = models.dense_params(WIDTH, 12, CLASSES), models.labelled(WIDTH)
    return local_step, {"average": models.dense_params(WIDTH, 12, CLASSES, seed=1), "online": params}, batch


@case(under("online", "gradient"))
def copy_that_the_loss_reads():
    """A target network that is replaced at intervals."""
    def local_step(state, batch):
        def loss_fn(params):
            wanted = models.dense(state["frozen"], batch["x"])
            return models.dense_loss(params, batch) + jnp.mean((models.dense(params, batch["x"]) - wanted) ** 2)

        loss, grads = mean(jax.value_and_grad(loss_fn)(state["online"]))
        online, count = models.sgd(state["online"], grads), state["count"] + 1
        frozen = lax.cond(count % 10 == 0, lambda: online, lambda: state["frozen"])
        return {"online": online, "frozen": frozen, "count": count}, {"loss": loss}

    params, batch = models.dense_params(WIDTH, 12, CLASSES), models.labelled(WIDTH)
    return local_step, {"frozen": params, "online": params, "count": np.int32(0)}, batch


@case({"params/w0": "gradient", "params/w1": "gradient"})
def eigenbasis_by_parameter():
    """SOAP: Adam in the eigenbasis of Shampoo's factors. The momentum of `w0` is called `m`."""
    def local_step(state, batch):
        def loss_fn(params):
            return models.cross_entropy(jnp.tanh(batch["x"] @ params["w0"]) @ params["w1"], batch["y"])

        def update(w, g, s):
            left, right = 0.9 * s["left"] + 0.1 * g @ g.T, 0.9 * s["right"] + 0.1 * g.T @ g
            u, v = jnp.linalg.qr(left @ s["u"])[0], jnp.linalg.qr(right @ s["v"])[0]
            m, turned = 0.9 * s["m"] + 0.1 * g, u.T @ g @ v
            second = 0.99 * s["second"] + 0.01 * turned ** 2
            step = u @ ((u.T @ m @ v) / (jnp.sqrt(second) + 1e-8)) @ v.T
            return w - 0.01 * step, {"left": left, "right": right, "u": u, "v": v, "m": m, "second": second}

        loss, grads = mean(jax.value_and_grad(loss_fn)(state["params"]))
        updated = {name: update(state["params"][name], grads[name], state["opt"][name]) for name in grads}
        return {"params": {name: new[0] for name, new in updated.items()},
                "opt": {name: new[1] for name, new in updated.items()}}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"w0": models.matrix(rng, WIDTH, 12), "w1": models.matrix(rng, 12, CLASSES)}

    def initial(w):
        rows, columns = (np.eye(size, dtype=np.float32) for size in w.shape)
        return {"left": rows, "right": columns, "u": rows, "v": columns, "m": zeros(w), "second": zeros(w)}

    return local_step, {"params": params, "opt": jax.tree.map(initial, params)}, models.labelled(WIDTH)


@case({"params/mix": "gradient", "params/decay": "gradient", "params/head": "gradient"})
def complex_weights():
    """A linear recurrence of complex numbers, whose gradients JAX conjugates: the vector stays uncompressed."""
    def local_step(state, batch):
        def loss_fn(params):
            def one(inputs):
                decays = jnp.broadcast_to(jnp.exp(-jnp.abs(params["decay"]) + 1j), (8, 6))
                _, states = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]),
                                                 (decays, inputs @ params["mix"]))
                return states.real[-1] @ params["head"]
            return models.cross_entropy(jax.vmap(one)(batch["x"]), batch["y"])

        loss, grads = mean(jax.value_and_grad(loss_fn)(state["params"]))
        return {"params": models.sgd(state["params"], jax.tree.map(jnp.conj, grads))}, {"loss": loss}

    rng = np.random.default_rng(0)

    def numbers(*shape):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)

    return (local_step, {"params": {"mix": numbers(4, 6), "decay": numbers(6), "head": models.matrix(rng, 6, CLASSES)}},
            models.labelled(8, 4))


@case({"lora/l0/a": "gradient", "lora/l0/b": "gradient", "lora/l1/a": "gradient", "lora/l1/b": "gradient"})
def low_rank_adapters():
    """The weights are frozen and returned unchanged."""
    def local_step(state, batch):
        def loss_fn(lora, batch):
            merged = {k: {**v, "w": v["w"] + lora[k]["a"] @ lora[k]["b"]} for k, v in state["params"].items()}
            return models.dense_loss(merged, batch)

        loss, grads = mean(jax.value_and_grad(loss_fn)(state["lora"], batch))
        return {"params": state["params"], "lora": models.sgd(state["lora"], grads)}, {"loss": loss}

    state, batch = dense_state()
    lora = {k: {"a": np.ones((v["w"].shape[0], 2), np.float32), "b": np.zeros((2, v["w"].shape[1]), np.float32)}
            for k, v in state["params"].items()}
    return local_step, {**state, "lora": lora}, batch


@case({"params/router": "gradient", "params/up": "gradient", "params/down": "gradient"},
      also={("params/up", "activation"), ("params/down", "activation"), ("params/down", "activation_gradient")},
      specs={"experts": P("data")})
def experts():
    """Layers that all ranks hold replicated, with tokens of other ranks: they are no experts, which would differ."""
    def local_step(state, batch):
        def loss_fn(params, batch):
            gates = jax.nn.softmax(batch["x"] @ params["router"])
            tokens = batch["x"].reshape(RANKS, -1, WIDTH)
            there = lax.all_to_all(tokens, "data", 0, 0)
            back = lax.all_to_all(jax.nn.gelu(there @ params["up"]) @ params["down"], "data", 0, 0)
            y = back.reshape(batch["x"].shape) * gates[:, :1]
            return models.cross_entropy(y, batch["y"])

        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], mean(grads)), "experts": state["experts"]}, {"loss": mean(loss)}

    rng = np.random.default_rng(0)
    params = {"router": rng.normal(size=(WIDTH, RANKS)), "up": rng.normal(size=(WIDTH, 12)),
              "down": rng.normal(size=(12, WIDTH))}
    state = {"params": jax.tree.map(np.float32, params), "experts": np.zeros(RANKS, np.float32)}
    return local_step, state, models.labelled(WIDTH)


@case({**GRADIENTS, "norm/scale": "gradient", "norm/bias": "gradient", "statistics/mean": "other",
       "statistics/var": "other", "": "activation"})
def batch_statistics_in_sums():
    """Means over all ranks, whose variance scales the gradient of a scale element by element."""
    def local_step(state, batch):
        def loss_fn(trained, batch):
            first, second = (trained["params"][f"l{i}"] for i in (0, 1))
            h = batch["x"] @ first["w"] + first["b"]
            average, square = mean((jnp.mean(h, 0), jnp.mean(h * h, 0)))
            variance = jnp.maximum(0.0, square - average * average)
            h = (h - average) * (lax.rsqrt(variance + 1e-5) * trained["norm"]["scale"]) + trained["norm"]["bias"]
            return models.cross_entropy(jnp.tanh(h) @ second["w"] + second["b"], batch["y"]), (average, variance)

        trained = {"params": state["params"], "norm": state["norm"]}
        (loss, statistics), grads = jax.value_and_grad(loss_fn, has_aux=True)(trained, batch)
        kept = ema(state["statistics"], dict(zip(("mean", "var"), statistics)))
        return {**models.sgd(trained, mean(grads)), "statistics": kept}, {"loss": mean(loss)}

    vector = np.zeros(12, np.float32)
    state, batch = dense_state(norm={"scale": vector + 1, "bias": vector}, statistics={"mean": vector, "var": vector + 1})
    return local_step, state, batch


BOXED = {name if not name else f"{name}/value": kind for name, kind in CASES["batch_statistics_in_sums"].layers.items()}


@case(BOXED)
def batch_statistics_in_boxes():
    """Batch statistics where every path ends in one key, as those of flax.nnx do."""
    inner, state, batch = batch_statistics_in_sums()

    def unboxed(tree):
        return jax.tree.map(lambda box: box["value"], tree, is_leaf=lambda box: isinstance(box, dict) and "value" in box)

    def boxed(tree):
        return jax.tree.map(lambda leaf: {"value": leaf}, tree)

    def local_step(state, batch):
        state, metrics = inner(unboxed(state), batch)
        return boxed(state), metrics

    return local_step, boxed(state), batch


@case({"params/l0/w": "gradient", "params/l1/w": "gradient", "count": "other", "total": "other"})
def codebook():
    """VQ-VAE: the codebook is made of moving averages of what the ranks assign to its entries."""
    def local_step(state, batch):
        def loss_fn(params):
            z = batch["x"] @ params["l0"]["w"]
            nearest = jnp.argmin(jnp.sum(jnp.square(z[:, None] - state["book"]), -1), -1)
            straight = z + lax.stop_gradient(state["book"][nearest] - z)
            return jnp.mean(jnp.square(straight @ params["l1"]["w"])), (z, jax.nn.one_hot(nearest, len(state["book"])))

        (loss, (z, assigned)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"])
        count, total = lax.psum((assigned.sum(0), assigned.T @ z), "data")
        count, total = ema(state["count"], count), ema(state["total"], total)
        return {"params": models.sgd(state["params"], mean(grads)), "book": total / (count[:, None] + 1e-5),
                "count": count, "total": total}, {"loss": mean(loss)}

    state, batch = dense_state(book=np.ones((7, 12), np.float32), count=np.ones(7, np.float32),
                               total=np.ones((7, 12), np.float32))
    state["params"] = {name: {"w": layer["w"]} for name, layer in state["params"].items()}
    return local_step, state, batch


@case(WEIGHTS)
def slow_momentum():
    """SlowMo: ranks average their parameters, and the outer momentum follows the distance that they moved."""
    def local_step(state, batch):
        loss, grads = gradients_of(state["params"], batch)
        average = mean(models.sgd(state["params"], grads))
        momentum = jax.tree.map(lambda m, old, new: 0.5 * m + (old - new) / 0.1, state["momentum"], state["params"], average)
        params = jax.tree.map(lambda p, m: p - 0.9 * 0.1 * m, state["params"], momentum)
        return {"params": params, "momentum": momentum}, {"loss": mean(loss)}

    state, batch = dense_state()
    return local_step, {**state, "momentum": zeros(state["params"])}, batch


@case(WEIGHTS)
def blockwise_model_update():
    """BMUF: averages after several local steps, filtered."""
    def local_step(state, batch):
        local = lax.fori_loop(0, 2, lambda _, p: models.sgd(p, jax.grad(models.dense_loss)(p, batch)), state["params"])
        delta = jax.tree.map(lambda d, new, old: 0.9 * d + 1.0 * (new - old), state["delta"], mean(local), state["params"])
        return {"params": jax.tree.map(jnp.add, state["params"], delta), "delta": delta}, {}

    state, batch = dense_state()
    return local_step, {**state, "delta": zeros(state["params"])}, batch


@case({"params/w": "gradient"})
def gradient_that_is_the_parameter():
    """The gradient of a squared distance is the parameter itself, plus a constant."""
    def local_step(state, batch):
        grads = mean(jax.grad(lambda p: 0.5 * jnp.sum(jnp.square(p["w"] - jnp.mean(batch["x"], 0))))(state["params"]))
        return {"params": models.sgd(state["params"], grads)}, {}

    return local_step, {"params": {"w": np.ones((WIDTH,), np.float32)}}, models.labelled(WIDTH)


@case({**GRADIENTS, "temperature": "gradient"})
def learned_temperature():
    """A parameter of one element, of which the exponential is used."""
    def local_step(state, batch):
        def loss_fn(trained, batch):
            logits = models.dense(trained["params"], batch["x"])
            return models.cross_entropy(logits * jnp.exp(trained["temperature"]), batch["y"])

        loss, grads = jax.value_and_grad(loss_fn)(state, batch)
        return models.sgd(state, mean(grads)), {"loss": mean(loss)}

    state, batch = dense_state()
    return local_step, {**state, "temperature": np.zeros((1,), np.float32)}, batch


# ----------------------------------------------------------------------------------------------
# Stacked layers
# ----------------------------------------------------------------------------------------------

DEPTH, BLOCKS = 3, 2


def stacked_forward(params, x):
    def layer(x, p):
        normed = x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * p["scale"]
        return x + jnp.tanh(normed @ p["w"] + p["b"]), None

    return lax.scan(jax.checkpoint(layer), x, params)[0]


def stacked_params(*leading):
    rng = np.random.default_rng(0)
    return {"w": rng.normal(0, 0.1, (*leading, WIDTH, WIDTH)).astype(np.float32),
            "b": np.zeros((*leading, WIDTH), np.float32), "scale": np.ones((*leading, WIDTH), np.float32)}


def stacked_step(forward, params):
    def local_step(state, batch):
        def loss_fn(params, batch):
            return models.cross_entropy(forward(params["stack"], batch["x"]) @ params["head"], batch["y"])

        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], mean(grads))}, {"loss": mean(loss)}

    head = np.zeros((WIDTH, CLASSES), np.float32)
    return local_step, {"params": {"stack": params, "head": head}}, models.labelled(WIDTH)


STACK = {"params/stack/w": "gradient", "params/stack/b": "gradient", "params/stack/scale": "gradient",
         "params/head": "gradient"}
STACKED_VECTORS = {"params/stack/b", "params/stack/scale"}


@case(STACK, exact=STACKED_VECTORS)
def stacked():
    return stacked_step(stacked_forward, stacked_params(DEPTH))


@case(STACK, check_vma=True)
def stacked_and_reduced_by_autodiff():
    """check_vma reduces each layer's gradient in the loop, where a vector is one without a look at the stack."""
    def local_step(state, batch):
        def loss_fn(params, batch):
            return mean(models.cross_entropy(stacked_forward(params["stack"], batch["x"]) @ params["head"], batch["y"]))

        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    head = np.zeros((WIDTH, CLASSES), np.float32)
    return local_step, {"params": {"stack": stacked_params(DEPTH), "head": head}}, models.labelled(WIDTH)


@case(STACK, exact=STACKED_VECTORS)
def stacked_twice():
    """Blocks of layers."""
    return stacked_step(lambda params, x: lax.scan(lambda x, p: (stacked_forward(p, x), None), x, params)[0],
                        stacked_params(DEPTH, BLOCKS))


@case(STACK, exact=STACKED_VECTORS)
def stacked_unrolled():
    def forward(params, x):
        def layer(x, p):
            return x + jnp.tanh((x * p["scale"]) @ p["w"] + p["b"]), None
        return lax.scan(layer, x, params, unroll=True)[0]

    return stacked_step(forward, stacked_params(DEPTH))


@case(STACK, exact=STACKED_VECTORS)
def stacked_with_adam_in_half():
    """Cast before the loop, clipped and averaged after it."""
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))

    def local_step(state, batch):
        def loss_fn(params, batch):
            half = jax.tree.map(lambda p: p.astype(jnp.bfloat16), params)
            return models.cross_entropy(stacked_forward(half["stack"], batch["x"].astype(jnp.bfloat16)) @ half["head"],
                                        batch["y"])

        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        updates, opt = optimizer.update(mean(grads), state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": mean(loss)}

    params = {"stack": stacked_params(DEPTH), "head": np.zeros((WIDTH, CLASSES), np.float32)}
    return local_step, {"params": params, "opt": optimizer.init(params)}, models.labelled(WIDTH)


@case({"params/cell/w": "gradient", "params/embed": "gradient"})
def recurrent():
    """Time steps are no layers: each uses the same matrix, and rows of a table that the data selects."""
    def local_step(state, batch):
        def loss_fn(params, batch):
            def cell(h, token):
                row = lax.dynamic_index_in_dim(params["embed"], token[0], keepdims=False)
                return jnp.tanh(h @ params["cell"]["w"] + row), None

            h, _ = lax.scan(cell, batch["x"], batch["y"].reshape(-1, 2))
            return jnp.mean(jnp.square(h))

        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], mean(grads))}, {"loss": mean(loss)}

    rng = np.random.default_rng(0)
    params = {"cell": {"w": rng.normal(size=(WIDTH, WIDTH))}, "embed": rng.normal(size=(CLASSES, WIDTH))}
    return local_step, {"params": jax.tree.map(np.float32, params)}, models.labelled(WIDTH)
