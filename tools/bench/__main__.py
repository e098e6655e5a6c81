"""`python -m bench NAME ARGUMENT..`: runs a benchmark or a command of this package; see `tools/bench.sh`."""

import argparse
import importlib
import sys

from bench.run import Failed

# Benchmarks, whose modules have `page`, and commands; each module has `arguments` and `main`.
BENCHMARKS = ("plan", "memory", "schedule", "arenas", "offsets", "solver", "verify", "devices", "processes")
COMMANDS = ("export", "pages")


def main() -> None:
    names = (*BENCHMARKS, *COMMANDS)
    parser = argparse.ArgumentParser(prog="bench", description="Runs a benchmark or a command.")
    parser.add_argument("name", choices=names)
    name = parser.parse_args(sys.argv[1:2]).name
    module = importlib.import_module(f"bench.{name.replace('-', '_')}")
    form = argparse.RawTextHelpFormatter
    parser = argparse.ArgumentParser(prog=f"bench {name}", description=module.__doc__, formatter_class=form)
    module.arguments(parser)
    try:
        module.main(parser.parse_args(sys.argv[2:]))
    except Failed as error:
        sys.exit(f"bench {name}: {error}")


if __name__ == "__main__":
    main()
