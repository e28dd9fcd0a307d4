// Where the formula of src/tasks/denoise/deviation.h comes from. For every quality: the exponents of the models' variance and
// of the disagreement of the sizes that follow squared errors best (least squares over the logarithms, all in units of
// the noise), and the factor c at which 95 % of the errors are within two deviations, the mean over pictures and noise
// levels; then how many are, for each picture, with the c of the others.
//
//   gsc_bench_deviation fast|standard|best PICTURE...     noise of seed 1 and standard deviation 15, 25, 50 is added

#include <fmt/format.h>
#include <gsc/denoise.h>
#include <gsc/picture_files.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tasks/denoise/deviation.h"
#include "tasks/denoise/plan.h"

namespace gsc {
namespace {

constexpr double kInside = 0.95;

/// One picture with noise: squared errors, and what the formula makes of them with c = 1.
struct Trial {
  std::size_t picture;
  std::vector<double> ratios;  ///< squared error / variance
  Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
  Eigen::Vector3d right = Eigen::Vector3d::Zero();

  double inside(double scale) const {
    const auto count = std::count_if(ratios.begin(), ratios.end(), [&](double ratio) { return ratio < 4 * scale; });
    return static_cast<double>(count) / static_cast<double>(ratios.size());
  }
};

Trial make_trial(const Picture& clean, double sigma, Quality quality, std::size_t picture) {
  const Picture noisy = add_noise(clean, sigma * clean.peak() / 255, false, 1);
  DenoiseOptions options;
  options.quality = quality;
  DenoisePlan plan = plan_denoising(noisy, options, measure_noise(noisy));
  const Denoised denoised = denoise_as_planned(noisy, plan);
  plan.group_rounds = 0;
  const Picture models = denoise_as_planned(noisy, plan).std;
  Trial trial{picture, {}};
  const double noise = plan.group_noise * plan.group_noise;
  for (std::size_t c = 0; c < clean.channels.size(); ++c)
    for (Index i = 0; i < clean.channels[c].size(); ++i) {
      const double error = denoised.picture.channels[c].data()[i] - clean.channels[c].data()[i];
      const double deviation = denoised.std.channels[c].data()[i], of_models = models.channels[c].data()[i];
      const double v = deviation * deviation / kDeviationScale, v_models = of_models * of_models;
      trial.ratios.push_back(error * error / v);
      const double v_sizes = v * v * v / (noise * v_models);
      const Eigen::Vector3d row(1, std::log(v_models / noise), std::log(v_sizes / noise));
      trial.normal += row * row.transpose();
      trial.right += row * std::log(std::max(error * error / noise, 1e-9));
    }
  return trial;
}

/// c at which the mean share inside is what it should be, without one picture.
double fitted_scale(const std::vector<Trial>& trials, std::size_t left_out) {
  double low = 1e-4, high = 1e4;
  for (int step = 0; step < 60; ++step) {
    const double scale = std::sqrt(low * high);
    double sum = 0, count = 0;
    for (const Trial& trial : trials) {
      if (trial.picture == left_out) continue;
      sum += trial.inside(scale);
      ++count;
    }
    (sum < kInside * count ? low : high) = scale;
  }
  return std::sqrt(low * high);
}

void print_fit(Quality quality, const std::vector<std::string>& pictures) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Picture clean = read_picture(pictures[i]);
    for (const double sigma : {15.0, 25.0, 50.0}) trials.push_back(make_trial(clean, sigma, quality, i));
  }
  Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
  Eigen::Vector3d right = Eigen::Vector3d::Zero();
  for (const Trial& trial : trials) {
    normal += trial.normal / trial.normal(0, 0);
    right += trial.right / trial.normal(0, 0);
  }
  const Eigen::Vector3d exponents = normal.llt().solve(right);
  fmt::print("exponents that fit best: models {:.3f}, sizes {:.3f}; c {:.2f}\n", exponents[1], exponents[2],
             fitted_scale(trials, pictures.size()));
  fmt::print("errors within two deviations, c from the other pictures:\n");
  double sum = 0, least = 1, most = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const double scale = fitted_scale(trials, i);
    fmt::print("  {:<14}", std::filesystem::path(pictures[i]).stem().string());
    for (const Trial& trial : trials) {
      if (trial.picture != i) continue;
      const double inside = trial.inside(scale);
      fmt::print(" {:.3f}", inside);
      sum += inside / static_cast<double>(trials.size());
      least = std::min(least, inside);
      most = std::max(most, inside);
    }
    fmt::print("\n");
  }
  fmt::print("  mean {:.3f}, {:.3f} to {:.3f}\n", sum, least, most);
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (const gsc::Quality quality : {gsc::Quality::fast, gsc::Quality::standard, gsc::Quality::best})
    if (words.size() > 1 && words[0] == gsc::to_string(quality)) {
      gsc::print_fit(quality, {words.begin() + 1, words.end()});
      return 0;
    }
  fmt::print(stderr, "usage: gsc_bench_deviation fast|standard|best PICTURE...\n");
  return 2;
}
