// A receipt buys one release: it can be moved, not copied.
#include <utility>

#include "sotto/privacy/receipt.hpp"

sotto::Receipt spend_twice(sotto::Receipt& receipt) {
#ifdef LEAK
  return sotto::Receipt(receipt);
#else
  return sotto::Receipt(std::move(receipt));
#endif
}
