#!/usr/bin/python3
"""2^128 P(X <= k), X binomial(2^bits, rate), rounded to integers: binomial_cdf.hpp beside this."""
from mpmath import mp, mpf, binomial, floor

mp.prec = 400
print("#pragma once\n")
print("// Made by binomial_cdf.py.\n")
print("#include <cstdint>\n")
print("struct BinomialGolden {\n  int bits;\n  double rate;\n  std::size_t k;")
print("  std::uint64_t high;\n  std::uint64_t low;\n};\n")
print("inline constexpr BinomialGolden kBinomialGolden[] = {")
for bits, rate in [(6, 1 / 16), (7, 0.04), (9, 0.01), (14, 0.00044), (26, 1e-7), (40, 1e-13)]:
    q, n, total = mpf(rate), 2 ** bits, mpf(0)
    for k in range(41):
        total += binomial(n, k) * q ** k * (1 - q) ** (n - k)
        if k in (0, 1, 2, 4, 8, 16, 24, 40):
            scaled = int(floor(total * mpf(2) ** 128))
            print(f"    {{{bits}, {rate.hex()}, {k}, {scaled >> 64:#x}u, {scaled % 2**64:#x}u}},")
print("};")
