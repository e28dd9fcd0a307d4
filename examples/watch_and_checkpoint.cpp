// Watches learning, saves a checkpoint, stops half way, and goes on from the file to the same bits.

#include <gsc/files.h>
#include <gsc/gsc.h>

#include <cstdio>

/// Prints each iteration, saves every fifth, and has enough after ten.
class Watch final : public gsc::Watcher {
 public:
  explicit Watch(const gsc::FitOptions& options) : checkpoint_("checkpoint.h5", options, 5) {}
  void on_note(const std::string& note) override { std::printf("note: %s\n", note.c_str()); }
  void on_iteration(const gsc::FitState& state) override {
    iteration_ = state.history.back().iteration;
    std::printf("iteration %d: free energy %.1f\n", iteration_, state.history.back().free_energy);
    checkpoint_.on_iteration(state);
  }
  bool needs_method_state(const gsc::FitState& state) override { return checkpoint_.needs_method_state(state); }
  bool stop_requested() override { return iteration_ == 10; }  // asked between blocks of data

 private:
  gsc::Checkpoint checkpoint_;
  int iteration_ = 0;
};

int main() try {
  gsc::Random random(1);
  const gsc::MatrixData data(gsc::sample(gsc::bars_model(10, random), 1000, random).data);
  gsc::FitOptions options;
  options.latents = 10;
  options.iterations = 20;

  Watch watch(options);
  const gsc::FitResult half = gsc::fit(data, options, &watch);
  const gsc::FitResult rest = gsc::resume(data, options, gsc::load_model("checkpoint.h5").state);
  const gsc::FitResult whole = gsc::fit(data, options);
  const bool same = rest.model() == whole.model();
  std::printf("stopped after %d iterations; resumed, the model is %s\n", half.last().iteration,
              same ? "that of a run never stopped" : "ANOTHER");
  return half.reason == gsc::StopReason::interrupted && same ? 0 : 1;
} catch (const gsc::Error& error) {
  std::fprintf(stderr, "watch_and_checkpoint: %s\n", error.what());
  return 1;
}
