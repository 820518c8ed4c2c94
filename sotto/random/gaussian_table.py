#!/usr/bin/python3
"""Computes the table of the rounded Gaussian sampler and the bound of gaussian.proof.md.

    gaussian_table.py > gaussian_table.hpp      the table
    gaussian_table.py --bound                   the terms of the proved distance

Notation of gaussian.proof.md: coarse step h = 2^b / 2^m; q_c uniforms have c of the b bits.
"""
import sys

from mpmath import mp, mpf, cos, erfc, exp, fac2, floor, log, pi, quad, sin, sqrt

mp.dps = 130

B, M = 32, 34
H = mpf(2) ** (B - M)
UNIFORMS = {8: 16, 16: 4, 32: 4}  # how many have that many bits
P = sum(UNIFORMS.values())
WORD = 2 ** 63  # values of the word that selects |J|
NODES = 2048    # of the trapezoidal rule, off by less than 1e-28 here (see the proof)
LAST = 160      # weights computed: |j| <= LAST


def dirichlet(c, s):
    """The transform of a uniform of c bits at frequency s (in units of 1/sigma)."""
    return sin(s * H / 2) / (mpf(2) ** c * sin(s * H / mpf(2) ** (c + 1)))


def weight_transform(s):
    """The transform of J at frequency s, |s| <= pi/h: target over that of the uniforms."""
    if s == 0:
        return mpf(1)
    theta = s / mpf(2) ** M
    result = exp(-s * s / 2) * sin(theta / 2) / (theta / 2)
    for c, q in UNIFORMS.items():
        result /= dirichlet(c, s) ** q
    return result


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
    """Integers summing to 2^63, as near to 2^63 P(|J| = j) as possible (largest remainders)."""
    ideal = [WORD * w[0]] + [2 * WORD * x for x in w[1:]]
    result = [max(0, int(floor(x))) for x in ideal]
    order = sorted(range(len(ideal)), key=lambda j: result[j] - ideal[j])
    for j in order[: WORD - sum(result)]:
        result[j] += 1
    assert sum(result) == WORD
    return result


def thresholds(counts):
    """For j = 1, ..: |J| >= j iff the word of 63 bits is greater."""
    largest = max(j for j, count in enumerate(counts) if count)
    return [sum(counts[:j]) - 1 for j in range(1, largest + 1)]


def band(k, c):
    """The integral over |s0| <= pi/h of e^(-s0^2/2) times the ratios of uniforms of at most c bits."""
    def integrand(s0):
        result = exp(-s0 * s0 / 2)
        for bits, q in UNIFORMS.items():
            if bits <= c:
                unit = H / mpf(2) ** (bits + 1)
                result *= abs(sin(s0 * unit) / sin((s0 + 2 * pi * k / H) * unit)) ** q
        return result
    # Both signs of k give the same integral.
    return 2 * quad(integrand, [-pi / H, -9, -6, -3, 0, 3, 6, 9, pi / H])


def moment(power):
    """The integral of e^(-s^2/2) (h |s| / 2)^power, for an even power."""
    return sqrt(2 * pi) * (H / 2) ** power * fac2(power - 1)


def alias_integral():
    """Upper bounds on the integrals over s of |P^ - T^|, by kinds of bands (see the proof)."""
    near = 64
    zeta4 = pi ** 4 / 90
    close = sum(band(k, 32) for k in range(1, near + 1))
    # 256 divides k - r, 0 < |r| <= near, k != r: |k| >= 192 |l|, and the four finest ratios are at
    # most (pi/2) / (2|k| - 1) each.
    repeated = sum(band(r, 8) for r in range(1, near + 1)) * 2 * zeta4 * (pi / 2 / 383) ** 4
    # |k mod 256| > near: all 16 coarsest ratios are small, the finest make the sum over k finite.
    q = UNIFORMS[8]
    distant = (sqrt(2 * pi) * (pi / 2 / (2 * near + 1)) ** q
               * 2 * (pi / 2) ** 4 * mpf(2 * near - 1) ** -3 / 6)
    # 256 divides k, 65536 does not; 65536 divides k.
    middle = moment(8) * mpf(511) ** -8 * 2 * zeta4
    fine = moment(4) * mpf(2 ** 17 - 1) ** -4 * 2 * zeta4
    # The target's own bands k != 0: exp(-s^2/2) from pi / h on.
    target = 2 * sqrt(pi / 2) * erfc(pi / H / sqrt(2))
    return {"bands |k| <= 64": close, "bands k = r mod 256": repeated, "other bands": distant,
            "bands 256 | k": middle, "bands 65536 | k": fine, "target's own bands": target}


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
        print("/// |J| >= j exactly if a uniform number of 63 bits is greater than the j-th entry.")
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
    parts = alias_integral()
    # ((2 M' + 1) / 2) sup |P - T|, with 2^m reach < M' + 1/2
    smooth = (reach + mpf(2) ** -M) * sum(parts.values()) / (2 * pi)
    ideal = [w[0]] + [2 * x for x in w[1:]]
    table_error = sum(abs(mpf(c) / WORD - x) for c, x in zip(counts, ideal)) / 2
    tail = erfc(reach / sqrt(2)) / 2
    print(f"entries              {largest}, reach {mp.nstr(reach, 6)} standard deviations")
    for name, value in parts.items():
        print(f"{name:<20} {bits(value)}")
    print(f"transform at pi/h    {bits(weight_transform(pi / H))}")
    print(f"smooth part          {bits(smooth)}")
    print(f"table rounding       {bits(table_error)}")
    print(f"target beyond reach  {bits(tail)}")
    print(f"total                {bits(smooth + table_error + tail)}")


main()
