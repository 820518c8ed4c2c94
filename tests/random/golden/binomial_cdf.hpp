#pragma once

// Made by binomial_cdf.py.

#include <cstdint>

struct BinomialGolden {
  int bits;
  double rate;
  std::size_t k;
  std::uint64_t high;
  std::uint64_t low;
};

inline constexpr BinomialGolden kBinomialGolden[] = {
    {6, 0x1.0000000000000p-4, 0, 0x41d846598faf4d2u, 0xa5e09a556869a65u},
    {6, 0x1.0000000000000p-4, 1, 0x15ac861714a12b85u, 0x69cd21bc1d092d2au},
    {6, 0x1.0000000000000p-4, 2, 0x3a8c09a56517d197u, 0xb2366debf11b615fu},
    {6, 0x1.0000000000000p-4, 4, 0xa0ffe6de54364035u, 0xd3659eb7604b4e38u},
    {6, 0x1.0000000000000p-4, 8, 0xfb79fa561e8ac5eeu, 0x5d666ace780ad42eu},
    {6, 0x1.0000000000000p-4, 16, 0xfffffb713e763f07u, 0x2892ebd9eb647f46u},
    {6, 0x1.0000000000000p-4, 24, 0xfffffffffff8056au, 0x70d744bf0676090cu},
    {6, 0x1.0000000000000p-4, 40, 0xffffffffffffffffu, 0xfffffffffff85656u},
    {7, 0x1.47ae147ae147bp-5, 0, 0x1608807620b0f27u, 0x8ba4b7d89ad4c8e2u},
    {7, 0x1.47ae147ae147bp-5, 1, 0x8b8b2d96cf0b55bu, 0x4380c9e230c1ed31u},
    {7, 0x1.47ae147ae147bp-5, 2, 0x1c274ecfd470528du, 0x21756a9d44d5784du},
    {7, 0x1.47ae147ae147bp-5, 4, 0x6a703f212c106feau, 0x3320229319c9997cu},
    {7, 0x1.47ae147ae147bp-5, 8, 0xed8ae40016e82c9fu, 0x77d6e4b865b4c76eu},
    {7, 0x1.47ae147ae147bp-5, 16, 0xffff00dfb358d158u, 0x7bbe67def7bf9b8du},
    {7, 0x1.47ae147ae147bp-5, 24, 0xffffffffc88a6632u, 0xa22aa77ed1917ac3u},
    {7, 0x1.47ae147ae147bp-5, 40, 0xffffffffffffffffu, 0xffffe650b22c5298u},
    {9, 0x1.47ae147ae147bp-7, 0, 0x17dae1dc10b03fdu, 0x90e75a8def64b40du},
    {9, 0x1.47ae147ae147bp-7, 1, 0x9339f33c143fc3au, 0xb8c3122680a254cdu},
    {9, 0x1.47ae147ae147bp-7, 2, 0x1d19fc97339e1fe9u, 0xc65cf32354164d15u},
    {9, 0x1.47ae147ae147bp-7, 4, 0x6b320767f1fc1aafu, 0xf97fe11f529db6b7u},
    {9, 0x1.47ae147ae147bp-7, 8, 0xecbfe61da15d3535u, 0x2118d28d05156548u},
    {9, 0x1.47ae147ae147bp-7, 16, 0xfffe79030ca64412u, 0x142a03dc4f83b9fau},
    {9, 0x1.47ae147ae147bp-7, 24, 0xffffffff3dd1094bu, 0xb538791d958220f4u},
    {9, 0x1.47ae147ae147bp-7, 40, 0xffffffffffffffffu, 0xfff7b0a6812e3789u},
    {14, 0x1.cd5f99c38b04bp-12, 0, 0x306a39890028f8u, 0xe0ebfde59e9f3ca3u},
    {14, 0x1.cd5f99c38b04bp-12, 1, 0x18d9706b84895deu, 0x6623ced0af13adbcu},
    {14, 0x1.cd5f99c38b04bp-12, 2, 0x678a9546b9fe570u, 0x40fb8c4a945960a4u},
    {14, 0x1.cd5f99c38b04bp-12, 4, 0x279b06dd8d2bb129u, 0x4ef82be43e99d9a9u},
    {14, 0x1.cd5f99c38b04bp-12, 8, 0xb39507e2430adc33u, 0xaf4650240db84au},
    {14, 0x1.cd5f99c38b04bp-12, 16, 0xffaabea0695bbb40u, 0xea221b3d027fb0ddu},
    {14, 0x1.cd5f99c38b04bp-12, 24, 0xfffffcf23d89e5eeu, 0x70840388367c1104u},
    {14, 0x1.cd5f99c38b04bp-12, 40, 0xffffffffffffffb9u, 0x33a5510ea2e1019au},
    {26, 0x1.ad7f29abcaf48p-24, 0, 0x4fcbab55ab2352u, 0xfb5832b12e831646u},
    {26, 0x1.ad7f29abcaf48p-24, 1, 0x2674b736efe69eeu, 0x3ab1c26812c579beu},
    {26, 0x1.ad7f29abcaf48p-24, 2, 0x96c21c1376ea160u, 0xcf30301df1a54462u},
    {26, 0x1.ad7f29abcaf48p-24, 4, 0x33771e6709bb449eu, 0xf9e50e05241a82d9u},
    {26, 0x1.ad7f29abcaf48p-24, 8, 0xc414299b038199a2u, 0x437e7618e15798a0u},
    {26, 0x1.ad7f29abcaf48p-24, 16, 0xffd80740af6f5883u, 0xdca397475352f4b6u},
    {26, 0x1.ad7f29abcaf48p-24, 24, 0xffffff2c96652f79u, 0x82283a36d8d6872bu},
    {26, 0x1.ad7f29abcaf48p-24, 40, 0xfffffffffffffff9u, 0xaff637f05768a4e0u},
    {40, 0x1.c25c268497682p-44, 0, 0xe55840cf5d826977u, 0xfbe0fd7acc967f90u},
    {40, 0x1.c25c268497682p-44, 1, 0xfe8fbbd1b87fc55eu, 0x9c2fa720c7e8af5au},
    {40, 0x1.c25c268497682p-44, 2, 0xfff2a0a165a31803u, 0xadc510481d40fea0u},
    {40, 0x1.c25c268497682p-44, 4, 0xfffffdf325b0484du, 0xf89eecdda8e1d9c6u},
    {40, 0x1.c25c268497682p-44, 8, 0xfffffffffffe5990u, 0x71909ac5675ee0a6u},
    {40, 0x1.c25c268497682p-44, 16, 0xffffffffffffffffu, 0xfffffffffd6beb5cu},
    {40, 0x1.c25c268497682p-44, 24, 0xffffffffffffffffu, 0xffffffffffffffffu},
    {40, 0x1.c25c268497682p-44, 40, 0xffffffffffffffffu, 0xffffffffffffffffu},
};
