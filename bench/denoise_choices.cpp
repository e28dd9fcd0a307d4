// What the choices of denoising are worth: PSNR of one choice changed at a time, the rest as --quality standard has it.
//
//   gsc_bench_choices groups|sizes|models|learning|best SIGMA PICTURE...   noise of seed 1; means over all last
//
// groups: sizes, members, reach, noise taken and rounds of the groups, all on the same models. sizes: P, which follows
// from the noise, one pixel more or less. models: one model alone, without groups: size of the patches, latents,
// passes, where learning starts. learning: W of one model learned on with the priors that patches have of their own,
// before and after groups. best: what --quality best does beyond standard, each thing left out.

#include <fmt/format.h>
#include <gsc/denoise.h>
#include <gsc/metrics.h>
#include <gsc/picture_files.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "tasks/denoise/plan.h"
#include "tasks/denoise/reconstruct.h"
#include "tasks/groups/patch_groups.h"
#include "tasks/groups/patch_neighbours.h"
#include "tasks/picture/patches.h"

namespace gsc {
namespace {

struct Problem {
  Picture clean, noisy;
  DenoisePlan plan;
};

struct Choice {
  std::string name;
  std::function<Picture(const Problem&)> denoise;
};

/// Sizes are differences to the usual one, as in the plan.
using ChangeGroups = std::function<void(DenoisePlan&)>;

void set_patches(DenoisePlan& plan, const std::vector<Index>& patches, Index members_per_pixel = 3) {
  plan.groups.sizes.clear();
  for (const Index patch : patches) {
    const Index members = std::max<Index>(24, members_per_pixel * patch);
    plan.groups.sizes.push_back({patch, members, 2 * members});
  }
}

void set_sizes(DenoisePlan& plan, const std::vector<Index>& larger, Index members_per_pixel) {
  const Index middle = plan.groups.sizes[plan.groups.sizes.size() / 2].patch + 1;
  std::vector<Index> patches;
  for (const Index more : larger) {
    const Index patch = std::max<Index>(3, middle + more);
    patches.push_back(patches.empty() ? patch : std::max(patch, patches.back() + 1));
  }
  set_patches(plan, patches, members_per_pixel);
}

constexpr const char* kSomeOfTheModels = "a fifth of the models";

using Changes = std::vector<std::pair<std::string, ChangeGroups>>;

/// All choices share the models of a picture, which are learned when the first of them asks.
std::vector<Choice> on_the_same_models(const Changes& changes) {
  const auto models = std::make_shared<std::pair<const Problem*, Picture>>();
  std::vector<Choice> choices;
  for (const auto& [name, change] : changes)
    choices.push_back({name, [name, change, models](const Problem& problem) {
                         if (models->first != &problem) {
                           DenoisePlan plan = problem.plan;
                           plan.group_rounds = 0;
                           *models = {&problem, denoise_as_planned(problem.noisy, plan).picture};
                         }
                         DenoisePlan plan = problem.plan;
                         change(plan);
                         Picture picture = models->second;
                         filter_in_rounds(problem.noisy, plan.group_noise, plan.groups, plan.group_rounds, picture);
                         if (name == kSomeOfTheModels) average_in(picture, models->second, 5);
                         return picture;
                       }});
  return choices;
}

/// P of docs/denoise.md, which follows from the noise: one pixel more or less for all sizes.
std::vector<Choice> size_choices() {
  Changes changes{{"as standard", [](DenoisePlan&) {}}};
  for (const Index more : {-1, 1, 2})
    changes.push_back({fmt::format("P {:+}", more), [more](DenoisePlan& p) {
                         set_sizes(p, {more - 5, more - 3, more - 1, more + 1, more + 3}, 3);
                       }});
  return on_the_same_models(changes);
}

std::vector<Choice> group_choices() {
  const Changes changes{{"as standard", [](DenoisePlan&) {}},
                        {"sizes -4 .. 4",
                         [](DenoisePlan& p) {
                           set_sizes(p, {-4, -2, 0, 2, 4}, 3);
                         }},
                        {"sizes -4, -1, 2",
                         [](DenoisePlan& p) {
                           set_sizes(p, {-4, -1, 2}, 3);
                         }},
                        {"sizes of best",
                         [](DenoisePlan& p) {
                           set_sizes(p, {-6, -5, -4, -2, 0, 3, 6}, 3);
                         }},
                        {"sizes 3 to 6",
                         [](DenoisePlan& p) {
                           set_patches(p, {3, 4, 5, 6});
                         }},
                        {"sizes 3 to 7, 10, 13",
                         [](DenoisePlan& p) {
                           set_patches(p, {3, 4, 5, 6, 7, 10, 13});
                         }},
                        {"4 p members",
                         [](DenoisePlan& p) {
                           set_sizes(p, {-5, -3, -1, 1, 3}, 4);
                         }},
                        {"2 p members",
                         [](DenoisePlan& p) {
                           set_sizes(p, {-5, -3, -1, 1, 3}, 2);
                         }},
                        {"equal ones no more", [](DenoisePlan& p) { p.groups.equal = 0; }},
                        {"reach 15", [](DenoisePlan& p) { p.groups.reach = 15; }},
                        {"reach 32", [](DenoisePlan& p) { p.groups.reach = 32; }},
                        {"step 2", [](DenoisePlan& p) { p.groups.step = 2; }},
                        {"noise x 0.85 / 0.9", [](DenoisePlan& p) { p.group_noise *= 0.85 / 0.9; }},
                        {"noise x 0.95 / 0.9", [](DenoisePlan& p) { p.group_noise *= 0.95 / 0.9; }},
                        {"3 rounds", [](DenoisePlan& p) { p.group_rounds = 3; }},
                        {"7 rounds", [](DenoisePlan& p) { p.group_rounds = 7; }},
                        {kSomeOfTheModels, [](DenoisePlan&) {}}};
  return on_the_same_models(changes);
}

Picture with_options(const Problem& problem, const std::function<void(DenoiseOptions&)>& change) {
  DenoiseOptions options;
  options.models = 1;
  options.groups = 0;
  change(options);
  return denoise(problem.noisy, options).picture;
}

/// Learning starts from products of cosines, as many as there are latents: up to 22 x 22 frequencies for 512.
Picture from_cosines(const Problem& problem) {
  const ModelPlan& plan = problem.plan.models.front();
  const PatchData data(problem.noisy, grid_positions(problem.noisy.height(), problem.noisy.width(), plan.patch, 1),
                       true);
  Random random(1);
  Model start =
      initial_model(data, summarize(data), plan.fit.latents, NoiseType::scalar, SlabType::diagonal, Init::data, random);
  const auto frequencies = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(plan.fit.latents + 1))));
  for (Index h = 0; h < plan.fit.latents; ++h) {
    const Index u = (h + 1) / frequencies, v = (h + 1) % frequencies;
    const auto wave = [&](Index k, Index i) {
      return std::cos(std::numbers::pi * static_cast<double>(k) * (static_cast<double>(i) + 0.5) /
                      static_cast<double>(frequencies));
    };
    Vector column(data.cols());
    for (Index i = 0; i < data.cols(); ++i) column[i] = wave(u, i / plan.patch) * wave(v, i % plan.patch);
    column.array() -= column.mean();
    start.W.col(h) = column * problem.plan.noise.std;
  }
  start.noise = Noise::scalar(4 * std::pow(problem.plan.noise.std, 2), data.cols());
  return reconstruct(problem.noisy, fit(data, plan.fit, nullptr, start).model(), plan).picture;
}

