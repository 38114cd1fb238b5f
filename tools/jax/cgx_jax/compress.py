"""Compresses the communication of a jitted step at the place where JAX compiles it."""

import copy
import functools
import threading

import jax
from cgx_core import compiler
from cgx_core.adaptation import adaptation_of
from cgx_core.choices import ERROR_FEEDBACK, check_choice, check_connection
from cgx_core.codecs import in_words
from cgx_core.plans import plan_file, plan_text
from cgx_core.warned import text_of, warn
from cgx_jax import communication, partition, runtime
from cgx_jax.options import check_options

# The compiler's message begins like this; inside JAX the remedy is another one.
_ONE_DEVICE = "nothing is compressed: the step is for one device"


def compress(step, *, bits=None, exclude=None, plan=None, codec=None, error_feedback=None, overlap=None, adapt=None,
             transport=None, seed=0, timeout=30.0, report=False, **options):
    """Returns a function that does what `step` does, with its collectives compressed.

    It takes what `step` takes and donates what `step` donates. Which collective is a gradient, of what layer, and
    what stays exact is decided by the compiler of cgx, as for `cgx-opt --cgx-compress`, whose options these are.

    Args:
      step: a function under `jax.jit`, over a mesh: with collectives of its own (`jax.shard_map`), or with shardings
        alone.
      bits: of each element, 1 to 8; the compiler's default is 4.
      exclude: names of layers that stay exact, a pattern or a list of them: "*embed*".
      plan: a plan of `cgx-plan` or of `cgx_jax`: a path, or what json.load gives.
      codec: another family than quantize, with its parameters: "topk", "quantize<bits=2>".
      error_feedback: "bf16", "f32" or "int8" make up later for what encoding loses; see `state_dict`.
      adapt: a solver, such as "lgreco", that makes a plan of what is measured while training: from step 200 on, and anew
        every 1000 steps; `cgx_jax.Adaptation("lgreco", warmup=100, every=500)` says when.
      overlap: True starts collectives as soon as their operands are there, in groups.
      transport: between the processes of the job; by default what fits them.
      seed: of stochastic rounding; equal in all processes.
      timeout: seconds that a rank waits for another before the step fails.
      report: True prints what travels, layer by layer, when the step is compiled.
      options: more options of --cgx-compress, with underscores for dashes: bucket=256, min_elements=0. Codecs of kinds are
        words: weight="bits=8 bucket=1024", gradient="bits=4 error-feedback=bf16"; qsdp=True is 8 bits for both.

    Raises:
      CompileError, TypeError, ValueError: an option is wrong.
    """
    if not hasattr(step, "lower"):
        raise TypeError(f"expected a function under jax.jit, got {step!r}: write cgx_jax.compress(jax.jit(step, ...))")
    check_choice("error_feedback", error_feedback or None, ERROR_FEEDBACK)
    options = in_words(dict(options, bits=bits, exclude=exclude, codec=codec, error_feedback=error_feedback, overlap=overlap))
    check_connection(transport, seed, timeout)
    with plan_file(plan) as path:
        check_options(options, path)
    return CompressedStep(step, options, plan, adaptation_of(adapt), transport=transport, seed=seed, timeout=timeout, report=report)


