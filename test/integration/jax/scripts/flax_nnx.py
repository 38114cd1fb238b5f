"""flax.nnx: modules and optimizers that change in place."""

import digits
import jax
import optax
from flax import nnx


class Classifier(nnx.Module):
    def __init__(self, rngs):
        self.first, self.second, self.last = (nnx.Linear(*sizes, rngs=rngs) for sizes in ((64, 256), (256, 128), (128, 10)))

    def __call__(self, x):
        return self.last(nnx.relu(self.second(nnx.relu(self.first(x)))))


@nnx.jit
def train_step(model, optimizer, batch):
    def loss_fn(model):
        points, labels = batch
        return optax.softmax_cross_entropy_with_integer_labels(model(points), labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


model = Classifier(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
for each in (model, optimizer):
    nnx.update(each, digits.place(nnx.state(each)))
for batch in digits.batches():
    loss = train_step(model, optimizer, batch)
print(f"loss {digits.value(loss):.6f}")