std::vector<Choice> model_choices() {
  const auto choice = [](std::string name, std::function<void(DenoiseOptions&)> change) {
    return Choice{std::move(name), [change](const Problem& problem) { return with_options(problem, change); }};
  };
  std::vector<Choice> choices{choice("as standard", [](DenoiseOptions&) {})};
  for (const Index patch : {6, 8, 10, 12, 14})
    choices.push_back(choice(fmt::format("patches {0} x {0}", patch), [=](DenoiseOptions& o) { o.patch = patch; }));
  for (const Index latents : {128, 256, 768})
    choices.push_back(
        choice(fmt::format("{} latents", latents), [=](DenoiseOptions& o) { o.learning.latents = latents; }));
  for (const int passes : {2, 8})
    choices.push_back(
        choice(fmt::format("{} passes", passes), [=](DenoiseOptions& o) { o.learning.iterations = passes; }));
  choices.push_back(choice("start: noisy patches", [](DenoiseOptions& o) { o.learning.init = Init::data; }));
  choices.push_back(choice("start: random", [](DenoiseOptions& o) { o.learning.init = Init::random; }));
  choices.push_back({"start: cosines", from_cosines});
  choices.push_back(choice("no own priors", [](DenoiseOptions& o) { o.nonlocal = 0; }));
  choices.push_back(choice("own priors, 1 round", [](DenoiseOptions& o) { o.nonlocal = 1; }));
  choices.push_back(choice("means kept", [](DenoiseOptions& o) { o.patch_mean = PatchMean::keep; }));
  return choices;
}

