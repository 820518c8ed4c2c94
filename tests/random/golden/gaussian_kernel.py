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
    words = [[next(source) for _ in range(16)] for _ in range(6)]
    for lane in range(16):
        w = [word[lane].to_bytes(8, "little") for word in words]
        selector = words[5][lane]
        j = sum(selector % 2 ** 63 > t for t in table)
        if selector >= 2 ** 63:  # the complement of the other bits
            j = -sum(2 ** 63 - 1 - selector % 2 ** 63 > t for t in table)
        highest = list(w[0] + w[1] + w[2])
        second = list(w[3])
        lower = [words[4][lane] >> 16 * i & 65535 for i in range(4)]
        uniforms = [high << 24 for high in highest[8:]]
        uniforms += [(high << 24) + (middle << 16)
                     for high, middle in zip(highest[4:8], second[4:])]
        uniforms += [(high << 24) + (middle << 16) + low
                     for high, middle, low in zip(highest[:4], second[:4], lower)]
        total = 2 * sum(uniforms)
        total -= 16 * (255 << 24) + 4 * (65535 << 16) + 4 * (2 ** 32 - 1)
        assert len(uniforms) == 24 and total % 2 == 0
        samples.append(2 ** 32 * j + total // 2)
print(samples[:4])
print("checksum", sum((i + 1) * k for i, k in enumerate(samples)))
