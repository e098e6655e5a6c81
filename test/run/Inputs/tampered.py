"""tampered.py MODULE ABOUT FUNCTION...: of a module of `smt`, the obligations of these functions that are about something, each
once for each of its constants, with one more in the place of that constant: a wrong stride, bound or offset."""
import re
import sys

module, about, *functions = sys.argv[1:]
wanted = [f"  // {function}: {about}\n" for function in functions]
comment, solver = "", ""
for line in open(module):
    if line.startswith("  // @"):
        comment, solver = line, ""
    elif comment in wanted:
        solver += line
        for number in re.finditer(r"smt\.int\.constant (\d+)", solver) if line == "  }\n" else []:
            print(solver[: number.start(1)] + str(int(number[1]) + 1) + solver[number.end(1) :], end="")