/// W = YZ ZZ^-1 from posteriors on the candidates, whose covariances are taken for zero.
void learn_basis(const PatchData& data, const SparsePosterior& posterior, Model& model) {
  const Index H = model.latents(), block = 4096;
  Matrix YZ = Matrix::Zero(data.cols(), H), ZZ = Matrix::Zero(H, H), patches, codes;
  for (Index first = 0; first < posterior.rows(); first += block) {
    const Index count = std::min(block, posterior.rows() - first);
    patches.resize(count, data.cols());
    codes = Matrix::Zero(count, H);
    data.read(first, patches);
    for (Index n = 0; n < count; ++n)
      for (Index c = 0; c < posterior.candidates.cols(); ++c) {
        const Index h = posterior.candidates(first + n, c);
        const double mean = posterior.mean(first + n, c);
        codes(n, h) = mean;
        ZZ(h, h) += static_cast<double>(posterior.second_moment(first + n, c)) - mean * mean;
      }
    YZ += patches.transpose() * codes;
    ZZ += codes.transpose() * codes;
  }
  ZZ.diagonal().array() += 1e-9 * ZZ.trace() / static_cast<double>(H);
  model.W = ZZ.ldlt().solve(YZ.transpose()).transpose();
}

/// W learned on, `rounds` times, from the posteriors of all patches, each under its own prior or all under one.
Picture learned_on(const Problem& problem, int rounds, bool own_priors, bool groups) {
  DenoisePlan plan = problem.plan;
  plan.models.resize(1);
  plan.group_rounds = 0;
  const ModelPlan& how = plan.models.front();
  Denoised first = denoise_as_planned(problem.noisy, plan);
  Model model = first.learned.front().fit.model();
  Picture picture = std::move(first.picture);
  const PatchData data(problem.noisy, grid_positions(problem.noisy.height(), problem.noisy.width(), how.patch, 1),
                       how.remove_mean());
  for (int round = 0; round < rounds; ++round) {
    SparsePosterior posterior = infer_sparse(model, data, how.fit.inference);
    if (own_priors)
      posterior = infer_nonlocal(model, data, how.fit.inference, posterior,
                                 PatchNeighbours(picture, how.patch, how.reach, how.neighbours));
    learn_basis(data, posterior, model);
    picture = reconstruct(problem.noisy, model, how).picture;
  }
  if (groups)
    filter_in_rounds(problem.noisy, problem.plan.group_noise, problem.plan.groups, problem.plan.group_rounds, picture);
  return picture;
}

std::vector<Choice> learning_choices() {
  std::vector<Choice> choices;
  for (const bool groups : {false, true})
    for (const auto& [rounds, own, name] :
         {std::tuple{0, false, "one model"}, {2, false, "W 2 x, one prior"}, {2, true, "W 2 x, own priors"}})
      choices.push_back({std::string(name) + (groups ? ", groups" : ""),
                         [=](const Problem& problem) { return learned_on(problem, rounds, own, groups); }});
  return choices;
}

