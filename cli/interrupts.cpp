#include "interrupts.h"

#include <csignal>

namespace gsc::cli {
namespace {

volatile std::sig_atomic_t flag = 0;

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { flag = 1; };
  // The handler is gone after the first signal, so the second does what it always does.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return flag != 0; }

}  // namespace gsc::cli
