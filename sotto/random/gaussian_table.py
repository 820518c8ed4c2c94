#!/usr/bin/python3
"""Computes the table of the rounded Gaussian sampler and the bound of gaussian.proof.md.

    gaussian_table.py > gaussian_table.hpp      the table
    gaussian_table.py --bound                   the terms of the proved distance

Notation of gaussian.proof.md: b uniform bits, p uniforms, coarse step h = 2^b / 2^m.
"""
import sys

from mpmath import mp, mpf, cos, erfc, exp, floor, log, pi, quad, sin, sqrt

mp.dps = 130

B, P, M = 31, 16, 34
H = mpf(2) ** (B - M)
NODES = 2048  # of the trapezoidal rule, off by less than 1e-78 here (see the proof)
LAST = 160    # weights computed: |j| <= LAST


def weight_transform(s):
    """The transform of J at frequency s (in units of 1/sigma), |s| <= pi/h: target over D^p."""
    if s == 0:
        return mpf(1)
    theta = s / mpf(2) ** M
    rounding = sin(theta / 2) / (theta / 2)
    dirichlet = sin(s * H / 2) / (mpf(2) ** B * sin(theta / 2))
    return exp(-s * s / 2) * rounding / dirichlet ** P


def weights():
    """w_0, ..., w_LAST, with w_-j = w_j."""
    values = [weight_transform(2 * pi * i / NODES / H) for i in range(NODES // 2 + 1)]
    cosines = [cos(2 * pi * i / NODES) for i in range(NODES)]
    result = []
    for j in range(LAST + 1):
        total = values[0] + values[-1] * cosines[j * (NODES // 2) % NODES]
        total += 2 * sum(values[i] * cosines[i * j % NODES] for i in range(1, NODES // 2))
        result.append(total / NODES)
    return result


def rounded(w):
    """Integers summing to 2^64, as near to 2^64 P(|J| = j) as possible (largest remainders)."""
    ideal = [2 ** 64 * w[0]] + [2 ** 65 * x for x in w[1:]]
    result = [max(0, int(floor(x))) for x in ideal]
    order = sorted(range(len(ideal)), key=lambda j: result[j] - ideal[j])
    for j in order[: 2 ** 64 - sum(result)]:
        result[j] += 1
    assert sum(result) == 2 ** 64
    return result


def thresholds(counts):
    """t_j - 2^63 - 1 for j = 1, ..: |J| >= j iff the word, as a signed number, is greater."""
    largest = max(j for j, count in enumerate(counts) if count)
    return [sum(counts[:j]) - 2 ** 63 - 1 for j in range(1, largest + 1)]


def alias_integral():
    """An upper bound on the integral over s of |cf(K) - cf(target)|: bands k != 0, then the rest."""
    total = mpf(0)
    near = 64
    for k in range(1, near + 1):
        # |sin t| >= |t| (1 - t^2/6), with t = s / 2^(m+1) below this:
        t = (2 * k + 1) * pi / H / mpf(2) ** (M + 1)
        slack = (1 - t * t / 6) ** -P

        def integrand(s0, k=k):
            return exp(-s0 * s0 / 2) * (abs(s0) / (2 * pi * k / H + s0)) ** P

        # Both signs of k give the same integral.
        total += 2 * slack * quad(integrand, [-pi / H, -12, -6, -3, 0, 3, 6, 12, pi / H])
    # |k| > near: |sin t| >= 2|t|/pi on [-pi/2, pi/2], |s0 + 2 pi k / h| >= pi (2|k| - 1) / h,
    # |s0| <= pi / h; the sum over k is at most the integral of (2k - 1)^-p from `near`.
    far = sqrt(2 * pi) * (pi / 2) ** P * mpf(2 * near - 1) ** (1 - P) / (P - 1)
    # The target's own bands k != 0: exp(-s^2/2) from pi / h on.
    target = 2 * sqrt(pi / 2) * erfc(pi / H / sqrt(2))
    return total, far, target


def main():
    w = weights()
    counts = rounded(w)
    table = thresholds(counts)
    if "--bound" not in sys.argv:
        print("#pragma once\n")
        print("// Made by gaussian_table.py; the proof is gaussian.proof.md.\n")
        print("#include <cstdint>\n")
        print("namespace sotto::internal {\n")
        print("// clang-format off")
        print("/// |J| >= j exactly if a uniform signed 64-bit word is greater than the j-th entry.")
        print(f"inline constexpr std::int64_t kGaussianThresholds[{len(table)}] = {{")
        for t in table:
            print(f"    {t},")
        print("};")
        print("// clang-format on\n")
        print("}  // namespace sotto::internal")
        return

    def bits(x):
        return f"{mp.nstr(x, 6):>14}  = 2^{mp.nstr(log(x, 2), 6)}"

    largest = len(table)
    reach = H * (largest + P // 2)  # the sampler never leaves [-reach, reach] standard deviations
    aliases, far, target = alias_integral()
    # ((2 M' + 1) / 2) sup |P - T|, with 2^m reach < M' + 1/2
    smooth = (reach + mpf(2) ** -M) * (aliases + far + target) / (2 * pi)
    ideal = [w[0]] + [2 * x for x in w[1:]]
    table_error = sum(abs(mpf(c) / 2 ** 64 - x) for c, x in zip(counts, ideal)) / 2
    tail = erfc(reach / sqrt(2)) / 2
    print(f"entries              {largest}, reach {mp.nstr(reach, 6)} standard deviations")
    print(f"aliased bands near   {bits(aliases)}")
    print(f"aliased bands far    {bits(far)}")
    print(f"target's own bands   {bits(target)}")
    print(f"transform at pi/h    {bits(weight_transform(pi / H))}")
    print(f"smooth part          {bits(smooth)}")
    print(f"table rounding       {bits(table_error)}")
    print(f"target beyond reach  {bits(tail)}")
    print(f"total                {bits(smooth + table_error + tail)}")


main()