std::vector<Choice> best_choices() {
  using Change = std::function<void(const DenoisePlan& standard, DenoisePlan&)>;
  const auto choice = [](std::string name, const Change& change) {
    return Choice{std::move(name), [change](const Problem& problem) {
                    DenoiseOptions best;
                    best.quality = Quality::best;
                    DenoisePlan plan = plan_denoising(problem.noisy, best, problem.plan.noise);
                    change(problem.plan, plan);
                    return denoise_as_planned(problem.noisy, plan).picture;
                  }};
  };
  const auto share = [&](double of) {
    return choice(fmt::format("half size: share {}", of),
                  [of](const DenoisePlan&, DenoisePlan& plan) { plan.coarse_share = of; });
  };
  return {choice("as best", [](const DenoisePlan&, DenoisePlan&) {}),
          choice("as standard", [](const DenoisePlan& standard, DenoisePlan& plan) { plan = standard; }),
          choice("no half size", [](const DenoisePlan&, DenoisePlan& plan) { plan.coarse.reset(); }),
          share(0.25),
          share(1),
          choice("groups as standard",
                 [](const DenoisePlan& standard, DenoisePlan& plan) {
                   plan.groups = standard.groups;
                   plan.group_rounds = standard.group_rounds;
                 }),
          choice("13 pixels at any noise",
                 [](const DenoisePlan&, DenoisePlan& plan) {
                   if (plan.groups.sizes.back().patch < 13) plan.groups.sizes.push_back({13, 39, 78});
                 }),
          choice("models as standard",
                 [](const DenoisePlan& standard, DenoisePlan& plan) { plan.models = standard.models; })};
}

void print_choices(const std::vector<Choice>& choices, double sigma, const std::vector<std::string>& pictures) {
  std::vector<Problem> problems;
  fmt::print("sigma {}: PSNR in dB, against the first row; mean seconds\n{:<22}", sigma, "");
  for (const std::string& path : pictures) {
    Problem& problem = problems.emplace_back();
    problem.clean = read_picture(path);
    problem.noisy = add_noise(problem.clean, sigma * problem.clean.peak() / 255, false, 1);
    problem.plan = plan_denoising(problem.noisy, {}, measure_noise(problem.noisy));
    fmt::print(" {:>14}", std::filesystem::path(path).stem().string());
  }
  fmt::print(" {:>14} {:>8}\n", "mean", "seconds");
  std::vector<std::vector<double>> psnrs(choices.size()), seconds(choices.size());
  for (const Problem& problem : problems)
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      psnrs[i].push_back(psnr(problem.clean, choices[i].denoise(problem), problem.clean.peak()));
      seconds[i].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      fmt::print(stderr, "picture {} of {}, {}: {:.2f} dB\n", psnrs[i].size(), problems.size(), choices[i].name,
                 psnrs[i].back());
    }
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value / static_cast<double>(values.size());
    return sum;
  };
  for (std::size_t i = 0; i < choices.size(); ++i) {
    fmt::print("{:<22}", choices[i].name);
    for (std::size_t p = 0; p < problems.size(); ++p)
      fmt::print(" {:6.2f} {:+7.3f}", psnrs[i][p], psnrs[i][p] - psnrs[0][p]);
    fmt::print(" {:6.2f} {:+7.3f} {:8.1f}\n", mean(psnrs[i]), mean(psnrs[i]) - mean(psnrs[0]), mean(seconds[i]));
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::map<std::string, std::vector<gsc::Choice> (*)()> kinds{{"groups", gsc::group_choices},
                                                                    {"sizes", gsc::size_choices},
                                                                    {"models", gsc::model_choices},
                                                                    {"learning", gsc::learning_choices},
                                                                    {"best", gsc::best_choices}};
  if (words.size() < 3 || !kinds.contains(words[0])) {
    fmt::print(stderr, "usage: gsc_bench_choices groups|sizes|models|learning|best SIGMA PICTURE...\n");
    return 2;
  }
  gsc::print_choices(kinds.at(words[0])(), std::atof(words[1].c_str()), {words.begin() + 2, words.end()});
}
