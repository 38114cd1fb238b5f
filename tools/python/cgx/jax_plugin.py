"""Lets `CGX="bits=4" python train.py` compress the communication of steps in a train.py that does not mention cgx.

JAX calls `initialize` as it looks for devices (the group of entry points jax_plugins). Without CGX in the environment it does
nothing and imports nothing.
"""

from cgx import environment


def initialize():
    try:
        options = environment.given()
        if options:
            import cgx_jax
            cgx_jax.install(**options)
    except Exception as error:
        _fail_later(error)  # JAX would log it and go on, uncompressed


def _fail_later(error):
    from jax._src import compiler

    def compile_or_get_cached(*_, **__):
        raise error
    compiler.compile_or_get_cached = compile_or_get_cached
