"""Support of torch's GradScaler: codec state has the scale of the loss, and a skipped step leaves it unchanged."""

import functools
import threading
import weakref

import torch

_lock = threading.Lock()
_states = weakref.WeakSet()
_stepped = weakref.WeakKeyDictionary()  # the states whose parameters a scaler has stepped since its last update
_scalers = weakref.WeakSet()  # scalers that have scaled a loss


def follow(state):
    """Lets a state follow what scalers do with its parameters from now on."""
    with _lock:
        _states.add(state)
        _watch()


def is_in_use():
    """Returns true if an enabled scaler exists."""
    return any(each.is_enabled() for each in list(_scalers))


@functools.cache
def _watch():
    """Intercepts the methods of scalers, which offer no hooks. Subclassing would not do: scalers may share an
    optimizer's class and need have no common base."""
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler  # the former as of torch 2.3
    scale, step, update = scaler.scale, scaler.step, scaler.update

    @functools.wraps(scale)
    def scale_and_tell(self, *args, **kwargs):
        _scalers.add(self)
        return scale(self, *args, **kwargs)

    @functools.wraps(step)
    def step_and_tell(self, optimizer, *args, **kwargs):
        result = step(self, optimizer, *args, **kwargs)
        if self.is_enabled():
            parameters = {id(each) for group in optimizer.param_groups for each in group["params"]}
            for state in [each for each in list(_states) if each.has_any_of(parameters)]:
                _stepped.setdefault(self, weakref.WeakSet()).add(state)
                found = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"].values()
                state.settle(parameters, any(each.item() for each in found))
        return result

    @functools.wraps(update)
    def update_and_tell(self, *args, **kwargs):
        states = list(_stepped.pop(self, ()))
        before = self.get_scale() if states else 1.0
        result = update(self, *args, **kwargs)
        after = self.get_scale() if states else 1.0
        if after != before:
            for state in states:
                state.rescale(after / before)
        return result

    scaler.scale, scaler.step, scaler.update = scale_and_tell, step_and_tell, update_and_tell
