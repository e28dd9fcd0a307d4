#include "interruptible.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>

namespace gsc::python {

void Interruptible::check_signals() {
  const nb::gil_scoped_acquire gil;
  if (signal_ || PyErr_CheckSignals() == 0) return;
  signal_ = std::make_unique<nb::python_error>();
  stop_ = true;
}

void Interruptible::run(const std::function<void()>& work) {
  constexpr auto kPatience = std::chrono::milliseconds(50);
  std::exception_ptr failure;
  {
    const nb::gil_scoped_release release;
    std::mutex mutex;
    std::condition_variable finished;
    bool done = false;
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      finished.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, kPatience, [&] { return done; })) {
      lock.unlock();
      check_signals();
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (signal_) throw nb::python_error(*signal_);
  if (raised_) throw nb::python_error(*raised_);
  if (failure) std::rethrow_exception(failure);
}

void Interruptible::in_python(const std::function<void()>& call) {
  if (stop_) return;
  const nb::gil_scoped_acquire gil;
  try {
    call();
  } catch (const nb::python_error& error) {
    if (!raised_) raised_ = std::make_unique<nb::python_error>(error);
    stop_ = true;
  }
}

nb::dict row_of(const IterationReport& row, Method method) {
  nb::dict values;
  values["iteration"] = row.iteration;
  values[std::string(objective_name(method)).c_str()] = row.free_energy;
  values["noise_std"] = row.noise_std;
  values["mean_active"] = row.mean_active;
  values["latents_in_use"] = row.latents_in_use;
  values["seconds"] = row.seconds;
  values["dip"] = row.dip;
  values["estimated"] = row.estimated;
  values["rescues"] = row.rescues;
  return values;
}

void PythonWatcher::tell(const std::function<nb::object()>& call) {
  if (callback_.is_none()) return;
  work_.in_python([&] {
    const int yes = PyObject_IsTrue(call().ptr());
    if (yes < 0) throw nb::python_error();
    if (yes > 0) enough_ = true;
  });
}

void PythonWatcher::on_iteration(const FitState& state) {
  tell([&] { return callback_(row_of(state.history.back(), method_)); });
}

void PythonWatcher::on_progress(const Progress& progress) {
  tell([&] { return callback_(progress.fraction); });
}

}  // namespace gsc::python
