"""The parts that cgx_jax and cgx_torch share: the libraries of cgx through ctypes, and how the processes of a job
agree. They know no framework and decide nothing; the compiler does."""

__version__ = "0.1.0"
