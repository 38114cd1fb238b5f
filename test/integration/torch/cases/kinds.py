"""Tests kinds of models and hooks that other cases lack. Prints a line of JSON on rank 0."""

import copy
import io
import json
import warnings

import cgx_torch
import torch
import torch.distributed as dist
from loaded import compilers
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_wrapper
from torch.nn.parallel import DistributedDataParallel


class Complex(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Linear(64, 64)
        self.turn = torch.nn.Parameter(torch.randn(64, 64, dtype=torch.complex64))

    def forward(self, x):
        return (self.enter(x).to(torch.complex64) @ self.turn).abs()


def ddp(make=lambda: torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))):
    torch.manual_seed(0)
    return DistributedDataParallel(make())


def gradients(model):
    found = []
    for step in range(4):
        model.zero_grad()
        model(torch.randn(32, 64, generator=torch.Generator().manual_seed(10 * step + dist.get_rank()))).square().mean().backward()
        found += [each.grad.clone() for each in model.parameters()]
    return found


def difference(ours, theirs):
    return max((a - b).abs().max().item() for a, b in zip(ours, theirs))


def warned(body):
    """Returns (the result of body, [(text, line that the warning names)])."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = body()
    return result, [(str(each.message), open(each.filename).readlines()[each.lineno - 1]) for each in said]


def raised(body):
    try:
        body()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    answer = {}
    model = ddp(Complex)
    state, answer["complex said"] = warned(lambda: cgx_torch.state(model, bits=8))
    model.register_comm_hook(state, cgx_torch.hook)
    answer["complex"] = difference(gradients(model)[::3], gradients(ddp(Complex))[::3])
    answer["complex kinds"] = {layer["layer"]: layer["codec"] for layer in state.report("json")["layers"]}

    model, plain = ddp(), gradients(ddp())
    state = cgx_torch.state(model, bits=8)
    model.register_comm_hook(state, bf16_compress_wrapper(cgx_torch.hook))
    answer["cast"] = difference(gradients(model), plain)
    answer["cast types"] = [layer["dtype"] for layer in state.report("json")["layers"]]

    model = ddp()
    model.register_comm_hook(cgx_torch.state(model, bits=8), cgx_torch.hook)
    gradients(model)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    answer["copy"] = difference(gradients(copy.deepcopy(model)), plain)
    loaded = torch.load(file, weights_only=False)
    answer["loaded"] = difference(gradients(loaded), plain)
    answer["use of a copy"] = raised(lambda: cgx_torch.hook(copy.deepcopy(state), None))

    bare = ddp()
    bare.register_comm_hook(None, cgx_torch.hook)
    answer["no state"] = raised(lambda: gradients(bare))
    answer["misspelt"] = warned(lambda: cgx_torch.state(model, exclude="*embd*"))[1]
    answer["lossy"] = warned(lambda: cgx_torch.state(model, codec="topk"))[1]
    answer["double"] = warned(lambda: cgx_torch.state(ddp().double(), bits=4))[1]
    for name, options in {"solver": {"adapt": "lgrecoo"}, "true": {"error_feedback": True}, "storage": {"error_feedback": "f23"},
                          "option": {"bitss": 4}}.items():
        answer[name] = raised(lambda options=options: cgx_torch.state(model, **options))
    answer["compilers"] = compilers()
    if dist.get_rank() == 0:
        print(json.dumps(answer), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
