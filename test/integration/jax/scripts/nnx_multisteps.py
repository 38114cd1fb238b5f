"""flax.nnx with batch norm, dropout and its keys, and optax.MultiSteps: statistics and counts change in place, too."""

import digits
import jax
import optax
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.first, self.norm = nnx.Linear(64, 256, rngs=rngs), nnx.BatchNorm(256, rngs=rngs)
        self.dropout, self.last = nnx.Dropout(0.1, rngs=rngs), nnx.Linear(256, 10, rngs=rngs)

    def __call__(self, x):
        return self.last(self.dropout(nnx.relu(self.norm(self.first(x)))))


@nnx.jit
def train_step(model, optimizer, batch):
    def loss_fn(model):
        points, labels = batch
        return optax.softmax_cross_entropy_with_integer_labels(model(points), labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = Classifier(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.MultiSteps(optax.adam(3e-3), 2), wrt=nnx.Param)
for each in (model, optimizer):
    state = nnx.state(each)
    nnx.update(each, jax.tree.map(lambda leaf: jax.device_put(leaf, jax.sharding.NamedSharding(digits.mesh, digits.P())), state))
for batch in digits.batches():
    loss = train_step(model, optimizer, batch)
print(f"loss {digits.value(loss):.6f}")
