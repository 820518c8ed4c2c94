// What a model or a record says of the number of units is the public number.
#include "sotto/data/table.hpp"
#include "sotto/model/model.hpp"

void fill(sotto::PrivacyStatement& statement, sotto::PublicCount n, const sotto::Table& table) {
#ifdef LEAK
  statement.public_n = table.units();
#else
  static_cast<void>(table);
  statement.public_n = n;
#endif
}
