#!/usr/bin/python3
"""Samples of the rounded Gaussian from fixed words, by its definition in unbounded integers.

Prints the first samples of one group and a checksum over 64 groups, for gaussian_test.cpp. The words
come from splitmix64 started at 1.
"""
import pathlib
import re

root = pathlib.Path(__file__).resolve().parents[3]
text = (root / "sotto/random/gaussian_table.hpp").read_text()
table = [int(x) for x in re.findall(r"^    (-?\d+),", text, re.MULTILINE)]
MASK = 2 ** 64 - 1


def splitmix(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


source = splitmix(1)
samples = []
for _ in range(64):
    words = [[next(source) for _ in range(16)] for _ in range(9)]
    for lane in range(16):
        selector = words[8][lane]
        selector -= 2 ** 64 if selector >= 2 ** 63 else 0
        j = sum(selector > t for t in table)
        if words[0][lane] >> 31 & 1:
            j = -j
        uniforms = sum((words[w][lane] % 2 ** 31) + (words[w][lane] >> 33) for w in range(8))
        samples.append(2 ** 31 * j + uniforms - 8 * (2 ** 31 - 1))
print(samples[:4])
print("checksum", sum((i + 1) * k for i, k in enumerate(samples)))
