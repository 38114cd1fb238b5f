"""Opens programs in the runtime (libcgx_xla.so, libcgx_runtime.so), and queries their ranks."""

import atexit
import ctypes
import dataclasses
import functools
import hashlib
import json
import threading

import jax
import numpy as np

from cgx_core import context, rendezvous
from cgx_core.adaptation import Adapter
from cgx_core.context import Failed, RuntimeFailure
from cgx_core.libraries import open_library, text
from cgx_core.saved_state import check_fits


class _ProgramConfig(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("context", context.Config), ("local_ranks", ctypes.POINTER(ctypes.c_uint32)),
                ("local_rank_count", ctypes.c_uint32), ("tcp", ctypes.POINTER(context.TcpConfig)),
                ("local_gpus", ctypes.POINTER(ctypes.c_int32))]


_ABI_VERSION = 1
_Visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
_HANDLERS = ("begin_step", "collective", "end_step")


@functools.cache
def _xla():
    """Returns libcgx_xla.so. The runtime's functions are found through it, because the process must use the one runtime
    that this library was linked with."""
    library = open_library("cgx_xla")
    context.declare(library)
    library.cgx_xla_last_error.restype = ctypes.c_char_p
    library.cgx_xla_program_open.argtypes = [ctypes.POINTER(_ProgramConfig)]
    library.cgx_xla_program_close.argtypes = [ctypes.c_char_p]
    library.cgx_xla_program_dispatch.argtypes = [ctypes.c_char_p]
    library.cgx_xla_program_visit.argtypes = [ctypes.c_char_p, _Visit, ctypes.c_void_p]
    library.cgx_xla_program_set_step.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
    library.cgx_xla_program_step.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64)]
    for platform, ending in (("cpu", ""), ("CUDA", "_cuda")):
        for name in _HANDLERS:
            handler = jax.ffi.pycapsule(getattr(library, f"cgx_xla_{name}{ending}"))
            jax.ffi.register_ffi_target(f"cgx_{name}", handler, platform=platform)
    return library


def place_of(client):
    """Returns where the devices of a client keep their tensors, "host" or "cuda", or None where cgx cannot reach them."""
    if client.platform == "cpu":
        return "host"
    return "cuda" if client.platform in ("gpu", "cuda") and "rocm" not in client.platform_version.lower() else None


def _gpus(devices):
    """Returns the number of each device in its process if they are CUDA GPUs, or None on the host. Raises
    RuntimeFailure for others."""
    places = {place_of(device.client) for device in devices}
    if len(places) > 1 or None in places:
        kinds = ", ".join(sorted({device.client.platform for device in devices}))
        raise RuntimeFailure(f"cgx_jax runs on CPUs or on CUDA GPUs, and the step's devices are: {kinds}")
    return None if places == {"host"} else [device.local_hardware_id for device in devices]


def _check(status):
    if status:
        raise RuntimeFailure(text(_xla().cgx_xla_last_error()))


class Program:
    """A rewritten step in the runtime: the ranks of this process, and their connection to the others."""

    def __init__(self, identity, manifest, devices, transport=None, seed=0, timeout=30.0, adapt=None,
                 options=None):
        """Args:
          identity: an Identity, of which the module has the name.
          manifest: JSON text.
          devices: of all ranks, in their order.
          transport: of the runtime, such as "shm"; None takes what fits the processes of the job.
          timeout: seconds that a rank waits for another.
          adapt: an Adaptation; None keeps the codecs.
          options: as of `rendezvous.agree`.
        """
        self.name = name = identity.name
        self.plan = None  # the plan that was made from the profile
        self._adapter, self._next_step = Adapter(adapt) if adapt else None, 0
        self.ranks = [rank for rank, device in enumerate(devices) if device.process_index == jax.process_index()]
        job, self.transport, tcp_rendezvous = _rendezvous(identity, json.loads(manifest)["hash"], devices, transport, timeout,
                                                          options)
        local = (ctypes.c_uint32 * len(self.ranks))(*self.ranks)
        gpus = _gpus([devices[rank] for rank in self.ranks])
        gpus = (ctypes.c_int32 * len(gpus))(*gpus) if gpus else None
        config = context.config(self.transport, job, 0, len(devices), seed, timeout, manifest)
        tcp = tcp_rendezvous.config() if tcp_rendezvous else None
        if _xla().cgx_xla_program_open(ctypes.byref(_ProgramConfig(
                ctypes.sizeof(_ProgramConfig), _ABI_VERSION, name.encode(), config, local, len(self.ranks),
                ctypes.pointer(tcp) if tcp else None, gpus))):
            message = text(_xla().cgx_xla_last_error())
            raise RuntimeFailure(tcp_rendezvous.explain(message) if tcp_rendezvous else message)
        _open[name] = self

    def about_to_run(self):
        """Says that JAX is about to execute the program: codecs that follow what is measured change here."""
        if self._adapter and (plan := self._adapter.before(self._next_step, self)):
            self.plan = plan

    def dispatched(self):
        """Says that JAX executes the program, and waits while it is many executions behind. Raises RuntimeFailure once a rank
        of this process has failed."""
        self._next_step += 1
        _check(_xla().cgx_xla_program_dispatch(self.name.encode()))

    def close(self):
        """Waits for running steps and closes the program, which cannot run afterwards."""
        if _open.pop(self.name, None):
            self._visit(lambda *_: None)  # runs after the executions that were dispatched
            _check(_xla().cgx_xla_program_close(self.name.encode()))

    def _visit(self, body):
        """Calls `body(rank, handle)` for each rank of this process, concurrently on their threads, between steps.
        Returns the results by rank."""
        results, raised = {}, []

        def visit(_, rank, handle):
            try:
                results[rank] = body(rank, handle)
                return 0
            except Failed as failed:
                return failed.status
            except BaseException as error:  # ctypes would only print it
                raised.append(error)
                return 0

        status = _xla().cgx_xla_program_visit(self.name.encode(), _Visit(visit), None)
        if raised:
            raise raised[0]
        _check(status)
        return dict(sorted(results.items()))

    def telemetry(self):
        """Returns the runtime's counters of the ranks of this process, by rank: the bytes they sent and how long that
        took."""
        return self._visit(lambda _, own: context.telemetry_of(_xla(), own))

    def adopt_plan(self, plan):
        """Takes the codecs of a plan (JSON text) from the next step on. All processes call it at the same time."""
        self._visit(lambda _, own: Failed.unless(_xla().cgx_context_adopt_plan(own, plan.encode())))

    def begin_profile(self):
        """Starts a profile with the next step. All processes call it at the same time."""
        self._visit(lambda _, own: context.begin_profile(_xla(), own))

    def end_profile(self):
        """Returns the profile of all ranks. All processes call it at the same time."""
        return next(iter(self._visit(lambda _, own: context.end_profile(_xla(), own)).values()))

    def adapt(self, solver):
        """Ends the profile, continues with a plan made from it, and returns the plan."""
        return next(iter(self._visit(lambda _, own: context.adapt(_xla(), own, solver)).values()))

    def state_dict(self):
        """Returns the codec state of the ranks of this process: {"step": 10, "ranks": {0: {name: array}}}. The arrays
        hold bytes."""
        ranks = self._visit(lambda _, own: {name: view.copy() for name, view in _state_of(own).items()})
        step = ctypes.c_uint64()
        _check(_xla().cgx_xla_program_step(self.name.encode(), ctypes.byref(step)))
        return {"step": step.value, "ranks": ranks}

    def load_state_dict(self, state):
        """Continues from the result of `state_dict`. Raises ValueError where it is of another program or other ranks."""
        given = {int(rank): tensors for rank, tensors in state["ranks"].items()}
        if sorted(given) != self.ranks:
            raise ValueError(f"expected the state of ranks {self.ranks}, got that of {sorted(given)}")

        def body(rank, handle):
            own = _state_of(handle)
            arrays = {name: np.asarray(tensor, np.uint8) for name, tensor in given[rank].items()}
            check_fits({name: view.size for name, view in own.items()}, {name: array.size for name, array in arrays.items()},
                       f"rank {rank}")
            for name, view in own.items():
                view[:] = arrays[name]

        self._visit(body)
        self._next_step = int(state["step"])
        _check(_xla().cgx_xla_program_set_step(self.name.encode(), self._next_step))


