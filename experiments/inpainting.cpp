// Beyond the paper: pictures of which a share of the values is observed, at random. Told which, and nothing else.

#include <fmt/format.h>
#include <gsc/inpaint.h>
#include <gsc/metrics.h>
#include <gsc/picture_files.h>
#include <gsc/stopwatch.h>

#include <cmath>

#include "benchmarks.h"
#include "setting_words.h"
#include "statistics.h"

namespace gsc::experiments {
namespace {

struct Known {
  const char *name, *file;
};
constexpr Known kPictures[] = {{"House", kHouse},
                               {"Castle", "images/castle_original.png"},
                               {"Berkeley 003", "images/bsd/test003.png"},
                               {"Berkeley 051", "images/bsd/test051.png"}};
constexpr const char *kCastle = "Castle", *kGiven = "images/castle_damaged.png";

std::filesystem::path file_of(const std::string& name, const Request& request) {
  for (const Known& known : kPictures)
    if (name == known.name) return request.data / known.file;
  throw Error("picture is '" + name + "'; it is none of this experiment");
}

/// Of how many percent observed there are trials. The Berkeley pictures have nothing to compare with.
std::vector<int> shares(const std::string& picture) {
  return picture == "House" || picture == kCastle ? std::vector{20, 30, 50, 80} : std::vector{20, 50};
}

std::optional<double> published_psnr(const std::string& picture, int observed) {
  const Json& table = published("inpainting");
  for (const Json& row : table["rows"])
    for (std::size_t i = 0; i < table["observed"].size(); ++i)
      if (row["picture"] == picture && table["observed"][i] == observed) return row["psnr"][i].get<double>();
  return {};
}

std::string share_text(int observed) {
  return observed == 0 ? "mask as given" : fmt::format("{} % observed", observed);
}

/// What is missing of the castle as others had it is 0 there.
Picture given_castle(const Request& request) { return with_gaps(read_picture(request.data / kGiven), 0); }

/// Share of the missing values whose truth is within two deviations.
double coverage(const Picture& clean, const Picture& damaged, const Inpainted& filled) {
  double within = 0, missing = 0;
  for (std::size_t c = 0; c < clean.channels.size(); ++c)
    for (Index i = 0; i < clean.channels[c].size(); ++i) {
      if (!std::isnan(damaged.channels[c].data()[i])) continue;
      missing += 1;
      const double error = filled.picture.channels[c].data()[i] - clean.channels[c].data()[i];
      within += std::abs(error) <= 2 * filled.std.channels[c].data()[i] ? 1 : 0;
    }
  return missing > 0 ? within / missing : 1;
}

class Inpainting final : public Experiment {
 public:
  std::string name() const override { return "inpainting"; }
  std::string place() const override { return "not in the paper"; }
  std::string title() const override { return "Pictures of which a part is missing"; }
  std::vector<std::string> files() const override {
    std::vector<std::string> all{kGiven};
    for (const Known& known : kPictures) all.emplace_back(known.file);
    return all;
  }
  bool side_by_side() const override { return false; }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    const auto add = [&](const std::string& picture, int observed, const char* quality, int i) {
      all.push_back({{"picture", picture},
                     {"observed", observed},
                     {"quality", quality},
                     {"seed", request.seed + static_cast<std::uint64_t>(i)}});
    };
    for (int i = 0; i < request.repetitions(1, 1); ++i) {
      if (request.quick) {
        for (const int observed : {20, 50}) add("House", observed, "fast", i);
        continue;
      }
      for (const char* quality : {"fast", "standard"}) {
        for (const Known& known : kPictures)
          for (const int observed : shares(known.name)) add(known.name, observed, quality, i);
        if (i == 0) add(kCastle, 0, quality, i);  // 0: the mask given with it
      }
    }
    return all;
  }

  double work(const Json& settings) const override {
    return (settings["picture"] == kCastle   ? 8.0
            : settings["picture"] == "House" ? 1.0
                                             : 2.0) *
           (settings["quality"] == "fast" ? 1 : 8);
  }

