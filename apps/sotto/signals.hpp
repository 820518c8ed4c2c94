#pragma once

namespace sotto::app {

/// From here on INT, TERM, HUP, XCPU and USR1 ask for an end: the run stops after its step with its
/// state written down, and a call that waits returns. A second one ends the program at once,
/// without leaving temporary files. A pipe that nobody reads and a file that may not grow are
/// errors of the call, not the end of the program. The first thing that main() does.
void install_signals();

}  // namespace sotto::app
