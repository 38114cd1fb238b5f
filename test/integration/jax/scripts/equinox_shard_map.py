"""equinox under filter_jit, with a shard_map inside over the arrays of the model, which are donated."""

import digits
import equinox as eqx
import jax
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4))


@eqx.filter_jit(donate="all-except-first")
def train_step(batch, model, opt_state):
    arrays, rest = eqx.partition(model, eqx.is_array)

    def local(arrays, opt_state, batch):
        @eqx.filter_value_and_grad
        def loss_fn(arrays):
            points, labels = batch
            return optax.softmax_cross_entropy_with_integer_labels(jax.vmap(eqx.combine(arrays, rest))(points), labels).mean()

        loss, grads = lax.pmean(loss_fn(arrays), "data")
        updates, opt_state = optimizer.update(grads, opt_state, arrays)
        return eqx.apply_updates(arrays, updates), opt_state, loss

    arrays, opt_state, loss = jax.shard_map(local, mesh=digits.mesh, in_specs=(P(), P(), P("data")), out_specs=P(),
                                            check_vma=False)(arrays, opt_state, batch)
    return eqx.combine(arrays, rest), opt_state, loss


model = eqx.nn.MLP(64, 10, width_size=256, depth=2, key=jax.random.key(0))
opt_state = optimizer.init(eqx.filter(model, eqx.is_array))
arrays, rest = eqx.partition(model, eqx.is_array)
model, opt_state = eqx.combine(digits.place(arrays), rest), digits.place(opt_state)
for batch in digits.batches():
    model, opt_state, loss = train_step(batch, model, opt_state)
print(f"loss {digits.value(loss):.6f}")
