"""What editors and type checkers know of cgx. The functions are documented where they are: cgx_torch, cgx_jax."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

import torch
from cgx_core.adaptation import Adaptation
from cgx_core.codecs import Codec as Codec
from cgx_core.compiler import CompileError as CompileError
from cgx_core.context import RuntimeFailure as RuntimeFailure
from cgx_core.native_run import RunError as RunError
from cgx_core.native_run import run as run
from cgx_jax.compress import CompressedStep
from cgx_torch.hook import State
from cgx_torch.sharded import Sharded

_Codec = Codec | str | None
_Names = str | Sequence[str] | None
_Storage = Literal["f32", "bf16", "int8", "none"] | None
_Plan = str | dict[str, Any] | None
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

__version__: str

@overload
def compress(what: torch.nn.parallel.DistributedDataParallel, *, config: str | None = None, weights: _Codec = ...,
             gradients: _Codec = ..., replicas: _Codec = ..., bits: int | None = None, exclude: _Names = None, plan: _Plan = None,
             process_group: Any = None, transport: str | None = None, seed: int = 0, timeout: float = 300.0, report: bool = False, name: str | None = None,
             never_slower: bool = False, **options: Any) -> State: ...
@overload
def compress(what: torch.nn.Module, *, config: str | None = None, weights: _Codec = ..., gradients: _Codec = ..., replicas: _Codec = ...,
             bits: int | None = None, exclude: _Names = None, plan: _Plan = None, process_group: Any = None,
             transport: str | None = None, seed: int = 0, timeout: float = 300.0, report: bool = False, name: str | None = None,
             never_slower: bool = False, **options: Any) -> Sharded: ...
@overload
def compress(what: Callable[_Arguments, _Result], *, config: str | None = None, bits: int | None = None, exclude: _Names = None,
             plan: _Plan = None, codec: _Codec = None, error_feedback: _Storage = None, overlap: bool | None = None,
             adapt: str | Adaptation | None = None, transport: str | None = None, seed: int = 0, timeout: float = 30.0,
             report: bool = False, **options: Any) -> CompressedStep: ...
def install(*, config: str | None = None, weights: _Codec = ..., gradients: _Codec = ..., replicas: _Codec = ..., bits: int | None = None,
            select: Any = None, exclude: _Names = None, plan: _Plan = None, codec: _Codec = None, error_feedback: _Storage = None,
            overlap: bool | None = None, adapt: str | Adaptation | None = None, transport: str | None = None, seed: int = 0,
            timeout: float = ..., report: bool = False, **options: Any) -> Any: ...
