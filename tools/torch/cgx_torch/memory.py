"""What codecs remember from step to step, and copies of it: to go back, and to follow the scale of the loss."""

import torch

_TYPES = {0: torch.float32, 2: torch.bfloat16}  # of cgx_element_type


class Memory:
    """Of one program, in place. Names hold the layer, and not where it travels: `residual[fc1.weight].result`."""

    def __init__(self, views):
        """Args:
          views: {name: (element type, bytes)}."""
        self._tensors = {name: _tensor_of(element_type, view) for name, (element_type, view) in views.items() if len(view)}

    def __bool__(self):
        return bool(self._tensors)

    def copy(self, layers=None):
        """{name: tensor}, of all layers or of some."""
        return {name: each.clone() for name, each in self._tensors.items() if _is_of(name, layers)}

    def restore(self, copy, layers=None):
        """Goes back to a copy; what it lacks was nothing then."""
        for name, each in self._tensors.items():
            if _is_of(name, layers):
                if name in copy and copy[name].shape == each.shape:
                    each.copy_(copy[name])
                else:
                    each.zero_()

    def rescale(self, factor):
        """Gradients are `factor` times as large from now on, and with them what is owed of earlier ones."""
        rescale(self._tensors, factor)


def rescale(tensors, factor):
    """Of tensors by name. Bytes have their scales beside them; directions from which low-rank codecs start have none."""
    for name, each in tensors.items():
        if name.startswith("residual[") and each.dtype.is_floating_point:
            each.mul_(factor)


def _tensor_of(element_type, view):
    return torch.frombuffer(view, dtype=_TYPES.get(element_type, torch.uint8))


def _is_of(name, layers):
    return layers is None or name[name.index("[") + 1:name.rindex("]")] in layers
