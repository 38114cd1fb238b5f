"""How the processes of a job that a framework started find each other: through the framework's own store."""

import json
import os
import secrets
import socket

from cgx_core.context import RuntimeFailure


def agree(own, processes, what, program_hash, publish, fetch, transport=None, timeout=30.0, meeting_host=None):
    """Returns (job, transport, meeting): a name that these processes share and no other job has, what lies between them,
    and, for "tcp", where they meet and a secret; None where the environment says that.

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
      meeting_host: an address of the first process that the others reach.
    """
    nonce = secrets.token_hex(8)
    if set(processes) == {own}:
        return nonce, transport or "inproc", None
    told = {"nonce": nonce, "hash": program_hash, "host": socket.gethostname()}
    if own == min(processes) and meeting_host and "CGX_TCP_RENDEZVOUS" not in os.environ:
        if place := _free_place(meeting_host):
            told["meeting"] = place, secrets.token_hex(32)
    publish(json.dumps(told))
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
    first = answers[min(processes)]
    chosen = transport or _between({answer["host"] for answer in answers.values()}, "meeting" in first)
    return first["nonce"], chosen, first.get("meeting")


def _free_place(host):
    """HOST:PORT, of an address of this host; None where it is another host's."""
    try:
        family, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as free:
            free.bind(address)
            host, port = free.getsockname()[:2]
            return f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"
    except OSError:
        return None


def _between(hosts, can_meet):
    """The transport that fits processes on these hosts."""
    if len(hosts) == 1:
        return "shm"
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        return "shm+mpi"
    if can_meet or "CGX_TCP_RENDEZVOUS" in os.environ:
        return "shm+tcp"
    raise RuntimeFailure("the processes run on several hosts and do not know where to meet: start them with mpirun, or set "
                         "CGX_TCP_RENDEZVOUS=HOST:PORT and CGX_TCP_SECRET for all of them")
