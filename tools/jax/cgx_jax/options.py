"""Checks options of the compiler where a user writes them, before a step runs."""

from cgx_core import compiler

_NAME = "<options>"  # of a module without anything of the user's


def check_options(options, plan=None):
    """Raises CompileError where an option is wrong, whatever step comes.

    Args:
      options: as of `compiler.pipeline`.
      plan: the path of a plan; None without.
    """
    try:
        compiler.run("module attributes {cgx.num_ranks = 2 : i64} { func.func public @main(%w: tensor<64x64xf32>) -> tensor<64x64xf32> {"
                     ' %0 = cgx.all_reduce sum(%w) {id = 0 : i64, groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity],'
                     ' layers = [#cgx.layer<"w", gradient>]} : tensor<64x64xf32> return %0 : tensor<64x64xf32> } }',
                     [compiler.pipeline("cgx-compress", dict(options, plan=plan))], name=_NAME)
    except compiler.CompileError as error:
        raise compiler.CompileError(str(error).replace(f"{_NAME}:1:1: error: ", "")) from None
