// Figure 8: House at sigma 25, what is learned from it, and how many of the 256 latents are used.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks.h"
#include "denoising.h"

namespace gsc::experiments {
namespace {

/// Of the largest pi: latents below are as good as never used.
constexpr double kUsedShare = 0.01;

double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

Json json_of(const Eigen::Ref<const Matrix>& matrix) {
  Json values = Json::array();
  for (const double value : matrix.reshaped<Eigen::RowMajor>()) values.push_back(rounded(value));
  return values;
}

/// A grey picture as two hexadecimal digits a pixel, row by row: a number each would make a file of 65536 lines.
std::string hex_of(const Picture& picture) {
  std::string text;
  for (const double value : picture.channels[0].reshaped<Eigen::RowMajor>())
    text += fmt::format("{:02x}", static_cast<int>(std::lround(std::clamp(value, 0.0, 255.0))));
  return text;
}

Picture picture_of(const std::string& hex, const Picture& like) {
  Picture picture = like;
  std::size_t at = 0;
  for (double& value : picture.channels[0].reshaped<Eigen::RowMajor>()) {
    value = std::stoi(hex.substr(at, 2), nullptr, 16);
    at += 2;
  }
  return picture;
}

class House final : public Experiment {
 public:
  std::string name() const override { return "house"; }
  std::string place() const override { return "Figure 8"; }
  std::string title() const override { return "House, and what is learned from it"; }
  std::vector<std::string> files() const override { return {kHouse}; }
  bool side_by_side() const override { return false; }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    for (int i = 0; i < request.repetitions(1, 1); ++i) {
      Json settings{{"sigma", 25}, {"clipped", true}};
      settings.update(request.quick ? paper_denoising(32, 10, 3, 15) : paper_denoising(256, 18, 3, 65));
      settings["seed"] = request.seed + static_cast<std::uint64_t>(i);
      all.push_back(settings);
    }
    return all;
  }

  Json run(const Json& settings, const Request& request) const override {
    const DenoisingTrial trial = run_denoising(settings, request);
    const Denoised::Learned& learned = trial.denoised.learned[0];
    const Model& model = learned.fit.model();
    Json result = figures_of(trial);
    result["latents_in_use"] = (model.pi.array() > kUsedShare * model.pi.maxCoeff()).count();
    const auto patches =
        static_cast<double>((trial.clean.height() - learned.patch + 1) * (trial.clean.width() - learned.patch + 1));
    result["latents_above_one_patch"] = (model.pi.array() * patches > 1).count();
    result["patch"] = learned.patch;
    result["pi"] = json_of(model.pi);
    result["W"] = json_of(model.W);
    result["picture"] = hex_of(trial.denoised.picture);
    return result;
  }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    const Json &settings = trials.front().settings, &result = trials.front().result;
    const Picture clean = benchmark_picture(request), noisy = noisy_picture(clean, settings);
    const Model model = model_of(settings, result);
    const int in_use = result["latents_in_use"], latents = settings["latents"];
    report.add_text(fmt::format(
        "Noise of standard deviation {}, rounded and clipped to 0..255; {} latents, H' = {}, gamma = {}, {} "
        "iterations. The learned noise level is {:.1f}.",
        settings["sigma"].get<int>(), latents, settings["candidates"].get<int>(), settings["max_active"].get<int>(),
        settings["iterations"].get<int>(), result["noise_std"].get<double>()));
    add_quick_note(request, report);
    report.add_figures(
        {{"Noisy", fmt::format("{:.2f} dB", result["psnr_noisy"].get<double>()), noisy},
         {"Denoised", fmt::format("{:.2f} dB, SSIM {:.3f}", result["psnr"].get<double>(), result["ssim"].get<double>()),
          picture_of(result["picture"], clean)}});
    std::vector<double> sorted(model.pi.begin(), model.pi.end());
    std::sort(sorted.rbegin(), sorted.rend());
    Chart chart{.title = "How often each latent is active",
                .x_label = "latent, sorted",
                .y_label = "pi",
                .log_y = true,
                .series = {{"pi", sorted}}};
    report.add_charts({chart});
    const Json& paper = published(name());
    std::vector<std::vector<std::string>> rows;
    for (const Finished& trial : trials)
      rows.push_back({fmt::format("here, noise seed {}", trial.settings["seed"].get<std::uint64_t>()),
                      std::to_string(trial.result["latents_in_use"].get<int>()),
                      std::to_string(trial.result["latents_above_one_patch"].get<int>()), std::to_string(latents)});
    if (!request.quick)
      rows.push_back({"published, about", std::to_string(paper["latents_in_use_about"].get<int>()), "",
                      std::to_string(paper["latents"].get<int>())});
    report.add_text(fmt::format(
        "In use: pi above {:.0f} % of the largest. The paper does not say where it draws the line.", 100 * kUsedShare));
    report.add_table({"", "latents in use", "in one patch or more", "of"}, rows);
    report.add_heading("Basis functions");
    const Index side = result["patch"];
    report.add_basis(model, side, side, 1);

    Summary summary;
    summary.figures = {{"psnr_noisy", result["psnr_noisy"]},
                       {"psnr", result["psnr"]},
                       {"ssim", result["ssim"]},
                       {"noise_std", result["noise_std"]},
                       {"latents_in_use", in_use},
                       {"latents_above_one_patch", result["latents_above_one_patch"]},
                       {"pi_sorted", sorted}};
    summary.claims.push_back(
        {fmt::format("Many latents are hardly used: {} of {} are", in_use, latents), in_use < 0.75 * latents});
    summary.claims.push_back({fmt::format("The picture gets better ({:.2f} dB from {:.2f})",
                                          result["psnr"].get<double>(), result["psnr_noisy"].get<double>()),
                              result["psnr"] > result["psnr_noisy"]});
    return summary;
  }

 private:
  /// W and pi are all that the page shows.
  static Model model_of(const Json& settings, const Json& result) {
    const Index latents = settings["latents"], side = result["patch"];
    const auto values = result["W"].get<std::vector<double>>(), pi = result["pi"].get<std::vector<double>>();
    Model model;
    model.W = Eigen::Map<const Matrix>(values.data(), side * side, latents);
    model.pi = Eigen::Map<const Vector>(pi.data(), latents);
    model.mu = Vector::Zero(latents);
    model.slab = Slab::diagonal(Vector::Ones(latents));
    model.noise = Noise::scalar(1, side * side);
    return model;
  }
};

}  // namespace

std::unique_ptr<Experiment> house() { return std::make_unique<House>(); }

}  // namespace gsc::experiments
