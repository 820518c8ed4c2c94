#!/usr/bin/python3
"""2^128 exp(-steps 2^-30), rounded to integers: exponential.hpp beside this."""
from mpmath import mp, mpf, exp, floor

mp.prec = 400
print("#pragma once\n")
print("// Made by exponential.py.\n")
print("#include <cstdint>\n")
print("struct ExponentialGolden {\n  std::uint64_t steps;\n  std::uint64_t high;\n  std::uint64_t low;\n};\n")
print("inline constexpr ExponentialGolden kExponentialGolden[] = {")
for steps in [1, 2, 3, 12345, 2**22 - 1, 2**30, 3 * 2**30 + 77777, 2**35 - 1, 2**36 + 2**29 + 5, 2**37 - 1]:
    scaled = int(floor(exp(-mpf(steps) / 2**30) * mpf(2) ** 128))
    print(f"    {{{steps}u, {scaled >> 64:#x}u, {scaled % 2**64:#x}u}},")
print("};")
