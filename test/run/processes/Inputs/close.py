"""Fails unless two programs printed the same numbers, as far as sums in another order round to."""
import re
import sys

numbers = [
    [
        [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?|nan|inf", part.split("data =")[1])]
        for part in open(name).read().split("Unranked")[1:]
    ]
    for name in sys.argv[1:3]
]
ours, theirs = numbers
assert ours and [len(part) for part in ours] == [len(part) for part in theirs], "they printed other tensors"
for k, (x, y) in enumerate(zip(ours, theirs)):
    largest = max(abs(number) for number in y)
    for i, (a, b) in enumerate(zip(x, y)):
        assert abs(a - b) <= 1e-5 * largest, f"number {i} of tensor {k} is {a}, and {b} in {sys.argv[2]}"