class CompressedStep:
    """The object that `compress` returns."""

    def __init__(self, step, options, plan, adaptation, *, transport, seed, timeout, report):
        functools.update_wrapper(self, step)
        self._step = step
        self._static = _static_parameters(step)
        self._options = options
        self._plan = plan
        self._connection = {"transport": transport, "seed": seed, "timeout": timeout, "adapt": adaptation}
        self._prints = report
        self._versions = {}  # by the signature of the arguments
        self._programs = {}  # by the text of the lowered module
        self._last = None
        self._pending_state = None
        self._is_closed = False
        # The identity is taken on the user's thread, where the user writes the step. Steps of one name are told apart
        # by their order.
        self._identity = runtime.identity_of(f"step {getattr(step, '__qualname__', '')}")
        self._compiling = threading.RLock()

    def __call__(self, *args, **kwargs):
        if self._is_closed:
            raise runtime.RuntimeFailure("the step was closed")
        return self._version_for(args, kwargs)(args, kwargs)

    def lower(self, *args, **kwargs):
        """Lowers the step before cgx rewrites it, as `jax.jit` does."""
        return self._step.lower(*args, **kwargs)

    def report(self, format="text"):
        """Returns what is sent by the version that ran last, layer by layer: the text of `cgx-opt --cgx-report`, or its
        data with format="json"."""
        version = self._latest()
        return version.compilation.report if format == "text" else version.compilation.report_json

    def diagnostics(self):
        """Returns the compiler's warnings and remarks about the version that ran last, with their places."""
        return self._latest().compilation.diagnostics

    def telemetry(self):
        """Returns the counters of the ranks of this process, {rank: {...}}, of the version that ran last, after waiting
        for running steps. They are empty where nothing is communicated."""
        program = self._latest().program
        return program.telemetry() if program else {}

    def transport(self):
        """Returns the transport between the ranks, such as "shm", or None where nothing is communicated."""
        program = self._latest().program
        return program.transport if program else None

    def adopt_plan(self, plan):
        """Takes the codecs of a plan from the next step on; all processes call it at the same time."""
        program = self._latest().program
        if program:
            program.adopt_plan(plan_text(plan))

    def plan(self):
        """Returns the plan that `adapt` made last, as json.load gives it, or None before the first."""
        program = self._latest().program
        return program.plan if program else None

    def begin_profile(self):
        """Starts a profile with the next step. All processes call it at the same time."""
        program = self._latest().program
        if program:
            program.begin_profile()

    def end_profile(self):
        """Returns the profile of all ranks, for `cgx-plan`. All processes call it at the same time."""
        program = self._latest().program
        return program.end_profile() if program else None

    def state_dict(self):
        """Returns the state that the codecs of this process's ranks carry from step to step (the residuals of error
        feedback) and the number of the next step, as a tree of dicts, ints and arrays. A checkpoint without it does
        not resume the run exactly."""
        program = self._latest().program
        return program.state_dict() if program else {"step": 0, "ranks": {}}

    def load_state_dict(self, state):
        """Continues from a state of `state_dict`, before the first call or between two."""
        if self._last is None:
            self._pending_state = state
        elif self._last.program:
            self._last.program.load_state_dict(state)

    def close(self):
        """Waits for running steps and closes the connections between ranks, with their threads and memory. Without a
        call they close with the process. All processes call it. The step cannot be called afterwards."""
        self._is_closed = True
        for version in self._programs.values():
            if version.program:
                version.program.close()

    def _latest(self):
        if self._last is None:
            raise RuntimeError("the step has not been called yet: what it sends is known once JAX compiles it")
        return self._last

    def _version_for(self, args, kwargs):
        key = _signature(self._static, args, kwargs)
        version = self._versions.get(key)
        if version is None:
            with self._compiling:
                version = self._versions.get(key)
                if version is None:
                    leaves, tree = jax.tree.flatten(_without_static(self._static, args, kwargs) if self._static else (args, kwargs))
                    version = self._versions[key] = self._version_of(self._step.lower(*args, **kwargs), leaves, tree)
        self._last = version
        return version

    def _version_of(self, lowered, leaves, tree):
        """Returns the program of a lowered step. An existing one is used where arguments differ only in ways that need
        no other program, such as two spellings of one sharding, or arrays of the host before results of the step. It
        keeps its codec state."""
        text = lowered.as_text(debug_info=True)
        if (version := self._programs.get(text)) is not None:
            return version
        body = _text_without_placement(lowered)
        for version in self._programs.values():
            if version.takes(body, leaves):
                return version
        # The order in which shapes are compiled may differ between processes, so the identity contains the shapes.
        identity = self._identity.of(f"{tree} {[(getattr(leaf, 'shape', ()), str(getattr(leaf, 'dtype', ''))) for leaf in leaves]}")
        version = self._programs[text] = _Version(self._step, self._static, lowered, text, self._options, self._plan,
                                                  self._connection, body, leaves, identity)
        if self._prints:
            print(version.compilation.report, end="")
        if self._pending_state is not None and version.program:
            version.program.load_state_dict(self._pending_state)
            self._pending_state = None
        return version


def _signature(static, args, kwargs):
    """Returns the key that decides which program runs, as for jax.jit: structure, shapes, element types and shardings
    of traced arguments, and the values of static ones."""
    traced = _without_static(static, args, kwargs) if static else (args, kwargs)
    leaves, tree = jax.tree.flatten(traced)
    constants = ()
    if static:
        numbers, names = static
        constants = (tuple(each for index, each in enumerate(args) if _is_static(index, len(args), numbers)),
                     tuple(sorted((name, each) for name, each in kwargs.items() if name in names)))
    return tree, tuple(_signature_of(leaf) for leaf in leaves), constants, jax.config.jax_enable_x64


def _signature_of(leaf):
    if isinstance(leaf, jax.Array):
        # Random keys are arrays that lack some of these attributes.
        return leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False), leaf.sharding, getattr(leaf, "committed", True)
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return leaf.shape, leaf.dtype
    return type(leaf)


def _placement_of(leaf):
    """Returns the sharding of an argument that has to stay where it is, or None for one that JAX places."""
    return leaf.sharding if isinstance(leaf, jax.Array) and getattr(leaf, "committed", True) else None


def _text_without_placement(lowered):
    """Returns the text of a lowered step without the placement of its arguments. It has no locations, so that calls
    from several lines are one."""
    from jax._src.lib.mlir import ir
    module = parse_module(lowered.as_text())
    with module.context:
        main, = (op for op in module.body.operations if op.operation.name == "func.func" and op.name.value == "main")
        if "arg_attrs" in main.attributes:
            main.attributes["arg_attrs"] = ir.ArrayAttr.get([
                ir.DictAttr.get({each.name: each.attr for each in attributes
                                 if each.name not in ("sdy.sharding", "mhlo.sharding")})
                for attributes in main.attributes["arg_attrs"]])
        return str(module)


