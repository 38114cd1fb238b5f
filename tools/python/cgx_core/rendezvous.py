"""Lets the processes of a job that a framework started find each other through the framework's own store."""

import json
import os
import pathlib
import secrets
import socket
import time
import typing

from cgx_core.context import Rendezvous, RuntimeFailure
from cgx_core.libraries import LibraryError, open_library


class Store(typing.Protocol):
    """A store of texts that all processes share. It may outlive them, with the entries that they left."""

    def set(self, key, text):
        """Sets a key, even if it has a value."""

    def get(self, key, seconds):
        """Returns the text of a key once it exists. Raises TimeoutError where it does not appear in time. Other threads
        of this process can use the store meanwhile."""


def agree(own, processes, what, program_hash, store, prefix, transport=None, timeout=30.0, toward=None,
          order=None, options=None):
    """Returns (job, transport, tcp_rendezvous): a name that these processes share and no other job has, the transport
    between them, and a Rendezvous for ranks of "tcp", or None where there is one process.

    Args:
      own: the number of this process.
      processes: the numbers of all that take part.
      what: the subject of the agreement, for messages: "step number 0".
      program_hash: the hash of the program that each of them compiled; if they differ, all of them fail.
      store: a Store.
      prefix: of keys in the store, equal for this agreement in all processes, and different for any other one.
      transport: of the runtime; None takes one that fits the processes.
      timeout: seconds that a process waits for another.
      toward: a host that all of them reach, such as the one that has the store.
      order: the order of the ranks, for example of their devices; equal in all processes.
      options: {name: value} with which the program was compiled. If programs differ, the differing options are named.
    """
    nonce = secrets.token_hex(8)
    if set(processes) == {own}:
        return nonce, transport or "inproc", None
    hello = {"nonce": nonce, "hash": program_hash, "host": _host(), "transport": transport, "order": order,
             "options": options or {}, "has_mpi": _has_mpi(), "address": toward and _address_toward(toward)}
    take_part = _preside if own == min(processes) else _attend
    answers, job = take_part(own, sorted(processes), what, hello, store, prefix, timeout)
    _check_programs(answers, what)
    _check_equal(answers, "order", f"processes give {what} other meshes", "the same devices in the same order")
    _check_equal(answers, "transport", f"processes want different transports for {what}", "the same transport=")
    chosen = transport or _between({answer["host"] for answer in answers.values()}, all(answer["has_mpi"] for answer in answers.values()))
    addresses = [answers[process]["address"] for process in sorted(processes) if process != own]
    return job, chosen, Rendezvous(store, _own_address(hello["address"], addresses))


# A store may still hold entries of processes that are gone, when a launcher has restarted the ranks after a
# fault. The first process draws a number for each life of the job, and keys that start with it belong to that
# life. Another process knows that a number is that of its own life once the answer contains the nonce that
# the process itself has drawn.

_ANSWERED_WITHIN = 5.0  # seconds beyond its timeout in which the first process reports who did not come


def _preside(own, processes, what, hello, store, prefix, timeout):
    """Collects the hellos of all processes and sends them to all. Returns ({process: hello}, job)."""
    deadline = time.monotonic() + timeout
    job, hellos, missing = hello["nonce"], {own: hello}, None
    store.set(f"{prefix}/life", job)
    for process in processes:
        if process == own:
            continue
        try:
            # A process that comes late gets no answer; the others learn which one all are waiting for.
            hellos[process] = json.loads(store.get(f"{prefix}/{job}/{process}", max(deadline - time.monotonic(), 0)))
        except Exception as error:
            missing = missing or _absence(process, what, timeout, error)
    store.set(f"{prefix}/{job}/answer", json.dumps({"missing": missing, "hellos": sorted(hellos.items())}))
    if missing:
        raise RuntimeFailure(missing)
    return hellos, job


