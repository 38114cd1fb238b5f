"""Exchanges of a sharded model beside what the training thread computes."""

import collections
import threading

import torch
import torch.distributed as dist
from cgx_torch.thread import Thread

MOST_REDUCTIONS = 2  # in flight: one travels, the gradients of the other wait for it


class Overlap:
    """Runs exchanges in the order in which they were started, which is the same on all ranks.

    On a CPU, whose calls torch has no streams for, a thread runs them, and the training thread waits where torch does: for gathers as
    their weights are needed, for reductions as the backward pass ends. On a GPU they are put between what streams have to do by
    the thread that starts them."""

    def __init__(self, device):
        self._thread = Thread() if device.type == "cpu" else None
        self._reductions = collections.deque()

    def gather(self, body):
        """Starts it. The Work that torch waits for; None where there is nothing to wait for."""
        if self._thread is None:
            body()
            return None
        inferring = torch.is_inference_mode_enabled()  # of this thread

        def gather():
            with torch.inference_mode(inferring), torch.no_grad():
                body()
        return self._start(gather)

    def reduce(self, body):
        """Starts it in a backward pass, whose end waits for it. Whether it did: elsewhere nobody would wait."""
        if self._thread is None or torch._C._current_graph_task_id() < 0:
            return False
        while len(self._reductions) >= MOST_REDUCTIONS:
            self._reductions.popleft().wait()
        started = self._start(body)
        self._reductions.append(started)
        torch.autograd.Variable._execution_engine.queue_callback(_End(started))
        return True

    def settle(self):
        """Waits for all that was started. What of it failed is raised by what comes next."""
        if self._thread:
            self._thread.call(lambda: None)

    @property
    def goes_on(self):
        """Whether exchanges go on behind the calls that start them."""
        return self._thread is not None

    def stop(self, last):
        """Runs `last` behind all that was started. What comes later, the thread that starts it runs."""
        if self._thread:
            self._thread.stop(last)
            self._thread = None
        else:
            last()

    def _start(self, body):
        started = _Started()
        self._thread.submit(lambda: started.run(body))
        return started


class _Started(dist.Work):
    """What torch waits for, which it does only where that is a Work."""

    def __init__(self):
        super().__init__()
        self._done, self._error = threading.Event(), None

    def run(self, body):
        try:
            body()
        except BaseException as error:
            self._error = error
        self._done.set()

    def ended(self):
        self._done.wait()

    def is_completed(self):
        return self._done.is_set()

    def wait(self, timeout=None):
        self._done.wait()
        if self._error is not None:
            raise self._error
        return True


class _End:
    """What the end of a backward pass does for a reduction: it waits. A pass that fails drops it uncalled, and has waited, too: no
    gradient comes when the user believes that all are there, or has dropped them."""

    def __init__(self, started):
        self._started = started

    def __call__(self):
        self._started.wait()

    def __del__(self):
        self._started.ended()
