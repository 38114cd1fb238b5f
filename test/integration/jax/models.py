"""The small networks of this folder's steps. Steps are about communication; the computation is here."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P


def dense_params(*sizes, seed=0):
    """Returns the weights and biases of a perceptron: {"l0": {"w": [sizes[0], sizes[1]], "b": ...}, ...}."""
    rng = np.random.default_rng(seed)
    return {
        f"l{i}": {"w": rng.normal(0, fan_in ** -0.5, (fan_in, fan_out)).astype(np.float32),
                  "b": np.zeros(fan_out, np.float32)}
        for i, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:]))
    }


def dense(params, x):
    """Returns the logits of a perceptron with tanh between its layers."""
    last = len(params) - 1
    for i in range(last):
        x = jnp.tanh(x @ params[f"l{i}"]["w"] + params[f"l{i}"]["b"])
    return x @ params[f"l{last}"]["w"] + params[f"l{last}"]["b"]


def cross_entropy(logits, label):
    """Returns the mean over samples, in nats."""
    log_probs = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(log_probs, label[:, None], axis=1))


def labelled(*shape, samples=64, classes=10, seed=1):
    """Returns samples of the given shape that a network can learn to classify."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, classes, samples).astype(np.int32)
    prototype = np.random.default_rng(0).normal(0, 1, (classes, *shape))
    return {"x": (prototype[label] + rng.normal(0, 1, (samples, *shape))).astype(np.float32), "y": label}


def dense_loss(params, batch):
    return cross_entropy(dense(params, batch["x"]), batch["y"])


def sgd(params, grads, rate=0.1):
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


def mesh_of(devices, **axes):
    """Returns a mesh with the named axes, the first one major: mesh_of(devices, data=2, model=2)."""
    return jax.sharding.Mesh(np.array(devices).reshape(*axes.values()), tuple(axes))


def matrix(rng, *shape):
    """Returns a weight that preserves the magnitude of its input."""
    return rng.normal(0, shape[-2] ** -0.5, shape).astype(np.float32)


def data_parallel(local_step, devices, state=P(), batch=P("data"), **axes):
    """Returns a step that runs `local_step(state, batch)` on each device, by default on a part of the samples and with
    the whole state."""
    mesh = mesh_of(devices, **(axes or {"data": len(devices)}))

    def step(state_, batch_):
        return jax.shard_map(local_step, mesh=mesh, in_specs=(state, batch), out_specs=(state, P()),
                             check_vma=False)(state_, batch_)

    return step


def dense_job(devices=None):
    """Returns a jitted data-parallel step over the devices of all processes, its parameters, and its batch."""
    devices = devices or jax.devices()
    mesh = mesh_of(devices, data=len(devices))

    def local(params, batch):
        loss, grads = averaged(dense_loss, params, batch)
        return sgd(params, grads), loss

    def place(tree, spec):
        return jax.tree.map(lambda leaf: jax.make_array_from_callback(
            np.shape(leaf), jax.sharding.NamedSharding(mesh, spec), lambda place: np.asarray(leaf)[place]), tree)

    step = jax.jit(data_parallel(local, devices), donate_argnums=0)
    return step, place(dense_params(64, 128, 10), P()), place(labelled(64, samples=48), P("data"))


def fsdp_job(devices=None):
    """Returns such a job fully sharded: a device holds its rows of each weight, and gathers a layer's weights where it
    runs, and again where its gradients are computed."""
    devices = devices or jax.devices()
    mesh = mesh_of(devices, data=len(devices))
    whole = dense_params(64, 128, 128, 16)
    specs = jax.tree.map(lambda leaf: P("data") if leaf.ndim > 1 else P(), whole)

    def layer(shard, bias, x, nonlinear):
        y = x @ lax.all_gather(shard, "data", axis=0, tiled=True) + bias
        return jnp.tanh(y) if nonlinear else y

    forgetful = jax.checkpoint(layer, static_argnums=3,
                               policy=lambda primitive, *_, **__: primitive.name != "all_gather")

    def loss_of(params, batch):
        x, last = batch["x"], len(params) - 1
        for i in range(last + 1):
            x = forgetful(params[f"l{i}"]["w"], params[f"l{i}"]["b"], x, i < last)
        return cross_entropy(x, batch["y"])

    def local(params, batch):
        loss, grads = jax.value_and_grad(loss_of)(params, batch)
        # Gathers have reduce-scatters as the gradients of weights, which are sums.
        grads = jax.tree.map(lambda grad: grad / len(devices) if grad.ndim > 1 else lax.pmean(grad, "data"), grads)
        return sgd(params, grads), lax.pmean(loss, "data")

    def place(tree, specs):
        return jax.tree.map(lambda leaf, spec: jax.make_array_from_callback(
            np.shape(leaf), jax.sharding.NamedSharding(mesh, spec), lambda place: np.asarray(leaf)[place]), tree, specs)

    step = jax.jit(data_parallel(local, devices, state=specs), donate_argnums=0)
    batch = labelled(64, samples=48)
    return step, place(whole, specs), place(batch, jax.tree.map(lambda _: P("data"), batch))


def averaged(loss_fn, params, batch):
    """Returns the loss and the gradients of a rank's samples, averaged over `data`."""
    return lax.pmean(jax.value_and_grad(loss_fn)(params, batch), "data")
