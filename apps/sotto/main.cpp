#include "command_line.hpp"

int main(int argc, char** argv) { return sotto::app::run_command_line({argv + 1, argv + argc}); }
