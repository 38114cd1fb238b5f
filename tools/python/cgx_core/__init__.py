"""What cgx_jax and cgx_torch share: the libraries of cgx through ctypes, and how the processes of a job agree. It knows no
framework, and decides nothing: the compiler does."""

__version__ = "0.1.0"
