"""The runtime's C ABI (cgx/runtime.h) through ctypes."""

import ctypes
import dataclasses
import json
import time

from cgx_core.libraries import text

ABI_VERSION = 1
# Bytes of each cgx_element_type, in the order of cgx/codec.h.
_ELEMENT_BYTES = (4, 2, 2, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1)


class RuntimeFailure(RuntimeError):
    """A call of the runtime failed, on the ranks that the message names."""


class Config(ctypes.Structure):
    """cgx_context_config."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("transport", ctypes.c_char_p),
                ("job", ctypes.c_char_p), ("rank", ctypes.c_uint32), ("ranks", ctypes.c_uint32),
                ("seed", ctypes.c_uint64), ("timeout_ms", ctypes.c_uint32), ("manifest", ctypes.c_char_p),
                ("ring_bytes", ctypes.c_uint64), ("digest", ctypes.c_uint64)]


def config(transport, job, rank, ranks, seed, timeout, manifest):
    """Returns the configuration of a context; `timeout` is in seconds."""
    return Config(ctypes.sizeof(Config), ABI_VERSION, transport.encode(), job.encode(), rank, ranks, seed,
                  int(timeout * 1000), manifest.encode(), 0, 0)


_OK, _TIMEOUT, _INTERNAL = 0, 5, 9  # values of cgx_status
_StoreSet = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64)
_StoreGet = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint64,
                             ctypes.POINTER(ctypes.c_uint64))


class TcpConfig(ctypes.Structure):
    """cgx_tcp_config."""
    _fields_ = [("struct_size", ctypes.c_uint32), ("streams", ctypes.c_uint32),
                *[(name, ctypes.c_char_p) for name in ("rendezvous", "address", "secret", "secret_file", "tls",
                                                       "tls_certificate", "tls_key", "tls_ca")],
                ("store_set", _StoreSet), ("store_get", _StoreGet), ("store", ctypes.c_void_p)]


@dataclasses.dataclass
class Rendezvous:
    """The rendezvous of the ranks of "tcp" and "shm+tcp": the store in which they find each other (`rendezvous.Store`),
    and the address at which those of this process listen. The environment gives TLS and the number of streams."""
    store: object
    address: str | None  # None: the loopback
    said: str = ""  # the last error of the store

    def config(self):
        """Returns a TcpConfig, which this object has to outlive until ranks are connected."""
        def store_set(_, key, value, count):
            try:
                self.store.set(text(key), ctypes.string_at(value, count).decode())
                return _OK
            except Exception as error:  # ctypes would only print it
                self.said = str(error)
                return _INTERNAL

        def store_get(_, key, milliseconds, value, room, out_count):
            began = time.monotonic()
            try:
                found = self.store.get(text(key), milliseconds / 1000).encode()
            except Exception as error:
                self.said = str(error)
                return _TIMEOUT if time.monotonic() - began > 0.8 * milliseconds / 1000 else _INTERNAL
            ctypes.memmove(value, found, min(room, len(found)))
            out_count[0] = len(found)
            return _OK

        return TcpConfig(struct_size=ctypes.sizeof(TcpConfig), address=self.address.encode() if self.address else None,
                         store_set=_StoreSet(store_set), store_get=_StoreGet(store_get))

    def explain(self, message):
        """Returns a message of the runtime, with the last error of the store."""
        return f"{message} ({self.said})" if self.said else message


def create(library, config, tcp_rendezvous=None):
    """Creates a context. Ranks of "tcp" find each other through `tcp_rendezvous`, or without one as the environment says
    (CGX_TCP_RENDEZVOUS)."""
    context = ctypes.c_void_p()
    tcp = tcp_rendezvous.config() if tcp_rendezvous else None
    Failed.unless(library.cgx_context_create_over_tcp(ctypes.byref(config), ctypes.byref(tcp) if tcp else None,
                                                      ctypes.byref(context)))
    return context


class _StateTensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("element_type", ctypes.c_uint32), ("elements", ctypes.c_uint64),
                ("data", ctypes.c_void_p)]


def declare(library):
    """Declares the arguments of the cgx_context functions to ctypes. `library` contains them, or was linked with them."""
    context, word, status = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    library.cgx_last_error.restype = ctypes.c_char_p
    functions = {"create_over_tcp": [ctypes.POINTER(Config), ctypes.POINTER(TcpConfig), ctypes.POINTER(ctypes.c_void_p)],
                 "telemetry": [context, ctypes.POINTER(ctypes.c_char_p)],
                 "state_count": [context, ctypes.POINTER(ctypes.c_uint64)],
                 "state_tensor": [context, ctypes.c_uint64, ctypes.POINTER(_StateTensor)],
                 "begin_step": [context, ctypes.c_uint64], "end_step": [context],
                 "use_cuda": [context, ctypes.c_void_p], "adopt_plan": [context, ctypes.c_char_p],
                 "adopt_program": [context, ctypes.c_char_p],
                 "begin_profile": [context, ctypes.c_char_p], "end_profile": [context, ctypes.POINTER(ctypes.c_char_p)],
                 "adapt": [context, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)]}
    for name, arguments in functions.items():
        function = getattr(library, f"cgx_context_{name}")
        function.argtypes, function.restype = arguments, status
    library.cgx_context_destroy.argtypes, library.cgx_context_destroy.restype = [context], None
    library.cgx_context_abort.argtypes, library.cgx_context_abort.restype = [context, ctypes.c_char_p], None
    for name, words in {"operand": 5, "run": 2}.items():
        function = getattr(library, f"cgx_rt_{name}")
        function.argtypes, function.restype = [word] * words, None


class Failed(Exception):
    """A function of the runtime failed on the thread of a rank, which has the message."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status

    @staticmethod
    def unless(status):
        if status:
            raise Failed(status)


def telemetry_of(library, context):
    """Returns the counters of a rank."""
    answer = ctypes.c_char_p()
    Failed.unless(library.cgx_context_telemetry(context, ctypes.byref(answer)))
    return json.loads(text(answer.value))


def begin_profile(library, context):
    """Starts a profile of this rank's contributions with the next step."""
    Failed.unless(library.cgx_context_begin_profile(context, None))


def end_profile(library, context):
    """Returns the profile of all ranks."""
    answer = ctypes.c_char_p()
    Failed.unless(library.cgx_context_end_profile(context, ctypes.byref(answer)))
    return json.loads(text(answer.value))


def adapt(library, context, solver):
    """Ends the profile, continues with the plan that the solver makes from it, and returns the plan."""
    answer = ctypes.c_char_p()
    Failed.unless(library.cgx_context_adapt(context, json.dumps({"solver": solver}).encode(), ctypes.byref(answer)))
    return json.loads(text(answer.value))


def state_of(library, context):
    """Returns the state tensors of a rank by name, as views of their bytes (ctypes arrays)."""
    return {name: view for name, (_, view) in typed_state_of(library, context).items()}


def typed_state_of(library, context):
    """Returns the state tensors with the element type (cgx_element_type) of each."""
    count = ctypes.c_uint64()
    Failed.unless(library.cgx_context_state_count(context, ctypes.byref(count)))
    views = {}
    for index in range(count.value):
        tensor = _StateTensor()
        Failed.unless(library.cgx_context_state_tensor(context, index, ctypes.byref(tensor)))
        size = tensor.elements * _ELEMENT_BYTES[tensor.element_type]
        view = (ctypes.c_uint8 * size).from_address(tensor.data) if size else (ctypes.c_uint8 * 0)()
        views[text(tensor.name)] = tensor.element_type, view
    return views
