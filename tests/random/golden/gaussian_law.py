#!/usr/bin/python3
"""The law of the rounded Gaussian sampler against the ideal one, without Fourier analysis.

In how many ways 24 bytes, 8 bytes and 4 numbers of 16 bits have given sums is counted exactly, so
P(K = k) is computed in integers from the committed table. The difference to P(round(2^34 X) = k) is
summed over one k, at a changing place, in each 1/32 of the table's step, which estimates the total
variation distance; gaussian.proof.md proves a bound on it.
"""
import pathlib
import re

from mpmath import mp, mpf, erfc, log, sqrt

mp.dps = 80
root = pathlib.Path(__file__).resolve().parents[3]
text = (root / "sotto/random/gaussian_table.hpp").read_text()
edges = [0] + [int(x) + 1 for x in re.findall(r"^    (-?\d+),", text, re.MULTILINE)] + [2 ** 63]
magnitude = [b - a for a, b in zip(edges, edges[1:])]
B, M = 32, 34
CENTRE = (24 * 255 * 2 ** 24 + 8 * 255 * 2 ** 16 + 4 * 65535) // 2


def ways(count, values):
    """In how many ways `count` numbers in [0, values) have each sum."""
    result = [1]
    for _ in range(count):
        running, longer = 0, []
        for total in range(len(result) + values - 1):
            running += result[total] if total < len(result) else 0
            running -= result[total - values] if total >= values else 0
            longer.append(running)
        result = longer
    return result


HIGH, MIDDLE, LOW = ways(24, 256), ways(8, 256), ways(4, 65536)
MIDDLE_LARGEST = ((len(MIDDLE) - 1) << 16) + len(LOW) - 1


def ways_to_sum(rest):
    """In how many ways the uniforms sum to `rest`."""
    total = 0
    for a in range(max(0, -((MIDDLE_LARGEST - rest) >> 24)), min(len(HIGH) - 1, rest >> 24) + 1):
        left = rest - (a << 24)
        inner = 0
        for b in range(max(0, -((len(LOW) - 1 - left) >> 16)), min(len(MIDDLE) - 1, left >> 16) + 1):
            inner += MIDDLE[b] * LOW[left - (b << 16)]
        total += HIGH[a] * inner
    return total


def probability(k):
    """P(K = k), exactly."""
    shifted = k + CENTRE
    total = 0
    for j in range((shifted >> B) - 24, (shifted >> B) + 1):
        if abs(j) < len(magnitude):
            weight = 2 * magnitude[0] if j == 0 else magnitude[abs(j)]
            total += weight * ways_to_sum(shifted - (j << B))
    return mpf(total) / mpf(2) ** (64 + 24 * 8 + 8 * 8 + 4 * 16)


def ideal(k):
    scale = mpf(2) ** M * sqrt(mpf(2))
    return (erfc((k - mpf(1) / 2) / scale) - erfc((k + mpf(1) / 2) / scale)) / 2


STEP = 1 << (B - 5)
distance, mass, worst = mpf(0), mpf(0), mpf(0)
for i, begin in enumerate(range(0, 46 << B, STEP)):
    k = begin + (STEP // 2 + i * 0x9E3779B1) % STEP
    difference = abs(probability(k) - ideal(k))
    distance += difference * STEP  # both signs, halved
    mass += 2 * probability(begin + STEP // 2) * STEP
    worst = max(worst, difference / ideal(k) if k < 6 << M else 0)
print("mass of the sampler, by midpoints, minus 1:", mp.nstr(mass - 1, 5))
print("largest relative error within 6 sigma: 2^%s" % mp.nstr(log(worst, 2), 5))
print("distance: 2^%s" % mp.nstr(log(distance, 2), 6))
