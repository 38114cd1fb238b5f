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
    their weights are needed, for reductions as the backward pass ends. Who waits for what has not begun, runs what is to be run until
    then: a gather that is needed at once costs no change of threads. On a GPU exchanges are put between what streams have to do by the
    thread that starts them."""

    def __init__(self, device):
        self._thread = Thread() if device.type == "cpu" else None
        self._reductions = collections.deque()
        self._started = collections.deque()  # and not begun
        self._changed, self._runs = threading.Condition(), False  # whether one runs, and who waits for its end

    def gather(self, body):
        """Starts it. The Work that torch waits for; None where there is nothing to wait for."""
        if self._thread is None:
            body()
            return None
        inferring = torch.is_inference_mode_enabled()  # of this thread

        def gather():
            with torch.inference_mode(inferring), torch.no_grad():
                body()
        return self._start(gather, is_gather=True)

    def reduce(self, body):
        """Starts it in a backward pass, whose end waits for it. Whether it did: elsewhere nobody would wait."""
        if self._thread is None or torch._C._current_graph_task_id() < 0:
            return False
        while len(self._reductions) >= MOST_REDUCTIONS:
            self._reductions.popleft().wait()
        started = self._start(body, is_gather=False)
        self._reductions.append(started)
        torch.autograd.Variable._execution_engine.queue_callback(_End(started))
        return True

    def settle(self):
        """Waits for all that was started. What of it failed is raised by what comes next."""
        while self._started:
            self._run_next()
        with self._changed:
            self._changed.wait_for(lambda: not self._runs)

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

    def _start(self, body, is_gather):
        started = _Started(body, is_gather, self._run_next)
        self._started.append(started)
        self._thread.submit(self._run_next)
        return started

    def _run_next(self, also_reductions=True, unless=None):
        """Runs the next one once no other runs, `unless` the end of that brought what is waited for. Whether it did."""
        with self._changed:
            self._changed.wait_for(lambda: not self._runs or (unless and unless.is_completed()))
            if (unless and unless.is_completed()) or not self._started or not (also_reductions or self._started[0].is_gather):
                return False
            started, self._runs = self._started.popleft(), True
        started.run()
        with self._changed:
            self._runs = False
            self._changed.notify_all()
        return True


class _Started(dist.Work):
    """What torch waits for, which it does only where that is a Work."""

    def __init__(self, body, is_gather, run_next):
        super().__init__()
        self.is_gather = is_gather
        self._body, self._run_next = body, run_next
        self._done, self._error = threading.Event(), None

    def run(self):
        try:
            self._body()
        except BaseException as error:
            self._error = error
        self._body = None
        self._done.set()

    def ended(self):
        """Returns once it was run, with what was started before it. Where weights are needed, in a forward pass that is done again for
        one, modes of torch are at work that are not for gradients: these are left to the thread."""
        while not self._done.is_set():
            if not self._run_next(also_reductions=not self.is_gather, unless=self):
                self._done.wait()

    def is_completed(self):
        return self._done.is_set()

    def wait(self, timeout=None):
        self.ended()
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
