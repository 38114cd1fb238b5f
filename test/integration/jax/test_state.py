"""Finds which result of a step is the next value of which argument. The answer does not depend on the text giving it by
names, by donation, or not at all, and never is a loss, a learning rate or a batch."""

import collections
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import jax
import numpy as np
import optax
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

import cgx_jax


SPLIT = P("data")
RANDOM = np.random.default_rng(7)


def over_ranks(function, inputs, outputs):
    mesh = Mesh(np.array(jax.devices()[:jobs.DEVICES]), ("data",))
    return jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False)


def normal(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32) * 0.3


def square_params():
    """Returns layers that types cannot tell apart."""
    return {"l0": {"b": normal(16), "w": normal(16, 16)}, "l1": {"b": normal(16), "w": normal(16, 16)}}


def square_batch():
    return {"x": normal(32, 16), "y": normal(32, 16)}


def square_loss(params, batch):
    hidden = jax.numpy.tanh(batch["x"] @ params["l0"]["w"] + params["l0"]["b"])
    return jax.numpy.mean((hidden @ params["l1"]["w"] + params["l1"]["b"] - batch["y"]) ** 2)


def gradients(params, batch):
    return lax.pmean(jax.value_and_grad(square_loss)(params, batch), "data")


def zeros(tree):
    return jax.tree.map(np.zeros_like, tree)


# A step, its arguments (the last is the batch), and which part of its result is the next value of which argument.
Case = collections.namedtuple("Case", "step arguments feeds")


def with_optimizer(optimizer):
    params = square_params()

    def step(params, state, batch):
        loss, grads = gradients(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    return Case(over_ranks(step, (P(), P(), SPLIT), P()), (params, optimizer.init(params), square_batch()),
                lambda result, arguments: [(result[:2], arguments[:2])])


def sgd_with_decay():
    return with_optimizer(optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(0.1, momentum=0.9, nesterov=True)))


def adamw_with_schedule():
    return with_optimizer(optax.chain(optax.clip_by_global_norm(1.0),
                                      optax.adamw(optax.cosine_decay_schedule(1e-3, 100))))


def momentum_comes_first():
    def step(momentum, params, batch):
        loss, grads = gradients(params, batch)
        momentum = jax.tree.map(lambda m, g, p: 0.9 * m + g + 1e-4 * p, momentum, grads, params)
        return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum, loss

    params = square_params()
    return Case(over_ranks(step, (P(), P(), SPLIT), P()), (zeros(params), params, square_batch()),
                lambda result, arguments: [(result[0], arguments[1]), (result[1], arguments[0])])


def average_comes_back_first():
    def step(params, average, batch):
        loss, grads = gradients(params, batch)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
        return loss, jax.tree.map(lambda a, p: 0.99 * a + 0.01 * p, average, params), params

    params = square_params()
    return Case(over_ranks(step, (P(), P(), SPLIT), P()), (params, jax.tree.map(np.copy, params), square_batch()),
                lambda result, arguments: [(result[1], arguments[1]), (result[2], arguments[0])])


def learning_rate_between():
    """Returns a step whose loss is at the position of the learning rate."""
    def step(params, rate, momentum, batch):
        loss, grads = gradients(params, batch)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
        return jax.tree.map(lambda p, m: p - rate * m, params, momentum), loss, momentum

    params = square_params()
    return Case(over_ranks(step, (P(), P(), P(), SPLIT), P()),
                (params, np.float32(0.1), zeros(params), square_batch()),
                lambda result, arguments: [(result[0], arguments[0]), (result[2], arguments[2])])


def residual_of_the_batch():
    def step(params, x):
        def objective(params):
            return jax.numpy.mean((x @ params["w"] - x) ** 2)

        loss, grads = lax.pmean(jax.value_and_grad(objective)(params), "data")
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), x - x @ params["w"], loss

    return Case(over_ranks(step, (P(), SPLIT), (P(), SPLIT, P())), ({"w": normal(16, 16)}, normal(32, 16)),
                lambda result, arguments: [(result[0], arguments[0])])


def gradients_with_decay():
    def step(params, batch):
        loss, grads = gradients(params, batch)
        return jax.tree.map(lambda g, p: g + 1e-4 * p, grads, params), loss

    return Case(over_ranks(step, (P(), SPLIT), P()), (square_params(), square_batch()), lambda *_: [])


