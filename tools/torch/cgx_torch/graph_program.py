"""The collectives of one compiled graph, connected to the other ranks."""

import threading

from cgx_torch.program import Program


class GraphProgram(Program):
    """A graph calls its collectives one by one, in the same order on all ranks: a step begins with the first of them, and ends
    with the last."""

    def __init__(self, compilation, group, **connection):
        super().__init__(compilation, group, **connection)
        self.step = 0
        self._collectives = {each["id"] for each in compilation.manifest["collectives"]}
        self._left = set()
        self._lock = threading.Lock()

    def all_reduce(self, collective, operands):
        """The sums or means of these tensors over all ranks. Raises RuntimeFailure where it fails."""
        if not self.communicates:
            return [each.clone() for each in operands]
        operands = [each.contiguous() for each in operands]
        results = [each.new_empty(each.shape) for each in operands]
        with self._lock:
            if collective not in self._left:
                if self._left:  # of a call of the graph that did not come to its end
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
