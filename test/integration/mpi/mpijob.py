"""Runs a command as the ranks of one MPI job."""

import contextlib
import os
import subprocess
import tempfile
import time

from harness import children

MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "-mca", "pml", "ob1", "-mca", "btl", "self,vader",
          "-mca", "mpi_yield_when_idle", "1",
          # The place that it searches for space to share its topology may be a stack, which makes it crash.
          "-mca", "rtc_hwloc_vmhole", "none"] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])

# Open MPI 4.1's mpirun can deadlock with itself (PMIx_server_finalize) or crash after a rank has left without
# MPI_Finalize, as a rank of a failed job must: about one time in thirty, when all ranks have ended already.
PATIENCE_WITH_MPIRUN = 5


class MpiJob:
    """Starts a job at once. After `wait` it has `returncode` and `output` (of all ranks, both streams)."""

    def __init__(self, ranks, command, environment):
        self.ranks = ranks
        self.file = tempfile.TemporaryFile("w+")
        # Open MPI's jobs of one user share a folder, which a job that ends would remove while another starts.
        self.folder = tempfile.TemporaryDirectory(prefix="mpijob")
        self.process = subprocess.Popen([*MPIRUN, "-mca", "orte_tmpdir_base", self.folder.name, "-np", str(ranks), *map(str, command)],
                                        stdout=self.file, stderr=subprocess.STDOUT, env=environment | {"TMPDIR": self.folder.name})
        self.returncode = None

    def pids(self):
        """Returns the processes of the ranks that have started and not ended."""
        return children(self.process.pid)

    def started(self, timeout=60):
        """Returns the processes of all ranks, in the order of the ranks."""
        deadline = time.monotonic() + timeout
        while len(ranks := self.pids()) < self.ranks:
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError(f"the job did not start: {self.output}")
            time.sleep(0.1)
        return ranks

    @property
    def output(self):
        self.file.flush()
        return os.pread(self.file.fileno(), 1 << 24, 0).decode(errors="replace")

    def wait(self, timeout=120):
        """Waits for the job to end. Raises subprocess.TimeoutExpired when a rank does not."""
        deadline = time.monotonic() + timeout
        alone_since = None  # before the ranks have started, mpirun is alone legitimately
        while self.process.poll() is None:
            now = time.monotonic()
            if self.pids():
                alone_since = now
            elif alone_since is not None and now - alone_since > PATIENCE_WITH_MPIRUN:
                self.kill()
                return self
            if now > deadline:
                self.kill()
                raise subprocess.TimeoutExpired(self.process.args, timeout, self.output)
            time.sleep(0.05)
        self.returncode = self.process.returncode
        return self

    def __del__(self):
        self.file.close()
        with contextlib.suppress(OSError):  # the processes of a killed daemon may still write there
            self.folder.cleanup()

    def kill(self):
        for pid in [self.process.pid, *self.pids()]:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        self.returncode = self.process.wait()