def _state_of(handle):
    """Returns the state tensors of a rank, as views of their bytes."""
    return {name: np.ctypeslib.as_array(view) for name, view in context.state_of(_xla(), handle).items()}


# ---- How the processes of a job find each other ------------------------------------------------------------------

_open = {}
_identities = {}  # the number of requests for each identity
_identities_lock = threading.Lock()


@dataclasses.dataclass(frozen=True, order=True)
class Identity:
    """The identity of a program, equal in all processes: the name that the user's program gives it, and how often that
    name came before. It does not depend on which program came first, because steps are compiled on several threads."""
    what: str  # the name in messages: "step number 0"
    key: str  # the key in the store
    name: str  # the name of the program in this process, which its module contains

    def of(self, part):
        """Returns the identity of a part, such as the step for arguments of some shapes."""
        return dataclasses.replace(identity_of(f"{self.key} {part}"), what=self.what)


def identity_of(key):
    """Returns the identity of the program that is named `key` in all processes."""
    with _identities_lock:
        number = _identities[key] = _identities.get(key, -1) + 1
    digest = hashlib.sha256(f"{key} {number}".encode()).hexdigest()[:16]
    return Identity(f"step number {number}", digest, f"cgx-{digest}")


class _Store:
    """The key-value store of JAX's coordination service, as a `rendezvous.Store`."""

    def __init__(self, client):
        self._client = client

    def set(self, key, text):
        self._client.key_value_set(key, text, allow_overwrite=True)

    def get(self, key, seconds):
        try:
            return self._client.blocking_key_value_get(key, max(int(seconds * 1000), 1))
        except jax.errors.JaxRuntimeError as error:
            if "DEADLINE_EXCEEDED" in str(error):
                raise TimeoutError(str(error)) from None
            raise


def _rendezvous(identity, program_hash, devices, transport, timeout, options):
    """Returns a name that the ranks of this program share and no other job has, the transport between them, and their
    rendezvous."""
    own = jax.process_index()
    processes = {device.process_index for device in devices}
    from jax._src import distributed  # jax.distributed does not expose the client
    state = distributed.global_state
    if processes != {own}:
        if state.client is None:
            raise RuntimeFailure("the devices of the step belong to several processes, which cgx finds through JAX's own "
                                 "coordination: call jax.distributed.initialize() first")
    job, chosen, tcp_rendezvous = rendezvous.agree(
        own, processes, identity.what, program_hash, _Store(state.client), f"cgx/{identity.key}", transport=transport,
        timeout=timeout, toward=_host_of(state.coordinator_address),
        order=[device.id for device in devices], options=options)
    return f"jax-{job}", chosen, tcp_rendezvous


def _host_of(place):
    """Returns the host of "HOST:PORT" or "[ADDRESS]:PORT", or None where there is none."""
    return place.rpartition(":")[0].strip("[]") or None if place else None


@atexit.register
def _close_all():
    for program in list(_open.values()):
        try:
            program.close()
        except RuntimeFailure:
            pass  # the process ends
