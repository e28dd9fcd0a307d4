// What the choices of inpainting are worth: PSNR of one choice changed at a time, the rest as --quality standard has
// it.
//
//   gsc_bench_inpaint [--crop N] [--only WORD]... SHARE PICTURE...
//
// That share of the values is observed, seed 1; means over the pictures come last. 0: PICTURE_damaged.png has 0 where
// PICTURE_original.png is missing. Of the pictures the N x N pixels in the middle; of the choices those whose names
// have one of the words.

#include <fmt/format.h>
#include <gsc/inpaint.h>
#include <gsc/metrics.h>
#include <gsc/picture_files.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tasks/inpaint/plan.h"

namespace gsc {
namespace {

struct Choice {
  std::string name;
  std::function<void(InpaintPlan&)> change;
};

/// Calls change(round) for all rounds.
std::function<void(InpaintPlan&)> rounds(const std::function<void(MaskedGroupOptions&)>& change) {
  return [change](InpaintPlan& plan) {
    for (MaskedGroupOptions& round : plan.rounds) change(round);
  };
}

/// The same course of noise and ridge in fewer or more rounds.
void set_rounds(InpaintPlan& plan, std::size_t count) {
  std::vector<MaskedGroupOptions> all;
  const auto last = static_cast<double>(plan.rounds.size() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double at = count > 1 ? last * static_cast<double>(i) / static_cast<double>(count - 1) : last;
    all.push_back(plan.rounds[static_cast<std::size_t>(std::lround(at))]);
    all.back().sizes = i + plan.last_rounds >= count ? plan.rounds.back().sizes : plan.rounds.front().sizes;
  }
  plan.rounds = std::move(all);
}

std::vector<Choice> choices() {
  const auto sizes = [](Index larger) {
    return rounds([larger](MaskedGroupOptions& r) {
      for (GroupSize& size : r.sizes) size.patch += larger;
    });
  };
  const auto members = [](double factor) {
    return rounds([factor](MaskedGroupOptions& r) {
      for (GroupSize& size : r.sizes) size.members = std::lround(factor * static_cast<double>(size.members));
    });
  };
  return {{"as standard", [](InpaintPlan&) {}},
          {"plain steps", [](InpaintPlan& p) { p.step = 1; }},
          {"steps of 1.5", [](InpaintPlan& p) { p.step = 1.5; }},
          {"half the rounds", [](InpaintPlan& p) { set_rounds(p, p.rounds.size() / 2); }},
          {"one size only", rounds([](MaskedGroupOptions& r) { r.sizes = {r.sizes[r.sizes.size() / 2]}; })},
          {"patches one smaller", sizes(-1)},
          {"patches one larger", sizes(1)},
          {"patches two larger", sizes(2)},
          {"one larger, 1.5 times the members",
           [=](InpaintPlan& p) {
             sizes(1)(p);
             members(1.5)(p);
           }},
          {"one larger, sizes as before", rounds([](MaskedGroupOptions& r) {
             if (r.sizes.size() == 1) r.sizes[0].patch += 1;
           })},
          {"2/3 of the members", members(2.0 / 3)},
          {"1.5 times the members", members(1.5)},
          {"noise and ridge as at the end",
           [](InpaintPlan& p) {
             for (MaskedGroupOptions& round : p.rounds) {
               round.noise = p.rounds.back().noise;
               round.ridge = p.rounds.back().ridge;
             }
           }},
          {"noise and ridge doubled", rounds([](MaskedGroupOptions& r) {
             r.noise *= 2;
             r.ridge *= 2;
           })},
          {"noise and ridge halved", rounds([](MaskedGroupOptions& r) {
             r.noise /= 2;
             r.ridge /= 2;
           })},
          {"values weigh alike", rounds([](MaskedGroupOptions& r) { r.weight_floor = 1e6; })},
          {"reach 12", rounds([](MaskedGroupOptions& r) { r.reach = 12; })},
          {"reach 30", rounds([](MaskedGroupOptions& r) { r.reach = 30; })},
          {"step 4", rounds([](MaskedGroupOptions& r) { r.step = 4; })},
          {"nothing held out", [](InpaintPlan& p) { p.hold_out = false; }}};
}

struct Problem {
  Picture clean, damaged;
};

struct Request {
  double share = 0;
  Index crop = 0;
  std::vector<std::string> only, files;
};

Picture middle(Picture picture, Index side) {
  if (side <= 0) return picture;
  const Index height = std::min(side, picture.height()), width = std::min(side, picture.width());
  const Index top = (picture.height() - height) / 2, left = (picture.width() - width) / 2;
  for (Matrix& channel : picture.channels) channel = Matrix(channel.block(top, left, height, width));
  return picture;
}

Problem problem_of(const std::string& file, double share, Index crop) {
  Problem problem{middle(read_picture(file), crop), {}};
  if (share > 0) {
    problem.damaged = drop_values(problem.clean, share, false, 1);
  } else {
    std::string other = file;
    if (const auto at = other.find("original"); at != std::string::npos) other.replace(at, 8, "damaged");
    problem.damaged = with_gaps(middle(read_picture(other), crop), 0);
  }
  return problem;
}

bool asked(const Request& request, const std::string& name) {
  return request.only.empty() || std::any_of(request.only.begin(), request.only.end(), [&](const std::string& word) {
           return name.find(word) != std::string::npos;
         });
}

void print_choices(const Request& request) {
  std::vector<Problem> problems;
  fmt::print("{:<34}", "");
  for (const std::string& file : request.files) {
    problems.push_back(problem_of(file, request.share, request.crop));
    fmt::print("{:>12}", std::filesystem::path(file).stem().string());
  }
  fmt::print("{:>12}{:>10}\n", "mean", "seconds");
  for (const Choice& choice : choices()) {
    if (!asked(request, choice.name)) continue;
    const auto start = std::chrono::steady_clock::now();
    double sum = 0;
    fmt::print("{:<34}", choice.name);
    for (const Problem& problem : problems) {
      InpaintPlan plan = make_plan(problem.damaged, {});
      choice.change(plan);
      const double value = psnr(problem.clean, inpaint_as_planned(problem.damaged, plan).picture, problem.clean.peak());
      sum += value;
      fmt::print("{:>12.2f}", value);
      std::fflush(stdout);
    }
    fmt::print("{:>12.2f}{:>10.1f}\n", sum / static_cast<double>(problems.size()),
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

}  // namespace
}  // namespace gsc

int main(int argc, char** argv) {
  gsc::Request request;
  std::vector<std::string> words(argv + 1, argv + argc);
  while (words.size() > 1 && (words[0] == "--crop" || words[0] == "--only")) {
    if (words[0] == "--crop")
      request.crop = std::atol(words[1].c_str());
    else
      request.only.push_back(words[1]);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 2) {
    fmt::print(stderr, "usage: gsc_bench_inpaint [--crop N] [--only WORD]... SHARE PICTURE...\n");
    return 2;
  }
  request.share = std::atof(words[0].c_str());
  request.files.assign(words.begin() + 1, words.end());
  gsc::print_choices(request);
}
