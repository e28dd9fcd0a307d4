#include "inpaint_report.h"

#include <fmt/format.h>
#include <gsc/metrics.h>
#include <gsc/report.h>
#include <gsc/version.h>
#include <gsc/words.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "denoise_report.h"
#include "learning_report.h"
#include "progress.h"

namespace gsc::cli {
namespace {

/// As a page can show it: pictures of many bands as their mean.
Picture shown(const Picture& picture) {
  if (picture.channels.size() == 1 || picture.channels.size() == 3) return picture;
  Picture mean = picture;
  mean.channels.resize(1);
  for (std::size_t c = 1; c < picture.channels.size(); ++c) mean.channels[0] += picture.channels[c];
  mean.channels[0] /= static_cast<double>(picture.channels.size());
  return mean;
}

/// Missing values are black.
Picture with_black(Picture picture) {
  for (Matrix& channel : picture.channels) channel = channel.array().isNaN().select(0.0, channel);
  return picture;
}

/// White where a value is missing.
Picture mask_of(const Picture& damaged) {
  Picture mask = damaged;
  mask.alpha.resize(0, 0);
  for (Matrix& channel : mask.channels)
    channel = channel.array().isNaN().select(1.0, Matrix::Zero(channel.rows(), channel.cols()));
  mask.depth = PixelDepth::real32;
  return mask;
}

/// Of deviations: 99 % of those that are not 0 are darker, as a few would leave the rest black.
double white_of(const Picture& std) {
  std::vector<double> values;
  for (const Matrix& channel : std.channels)
    std::copy_if(channel.data(), channel.data() + channel.size(), std::back_inserter(values),
                 [](double value) { return value > 0; });
  if (values.empty()) return 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::string where_text(const HeldOut& held_out) {
  if (held_out.deep_values > 0) return fmt::format(", {} of them in holes as deep as there are", held_out.deep_values);
  return held_out.shaped ? " in holes shaped like those there are" : "";
}

std::string held_out_text(const HeldOut& held_out) {
  if (held_out.values == 0)
    return "nothing, as there is too little to set aside; deviations are not measured, and too "
           "small";
  return fmt::format(
      "{} observed values set aside{}: predicted with an error of {}{:.4g} (root mean square), so {} {:.2f} dB{}; "
      "{:.1f} % of them within two deviations",
      held_out.values, where_text(held_out), held_out.at_least ? "at most " : "", held_out.rmse,
      held_out.at_least ? "at least" : "about", held_out.psnr, held_out.at_least ? ", as their own noise hides it" : "",
      100 * held_out.coverage);
}

std::string holes_text(const Inpainted& inpainted) {
  if (inpainted.shells == 0) return fmt::format("up to {} pixels deep", inpainted.deepest);
  return fmt::format(
      "up to {} pixels deep, filled from the outside in by {}: what lies in their middle is a "
      "guess",
      inpainted.deepest, counted(inpainted.shells, "shell"));
}

std::string noise_text(const Inpainted& inpainted) {
  if (inpainted.kept) return "observed values kept as they are";
  return fmt::format("noise of {:.4g} taken out of observed values", inpainted.noise.std);
}

}  // namespace

std::string missing_text(Index missing, Index values) {
  const double share = 100 * static_cast<double>(missing) / static_cast<double>(values);
  if (missing == 0) return "nothing is missing";
  if (share < 1) return fmt::format("{} of {} values are missing", missing, values);
  if (share > 99) return fmt::format("all but {} of {} values are missing", values - missing, values);
  return fmt::format("{:.3g} % of the values are missing", share);
}

void judge(InpaintingRun& run) {
  if (!run.clean) return;
  run.score = score_of(*run.clean, first_guess(run.damaged), run.inpainted.picture);
  if (run.inpainted.std.channels.empty()) return;
  double within = 0, missing = 0;
  for (std::size_t c = 0; c < run.damaged.channels.size(); ++c)
    for (Index i = 0; i < run.damaged.channels[c].size(); ++i) {
      if (!std::isnan(run.damaged.channels[c].data()[i])) continue;
      missing += 1;
      const double error = run.inpainted.picture.channels[c].data()[i] - run.clean->channels[c].data()[i];
      if (std::abs(error) <= 2 * run.inpainted.std.channels[c].data()[i]) within += 1;
    }
  if (missing > 0) run.covered = within / missing;
}

Json inpaint_metrics(const Settings& settings, const InpaintingRun& run) {
  const Inpainted& inpainted = run.inpainted;
  const HeldOut& held_out = inpainted.held_out;
  Json json{{"command", "inpaint"},
            {"version", GSC_VERSION},
            {"seed", settings.fit.seed},
            {"threads", thread_count(settings.fit.inference.threads)},
            {"seconds", run.seconds},
            {"height", run.damaged.height()},
            {"width", run.damaged.width()},
            {"channels", run.damaged.channels.size()},
            {"values", inpainted.values},
            {"missing", inpainted.missing},
            {"deepest", inpainted.deepest},
            {"shells", inpainted.shells},
            {"noise_std", inpainted.noise.std},
            {"observed_kept", inpainted.kept},
            {"group_rounds", inpainted.group_rounds},
            {"seconds_grouping", inpainted.seconds_grouping},
            {"options", options_json(kInpaint, settings)}};
  if (held_out.values > 0)
    json["held_out"] = {{"values", held_out.values}, {"shaped", held_out.shaped},     {"rmse", held_out.rmse},
                        {"psnr", held_out.psnr},     {"at_least", held_out.at_least}, {"coverage", held_out.coverage},
                        {"scale", held_out.scale}};
  if (held_out.deep_values > 0) {
    json["held_out"]["deep_values"] = held_out.deep_values;
    json["held_out"]["deep_scale"] = held_out.deep_scale;
  }
  if (run.score) {
    json["psnr_first_guess"] = run.score->psnr_noisy;
    json["psnr"] = run.score->psnr;
    if (run.score->ssim) json["ssim"] = *run.score->ssim;
    if (run.covered) json["coverage"] = *run.covered;
  }
  return json;
}

std::string inpaint_summary(const InpaintingRun& run) {
  const Inpainted& inpainted = run.inpainted;
  std::string text = fmt::format("done in {}\n", duration_text(run.seconds));
  text += fmt::format("  missing         {}\n", missing_text(inpainted.missing, inpainted.values));
  if (inpainted.missing > 0) text += fmt::format("  holes           {}\n", holes_text(inpainted));
  text += fmt::format("  noise           {}\n", noise_text(inpainted));
  if (inpainted.missing > 0 && inpainted.group_rounds > 0)
    text += fmt::format("  held out        {}\n", held_out_text(inpainted.held_out));
  if (run.score) {
    text += fmt::format("  first guess     {}\n  inpainted       {}\n",
                        scores_text(run.score->psnr_noisy, run.score->ssim_noisy),
                        scores_text(run.score->psnr, run.score->ssim));
    if (run.covered)
      text += fmt::format("  deviations      {:.1f} % of the missing values within two\n", 100 * *run.covered);
  }
  text.pop_back();
  return text;
}

void write_report(const std::string& path, const Settings& settings, const InpaintingRun& run) {
  const Inpainted& inpainted = run.inpainted;
  const double peak = inpainted.picture.peak();
  const std::string missing = missing_text(inpainted.missing, inpainted.values);
  Report report("Inpainting " + settings.inpaint.picture,
                run.score ? fmt::format("{}; PSNR {:.2f} dB", missing, run.score->psnr)
                : inpainted.held_out.values > 0
                    ? fmt::format("{}; {} {:.2f} dB, by observed values set aside", missing,
                                  inpainted.held_out.at_least ? "at least" : "about", inpainted.held_out.psnr)
                    : missing);
  Figure damaged{"damaged", missing, shown(with_black(run.damaged)), 0, peak};
  Figure filled{"inpainted", "", shown(inpainted.picture), 0, peak};
  if (run.score) filled.detail = scores_text(run.score->psnr, run.score->ssim);
  report.add_slider(damaged, filled);
  std::vector<Figure> figures = {damaged, {"mask", "white is missing", shown(mask_of(run.damaged)), 0, 1}, filled};
  if (!inpainted.std.channels.empty()) {
    const Picture std = shown(inpainted.std);
    const double white = white_of(std);
    figures.push_back({"standard deviation", fmt::format("white is {:.3g} and more", white), std, 0, white});
  }
  if (run.clean) figures.push_back({"clean", "", shown(*run.clean), 0, peak});
  report.add_figures(figures);
  if (inpainted.held_out.values > 0) {
    report.add_heading("How far to trust it");
    report.add_text(held_out_text(inpainted.held_out) +
                    ". They were put back for the last rounds, so the result is mostly better than that, but not "
                    "always: in the 26 runs of the documentation it was from 0.8 dB worse to 3.8 dB better. "
                    "Deviations are scaled so that two of them hold 95 % of these errors; the share told is that of "
                    "each half, by what the other half says.");
  }
  add_options(report, options_json(kInpaint, settings));
  std::vector<std::pair<std::string, std::string>> facts = {
      {"version", GSC_VERSION},
      {"seconds", fmt::format("{:.1f}", run.seconds)},
      {"threads", fmt::format("{}", thread_count(settings.fit.inference.threads))},
      {"missing", fmt::format("{} of {} values", inpainted.missing, inpainted.values)},
      {"holes", holes_text(inpainted)},
      {"noise", noise_text(inpainted)},
      {"rounds of groups", fmt::format("{}", inpainted.group_rounds)}};
  if (run.covered)
    facts.push_back({"missing values within two deviations", fmt::format("{:.1f} %", 100 * *run.covered)});
  report.add_facts("Run", facts);
  report.write(path);
}

}  // namespace gsc::cli
