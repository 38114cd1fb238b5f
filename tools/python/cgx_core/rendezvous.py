"""How the processes of a job that a framework started find each other: through the framework's own store."""

import json
import os
import secrets
import socket

from cgx_core.context import RuntimeFailure


def agree(own, processes, what, program_hash, publish, fetch, transport=None, timeout=30.0):
    """Returns (job, transport): a name that these processes share and no other job has, and what lies between them.

    Args:
      own: the number of this process.
      processes: the numbers of all that take part.
      what: what they agree on, for messages: "step number 0".
      program_hash: of what each of them compiled; equal, or all of them fail.
      publish: function of a text, which the others then can fetch.
      fetch: function of a process and a timeout in seconds, giving the text that it published; it raises where there is
        none in time.
      transport: of the runtime; None takes what fits the processes.
      timeout: seconds that a process waits for another.
    """
    nonce = secrets.token_hex(8)
    if set(processes) == {own}:
        return nonce, transport or "inproc"
    publish(json.dumps({"nonce": nonce, "hash": program_hash, "host": socket.gethostname()}))
    answers = {}
    for process in sorted(processes):
        try:
            answers[process] = json.loads(fetch(process, timeout))
        except Exception as error:
            raise RuntimeFailure(f"process {process} compiled no {what} with cgx within {timeout:g} s: do all processes "
                                 f"compress the same steps? ({error})") from None
    hashes = {process: answer["hash"] for process, answer in answers.items()}
    if len(set(hashes.values())) > 1:
        raise RuntimeFailure(f"processes compiled {what} to different programs, {hashes}: give all of them the same "
                             "options and the same step")
    return answers[min(processes)]["nonce"], transport or _between({answer["host"] for answer in answers.values()})


def _between(hosts):
    """The transport that fits processes on these hosts."""
    if len(hosts) == 1:
        return "shm"
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        return "shm+mpi"
    raise RuntimeFailure("the processes run on several hosts, between which the runtime needs MPI: start them with mpirun")
