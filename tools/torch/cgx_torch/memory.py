"""State that codecs carry from step to step, with copies of it to undo a step, and a factor to follow the loss scale."""

import torch

_TYPES = {0: torch.float32, 2: torch.bfloat16}  # by cgx_element_type


class Memory:
    """The codec state of one program, in place. Names contain the layer, not its collective:
    `residual[fc1.weight].result`."""

    def __init__(self, views):
        """Args:
          views: {name: (element type, bytes)}."""
        self._tensors = {name: _tensor_of(element_type, view) for name, (element_type, view) in views.items() if len(view)}

    def __bool__(self):
        return bool(self._tensors)

    def copy(self, layers=None):
        """Returns {name: tensor}, for all layers or some."""
        return {name: each.clone() for name, each in self._tensors.items() if _is_of(name, layers)}

    def restore(self, copy, layers=None):
        """Restores a copy. State that the copy lacks becomes zero."""
        for name, each in self._tensors.items():
            if _is_of(name, layers):
                if name in copy and copy[name].shape == each.shape:
                    each.copy_(copy[name])
                else:
                    each.zero_()

    def rescale(self, factor):
        """Scales the error feedback, because gradients are `factor` times as large from now on."""
        rescale(self._tensors, factor)


def rescale(tensors, factor):
    """Scales the residuals among tensors, {name: tensor}. Those stored as bytes have their scales in a tensor beside
    them; the starting directions of low-rank codecs have no scale."""
    for name, each in tensors.items():
        if name.startswith("residual[") and each.dtype.is_floating_point:
            each.mul_(factor)


def _tensor_of(element_type, view):
    return torch.frombuffer(view, dtype=_TYPES.get(element_type, torch.uint8))


def _is_of(name, layers):
    return layers is None or name[name.index("[") + 1:name.rindex("]")] in layers
