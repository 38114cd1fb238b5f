"""Opens programs in the runtime (libcgx_xla.so, libcgx_runtime.so), and asks their ranks."""

import atexit
import ctypes
import functools
import json
import os
import secrets
import socket

import jax
import numpy as np

from cgx_jax.libraries import open_library, text


class RuntimeFailure(RuntimeError):
    """A call of the runtime failed, on the ranks that the message names."""


class _ContextConfig(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("transport", ctypes.c_char_p),
                ("job", ctypes.c_char_p), ("rank", ctypes.c_uint32), ("ranks", ctypes.c_uint32),
                ("seed", ctypes.c_uint64), ("timeout_ms", ctypes.c_uint32), ("manifest", ctypes.c_char_p),
                ("ring_bytes", ctypes.c_uint64), ("digest", ctypes.c_uint64)]


class _ProgramConfig(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("context", _ContextConfig), ("local_ranks", ctypes.POINTER(ctypes.c_uint32)),
                ("local_rank_count", ctypes.c_uint32)]


class _StateTensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("element_type", ctypes.c_uint32), ("elements", ctypes.c_uint64),
                ("data", ctypes.c_void_p)]


_ABI_VERSION = 1
_Visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
# Bytes of each cgx_element_type, in the order of cgx/codec.h.
_ELEMENT_BYTES = (4, 2, 2, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1)
_HANDLERS = ("begin_step", "collective", "end_step")


@functools.cache
def _xla():
    """libcgx_xla.so. The runtime's functions are found through it: there is to be one runtime in the process, the one that it
    was linked with."""
    library = open_library("cgx_xla")
    for name in ("cgx_last_error", "cgx_xla_last_error"):
        getattr(library, name).restype = ctypes.c_char_p
    for name, arguments in {"telemetry": [ctypes.POINTER(ctypes.c_char_p)],
                            "state_count": [ctypes.POINTER(ctypes.c_uint64)],
                            "state_tensor": [ctypes.c_uint64, ctypes.POINTER(_StateTensor)],
                            "adopt_plan": [ctypes.c_char_p]}.items():
        function = getattr(library, f"cgx_context_{name}")
        function.argtypes, function.restype = [ctypes.c_void_p, *arguments], ctypes.c_int
    library.cgx_xla_program_open.argtypes = [ctypes.POINTER(_ProgramConfig)]
    library.cgx_xla_program_close.argtypes = [ctypes.c_char_p]
    library.cgx_xla_program_dispatch.argtypes = [ctypes.c_char_p]
    library.cgx_xla_program_visit.argtypes = [ctypes.c_char_p, _Visit, ctypes.c_void_p]
    library.cgx_xla_program_set_step.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
    library.cgx_xla_program_step.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64)]
    for name in _HANDLERS:
        jax.ffi.register_ffi_target(f"cgx_{name}", jax.ffi.pycapsule(getattr(library, f"cgx_xla_{name}")),
                                    platform="cpu")
    return library


def _check(status):
    if status:
        raise RuntimeFailure(text(_xla().cgx_xla_last_error()))


