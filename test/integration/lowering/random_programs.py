"""Random functions whose values share memory where that pays: results that begin with one value, updates of values that
are read later, loops that exchange their carried values. A seed makes the function."""

import jax.numpy as jnp
import numpy as np
from jax import lax

SHAPE = (6, 8)

# Each operation takes three tensors and a small number, and returns a tensor, all of one shape and with values around
# 1.
OPERATIONS = [
    lambda x, y, z, n: jnp.sin(x),
    lambda x, y, z, n: jnp.tanh(x * y + z),
    lambda x, y, z, n: jnp.where(x > y, y, z),
    lambda x, y, z, n: jnp.broadcast_to(jnp.mean(x, 1, keepdims=True), SHAPE),
    lambda x, y, z, n: jnp.tanh(x - jnp.max(x, 0)),
    lambda x, y, z, n: lax.dynamic_update_slice(x, y[:2, :3], (n % 5, n % 6)),
    lambda x, y, z, n: x.at[n % 6].set(y[0]),
    lambda x, y, z, n: jnp.tanh(x.at[jnp.array([1, n % 6, 1])].add(y[:3])),
    lambda x, y, z, n: jnp.concatenate([x[n % 6:], y[:n % 6]]),
    lambda x, y, z, n: jnp.pad(x[1:-1, 1:-1], 1),
    lambda x, y, z, n: jnp.roll(x, n, 1),
    lambda x, y, z, n: jnp.zeros(SHAPE).at[n % 6].set(1.0),
    lambda x, y, z, n: x.T.reshape(SHAPE),
    lambda x, y, z, n: jnp.tanh(x @ y.T @ z),
    lambda x, y, z, n: jnp.sort(x, n % 2),
    lambda x, y, z, n: jnp.tanh(jnp.cumsum(x, n % 2)),
    lambda x, y, z, n: lax.fori_loop(0, n, lambda i, c: (c[1], jnp.tanh(c[0] + z)), (x, y))[n % 2],
    lambda x, y, z, n: lax.fori_loop(0, n, lambda i, c: c.at[i % 6].set(y[0]), x),
    lambda x, y, z, n: lax.cond(x[0, 0] > y[0, 0], lambda x, y: x, lambda x, y: (x + y) / 2, x, y),
    lambda x, y, z, n: lax.scan(lambda c, v: (jnp.tanh(c + v), c), x[0], y)[1],
]


def program(seed):
    """Returns a function of three tensors, with several results."""
    def function(*arguments):
        random = np.random.default_rng(seed)
        values = list(arguments)
        for _ in range(random.integers(3, 14)):
            operation = OPERATIONS[random.integers(len(OPERATIONS))]
            operands = (values[i] for i in random.integers(len(values), size=3))
            values.append(operation(*operands, int(random.integers(1, 9))))
        return tuple(values[i] for i in random.integers(len(values), size=random.integers(2, 6)))
    return function
