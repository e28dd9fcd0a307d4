#include "denoise_report.h"

#include <fmt/format.h>
#include <gsc/report.h>
#include <gsc/version.h>

#include <algorithm>

#include "learning_report.h"
#include "metrics.h"
#include "progress.h"

namespace gsc::cli {
namespace {

bool noise_is_measured(const DenoisingRun& run) { return run.denoised.learned.front().options.sigma > 0; }
/// That was worked with.
double noise_std(const DenoisingRun& run) {
  return noise_is_measured(run) ? run.denoised.noise.std : run.denoised.learned.front().fit.last().noise_std;
}
const char* noise_word(const DenoisingRun& run) {
  return run.denoised.noise.told ? "told" : noise_is_measured(run) ? "measured" : "learned";
}

/// clean - denoised around mid-grey, stretched four times.
Picture difference(const Picture& a, const Picture& b, double peak) {
  Picture result = a;
  for (std::size_t c = 0; c < a.channels.size(); ++c)
    result.channels[c] = (4 * (a.channels[c] - b.channels[c])).array() + peak / 2;
  return result;
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

std::string scores_text(double psnr, const std::optional<double>& ssim) {
  return fmt::format("PSNR {:.2f} dB", psnr) + (ssim ? fmt::format(", SSIM {:.3f}", *ssim) : "");
}

std::string progress_text(const Progress& now, Method method, double seconds) {
  const std::string left =
      now.fraction > 0.02 ? fmt::format(", {} left", duration_text(seconds * (1 - now.fraction) / now.fraction)) : "";
  if (now.half_size)
    return fmt::format("{:3.0f} %{}  the same for the picture of half the size", 100 * now.fraction, left);
  if (now.round > 0)
    return fmt::format("{:3.0f} %{}  groups of patches that look alike, round {}", 100 * now.fraction, left, now.round);
  const std::string model = now.models > 1 ? fmt::format("model {} of {}: ", now.model + 1, now.models) : "";
  if (now.state == nullptr) return fmt::format("{}{:3.0f} %{}  denoising the patches", model, 100 * now.fraction, left);
  const IterationReport& row = now.state->history.back();
  return fmt::format("{}{:3.0f} %{}  iteration {}  {} {:.9g}  noise std {:.4g}  active {:.2f}", model,
                     100 * now.fraction, left, row.iteration, objective_text(method), row.free_energy, row.noise_std,
                     row.mean_active);
}

Json denoise_metrics(const Settings& settings, const DenoisingRun& run) {
  const Denoised::Learned& main = run.denoised.learned.front();
  const std::string objective(objective_name(main.options.inference.method));
  double iterations = 0, learning = 0;
  Json models = Json::array();
  for (const Denoised::Learned& learned : run.denoised.learned) {
    iterations += learned.fit.last().iteration;
    learning += learned.fit.seconds;
    models.push_back({{"patch", learned.patch},
                      {"patch_mean", to_string(learned.patch_mean)},
                      {"latents", learned.options.latents},
                      {"candidates", learned.options.inference.candidates},
                      {"max_active", learned.options.inference.max_active},
                      {"iterations", learned.fit.last().iteration},
                      {objective, learned.fit.last().free_energy},
                      {"noise_std", learned.fit.last().noise_std},
                      {"seconds_learning", learned.fit.seconds},
                      {"seconds_inferring", learned.seconds_inferring},
                      {"clamped_pivots", learned.clamped_pivots}});
  }
  Json trace = Json::array();
  for (const IterationReport& row : main.fit.state.history) trace.push_back(row.free_energy);
  Json json{{"command", "denoise"},
            {"version", GSC_VERSION},
            {"seed", settings.fit.seed},
            {"processes", settings.fit.sharing.team->size()},
            {"threads", thread_count(settings.fit.inference.threads)},
            {"sharing", sharing_json(settings.fit.sharing, main.fit.sharing)},
            {"seconds", run.seconds},
            {"seconds_per_iteration", iterations > 0 ? learning / iterations : 0},
            {"iterations", main.fit.last().iteration},
            {objective, main.fit.last().free_energy},
            {objective + "_trace", trace},
            {"noise_std", noise_std(run)},
            {"noise_estimate", run.denoised.noise.std},
            {"noise_uncertain", run.denoised.noise.uncertain},
            {"noise_told", run.denoised.noise.told},
            {"nonlocal_rounds", run.denoised.nonlocal_rounds},
            {"group_rounds", run.denoised.group_rounds},
            {"seconds_grouping", run.denoised.seconds_grouping},
            {"mean_active", main.fit.last().mean_active},
            {"latents_in_use", main.fit.last().latents_in_use},
            {"height", run.noisy.height()},
            {"width", run.noisy.width()},
            {"channels", run.noisy.channels.size()},
            {"models", models},
            {"options", options_json(kDenoise, settings)}};
  add_chains(json, main.fit.state.method);
  if (run.score) {
    json["psnr_noisy"] = run.score->psnr_noisy;
    json["psnr"] = run.score->psnr;
    json["ssim_noisy"] = json_of(run.score->ssim_noisy);
    json["ssim"] = json_of(run.score->ssim);
  }
  return json;
}

std::string denoise_summary(const DenoisingRun& run) {
  std::string text = fmt::format("done in {}\n", duration_text(run.seconds));
  text += fmt::format("  noise std       {:.4g} {}\n", noise_std(run), noise_word(run));
  for (const Denoised::Learned& learned : run.denoised.learned)
    text += fmt::format("  model           {0} x {0} patches, mean {1}, {2} latents, {3:.2f} active on average\n",
                        learned.patch, learned.patch_mean == PatchMean::remove ? "removed" : "kept",
                        learned.options.latents, learned.fit.last().mean_active);
  for (const Denoised::Learned& learned : run.denoised.learned)
    if (learned.clamped_pivots > 0)
      text += fmt::format("  note            patches had a numerically singular state ({} times)\n",
                          learned.clamped_pivots);
  text += chains_text(run.denoised.learned.front().fit.state.method);
  if (run.score)
    text += fmt::format("  noisy           {}\n  denoised        {}\n",
                        scores_text(run.score->psnr_noisy, run.score->ssim_noisy),
                        scores_text(run.score->psnr, run.score->ssim));
  text.pop_back();
  return text;
}

void write_report(const std::string& path, const Settings& settings, const DenoisingRun& run) {
  const Denoised::Learned& main = run.denoised.learned.front();
  const double peak = run.noisy.peak();
  Report report("Denoising " + settings.denoise.picture,
                run.score ? fmt::format("PSNR {:.2f} dB, from {:.2f} dB", run.score->psnr, run.score->psnr_noisy)
                          : fmt::format("noise of {:.3g} found", noise_std(run)));
  Figure noisy{"noisy", "", run.noisy, 0, peak}, denoised{"denoised", "", run.denoised.picture, 0, peak};
  if (run.score) {
    noisy.detail = scores_text(run.score->psnr_noisy, run.score->ssim_noisy);
    denoised.detail = scores_text(run.score->psnr, run.score->ssim);
  }
  report.add_slider(noisy, denoised);
  std::vector<Figure> figures = {noisy, denoised};
  double largest = 0;
  for (const Matrix& channel : run.denoised.std.channels) largest = std::max(largest, channel.maxCoeff());
  if (run.clean) {
    figures.push_back({"clean", "", *run.clean, 0, peak});
    figures.push_back(
        {"clean - denoised, four times", "", difference(*run.clean, run.denoised.picture, peak), 0, peak});
  }
  if (!run.denoised.std.channels.empty())
    figures.push_back(
        {"standard deviation of the error", fmt::format("white is {:.3g}", largest), run.denoised.std, 0, largest});
  report.add_figures(figures);
  report.add_heading("Learning");
  report.add_learning(main.fit.state, main.options.inference.method);
  report.add_heading(fmt::format("Basis functions ({0} x {0} pixels)", main.patch));
  report.add_basis(main.fit.model(), main.patch, main.patch, static_cast<Index>(run.noisy.channels.size()));
  add_options(report, options_json(kDenoise, settings));
  report.add_facts("Run", {{"version", GSC_VERSION},
                           {"seconds", fmt::format("{:.1f}", run.seconds)},
                           {"threads", fmt::format("{}", thread_count(settings.fit.inference.threads))},
                           {"noise std", fmt::format("{:.4g}, {}", noise_std(run), noise_word(run))},
                           {"models averaged", fmt::format("{}", run.denoised.learned.size())}});
  report.write(path);
}

void set_depth(Picture& picture, PixelDepth depth) {
  if (depth == picture.depth) return;
  const double from = picture.peak();
  picture.depth = depth;
  const double to = depth == PixelDepth::bits8 ? 255 : depth == PixelDepth::bits16 ? 65535 : 1;
  for (Matrix& channel : picture.channels) channel *= to / from;
  if (picture.alpha.size() > 0) picture.alpha *= to / from;
}

}  // namespace gsc::cli
