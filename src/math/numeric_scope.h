#pragma once
// Settings that belong to the caller's process and thread but that our mathematics depends on: borrowed for the time of
// a call, and put back.

#include <gsc/export.h>

#include <cfenv>

namespace gsc {

/// Gives the calling thread the default floating-point environment (rounding to nearest, no traps, small numbers not
/// flushed to zero), so that results do not depend on the caller's, and idle lanes of vectors may divide by zero. The
/// destructor puts back all of it, flags included.
class GSC_EXPORT FloatingPointScope {
 public:
  FloatingPointScope();
  ~FloatingPointScope();
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
  std::fenv_t found_;
};

/// While one of these lives, the linked BLAS works on the calling thread only: the parallelism is ours. Its number of
/// threads belongs to the whole process, so the scopes of all threads are counted. The last one to end puts back what
/// the first one found, or what somebody else has set in between. A scope ends on the thread where it began.
class GSC_EXPORT OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int openmp_threads_ = 0;  // what was found, if the BLAS asks OpenMP
};

/// Held by every public function that does mathematics in parallel or through BLAS. Calls may nest.
class NumericScope {
 public:
  NumericScope() = default;
  NumericScope(const NumericScope&) = delete;
  NumericScope& operator=(const NumericScope&) = delete;

 private:
  FloatingPointScope floating_point_;
  OneBlasThread blas_;
};

}  // namespace gsc
