"""A thread that is the only one to use the runtime; the training thread hands it work."""

import queue
import threading


class Thread:
    """Runs the work that it is given, in that order."""

    def __init__(self):
        self._queue = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="cgx", daemon=True)
        self._thread.start()

    def submit(self, body):
        self._queue.put(body)

    def call(self, body):
        """Runs `body` after the work that was submitted. Returns or raises what it does."""
        done, answer = threading.Event(), {}

        def run():
            try:
                answer["value"] = body()
            except BaseException as error:
                answer["error"] = error
            done.set()

        self.submit(run)
        done.wait()
        if "error" in answer:
            raise answer["error"]
        return answer["value"]

    def stop(self, last):
        """Runs `last`, and ends the thread."""
        if self._thread.is_alive():
            self.call(last)
            self._queue.put(None)
            self._thread.join()

    def _serve(self):
        while (body := self._queue.get()) is not None:
            body()
            body = None  # frees the tensors before the next body arrives
