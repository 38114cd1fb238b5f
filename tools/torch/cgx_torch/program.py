"""One compiled set of gradients, connected to the other ranks."""

import ctypes
import functools
import re

from cgx_core import compiler, context
from cgx_core.context import Failed, RuntimeFailure
from cgx_core.libraries import open_library, text
from cgx_core.saved_state import check_fits
from cgx_torch import module
from cgx_torch.memory import Memory


@functools.cache
def _runtime():
    library = open_library("cgx_runtime")
    context.declare(library)
    return library


def _check(status):
    if status:
        raise RuntimeFailure(text(_runtime().cgx_last_error()))


class Program:
    """The decisions about the gradients, and this rank's context. Only one thread uses it."""

    def __init__(self, compilation, group, *, transport, seed, timeout, stream=None, part=""):
        """Connects to the other ranks.

        Args:
          compilation: of `layers.decide`.
          group: a ProcessGroup.
          transport: of the runtime; None takes what fits.
          seed: of stochastic rounding.
          timeout: seconds.
          part: what the program is of the group, as of `ProcessGroup.agree`.
          stream: a CUDA stream (its address), where gradients lie on a GPU.
        """
        self._take(compilation)
        self._context = ctypes.c_void_p()
        self.transport = None
        if self._places:  # several ranks
            self._connect(group, transport, seed, timeout, stream, part)

    def _take(self, compilation):
        self.compilation = compilation
        self._places = module.places_of(compilation.manifest)
        self._sizes = {each["id"]: len(each["operands"]) for each in compilation.manifest["collectives"]}

    def regroup(self, compilation):
        """Continues with the same gradients in other collectives, between two steps, on all ranks. The state of the
        codecs is kept; counters start from zero."""
        _check(_runtime().cgx_context_adopt_program(self._context, compilation.manifest_text.encode()))
        self._take(compilation)

    def _connect(self, group, transport, seed, timeout, stream, part):
        job, self.transport, tcp_rendezvous = group.agree(self.compilation.manifest["hash"], transport, timeout, part,
                                                          compiler.words_of(self.compilation.options))
        config = context.config(self.transport, job, group.rank, group.ranks, seed, timeout, self.compilation.manifest_text)
        try:
            self._context = context.create(_runtime(), config, tcp_rendezvous)
        except Failed:
            message = text(_runtime().cgx_last_error())
            raise RuntimeFailure(tcp_rendezvous.explain(message) if tcp_rendezvous else message) from None
        if stream is not None:
            _check(_runtime().cgx_context_use_cuda(self._context, stream))

    @property
    def communicates(self):
        return bool(self._context)

    def fits(self, names):
        """Returns true if the gradients of these parameters fill whole collectives."""
        collectives = [self._places[name][0] for name in names]
        return all(collectives.count(each) == self._sizes[each] for each in set(collectives))

    def begin_step(self, step):
        _check(_runtime().cgx_context_begin_step(self._context, step))

    def end_step(self):
        """Ends the step. Raises the errors since it began."""
        _check(_runtime().cgx_context_end_step(self._context))

    def reduce(self, gradients, unused=()):
        """Averages gradients, {name: address}, in place. `end_step` reports errors. A collective of which all operands
        are `unused` sends nothing."""
        order, used = [], {self._places[name][0] for name in gradients if name not in unused}
        for name, address in gradients.items():
            collective, operand = self._places[name]
            if collective not in used:
                continue
            if collective not in order:
                order.append(collective)
            _runtime().cgx_rt_operand(self._context.value, collective, operand, address, address)
        for collective in order:
            _runtime().cgx_rt_run(self._context.value, collective)

    def run(self, collective, operands):
        """Runs one collective on the addresses of its operands. Raises the errors since the step began."""
        for index, (source, target) in enumerate(operands):
            _runtime().cgx_rt_operand(self._context.value, collective, index, source, target)
        _runtime().cgx_rt_run(self._context.value, collective)
        _check(_runtime().cgx_context_check(self._context))

    def telemetry(self):
        return self._call(context.telemetry_of) if self._context else {}

    def adopt_plan(self, plan):
        if self._context:
            _check(_runtime().cgx_context_adopt_plan(self._context, plan.encode()))

    def begin_profile(self):
        self._call(context.begin_profile)

    def end_profile(self):
        return self._call(context.end_profile)

    def adapt(self, solver):
        """Ends the profile, continues with a plan made from it, and returns the plan."""
        return self._call(context.adapt, solver)

    def memory(self):
        """Returns the state of the codecs, in place: a Memory."""
        views = self._call(context.typed_state_of) if self._context else {}
        return Memory({_stable(name): typed for name, typed in views.items()})

    def state(self):
        """Returns the state of the codecs, {name: bytes}. Names contain the layer, not its collective."""
        return {name: bytes(view) for name, view in self._state_views().items()}

    def load_state(self, tensors):
        """Writes back the result of `state`."""
        views = self._state_views()
        check_fits({name: len(view) for name, view in views.items()}, {name: len(each) for name, each in tensors.items()}, "the state")
        for name, view in views.items():
            ctypes.memmove(view, tensors[name], len(view))

    def close(self):
        _runtime().cgx_context_destroy(self._context)
        self._context = ctypes.c_void_p()

    def _state_views(self):
        if not self._context:
            return {}
        return {_stable(name): view for name, view in self._call(context.state_of).items()}

    def _call(self, function, *arguments):
        try:
            return function(_runtime(), self._context, *arguments)
        except Failed as failed:
            _check(failed.status)


def _stable(name):
    """Removes the collective from a name: residual[3.0 fc1.weight].result -> residual[fc1.weight].result"""
    return re.sub(r"^(\w+)\[\d+\.\d+ ", r"\1[", name)