def raveled():
    def step(params, momentum, batch):
        loss, grads = gradients(params, batch)
        flat, unravel = jax.flatten_util.ravel_pytree(params)
        momentum = 0.9 * jax.flatten_util.ravel_pytree(momentum)[0] + jax.flatten_util.ravel_pytree(grads)[0]
        return unravel(flat - 0.1 * momentum), unravel(momentum), loss

    params = square_params()
    return Case(over_ranks(step, (P(), P(), SPLIT), P()), (params, zeros(params), square_batch()),
                lambda result, arguments: [(result[:2], arguments[:2])])


def steps_in_a_loop():
    def step(params, momentum, batch):
        def one(_, carried):
            params, momentum = carried
            momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients(params, batch)[1])
            return jax.tree.map(lambda p, m: p - 0.1 * m, params, momentum), momentum

        params, momentum = lax.fori_loop(0, 3, one, (params, momentum))
        return params, momentum, lax.pmean(square_loss(params, batch), "data")

    params = square_params()
    return Case(over_ranks(step, (P(), P(), SPLIT), P()), (params, zeros(params), square_batch()),
                lambda result, arguments: [(result[:2], arguments[:2])])


State = collections.namedtuple("State", "step params opt")


def state_under_other_names():
    optimizer = optax.adam(1e-3)

    def step(state, batch):
        loss, grads = gradients(state.params, batch)
        updates, opt = optimizer.update(grads, state.opt, state.params)
        return loss, {"opt": opt, "params": optax.apply_updates(state.params, updates), "step": state.step + 1}

    params = square_params()
    return Case(over_ranks(step, (P(), SPLIT), P()),
                (State(np.int32(0), params, optimizer.init(params)), square_batch()),
                lambda result, arguments: [([result[1]["step"], result[1]["params"], result[1]["opt"]],
                                            list(arguments[0]))])


CASES = (sgd_with_decay, adamw_with_schedule, momentum_comes_first, average_comes_back_first,
         learning_rate_between, residual_of_the_batch, gradients_with_decay, raveled, steps_in_a_loop,
         state_under_other_names)


def numbered(tree):
    """Returns the tree with the number of each leaf in its place."""
    leaves, structure = jax.tree.flatten(tree)
    return structure.unflatten(range(len(leaves)))


def expected_feeds(case):
    """Returns {number of a result: number of the argument that it feeds}."""
    results = numbered(jax.eval_shape(case.step, *case.arguments))
    feeds = {}
    for result, argument in case.feeds(results, numbered(case.arguments)):
        feeds.update(zip(jax.tree.leaves(result), jax.tree.leaves(argument), strict=True))
    return feeds


def feeds_of(text):
    """Returns {number of a result: number of the argument that it feeds}, as found by the import."""
    process = subprocess.run([os.environ["CGX_OPT"], "-", "--cgx-import"], input=text, capture_output=True, text=True,
                             check=False)
    if process.returncode != 0:
        raise jobs.Refused(process.stderr)
    signature = re.search(r"func.func public @main.* -> (.*)", process.stdout)[1]
    # A result is its type and, in braces, its attributes, the global type among them.
    results = re.split(r"(?:^\(|, )tensor<", re.sub(r"cgx.global_type = \S+", "", signature))[1:]
    feeds = [re.search(r"cgx.feeds = (\d+)", result) for result in results]
    return {number: int(found[1]) for number, found in enumerate(feeds) if found}


# The state of these steps is only known by names, and these are the messages about it: each rank has its own stage, and
# nothing of it is reduced, as with a batch; a codebook is computed from other state.
NEED_NAMES = {"codebook": "result 0.* stands among state where argument 0 does",
              "pipeline": "result 0.* is computed as the next value of argument 0.*may be data",
              "pipeline_1f1b": "result 0.* is computed as the next value of argument 0.*may be data"}


class StateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, case, donates, has_names):
        donated = tuple(range(len(case.arguments) - 1)) if donates else ()
        lowered = jax.jit(case.step, donate_argnums=donated, keep_unused=True).lower(*case.arguments)
        self.assertEqual(feeds_of(lowered.as_text(debug_info=has_names)), expected_feeds(case))

    @jobs.needs_opt
    def test_text_without_names_or_donation(self):
        for make in CASES:
            with self.subTest(make.__name__):
                self.check(make(), donates=False, has_names=False)

    @jobs.needs_opt
    def test_text_with_names(self):
        for make in CASES:
            with self.subTest(make.__name__):
                self.check(make(), donates=False, has_names=True)

    @jobs.needs_opt
    def test_text_with_donation(self):
        for make in CASES:
            if make is not gradients_with_decay:  # a caller that donates parameters wants them back
                for has_names in (False, True):
                    with self.subTest(make.__name__, has_names=has_names):
                        self.check(make(), donates=True, has_names=has_names)

    @jobs.needs_opt
    def test_every_step_is_fed_alike_with_names_and_without(self):
        for name in set(jobs.step_names()) - set(NEED_NAMES):
            with self.subTest(name):
                _, (step, state, batch) = jobs.load_step(name)
                lowered = (step if hasattr(step, "lower") else jax.jit(step)).lower(state, batch)
                try:
                    named = feeds_of(lowered.as_text(debug_info=True))
                except jobs.Refused as refusal:  # these are partitioned at export
                    self.assertRegex(str(refusal), "partitioner|is outside of shard_map")
                    continue
                self.assertEqual(feeds_of(lowered.as_text()), named)

    @jobs.needs_opt
    def test_what_looks_like_state_and_is_not_fed_is_named(self):
        for name, said in NEED_NAMES.items():
            with self.subTest(name):
                _, (step, state, batch) = jobs.load_step(name)
                done = subprocess.run([os.environ["CGX_OPT"], "-", "--cgx-import"], capture_output=True, text=True,
                                      input=jax.jit(step).lower(state, batch).as_text(), check=True)
                self.assertRegex(done.stderr, said)

    @jobs.needs_opt
    def test_state_that_is_replaced_is_named_where_only_its_place_tells(self):
        case = with_optimizer(optax.optimistic_gradient_descent(0.1))  # the previous gradient, and the parameters

        def state_first(state, params, batch):
            params, state, loss = case.step(params, state, batch)
            return state, params, loss

        params, state, batch = case.arguments
        text = jax.jit(state_first, keep_unused=True).lower(state, params, batch).as_text()
        done = subprocess.run([os.environ["CGX_OPT"], "-", "--cgx-import"], capture_output=True, text=True, input=text,
                              check=True)
        self.assertRegex(done.stderr, r"a part of the state is not fed back: result \d+ .*stands among state where argument")

    @jobs.needs_run
    def test_training_without_names_is_jax_training(self):
        for make in (adamw_with_schedule, momentum_comes_first, average_comes_back_first, raveled):
            with self.subTest(make.__name__):
                self.check_training(make())

    def check_training(self, case, steps=5):
        leaves = jax.tree.leaves(case.arguments)
        count = len(leaves) - len(jax.tree.leaves(case.arguments[-1]))
        program, saved = self.folder / "step.mlir", self.folder / "trained.safetensors"
        program.write_text(jax.jit(case.step, keep_unused=True).lower(*case.arguments).as_text())
        for name, begin, end in (("state", 0, count), ("data", count, len(leaves))):
            cgx_jax.save(self.folder / f"{name}.safetensors",
                         {f"arg{i}": np.asarray(leaves[i]) for i in range(begin, end)})
        jobs.run("CGX_RUN", program, "--transport", "inproc", "--state", self.folder / "state.safetensors", "--data",
                 self.folder / "data.safetensors", "--steps", steps, "--repeat", "--save", saved, "--quiet")
        feeds, structure, flat = expected_feeds(case), jax.tree.structure(case.arguments), list(leaves)
        step = jax.jit(case.step)
        for _ in range(steps):
            results = jax.tree.leaves(step(*structure.unflatten(flat)))
            for result, argument in feeds.items():
                flat[argument] = results[result]
        trained = cgx_jax.load(saved)
        for argument in feeds.values():
            self.assertLess(jobs.distance(trained[f"arg{argument}"], flat[argument], leaves[argument]), 1e-3, argument)


if __name__ == "__main__":
    unittest.main()
