"""Compresses the communication of every training step that JAX compiles from now on, without a change to the script.

JAX compiles all jitted functions at one place, which takes the lowered module and its devices. There the module is rewritten,
as by `compress`, before JAX asks its caches: the persistent cache keys what was rewritten, with its options. JAX's public
transformations of HLO come later, when gradients were fused into one all-reduce and shardings are gone, and would not be in
the key of that cache.
"""

import atexit
import dataclasses
import fnmatch
import functools
import hashlib
import re
import threading

import jax
from cgx_core import compiler
from cgx_core.adaptation import adaptation_of
from cgx_core.choices import ERROR_FEEDBACK, check_choice, check_connection
from cgx_core.codecs import in_words
from cgx_core.plans import plan_text
from cgx_core.warned import text_of, warn
from cgx_jax.compress import open_program, parse_module, rewrite
from cgx_jax.errors import ExportError
from cgx_jax.options import check_options
from cgx_jax.runtime import identity_of, place_of

_COLLECTIVE = re.compile(r"stablehlo\.(all_reduce|reduce_scatter|all_gather|all_to_all|collective_permute|collective_broadcast)")
# A step that leaves its collectives to a partitioner needs a child process, which takes seconds. A step without any of
# these operations does not train, so it is skipped.
_PRODUCT = re.compile(r"stablehlo\.(dot_general|convolution)")

_installed = None


def install(*, bits=None, select=None, exclude=None, plan=None, codec=None, error_feedback=None, overlap=None, adapt=None,
            transport=None, seed=0, timeout=30.0, report=False, **options):
    """Rewrites every jitted step over several devices in which the compiler finds gradients, from now on, when JAX
    compiles it. The first process prints once per step what was done. A step in which nothing would be compressed is
    left to JAX; so is one that the compiler rejects, with a warning.

    Args:
      select: names of jitted functions to rewrite, a pattern or a list of them: "train_*". All by default.
      report: True prints what travels, layer by layer, and not only the sum.
      others: as of `cgx_jax.compress`.

    Returns:
      An Installation: its `steps` by the names of functions ("step", and "step 2" where it was compiled for other shapes),
      and `uninstall`. Where nothing was compressed at all, that is said at the end, with the reasons.

    Raises:
      CompileError: an option is wrong.
      RuntimeError: this JAX has no such place; or `install` was called before.
    """
    global _installed
    if _installed is not None:
        raise RuntimeError("cgx_jax.install() was called before: call uninstall() of what it returned first")
    check_choice("error_feedback", error_feedback or None, ERROR_FEEDBACK)
    options = in_words(dict(options, bits=bits, exclude=exclude, codec=codec, error_feedback=error_feedback, overlap=overlap))
    check_options(options)
    check_connection(transport, seed, timeout)
    names = [select] if isinstance(select, str) else select
    _installed = Installation(options, plan, names, report,
                              {"transport": transport, "seed": seed, "timeout": timeout, "adapt": adaptation_of(adapt)})
    return _installed


class Installation:
    """The object that `install` returns."""

    def __init__(self, options, plan, select, prints, connection):
        self.steps = {}
        self._left = {}  # functions left to JAX, and why, by name
        self._options, self._plan, self._select = options, plan, select
        self._prints, self._connection = prints, connection
        self._steps_by_text = {}
        self._lock, self._locks = threading.Lock(), {}
        self._programs = {}  # by the identity of executables, which live as long as this
        self._executables = []
        self._restore = _replace(self)

    def uninstall(self):
        """Leaves to JAX the steps that are compiled from now on. Steps that were rewritten stay so."""
        global _installed
        if _installed is self:
            self._restore()
            _installed = None
            self._say_nothing_was_done()

    def _say_nothing_was_done(self):
        """Warns that no step was rewritten: training ran as it does without cgx, which is not what was requested."""
        if not self.steps:
            listed = "; ".join(f"{name}: {reason}" for name, reason in self._left.items())
            warn("cgx_jax.install() compressed nothing: " + (listed or "no function over several devices was compiled that sends anything "
                                                              "or multiplies matrices" +
                                                              (f", of those that select={self._select} names" if self._select else "")))

    def step_for(self, backend, module, devices):
        """Returns the step that replaces a module, or None where it is left to JAX."""
        return self._step_of(backend, module, devices) if len(devices) > 1 else None

    def keep(self, executable, program):
        """Records the program that an executable runs."""
        self._programs[id(executable)] = program
        self._executables.append(executable)

    def program_of(self, executable):
        """Returns the program that an executable runs, or None where it is none of ours."""
        return self._programs.get(id(executable))

    def _step_of(self, backend, module, devices):
        name = module.operation.attributes["sym_name"].value.removeprefix("jit_")
        if self._select and not any(fnmatch.fnmatch(name, each) for each in self._select):
            return None
        text = module.operation.get_asm(enable_debug_info=True)
        if "@cgx_begin_step" in text or not (_COLLECTIVE.search(text) or _PRODUCT.search(text)):
            return None
        if place_of(backend) is None:
            self._left[name] = f"it is for {backend.platform}"
            warn(f"{name} is left to JAX: cgx_jax runs on CPUs or on CUDA GPUs, and this is for {backend.platform}")
            return None
        key = hashlib.sha256("\0".join([text, repr(sorted(self._options.items(), key=str)), repr(self._connection),
                                        plan_text(self._plan) if self._plan is not None else ""]).encode()).hexdigest()[:16]
        with self._lock:
            compiling = self._locks.setdefault(key, threading.Lock())
        with compiling:  # locks this step only; others are compiled on other threads, in an order of their own
            if key not in self._steps_by_text:
                self._steps_by_text[key] = self._rewritten(name, f"cgx-{key}", module, text, tuple(devices))
        return self._steps_by_text[key]

    def _rewritten(self, name, program, module, text, devices):
        """Returns the rewritten step, or None where it is left to JAX."""
        signature = next(str(op.attributes["function_type"]) for op in module.body.operations
                         if op.operation.name == "func.func" and op.attributes["sym_name"].value == "main")
        identity = dataclasses.replace(identity_of(f"installed {name} {signature}"), name=program)
        try:
            compilation = rewrite(module, text, self._options, self._plan, program)
        except (compiler.CompileError, ExportError) as error:
            self._left[name] = "the compiler refused it"
            warn(f"{name} is left to JAX: {error}")
            return None
        if all(layer["codec"] == "identity" for layer in compilation.report_json["layers"]):
            said = [each.message for each in compilation.diagnostics if each.severity == "warning"]
            self._left[name] = "; ".join(said) or "nothing of it would be compressed"
            return None
        for diagnostic in compilation.diagnostics:
            if diagnostic.severity == "warning":
                warn(f"{name}: {text_of(diagnostic)}")
        step = InstalledStep(name, compilation, open_program(identity, compilation, devices, self._connection))
        same = sum(each.name == name for each in self.steps.values())
        self.steps[f"{name} {same + 1}" if same else name] = step
        if jax.process_index() == 0:
            print(compilation.report if self._prints else step.summary(), end="", flush=True)
        return step


