#pragma once

// How the rows of a block's units go through the network; private to the engine.

#include <algorithm>

#include "sotto/objective/network/scratch.hpp"

namespace sotto {

template <class Run>
void NetworkEngine::run_block(const Block& block, Scratch& s, const Run& run) const {
  s.count = block.count;
  Block rows = block;
  if (table_.has_units()) {
    select_members(block, s);
    rows = {s.single_rows.data(), 0, std::ssize(s.single_rows)};
  }
  for (std::int64_t begin = 0; begin < rows.count; begin += kChunk)
    run(rows, begin, std::min(kChunk, rows.count - begin), begin);
  if (!table_.has_units()) return;
  const auto several = [&](std::int64_t k) { return member(s, k).summed; };
  for_each_row_chunk(block, s, several, [&](const Block& chunk) {
    run(chunk, 0, chunk.count, block_size_);  // behind all that stays there
    add_chunk_to_sums(s);
  });
}

/// body(chunk) for the rows of those units of the block that are wanted, a few at a time and in
/// order; s.chunk_units says whose each is.
template <class Wanted, class Body>
void NetworkEngine::for_each_row_chunk(const Block& block,
                                       Scratch& s,
                                       const Wanted& wanted,
                                       const Body& body) const {
  const auto hand_over = [&] {
    if (!s.chunk_rows.empty()) body(Block{s.chunk_rows.data(), 0, std::ssize(s.chunk_rows)});
    s.chunk_rows.clear();
    s.chunk_units.clear();
  };
  for (std::int64_t k = 0; k < block.count; ++k) {
    if (!wanted(k)) continue;
    const std::int64_t end = table_.unit_begin(block[k] + 1);
    for (std::int64_t row = table_.unit_begin(block[k]); row < end; ++row) {
      s.chunk_rows.push_back(row);
      s.chunk_units.push_back(k);
      if (std::ssize(s.chunk_rows) == kChunk) hand_over();
    }
  }
  hand_over();
}

}  // namespace sotto
