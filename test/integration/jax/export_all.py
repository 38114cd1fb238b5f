"""Exports every step of steps/, for tests of the compiler.

    build/venv/bin/python test/integration/jax/export_all.py --out DIR [--generic] [NAME...]

For each step NAME it writes DIR/NAME/step.mlir, state.safetensors and data.safetensors, and
with --generic also step.generic.mlir, the same program in MLIR's generic form. With
--partitioner gspmd the text is that of JAX before 0.7 (mhlo.sharding in place of sdy).
"""

import argparse
import pathlib
import warnings

import jobs  # first, because it sets the number of devices

import jax

import cgx_jax


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=pathlib.Path, metavar="DIR")
    parser.add_argument("--generic", action="store_true")
    parser.add_argument("--partitioner", choices=["shardy", "gspmd"], default="shardy")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    jax.config.update("jax_use_shardy_partitioner", arguments.partitioner == "shardy")

    for name in arguments.names or jobs.step_names():
        module, (step, state, batch) = jobs.load_step(name)
        folder = arguments.out / name
        program = cgx_jax.export_step(step, state, batch, folder)
        cgx_jax.write_batches(folder / "data.safetensors", batch, name=jobs.parameters(step)[1])
        if arguments.generic:
            jitted = step if hasattr(step, "lower") else jax.jit(step, donate_argnums=0)
            operation = jitted.lower(state, batch).compiler_ir("stablehlo").operation
            (folder / "step.generic.mlir").write_text(
                operation.get_asm(print_generic_op_form=True, enable_debug_info=True) + "\n")
        print(f"{name:16} {module.RANKS} ranks  {program.stat().st_size:7} bytes  "
              f"{' '.join(module.__doc__.split())[:60]}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "the step is for one device")  # for the step one_rank
    main()
