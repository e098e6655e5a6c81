"""Makes the tables of all pages of `benches` of the results beside them."""

import argparse
import importlib

from bench.run import Failed

# The modules with a page.
PAGES = (
    "arenas",
    "cpu",
    "devices",
    "kernels.page",
    "memory",
    "offsets",
    "plan",
    "preferences",
    "processes",
    "schedule",
    "solver",
    "sources",
    "verify",
    "whole",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="writes nothing, and fails where a page has other tables")


def main(options: argparse.Namespace) -> None:
    for name in PAGES:
        page = importlib.import_module(f"bench.{name}").page()
        if not options.check:
            page.page.write_text(page.remade())
        elif page.remade() != page.page.read_text():
            raise Failed(f"{page.page} has not the tables of {page.file.name}; tools/bench.sh pages makes them")
