"""The collectives of one compiled graph, connected to the other ranks."""

import threading

from cgx_core.context import RuntimeFailure
from cgx_torch.program import Program


class GraphProgram(Program):
    """A graph calls its collectives one by one, in the same order on all ranks: a step begins with the first of them, and ends
    with the last. It meets the other ranks when it is first called: torch compiles one graph at a time, on each rank in the order
    in which its threads come, so that to meet there could wait for ever."""

    def __init__(self, compilation, group, **connection):
        self._lock = threading.Lock()
        self._left, self._later, self._is_closed = set(), None, False
        super().__init__(compilation, group, **connection)
        self.step = 0
        self._collectives = {each["id"] for each in compilation.manifest["collectives"]}

    def _connect(self, *arguments):
        self._later = arguments

    def connect(self):
        """Connects to the other ranks unless that has been done. The others must call it too."""
        with self._lock:
            if self._later and not self._is_closed:
                super()._connect(*self._later)
                self._later = None

    def close(self):
        self._is_closed = True
        super().close()

    def all_reduce(self, collective, operands):
        """Returns the sums or means of these tensors over all ranks. Raises RuntimeFailure where it fails."""
        if self._is_closed:
            raise RuntimeFailure("the backend of a compiled step is closed")
        self.connect()
        if not self.communicates:
            return [each.clone() for each in operands]
        operands = [each.contiguous() for each in operands]
        results = [each.new_empty(each.shape) for each in operands]
        with self._lock:
            if collective not in self._left:
                if self._left:  # left over from a call of the graph that did not finish
                    self._end()
                self.begin_step(self.step)
                self._left = set(self._collectives)
            self._left.discard(collective)
            self.run(collective, [(each.data_ptr(), result.data_ptr()) for each, result in zip(operands, results)])
            if not self._left:
                self._end()
        return results

    def _end(self):
        self._left = set()
        self.step += 1
        self.end_step()
