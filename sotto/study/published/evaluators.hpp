#pragma once

#include "sotto/study/published/formula.hpp"

/// The functions behind the table of formula_table.cpp.
namespace sotto::study::published {

// What a paper prints, priced as it stands (formula.cpp).
Formula dp_gd(const FormulaInputs& in);
Formula dp_pgd(const FormulaInputs& in);
Formula dp_tr(const FormulaInputs& in);
Formula dp_str(const FormulaInputs& in);
Formula opt(const FormulaInputs& in);
Formula dp_srm(const FormulaInputs& in);
Formula adp_sgd(const FormulaInputs& in);
Formula rrpsgd(const FormulaInputs& in);
Formula dp_fw_l1(const FormulaInputs& in);

// The same as the noise of a run, and what only runs need (noise.cpp).
PublishedNoise wyx17(const NoiseFacts& f);
PublishedNoise wx19_printed(const NoiseFacts& f);
PublishedNoise wx19(const NoiseFacts& f);
PublishedNoise advanced(const NoiseFacts& f);
PublishedNoise moments_grid(const NoiseFacts& f);
PublishedNoise zzmw17(const NoiseFacts& f);
PublishedNoise wjeg23(const NoiseFacts& f);
PublishedNoise adp21(const NoiseFacts& f);
PublishedNoise gw23(const NoiseFacts& f);
PublishedNoise gw23_batches(const NoiseFacts& f);
PublishedNoise wx20_tr(const NoiseFacts& f);
PublishedNoise wx20_str(const NoiseFacts& f);
PublishedNoise wcx19_code(const NoiseFacts& f);
PublishedNoise lk18_code(const NoiseFacts& f);

}  // namespace sotto::study::published