class InstalledStep:
    """A step that was rewritten."""

    def __init__(self, name, compilation, program):
        self.name, self.compilation, self.program = name, compilation, program

    def summary(self):
        """Returns one line on what is sent."""
        data = self.compilation.report_json
        compressed = sum(layer["codec"] != "identity" for layer in data["layers"])
        raw, wire = (max(data[name], default=0) for name in ("raw_bytes_by_rank", "wire_bytes_by_rank"))
        return (f"cgx: {self.name}: {compressed} of {len(data['layers'])} tensors compressed, {raw} -> {wire} bytes per rank "
                f"and step\n")

    def report(self, format="text"):
        """Returns the report; see `cgx_jax.compress` for this and the following methods."""
        return self.compilation.report if format == "text" else self.compilation.report_json

    def diagnostics(self):
        return self.compilation.diagnostics

    def telemetry(self):
        return self.program.telemetry()

    def plan(self):
        return self.program.plan

    def adopt_plan(self, plan):
        self.program.adopt_plan(plan_text(plan))

    def state_dict(self):
        return self.program.state_dict()

    def load_state_dict(self, state):
        self.program.load_state_dict(state)


def _replace(installation):
    """Installs the hooks where JAX compiles and runs. Returns a function that removes them."""
    from jax._src import compiler as jax_compiler
    from jax._src.interpreters import pxla
    compile_module = getattr(jax_compiler, "compile_or_get_cached", None)
    unsafe_call = getattr(getattr(pxla, "MeshExecutable", None), "unsafe_call", None)
    if compile_module is None or not isinstance(unsafe_call, property):
        raise RuntimeError(f"JAX {jax.__version__} lacks the place where cgx_jax.install rewrites steps (compile_or_get_cached, "
                           "MeshExecutable.unsafe_call), which 0.10 has: write step = cgx_jax.compress(step) instead")

    @functools.wraps(compile_module)
    def compile_or_get_cached(backend, computation, devices, compile_options, host_callbacks, executable_devices, *rest,
                              **named):
        step = installation.step_for(backend, computation, executable_devices)
        module = computation if step is None else parse_module(step.compilation.module)
        executable = compile_module(backend, module, devices, compile_options, host_callbacks, executable_devices, *rest,
                                    **named)
        if step is not None:
            installation.keep(executable, step.program)
        return executable

    def call_of(executable):
        call, program = unsafe_call.fget(executable), installation.program_of(executable.xla_executable)
        if program is None:
            return call

        def run(*arguments):  # no ExecuteReplicated, which JAX would call from C++
            program.about_to_run()
            results = call(*arguments)
            program.dispatched()
            return results
        return run

    jax_compiler.compile_or_get_cached = compile_or_get_cached
    pxla.MeshExecutable.unsafe_call = property(call_of)

    def restore():
        # Rewritten executables still report when they run.
        jax_compiler.compile_or_get_cached = compile_module
    return restore


@atexit.register
def _say_at_the_end():
    from jax._src import distributed  # jax.process_index() would start JAX where the script has not
    if _installed is not None and not distributed.global_state.process_id:
        _installed._say_nothing_was_done()
