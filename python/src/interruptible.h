#pragma once
// Long work beside Python. It runs in a thread of its own, for three reasons: the calling thread can ask Python for
// signals all the while, so Ctrl-C arrives; a fork later finds no threads of OpenMP that belong to the caller; and what
// the work sets for its thread is gone with it.

#include <gsc/fit.h>
#include <nanobind/nanobind.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

namespace gsc::python {

namespace nb = nanobind;

class Interruptible {
 public:
  /// Called with the GIL, which is released while the work runs. Throws, in this order, what a signal raised, what
  /// in_python() caught, and what the work threw.
  void run(const std::function<void()>& work);

  /// For callbacks, from any thread of the work: calls with the GIL. If Python raises, the work is asked to stop.
  void in_python(const std::function<void()>& call);

  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void check_signals();
  std::atomic<bool> stop_ = false;
  std::unique_ptr<nb::python_error> signal_, raised_;
};

/// A row of the history as a dictionary.
nb::dict row_of(const IterationReport& row, Method method = kUsualMethod);

/// Tells a callable of Python about every iteration, or how far pictures are; if it returns something true, that is the
/// end.
class PythonWatcher final : public Watcher {
 public:
  PythonWatcher(Interruptible& work, nb::object callback, Method method = kUsualMethod)
      : work_(work), callback_(std::move(callback)), method_(method) {}
  void on_iteration(const FitState& state) override;
  void on_progress(const Progress& progress) override;
  void on_note(const std::string& note) override { notes.push_back(note); }
  bool stop_requested() override { return enough_ || work_.stop(); }
  std::vector<std::string> notes;

 private:
  void tell(const std::function<nb::object()>& call);
  Interruptible& work_;
  nb::object callback_;
  Method method_;
  std::atomic<bool> enough_ = false;
};

}  // namespace gsc::python
