"""Runs exchanges of a sharded model while the training thread computes."""

import collections
import threading

import torch
import torch.distributed as dist
from cgx_torch.thread import Thread

MOST_REDUCTIONS = 2  # at a time: one is sent, the gradients of the other wait for it


class Overlap:
    """Runs exchanges in the order in which they were started, which is the same on all ranks.

    On a CPU, whose calls torch has no streams for, a thread runs them, and the training thread waits where torch does: for gathers as
    their weights are needed, for reductions as the backward pass ends. Who waits for what has not begun, runs what is to be run until
    then: a gather that is needed at once costs no change of threads. On a GPU exchanges are put between what streams have to do by the
    thread that starts them."""

    def __init__(self, device):
        self._thread = Thread() if device.type == "cpu" else None
        self._reductions = collections.deque()
        self._started = collections.deque()  # started, but not yet run
        # Notifies of the end of the exchange that runs, if one does.
        self._changed, self._runs = threading.Condition(), False

    def gather(self, body):
        """Starts a gather. Returns the Work that torch waits for, or None where there is nothing to wait for."""
        if self._thread is None:
            body()
            return None
        inferring = torch.is_inference_mode_enabled()  # the mode of this thread

        def gather():
            with torch.inference_mode(inferring), torch.no_grad():
                body()
        return self._start(gather, is_gather=True)

    def reduce(self, body):
        """Starts a reduction in a backward pass, whose end waits for it. Returns false elsewhere, where nothing would
        wait."""
        if self._thread is None or torch._C._current_graph_task_id() < 0:
            return False
        while len(self._reductions) >= MOST_REDUCTIONS:
            self._reductions.popleft().wait()
        started = self._start(body, is_gather=False)
        self._reductions.append(started)
        torch.autograd.Variable._execution_engine.queue_callback(_End(started))
        return True

    def settle(self):
        """Waits for all exchanges that were started. An error in one is raised by the next."""
        while self._started:
            self._run_next()
        with self._changed:
            self._changed.wait_for(lambda: not self._runs)

    @property
    def goes_on(self):
        """Returns true if exchanges continue after the calls that start them."""
        return self._thread is not None

    def stop(self, last):
        """Runs `last` after all exchanges that were started. From then on a caller runs its exchanges itself."""
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
        """Runs the next exchange once no other runs, `unless` the end of that one completed what the caller waits for.
        Returns true if it ran one."""
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
    """An exchange that was started. It is a Work because torch waits for nothing else."""

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
        """Returns once it has run, with the exchanges before it. A gather in a recomputed forward pass needs weights
        while torch has modes set that reductions must not see, so reductions are left to the thread."""
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
    """A callback at the end of a backward pass that waits for a reduction. A pass that fails drops it uncalled, and it
    has waited then too: no gradient arrives after the user believes that all have, or has dropped them."""

    def __init__(self, started):
        self._started = started

    def __call__(self):
        self._started.wait()

    def __del__(self):
        self._started.ended()
