#pragma once
// A Watcher made of a function.

#include <gsc/watcher.h>

#include <utility>

namespace gsc::test {

/// Tells `go_on` how far the work is, and stops it once that returns false.
class Watching final : public Watcher {
 public:
  explicit Watching(std::function<bool(const Progress&)> go_on) : go_on_(std::move(go_on)) {}
  void on_progress(const Progress& now) override { stop_ = !go_on_(now) || stop_; }
  bool stop_requested() override {
    ++asked;
    return stop_;
  }
  int asked = 0;

 private:
  std::function<bool(const Progress&)> go_on_;
  bool stop_ = false;
};

}  // namespace gsc::test