  Json run(const Json& settings, const Request& request) const override {
    const auto picture = settings.at("picture").get<std::string>();
    const int observed = settings.at("observed");
    const Picture clean = request.quick ? benchmark_picture(request) : read_picture(file_of(picture, request));
    const Picture damaged =
        observed == 0 ? given_castle(request) : drop_values(clean, observed / 100.0, false, settings.at("seed"));
    InpaintOptions options;
    options.quality = word<Quality>(settings, "quality");
    options.seed = settings.at("seed").get<std::uint64_t>() + 1000;
    options.threads = request.threads;
    const Stopwatch watch;
    const Inpainted filled = inpaint(damaged, options);
    return {{"psnr_first_guess", psnr(clean, first_guess(damaged), clean.peak())},
            {"psnr", psnr(clean, filled.picture, clean.peak())},
            {"psnr_held_out", filled.held_out.psnr},
            {"coverage", coverage(clean, damaged, filled)},
            {"seconds", watch.seconds()}};
  }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    Summary summary;
    report.add_text(
        "So many percent of the values (of colours, each by itself) are observed, at random and without noise; the "
        "program is told which, and nothing else. PSNR over all pixels. 'Held out': what the program says of itself, "
        "by "
        "observed values that it sets aside. 'Covered': missing values within two of the deviations it tells. 'As "
        "given': the mask with which others were measured; BPFA is a beta-process dictionary, K-SVD was pre-trained on "
        "other pictures.");
    if (request.quick) report.add_text("Quick version: a small drawing stands in, so that no published value applies.");
    std::vector<std::vector<std::string>> rows;
    for (const Finished& trial : trials) {
      const auto picture = trial.settings["picture"].get<std::string>();
      const int observed = trial.settings["observed"];
      const auto quality = trial.settings["quality"].get<std::string>();
      if (trial.settings["seed"] != request.seed) continue;
      const Json where{{"picture", picture}, {"observed", observed}, {"quality", quality}};
      const auto mean = [&](const char* field) { return spread_of(trials, where, field).mean; };
      const std::string reference = published_text(picture, observed, request);
      rows.push_back({request.quick ? shown_picture(request) : picture,
                      observed == 0 ? "as given (20)" : std::to_string(observed), quality,
                      fmt::format("{:.2f}", mean("psnr")), reference, fmt::format("{:.2f}", mean("psnr_held_out")),
                      fmt::format("{:.1f}", 100 * mean("coverage")), fmt::format("{:.1f}", mean("seconds"))});
      summary.figures.push_back({{"picture", picture},
                                 {"observed", observed},
                                 {"quality", quality},
                                 {"psnr", json_of(spread_of(trials, where, "psnr"))},
                                 {"psnr_held_out", mean("psnr_held_out")},
                                 {"coverage", mean("coverage")},
                                 {"seconds", mean("seconds")}});
      summary.claims.push_back(
          {fmt::format("{}, {}, {}: better than a smooth first guess ({:.2f} against {:.2f} dB)", picture,
                       share_text(observed), quality, mean("psnr"), mean("psnr_first_guess")),
           mean("psnr") > mean("psnr_first_guess")});
      if (quality == "standard") add_claims(picture, observed, mean("psnr"), mean("coverage"), summary);
    }
    report.add_table(
        {"picture", "% observed", "quality", "PSNR in dB", "published", "held out", "% covered", "seconds"}, rows);
    return summary;
  }

 private:
  static std::string published_text(const std::string& picture, int observed, const Request& request) {
    if (request.quick) return "";
    if (observed > 0) {
      const std::optional<double> known = published_psnr(picture, observed);
      return known ? fmt::format("BPFA {:.2f}", *known) : "";
    }
    std::string text;
    for (const auto& [method, psnr] : published("inpainting")["castle_given"].items())
      text += fmt::format("{}{} {:.2f}", text.empty() ? "" : ", ", method, psnr.get<double>());
    return text;
  }

  static void add_claims(const std::string& picture, int observed, double psnr, double covered, Summary& summary) {
    const auto better = [&](const std::string& whose, double level) {
      summary.claims.push_back({fmt::format("{}, {}: standard is better than {} ({:.2f} against {:.2f} dB)", picture,
                                            share_text(observed), whose, psnr, level),
                                psnr > level});
    };
    if (observed == 0)
      for (const auto& [method, level] : published("inpainting")["castle_given"].items())
        better(method, level.get<double>());
    else if (const std::optional<double> known = published_psnr(picture, observed))
      better("BPFA", *known);
    summary.claims.push_back(
        {fmt::format("{}, {}: 93 to 97 % of the missing values are within two deviations ({:.1f} %)", picture,
                     share_text(observed), 100 * covered),
         covered >= 0.93 && covered <= 0.97});
  }
};

}  // namespace

std::unique_ptr<Experiment> inpainting() { return std::make_unique<Inpainting>(); }

}  // namespace gsc::experiments
