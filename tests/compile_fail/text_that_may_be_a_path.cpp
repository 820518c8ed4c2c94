// An option that takes a text, and does not say whether the text is a file that is read or written:
// nothing would keep another file of the command from being written over it.

#include "apps/sotto/verb.hpp"

void declare(sotto::app::Verb& verb, std::string& path, double& number) {
  verb.add_option("--epsilon", number, "a number");
  verb.add_input("--schema", path, "a file");
#ifdef LEAK
  verb.add_option("--schema", path, "a file");
#endif
}
