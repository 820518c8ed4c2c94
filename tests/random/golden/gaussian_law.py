#!/usr/bin/python3
"""The law of the rounded Gaussian sampler against the ideal one, without Fourier analysis.

The number of ways in which 16 numbers of 31 bits have a given sum is an alternating sum of binomial
coefficients, so P(K = k) is computed exactly, in integers, from the committed table. The difference
to P(round(2^34 X) = k) is summed over a regular subset of k (midpoints of 1/32 of the table's step),
which estimates the total variation distance; gaussian.proof.md proves a bound on it.
"""
import pathlib
import re

from mpmath import mp, mpf, erfc, log, sqrt

mp.dps = 80
root = pathlib.Path(__file__).resolve().parents[3]
text = (root / "sotto/random/gaussian_table.hpp").read_text()
table = [int(x) + 1 + 2 ** 63 for x in re.findall(r"^    (-?\d+),", text, re.MULTILINE)]
edges = [0] + table + [2 ** 64]
magnitude = [b - a for a, b in zip(edges, edges[1:])]
B, P, M = 31, 16, 34


def choose15(n):
    """Binomial coefficient (n over 15), for n >= 15."""
    result = 1
    for i in range(15):
        result = result * (n - i)
    return result


FACTORIAL15 = choose15(15)
signs = [(-1) ** i * choose_i for i, choose_i in enumerate(
    [1, 16, 120, 560, 1820, 4368, 8008, 11440, 12870, 11440, 8008, 4368, 1820, 560, 120, 16, 1])]


def ways(total):
    """In how many ways 16 numbers in [0, 2^31) sum to `total`."""
    if not 0 <= total <= 16 * (2 ** B - 1):
        return 0
    return sum(s * choose15(total - (i << B) + 15) for i, s in enumerate(signs)
               if total >= i << B) // FACTORIAL15


def probability(k):
    """P(K = k), exactly."""
    shifted = k + 8 * (2 ** B - 1)
    low = (shifted >> B) - 16
    total = 0
    for j in range(low, low + 17):
        if abs(j) < len(magnitude):
            weight = 2 * magnitude[0] if j == 0 else magnitude[abs(j)]
            total += weight * ways(shifted - (j << B))
    return mpf(total) / mpf(2) ** (65 + B * P)


def ideal(k):
    scale = mpf(2) ** M * sqrt(mpf(2))
    return (erfc((k - mpf(1) / 2) / scale) - erfc((k + mpf(1) / 2) / scale)) / 2


STEP = 1 << (B - 5)
distance, mass, worst = mpf(0), mpf(0), mpf(0)
for k in range(STEP // 2, 82 << B, STEP):
    difference = abs(probability(k) - ideal(k))
    distance += difference * STEP  # both signs, halved
    mass += 2 * probability(k) * STEP
    worst = max(worst, difference / ideal(k) if k < 6 << M else 0)
print("mass of the sampler, by the same sum, minus 1:", mp.nstr(mass - 1, 5))
print("largest relative error within 6 sigma: 2^%s" % mp.nstr(log(worst, 2), 5))
print("distance: 2^%s" % mp.nstr(log(distance, 2), 6))
