"""Finds training frameworks as they are imported, which may be before or after cgx is."""

import importlib.abc
import sys

TRAINERS = ("transformers.trainer", "accelerate.accelerator", "lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer")
_finder = None


def meet_trainers(then):
    """Calls `then(name, module)` for each of TRAINERS, at once or when it is imported; `then` returns functions that
    undo it. Returns a function that undoes everything. A second call before that has no effect."""
    global _finder
    if _finder is None:
        _finder = _Finder(then)
        sys.meta_path.insert(0, _finder)
        for name in TRAINERS:
            if name in sys.modules:
                _finder.meet(name, sys.modules[name])
    return _finder.leave


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, then):
        self._then, self._waits, self._undo = then, set(TRAINERS), []

    def find_spec(self, name, path, target=None):
        if name not in self._waits:
            return None
        others = (each.find_spec(name, path, target) for each in sys.meta_path if each is not self)
        spec = next((found for found in others if found is not None), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                self.meet(name, module)
            spec.loader.exec_module = exec_module
        return spec

    def meet(self, name, module):
        if name in self._waits:
            self._waits.discard(name)
            self._undo += self._then(name, module)

    def leave(self):
        global _finder
        if _finder is self:
            sys.meta_path.remove(self)
            self._waits.clear()
            for undo in self._undo:
                undo()
            _finder = None
