#include "interrupts.h"

#include <csignal>

#include "program_team.h"

namespace gsc::cli {
namespace {

volatile std::sig_atomic_t flag = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { flag = 1; };
  // The handler is gone after the first signal, so the second does what it always does. mpirun may send several.
  action.sa_flags = (team().alone() ? static_cast<int>(SA_RESETHAND) : 0) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return flag != 0; }

}  // namespace gsc::cli
