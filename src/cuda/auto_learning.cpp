#include "cuda/auto_learning.h"

#include <utility>

namespace gsc::cuda {

/// There; where that fails, here, after `repeat` has made again what the call needs.
template <class Call, class Repeat>
auto AutoLearning::with(const Call& call, const Repeat& repeat) {
  if (!here_) try {
      return call(*there_);
    } catch (const DeviceError& error) {
      bring_back(error);
      repeat();
    }
  return call(static_cast<ResidentEm&>(*here_));
}

void AutoLearning::go_on_here(const DeviceError& why) {
  if (!here_) bring_back(why);
}

void AutoLearning::bring_back(const DeviceError& why) {
  Model model = kept_, before = kept_;
  Statistics running = kept_running_;
  Rescues rescues;
  const bool started = kept_.latents() > 0;
  if (started) try {
      Rescues counted = stepped_ ? there_->rescues() : Rescues{};
      Model current = there_->model();
      Statistics sums = has_running_ ? there_->running() : Statistics{};
      if (stepped_) there_->take_back();
      before = there_->model();
      model = std::move(current);
      running = std::move(sums);
      rescues = counted;
      answered_ = true;
    } catch (const DeviceError&) {
      before = kept_;
    }
  there_ = nullptr;
  here_.emplace(to_cpu_(why), options_);
  here_->go_on(std::move(before), std::move(model), std::move(running), rescues);
}

void AutoLearning::keep(const Model& model) {
  if (here_) return;
  kept_ = model;
  kept_at_ = Clock::now();
}

void AutoLearning::repeat_e_step() {
  Pass pass{.stop = stop_};
  if (rows_) pass.rows = *rows_;
  here_->e_step(pass);
}

void AutoLearning::repeat_blend() {
  if (blended_ && !answered_) here_->blend(blended_->keep, blended_->weight);
}

void AutoLearning::start(const Model& model) {
  with([&](ResidentEm& em) { em.start(model); }, [] {});
  keep(model);
  stepped_ = false;
}

Model AutoLearning::model() {
  Model model = with([](ResidentEm& em) { return em.model(); }, [] {});
  keep(model);
  return model;
}

ResidentRow AutoLearning::e_step(const Pass& pass) {
  ResidentRow row = with([&](ResidentEm& em) { return em.e_step(pass); }, [] {});
  rows_.reset();
  if (pass.rows) rows_.emplace(pass.rows->begin(), pass.rows->end());
  stop_ = pass.stop;
  stepped_ = false;
  blended_.reset();
  return row;
}

void AutoLearning::m_step(const ResidentStep& step) {
  const auto call = [&](ResidentEm& em) {
    if (!here_ && !step.of_running && Clock::now() - kept_at_ > std::chrono::seconds(1)) keep(em.model());
    em.m_step(step);
  };
  with(call, [&] {
    repeat_e_step();
    repeat_blend();
  });
  stepped_ = true;
}

void AutoLearning::take_back() {
  with([](ResidentEm& em) { em.take_back(); }, [] {});
  stepped_ = false;
}

Rescues AutoLearning::rescues() {
  return with([](ResidentEm& em) { return em.rescues(); }, [] {});
}

void AutoLearning::blend(double keep, double weight) {
  with([&](ResidentEm& em) { em.blend(keep, weight); }, [&] { repeat_e_step(); });
  blended_ = Blend{keep, weight};
  has_running_ = true;
}

Statistics AutoLearning::running() {
  Statistics running = with([](ResidentEm& em) { return em.running(); },
                            [&] {
                              if (answered_ || kept_running_.count > 0) return;
                              repeat_e_step();
                              repeat_blend();
                            });
  if (!here_) kept_running_ = running;
  return running;
}

void AutoLearning::set_running(const Statistics& running) {
  with([&](ResidentEm& em) { em.set_running(running); }, [] {});
  has_running_ = running.count > 0;
  if (!here_) kept_running_ = running;
}

}  // namespace gsc::cuda
