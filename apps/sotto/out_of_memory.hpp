#pragma once

namespace sotto::app {

/// Says, in static text, that memory ran out.
void tell_out_of_memory() noexcept;

/// Memory that runs out where nothing can be caught (in a destructor, in a thread) ends the program
/// with the message and exit code of memory that runs out anywhere else, and without temporary
/// files.
void install_out_of_memory();

}  // namespace sotto::app
