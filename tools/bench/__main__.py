"""`python -m bench NAME ARGUMENT..`: runs a benchmark or a command of this package; see `tools/bench.sh`."""

import argparse
import importlib
import sys

from bench.run import Failed

# The modules of benchmarks and of commands, which have `arguments` and `main`.
MODULES = {
    "plan": "plan",
    "preferences": "preferences",
    "memory": "memory",
    "schedule": "schedule",
    "arenas": "arenas",
    "offsets": "offsets",
    "solver": "solver",
    "verify": "verify",
    "devices": "devices",
    "processes": "processes",
    "import": "imports",
    "speed": "speed",
    "sources": "sources",
    "threads": "threads",
    "compiling": "compiling",
    "traffic": "traffic",
    "kernels": "kernels.measure",
    "cpu": "cpu",
    "cpu-judge": "cpu_judge",
    "cpu-machine": "cpu_machine",
    "tpu-judge": "tpu",
    "xla-memory": "xla_memory",
    "export": "export",
    "pages": "pages",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description="Runs a benchmark or a command.")
    parser.add_argument("name", choices=MODULES)
    name = parser.parse_args(sys.argv[1:2]).name
    module = importlib.import_module(f"bench.{MODULES[name]}")
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(prog=f"bench {name}", description=module.__doc__, formatter_class=form)
    try:
        module.arguments(parser)
        module.main(parser.parse_args(sys.argv[2:]))
    except (Failed, argparse.ArgumentTypeError) as error:
        sys.exit(f"bench {name}: {error}")


if __name__ == "__main__":
    main()
