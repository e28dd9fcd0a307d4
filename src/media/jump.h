#pragma once
// Errors of libpng and libjpeg: both want their error handler not to come back, and exceptions must not pass through C.
// So the handler notes the words and jumps back out of the library.

#include <csetjmp>
#include <cstdio>

namespace gsc::media {

/// What the handlers of one library session share with it.
struct Jump {
  std::jmp_buf back;
  char words[200] = "";  ///< what the library said last; it may not allocate

  [[noreturn]] void leave(const char* message) {
    std::snprintf(words, sizeof words, "%s", message);
    std::longjmp(back, 1);
  }
};

/// Runs library calls; false if they ended in an error. `work` is left by a jump then, which destroys nothing: objects
/// with destructors belong into `session`, outside.
template <class Session>
[[gnu::noinline]] bool succeeds(Session& session, void (*work)(Session&)) {
  if (setjmp(session.back) != 0) return false;
  work(session);
  return true;
}

}  // namespace gsc::media
