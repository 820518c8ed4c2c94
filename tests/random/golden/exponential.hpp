#pragma once

// Made by exponential.py.

#include <cstdint>

struct ExponentialGolden {
  std::uint64_t steps;
  std::uint64_t high;
  std::uint64_t low;
};

inline constexpr ExponentialGolden kExponentialGolden[] = {
    {1u, 0xfffffffc00000007u, 0xfffffff55555555fu},
    {2u, 0xfffffff80000001fu, 0xffffffaaaaaaab55u},
    {3u, 0xfffffff400000047u, 0xfffffee00000035fu},
    {12345u, 0xffff3f1c48ab5347u, 0x972bffc03fc91878u},
    {4194303u, 0xff007fd95bffdd96u, 0x4e8a805b521136a8u},
    {1073741824u, 0x5e2d58d8b3bcdf1au, 0xbadec7829054f90du},
    {3221303249u, 0xcbe9be5cf347b70u, 0xd5bafadfd1145d00u},
    {34359738367u, 0x3908cu, 0x9efa6ebf7f9269d9u},
    {69256347653u, 0x0u, 0x7b4fe1d62u},
    {137438953471u, 0x0u, 0x0u},
};