def rewrite(module, text, options, plan, name):
    """Has the compiler rewrite a lowered module (and its text) into the program `name`."""
    with plan_file(plan) as path:
        passes = ["--cgx-keep-shardings", compiler.pipeline("cgx-compress", dict(options, plan=path)), "--cgx-report",
                  compiler.pipeline("cgx-lower-to-xla", {"program": name})]
        return compiler.run(_per_rank_text(module, text), passes)


def _per_rank_text(module, text):
    """Returns the text of a step that contains all its collectives."""
    if not partition.is_left_to_a_partitioner(module):
        return text
    program, _ = partition.partition(text, partition.ranks_of(module), [])
    return program


def open_program(identity, compilation, devices, connection):
    """Opens the result of `rewrite` in the runtime, for devices in the order of the ranks."""
    if len(devices) != compilation.manifest["ranks"]:
        raise RuntimeError(f"expected a device for each of {compilation.manifest['ranks']} ranks, got {len(devices)}")
    return runtime.Program(identity, compilation.manifest_text, devices, options=compiler.words_of(compilation.options), **connection)


class _Version:
    """The step for one signature of its arguments."""

    def __init__(self, step, static, lowered, text, options, plan, connection, body, leaves, identity):
        self.program = None
        self._body, self._placements = body, [_placement_of(leaf) for leaf in leaves]
        self._step = step
        self.compilation = rewrite(lowered.compiler_ir("stablehlo"), text, options, plan, identity.name)
        for diagnostic in self.compilation.diagnostics:
            if diagnostic.severity == "warning":
                warn(communication.of_one_device() if _ONE_DEVICE in diagnostic.message else text_of(diagnostic))
        if not self.compilation.manifest["collectives"]:
            return  # this step has no collective of ours
        self.program = open_program(identity, self.compilation, _devices_of(lowered), connection)
        self._compiled = _compile_instead(lowered, self.compilation.module)
        self._static = static
        # By now JAX or XLA has chosen the placement of arguments that had none.
        self._chosen = jax.tree.leaves(self._compiled.input_shardings, is_leaf=lambda each: each is None)

    def takes(self, body, leaves):
        """Returns true if this program can run `body` (`_text_without_placement`) with these arguments too: each is
        placed where this program was told that the argument would be, or, where it was told nothing, where the
        program takes it."""
        if self.program is None or body != self._body:
            return False
        for leaf, said, chosen in zip(leaves, self._placements, self._chosen, strict=True):
            given = _placement_of(leaf)
            if given != said and (said is not None or chosen is None
                                  or not given.is_equivalent_to(chosen, len(leaf.shape))):
                return False
        return True

    def __call__(self, args, kwargs):
        if self.program is None:
            return self._step(*args, **kwargs)
        if self._static:
            args, kwargs = _without_static(self._static, args, kwargs)
        self.program.about_to_run()
        results = self._compiled(*args, **kwargs)
        self.program.dispatched()  # skipped where JAX rejected the arguments
        return results


# JAX has no public way to replace the lowered module by another. JAX 0.7 to 0.12 have these private names.
_PRIVATE_NAMES = ("_hlo", "_executable", "_device_list")


def _lowering_of(lowered):
    lowering = getattr(lowered, "_lowering", None)
    if missing := [name for name in _PRIVATE_NAMES if not hasattr(lowering, name)]:
        raise RuntimeError(f"JAX {jax.__version__} keeps no {missing[0]} in what it lowers, where cgx puts the rewritten "
                           "step; JAX 0.10 does. cgx_jax.export_step and cgx-run do without")
    return lowering


def parse_module(text):
    """Parses the text of a module in JAX's own form."""
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    with mlir.make_ir_context():
        return ir.Module.parse(text)


def _devices_of(lowered):
    """Returns the devices of the ranks, in their order."""
    return tuple(_lowering_of(lowered)._device_list)


def _compile_instead(lowered, module):
    """Compiles the text of a module that has the signature of the lowered step."""
    # These are copies, because JAX keeps what it lowered for the next call of the step itself.
    rewritten, lowering = copy.copy(lowered), copy.copy(_lowering_of(lowered))
    lowering._hlo = parse_module(module)
    lowering._executable = None  # otherwise JAX would run the executable of the old module
    rewritten._lowering = lowering
    return rewritten.compile()


def _static_parameters(step):
    """Returns the numbers and names of the static arguments of a jitted function, which programs do not take."""
    info = getattr(step, "_jit_info", None)
    numbers, names = getattr(info, "static_argnums", ()) or (), getattr(info, "static_argnames", ()) or ()
    return (frozenset(numbers), frozenset(names)) if numbers or names else None


def _without_static(static, args, kwargs):
    numbers, names = static
    kept = tuple(each for index, each in enumerate(args) if not _is_static(index, len(args), numbers))
    return kept, {name: each for name, each in kwargs.items() if name not in names}


def _is_static(index, count, numbers):
    return index in numbers or index - count in numbers
