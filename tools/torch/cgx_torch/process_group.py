"""Who takes part, and how they find each other: torch.distributed has told them already."""

import datetime
import itertools
import os

import torch.distributed as dist
from cgx_core import rendezvous
from cgx_core.context import RuntimeFailure

_numbers = {}  # of the agreements of each group, by its ranks


class ProcessGroup:
    """The ranks of a process group, as numbers from 0."""

    def __init__(self, group=None):
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeFailure("cgx finds the other ranks through torch.distributed: call init_process_group first")
        self.group = group
        self.rank, self.ranks = dist.get_rank(group), dist.get_world_size(group)
        if self.rank < 0:
            raise RuntimeFailure("this process is not one of its process group")
        self.members = _members_of(group)
        self._scope = "world" if group is None or group is dist.group.WORLD else "-".join(map(str, self.members))

    def agree(self, program_hash, transport, timeout):
        """Returns (job, transport, meeting) of `rendezvous.agree` once all ranks compiled the same program."""
        number = next(_numbers.setdefault(self._scope, itertools.count()))
        job, chosen, meeting = rendezvous.agree(
            self.rank, range(self.ranks), f"set of gradients number {number}", program_hash, _Store(),
            f"cgx/{self._scope}/{number}", transport=transport, timeout=timeout, toward=os.environ.get("MASTER_ADDR"))
        return f"torch-{job}", chosen, meeting


class _Store:
    """That of torch.distributed, as a `rendezvous.Store`."""

    def __init__(self):
        # Private, but the same from 1.13 to 2.15. An object collective would hang where one rank does not take part.
        self._store = dist.distributed_c10d._get_default_store()

    def set(self, key, text):
        self._store.set(key, text)

    def get(self, key, seconds):
        self._store.wait([key], datetime.timedelta(seconds=seconds))
        return self._store.get(key).decode()


def _members_of(group):
    """The ranks of a group, in order, as torch.distributed numbers them."""
    if group is None or group is dist.group.WORLD:
        return list(range(dist.get_world_size()))
    if hasattr(dist, "get_process_group_ranks"):
        return sorted(dist.get_process_group_ranks(group))
    return sorted(dist.distributed_c10d._pg_group_ranks[group])  # 1.13
