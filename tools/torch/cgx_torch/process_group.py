"""Connects the ranks of torch.distributed, which knows who takes part and offers a store."""

import hashlib
import os
import threading
import time
import weakref

import torch.distributed as dist
from cgx_core import rendezvous
from cgx_core.context import RuntimeFailure

_ABSENT = "cgx: no value"
_lock = threading.Lock()
_numbers = weakref.WeakKeyDictionary()  # the number of names that were made in each group so far


class ProcessGroup:
    """The ranks of a process group, as numbers from 0, of which one state or backend makes agreements.

    It is made on the thread of the user, where his program is the same on all ranks: the order in which these are made (or the
    name that he gave) is what ranks know them by. What happens on other threads, in whichever order, has its own name below."""

    def __init__(self, group=None, name=None):
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeFailure("cgx finds the other ranks through torch.distributed: call init_process_group first")
        self.group = group
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        if self.rank < 0:
            raise RuntimeFailure("this process is not one of its process group")
        self.members = _members_of(group)
        with _lock:
            made = _numbers.setdefault(group or dist.group.WORLD, {})
            made[name] = made.get(name, -1) + 1
            self._number = made[name]
        self._what = f"set of gradients number {self._number}" + (f" of {name!r}" if name else "")
        self._prefix = f"cgx/{_life()}{_name_of(group, self.members)}/{_digest(name)}{self._number}"
        self._counts = {}

    def agree(self, program_hash, transport, timeout, part="", options=None):
        """Returns (job, transport, tcp_rendezvous) of `rendezvous.agree` once all ranks compiled the same program.

        Args:
          part: what is agreed on, of the state or backend, which agrees on it again in the same order on all ranks.
          options: as of `rendezvous.agree`.
        """
        with _lock:
            number = self._counts[part] = self._counts.get(part, -1) + 1
        job, chosen, tcp_rendezvous = rendezvous.agree(
            self.rank, range(self.ranks), self._what, program_hash, _Store(), f"{self._prefix}/{_digest(part)}{number}",
            transport=transport, timeout=timeout, toward=os.environ.get("MASTER_ADDR"), options=options)
        return f"torch-{job}", chosen, tcp_rendezvous


def _life():
    """Returns a prefix that tells ranks that torchrun restarted from those before, in the same store."""
    if (run := os.environ.get("TORCHELASTIC_RUN_ID")) is None:
        return ""
    return f"{run}/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/"


def _digest(name):
    return hashlib.sha256(name.encode()).hexdigest()[:16] + "-" if name else ""


class _Store:
    """The store of torch.distributed, as a `rendezvous.Store`."""

    def __init__(self):
        # Private, but the same from 1.13 to 2.15. An object collective would hang where one rank does not take part.
        self._store = dist.distributed_c10d._get_default_store()

    def set(self, key, text):
        self._store.set(key, text)

    def get(self, key, seconds):
        # A wait would keep other threads from the store, also from setting what a peer waits for.
        deadline, pause = time.monotonic() + seconds, 0.001
        while not self._has(key):
            if time.monotonic() >= deadline:
                raise TimeoutError(f"the store of torch.distributed has no {key}")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        return self._store.get(key).decode()

    def _has(self, key):
        if hasattr(self._store, "check"):
            return self._store.check([key])
        # torch 1.13 has no check. A wait that ends by its timeout is none either: its answer comes later, where the next
        # one is expected.
        return self._store.compare_set(key, _ABSENT, _ABSENT) != _ABSENT.encode()


def _name_of(group, members):
    """Returns a name of a group that is equal on all ranks. torch makes such names."""
    if group is None or group is dist.group.WORLD:
        return "world"
    names = getattr(dist.distributed_c10d, "_pg_names", {})
    return f"{'-'.join(map(str, members))}/{names[group] if group in names else ''}"


def _members_of(group):
    """Returns the ranks of a group in order, numbered as in torch.distributed."""
    if group is None or group is dist.group.WORLD:
        return list(range(dist.get_world_size()))
    if hasattr(dist, "get_process_group_ranks"):
        return sorted(dist.get_process_group_ranks(group))
    return sorted(dist.distributed_c10d._pg_group_ranks[group])  # 1.13
