#pragma once

namespace sotto::app {

/// Says, in static text, that memory ran out.
void tell_out_of_memory() noexcept;

/// Memory that runs out where nothing can be caught (in a destructor, in a thread) ends the program
/// with the message and exit code of memory that runs out anywhere else, and without temporary
/// files.
void install_out_of_memory();

/// OpenSSL crashes where memory is refused at its first use, which would be some time after the
/// program's start: it is used at once, while there is more memory than it takes. Ends the program
/// if there is not.
void use_libraries_once();

}  // namespace sotto::app
