// Adds a place where E-steps are computed. This one leaves the work to the processor and counts what it was asked.

#include <gsc/backend/engine.h>
#include <gsc/gsc.h>

#include <cstdio>

class Counted final : public gsc::Engine {
 public:
  static inline int passes = 0;
  Counted(const gsc::Data& data, gsc::InferenceOptions options) {
    options.device = "cpu";
    cpu_ = gsc::make_engine(data, options);
  }
  gsc::Statistics e_step(const gsc::Model& model, const gsc::Pass& pass) override {
    ++passes;
    return cpu_->e_step(model, pass);  // a device would go over the rows of `pass` itself
  }
  gsc::Posterior infer(const gsc::Model& model, const gsc::PosteriorRequest& request, gsc::Index first,
                       gsc::Index count, const gsc::StopRequest& stop) override {
    return cpu_->infer(model, request, first, count, stop);
  }

 private:
  std::unique_ptr<gsc::Engine> cpu_;
};

int main() try {
  gsc::add_engine("counted", [](const gsc::Data& data, const gsc::InferenceOptions& options) {
    return std::make_unique<Counted>(data, options);
  });
  gsc::Random random(1);
  const gsc::MatrixData data(gsc::sample(gsc::bars_model(10, random), 500, random).data);
  gsc::FitOptions options;
  options.latents = 10;
  options.iterations = 10;
  options.inference.device = "counted";  // from now on a device like any other
  const gsc::FitResult result = gsc::fit(data, options);
  std::printf("%d passes, free energy %.1f\n", Counted::passes, result.last().free_energy);
  return Counted::passes > options.iterations ? 0 : 1;
} catch (const gsc::Error& error) {
  std::fprintf(stderr, "backend: %s\n", error.what());
  return 1;
}
