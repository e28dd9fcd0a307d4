// Learns from data that stays where it is: floats, column after column, as many programs keep them.

#include <gsc/gsc.h>

#include <cstdio>
#include <vector>

/// Rows are copied out block by block, when the engine asks for them.
class Columns final : public gsc::Data {
 public:
  Columns(const std::vector<float>& values, gsc::Index columns) : values_(values), columns_(columns) {}
  gsc::Index rows() const override { return static_cast<gsc::Index>(values_.size()) / columns_; }
  gsc::Index cols() const override { return columns_; }
  std::string name() const override { return "my measurements"; }              // in messages
  void read(gsc::Index first, Eigen::Ref<gsc::Matrix> block) const override {  // from several threads
    const Eigen::Map<const Eigen::MatrixXf> all(values_.data(), rows(), columns_);
    block = all.middleRows(first, block.rows()).cast<double>();
  }

 private:
  const std::vector<float>& values_;
  const gsc::Index columns_;
};

int main() try {
  gsc::Random random(1);
  const Eigen::MatrixXf drawn = gsc::sample(gsc::bars_model(10, random), 1000, random).data.cast<float>();
  const std::vector<float> measured(drawn.data(), drawn.data() + drawn.size());
  const Columns data(measured, drawn.cols());

  gsc::FitOptions options;
  options.latents = 10;
  options.iterations = 20;
  const gsc::FitResult result = gsc::fit(data, options);
  const gsc::Matrix codes = gsc::infer(result.model(), data, {}).mean;
  std::printf("%d rows learned, noise %.2f\n", static_cast<int>(codes.rows()), result.last().noise_std);
  return codes.rows() == data.rows() ? 0 : 1;
} catch (const gsc::Error& error) {
  std::fprintf(stderr, "own_data_source: %s\n", error.what());
  return 1;
}
