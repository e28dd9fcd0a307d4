#pragma once
// Ctrl-C and SIGTERM: the first asks the work to stop where it can be taken up again, the second kills.

namespace gsc::cli {

/// From now on the first signal only sets a flag.
void catch_interrupts();
bool interrupted();

}  // namespace gsc::cli
