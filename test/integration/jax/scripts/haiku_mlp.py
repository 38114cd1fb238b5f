"""haiku, under jit."""

import digits
import haiku as hk
import jax
import optax

optimizer = optax.adam(1e-3)
network = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([256, 128, 10])(x)))


@jax.jit
def train_step(params, opt_state, batch):
    def loss_fn(params):
        points, labels = batch
        return optax.softmax_cross_entropy_with_integer_labels(network.apply(params, points), labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


params = network.init(jax.random.key(0), digits.samples()[0][:1])
params, opt_state = digits.place(params), digits.place(optimizer.init(params))
for batch in digits.batches():
    params, opt_state, loss = train_step(params, opt_state, batch)
print(f"loss {digits.value(loss):.6f}")
