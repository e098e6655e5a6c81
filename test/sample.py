"""The part of a long test that runs: LAYOUT_SAMPLE=SEED/SHARE asks for one case in SHARE; without it, all cases run.

sample.py CASE..: prints the cases of the sample in their order, each on a line.
"""
import os
import sys


def sample(cases):
    """The selected cases, at least one, in their order; as `Sample::select` in reference/sample.rs."""
    seed, share = map(int, os.environ.get("LAYOUT_SAMPLE", "0/1").split("/"))
    share = min(share, len(cases))
    return cases[seed % share::share]


if __name__ == "__main__":
    print("\n".join(sample(sys.argv[1:])))
