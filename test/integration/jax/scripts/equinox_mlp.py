"""equinox: a model that is a tree, under filter_jit."""

import digits
import equinox as eqx
import jax
import optax

optimizer = optax.adam(1e-3)


@eqx.filter_jit
def train_step(model, opt_state, batch):
    @eqx.filter_value_and_grad
    def loss_fn(model):
        points, labels = batch
        return optax.softmax_cross_entropy_with_integer_labels(jax.vmap(model)(points), labels).mean()

    loss, grads = loss_fn(model)
    updates, opt_state = optimizer.update(grads, opt_state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), opt_state, loss


model = eqx.nn.MLP(64, 10, width_size=256, depth=2, key=jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
arrays, rest = eqx.partition(model, eqx.is_array)
model, opt_state = eqx.combine(digits.place(arrays), rest), digits.place(opt_state)
for batch in digits.batches():
    model, opt_state, loss = train_step(model, opt_state, batch)
print(f"loss {digits.value(loss):.6f}")
