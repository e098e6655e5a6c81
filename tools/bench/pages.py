"""Makes the tables of all pages of `benches` of the results beside them."""

import argparse
import importlib

from bench.__main__ import BENCHMARKS


def arguments(parser: argparse.ArgumentParser) -> None:
    del parser


def main(options: argparse.Namespace) -> None:
    del options
    for name in BENCHMARKS:
        importlib.import_module(f"bench.{name.replace('-', '_')}").page().remake()