class Program:
    """A rewritten step in the runtime: the ranks of this process, and their connection to the others."""

    def __init__(self, name, manifest, devices, transport=None, seed=0, timeout=30.0):
        """Args:
          name: what the module calls the program.
          manifest: JSON text.
          devices: of all ranks, in their order.
          transport: of the runtime, such as "shm"; None takes what fits the processes of the job.
          timeout: seconds that a rank waits for another.
        """
        self.name = name
        self.ranks = [rank for rank, device in enumerate(devices) if device.process_index == jax.process_index()]
        job, chosen = _rendezvous(manifest, {device.process_index for device in devices}, timeout)
        self.transport = transport or chosen
        local = (ctypes.c_uint32 * len(self.ranks))(*self.ranks)
        context = _ContextConfig(ctypes.sizeof(_ContextConfig), _ABI_VERSION, self.transport.encode(), job.encode(), 0,
                                 len(devices), seed, int(timeout * 1000), manifest.encode(), 0, 0)
        _check(_xla().cgx_xla_program_open(ctypes.byref(_ProgramConfig(
            ctypes.sizeof(_ProgramConfig), _ABI_VERSION, name.encode(), context, local, len(self.ranks)))))
        _open[name] = self

    def dispatched(self):
        """Says that JAX executes the program, and waits while it is many executions behind."""
        _check(_xla().cgx_xla_program_dispatch(self.name.encode()))

    def close(self):
        """Waits for steps that run. The program cannot run afterwards."""
        if _open.pop(self.name, None):
            _check(_xla().cgx_xla_program_close(self.name.encode()))

    def _visit(self, body):
        """Calls `body(rank, context)` for each rank of this process, side by side on their threads, between steps.
        What it returns, by rank."""
        results, raised = {}, []

        def visit(_, rank, context):
            try:
                results[rank] = body(rank, context)
                return 0
            except _Failed as failed:
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
        """What the ranks of this process sent and how long it took: the runtime's counters, by rank."""
        def body(_, context):
            answer = ctypes.c_char_p()
            _Failed.unless(_xla().cgx_context_telemetry(context, ctypes.byref(answer)))
            return json.loads(text(answer.value))
        return self._visit(body)

    def adopt_plan(self, plan):
        """Takes the codecs of a plan (JSON text) from the next step on. All processes call it at the same time."""
        self._visit(lambda _, context: _Failed.unless(_xla().cgx_context_adopt_plan(context, plan.encode())))

    def state_dict(self):
        """What codecs remember, of the ranks of this process: {"step": 10, "ranks": {0: {name: array}}}. The arrays hold
        bytes."""
        ranks = self._visit(lambda _, context: {name: view.copy() for name, view in _state_of(context).items()})
        step = ctypes.c_uint64()
        _check(_xla().cgx_xla_program_step(self.name.encode(), ctypes.byref(step)))
        return {"step": step.value, "ranks": ranks}

    def load_state_dict(self, state):
        """Goes on from what `state_dict` gave. Raises ValueError where it is of another program or other ranks."""
        given = {int(rank): tensors for rank, tensors in state["ranks"].items()}
        if sorted(given) != self.ranks:
            raise ValueError(f"expected the state of ranks {self.ranks}, got that of {sorted(given)}")

        def body(rank, context):
            own = _state_of(context)
            if own.keys() != given[rank].keys():
                raise ValueError(f"rank {rank}: expected the state tensors {sorted(own)}, got {sorted(given[rank])}")
            arrays = {name: np.asarray(given[rank][name], np.uint8) for name in own}
            for name, view in own.items():
                if arrays[name].shape != view.shape:
                    raise ValueError(f"rank {rank}, {name}: expected {view.size} bytes, got {arrays[name].size}")
            for name, view in own.items():
                view[:] = arrays[name]

        self._visit(body)
        _check(_xla().cgx_xla_program_set_step(self.name.encode(), int(state["step"])))


class _Failed(Exception):
    """A function of the runtime failed on a rank's thread, where its message is."""

    def __init__(self, status):
        self.status = status

    @staticmethod
    def unless(status):
        if status:
            raise _Failed(status)


def _state_of(context):
    """The state tensors of a rank, as views of their bytes."""
    count = ctypes.c_uint64()
    _Failed.unless(_xla().cgx_context_state_count(context, ctypes.byref(count)))
    views = {}
    for index in range(count.value):
        tensor = _StateTensor()
        _Failed.unless(_xla().cgx_context_state_tensor(context, index, ctypes.byref(tensor)))
        size = tensor.elements * _ELEMENT_BYTES[tensor.element_type]
        view = (ctypes.c_uint8 * size).from_address(tensor.data) if size else bytearray()
        views[text(tensor.name)] = np.frombuffer(view, np.uint8)
    return views


# ---- How the processes of a job find each other ------------------------------------------------------------------

_open = {}
_rendezvous_count = 0


def _rendezvous(manifest, processes, timeout):
    """A name that the ranks of this program share and no other job has, and the transport between them."""
    global _rendezvous_count
    nonce = secrets.token_hex(8)
    if processes == {jax.process_index()}:
        return f"jax-{nonce}", "inproc"
    number, _rendezvous_count = _rendezvous_count, _rendezvous_count + 1
    from jax._src import distributed  # of which jax.distributed shows no client
    client = distributed.global_state.client
    if client is None:
        raise RuntimeFailure("the devices of the step belong to several processes, which cgx finds through JAX's own "
                             "coordination: call jax.distributed.initialize() first")
    own = json.dumps({"nonce": nonce, "hash": json.loads(manifest)["hash"], "host": socket.gethostname()})
    client.key_value_set(f"cgx/{number}/{jax.process_index()}", own)
    answers = {}
    for process in sorted(processes):
        try:
            answers[process] = json.loads(client.blocking_key_value_get(f"cgx/{number}/{process}", int(timeout * 1000)))
        except Exception as error:
            raise RuntimeFailure(f"process {process} compiled no step number {number} with cgx within {timeout:g} s: do "
                                 f"all processes compress the same steps? ({error})") from None
    hashes = {process: answer["hash"] for process, answer in answers.items()}
    if len(set(hashes.values())) > 1:
        raise RuntimeFailure(f"processes compiled step number {number} to different programs, {hashes}: give all of them "
                             "the same options and the same step")
    first = answers[min(processes)]
    if len({answer["host"] for answer in answers.values()}) == 1:
        return f"jax-{first['nonce']}", "shm"
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        return f"jax-{first['nonce']}", "shm+mpi"
    raise RuntimeFailure("the processes run on several hosts, between which the runtime needs MPI: start them with mpirun")


@atexit.register
def _close_all():
    for program in list(_open.values()):
        try:
            program.close()
        except RuntimeFailure:
            pass  # the process ends
