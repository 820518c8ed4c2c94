#include "sotto/core/reserve.hpp"

namespace sotto {

// Not in the header, where a compiler might see that nobody reads the bytes, and ask for none.
Reserve::Reserve(std::size_t bytes) : bytes_(new std::byte[bytes]) {}

Reserve::~Reserve() = default;

void Reserve::release() noexcept { bytes_.reset(); }

}  // namespace sotto