def _attend(own, processes, what, hello, store, prefix, timeout):
    """Sends a hello to the first process of this life, and waits for its answer. Returns ({process: hello}, job)."""
    deadline, told, said = time.monotonic() + timeout, None, None
    while True:
        try:
            job = store.get(f"{prefix}/life", max(deadline - time.monotonic(), 0))
            if job != told:
                store.set(f"{prefix}/{job}/{own}", json.dumps(hello))
                told, deadline = job, time.monotonic() + timeout + _ANSWERED_WITHIN
            answer = json.loads(store.get(f"{prefix}/{job}/answer", min(1.0, max(deadline - time.monotonic(), 0))))
        except TimeoutError as error:
            if time.monotonic() >= deadline:
                # An answer to other processes says more than the timeout.
                raise RuntimeFailure(said or _absence(processes[0], what, timeout, error)) from None
            continue
        except Exception as error:
            raise RuntimeFailure(said or _absence(processes[0], what, timeout, error)) from None
        hellos = {int(process): each for process, each in answer["hellos"]}
        if hellos.get(own, {}).get("nonce") == hello["nonce"]:
            if answer["missing"]:
                raise RuntimeFailure(answer["missing"])
            return hellos, job
        said = answer["missing"] or (f"process {processes[0]} has answered other processes for {what}, which are gone, and did not "
                                     f"come again within {timeout:g} s")
        if time.monotonic() >= deadline:
            raise RuntimeFailure(said)
        time.sleep(0.05)  # the answer belongs to an earlier life, whose number is about to be replaced


def _absence(process, what, timeout, error):
    return (f"process {process} compiled no {what} with cgx within {timeout:g} s: do all processes compress the same steps? "
            f"({error})")


def _check_equal(answers, field, complaint, wanted):
    values = {process: answer[field] for process, answer in answers.items()}
    if any(value != values[min(values)] for value in values.values()):
        raise RuntimeFailure(f"{complaint}, {values}: give all of them {wanted}")


def _check_programs(answers, what):
    """Raises RuntimeFailure where processes compiled different programs."""
    hashes = {process: answer["hash"] for process, answer in answers.items()}
    if len(set(hashes.values())) == 1:
        return
    complaint = f"processes compiled {what} to different programs"
    # Plans are copied to files of their own per process, and programs are named after their contents, so these options
    # may differ.
    names = sorted({name for answer in answers.values() for name in answer["options"]} - {"plan", "program"})
    said = [f"{name} is {_by_value({process: answer['options'].get(name, 'not given') for process, answer in answers.items()})}"
            for name in names if len({answer["options"].get(name) for answer in answers.values()}) > 1]
    if said:
        raise RuntimeFailure(f"{complaint}: {'; '.join(said)}: give all of them the same options")
    raise RuntimeFailure(f"{complaint} by the same options ({_by_value(hashes)}): expected the same model or step, with the same names and "
                         "shapes, and the same plan on all of them")


def _by_value(values):
    """Returns values with their processes, such as "4 in process 0, 2; 5 in process 1"."""
    processes = {}
    for process, value in sorted(values.items()):
        processes.setdefault(str(value), []).append(str(process))
    return ", ".join(f"{value} in process {' and '.join(which)}" for value, which in processes.items())


def _host():
    """Returns a text that is equal for processes that share memory and a network, as the runtime tells hosts apart
    (transport/routed)."""
    places = [pathlib.Path("/proc/self/ns/net"), pathlib.Path("/dev/shm")]
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id")  # tells clones of a machine apart, which share everything else
    numbers = [f"{status.st_dev}.{status.st_ino}" for status in (place.stat() for place in places if place.exists())]
    return "/".join([os.environ.get("CGX_HOST", ""), socket.gethostname(), boot.read_text().strip() if boot.exists() else "",
                     *numbers])


def _address_toward(host):
    """Returns the address from which this host reaches another, and at which it can be reached; None where there is no
    route."""
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(place)  # sends nothing
            return probe.getsockname()[0]
    except OSError:
        return None


def _own_address(own, others):
    """Returns the address at which the others reach this host. A host knows itself by the loopback, which the others
    cannot use; then the route to one of them gives the address."""
    far = [each for each in others if each and not _is_loopback(each)]
    if far and (own is None or _is_loopback(own)):
        return _address_toward(far[0])
    return own


def _is_loopback(address):
    return address.startswith("127.") or address == "::1"


def _between(hosts, has_mpi):
    """Returns the transport that fits processes on these hosts."""
    if len(hosts) == 1:
        return "shm"
    return "shm+mpi" if has_mpi else "shm+tcp"


def _has_mpi():
    """Returns true if Open MPI's mpirun has started this process and the library that calls it can be loaded. MPICH's
    variables are those of Slurm, which are also set where there are no MPI ranks, as for torchrun on each host; so
    MPICH is used only if requested."""
    try:
        return "OMPI_COMM_WORLD_RANK" in os.environ and bool(open_library("cgx_mpi"))
    except (LibraryError, OSError):
        return False
