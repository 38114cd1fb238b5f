"""flax.linen with a TrainState, under jit."""

import digits
import jax
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(256)(x))
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(10)(x)


@jax.jit
def train_step(state, batch):
    points, labels = batch

    def loss_fn(params):
        return optax.softmax_cross_entropy_with_integer_labels(state.apply_fn({"params": params}, points), labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


model = Classifier()
params = model.init(jax.random.key(0), digits.samples()[0][:1])["params"]
state = digits.place(TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3)))
for batch in digits.batches():
    state, loss = train_step(state, batch)
print(f"loss {digits.value(loss):.6f}")
