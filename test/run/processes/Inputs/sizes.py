"""Prints a program for so many processes: `N_Process` is that number's, and `{64/N}` a process's part of 64."""
import re
import sys

n, text = int(sys.argv[1]), sys.stdin.read().replace("N_Process", sys.argv[1] + "_Process")
sys.stdout.write(re.sub(r"\{(\d+)/N\}", lambda part: str(int(part[1]) // n), text))
