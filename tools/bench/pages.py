"""Makes the tables of all pages of `benches` of the results beside them."""

import argparse
import importlib

# The modules with a page.
PAGES = (
    "arenas",
    "cpu",
    "devices",
    "kernels.page",
    "memory",
    "offsets",
    "plan",
    "processes",
    "schedule",
    "solver",
    "verify",
    "whole",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    del parser


def main(options: argparse.Namespace) -> None:
    del options
    for name in PAGES:
        importlib.import_module(f"bench.{name}").page().remake()
