// Figure 1: two models with two latents, data drawn from them, and exact posteriors. A posterior has point mass at the
// origin (no latent active), mass along the axes (one active) and in the plane (both).
//
//   p(s|y) ~ Bernoulli(s; pi) N(y; W_s mu_s, C_s)      C_s = Sigma + W_s Psi_s W_s'
//   p(z_s|s,y) = N(kappa_s, Lambda_s)                  Lambda_s = (W_s' Sigma^-1 W_s + Psi_s^-1)^-1
//                                                      kappa_s = mu_s + Lambda_s W_s' Sigma^-1 (y - W_s mu_s)

#include <fmt/format.h>
#include <gsc/inference.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "canvas.h"
#include "experiment.h"

namespace gsc::experiments {
namespace {

constexpr int kStates = 4;         // {}, {1}, {2}, {1, 2}: latent h is active if bit h is set
constexpr double kVisible = 0.01;  // a state with more than this probability can be seen in the picture
constexpr double kLikely = 0.05;   // a state with more than this probability is a peak of its own
constexpr double kSpread = 0.012;  // of the range: given to what lies exactly on an axis, to be seen

/// Basis vectors of length 2 so many degrees apart.
Model two_latents(double angle, double mean) {
  const double half = angle / 2 * std::numbers::pi / 180, diagonal = std::numbers::pi / 4;
  Model model;
  model.W.resize(2, 2);
  model.W << std::cos(diagonal - half), std::cos(diagonal + half), std::sin(diagonal - half), std::sin(diagonal + half);
  model.W *= 2;
  model.pi = Vector::Constant(2, 0.5);
  model.mu = Vector::Constant(2, mean);
  model.slab = Slab::diagonal(Vector::Ones(2));
  model.noise = Noise::scalar(0.25, 2);
  return model;
}

struct State {
  double probability = 0;
  Eigen::Vector2d kappa = Eigen::Vector2d::Zero();   ///< 0 where not active
  Eigen::Matrix2d Lambda = Eigen::Matrix2d::Zero();  ///< 0 where not active
};

/// evidence: p(y)
std::vector<State> posterior_states(const Model& model, const Eigen::Vector2d& y, double& evidence) {
  const Eigen::Matrix2d Sigma = model.noise.covariance(), Psi = model.slab.covariance(), basis = model.W;
  const Eigen::Vector2d mu = model.mu;
  std::vector<State> states(kStates);
  for (int s = 0; s < kStates; ++s) {
    State& state = states[static_cast<std::size_t>(s)];
    double prior = 1;
    Eigen::Vector2d active;
    for (Index h = 0; h < 2; ++h) {
      const bool on = (s >> h & 1) != 0;
      prior *= on ? model.pi(h) : 1 - model.pi(h);
      active(h) = on ? 1 : 0;
    }
    // W_s with columns of zeros for the others: Psi is diagonal, so they have no part in what the active ones get.
    const Eigen::Matrix2d W = basis * active.asDiagonal();
    const Eigen::Vector2d rest = y - W * mu;
    const Eigen::Matrix2d C = Sigma + W * Psi * W.transpose();
    state.probability =
        prior * std::exp(-0.5 * rest.dot(C.inverse() * rest)) / (2 * std::numbers::pi * std::sqrt(C.determinant()));
    const Eigen::Matrix2d WP = W.transpose() * Sigma.inverse();
    const Eigen::Matrix2d Lambda = (WP * W + Psi.inverse()).inverse();
    state.kappa = active.cwiseProduct(mu + Lambda * (WP * rest));
    state.Lambda = active.asDiagonal() * Lambda * active.asDiagonal();
  }
  evidence = 0;
  for (const State& state : states) evidence += state.probability;
  for (State& state : states) state.probability /= evidence;
  return states;
}

Picture draw_data(const Json& result) {
  Canvas canvas(result["range"].get<double>());
  canvas.axes();
  for (const Json& point : result["data"]) canvas.dot(point[0], point[1], 1, Canvas::kGrey);
  for (const Json& w : result["basis"]) canvas.line(w[0], w[1], Canvas::kBlue);
  for (const Json& one : result["observations"]) canvas.dot(one["y"][0], one["y"][1], 4, Canvas::kRed);
  return canvas.picture();
}

/// Of both latents; holds every state that can be seen.
double posterior_range(const Json& states) {
  double range = 0.5;
  for (const Json& state : states)
    for (const std::size_t h : {0U, 1U})
      if (state["probability"] > kVisible)
        range = std::max(
            range, std::abs(state["kappa"][h].get<double>()) + 4.5 * std::sqrt(state["Lambda"][2 * h].get<double>()));
  return range;
}

/// The density of s.z, the darker the more.
Picture draw_posterior(const Json& states) {
  const double range = posterior_range(states);
  Canvas canvas(range);
  Matrix density = Matrix::Zero(Canvas::kSide, Canvas::kSide);
  for (const Json& state : states) {
    const auto L = state["Lambda"].get<std::array<double, 3>>();
    const auto kappa = state["kappa"].get<std::array<double, 2>>();
    Eigen::Matrix2d Lambda{{L[0], L[1]}, {L[1], L[2]}};
    for (Index h = 0; h < 2; ++h)
      if (Lambda(h, h) == 0) Lambda(h, h) = std::pow(kSpread * range, 2);
    const Eigen::Matrix2d inverse = Lambda.inverse();
    const double scale = state["probability"].get<double>() / std::sqrt(Lambda.determinant());
    for (Index r = 0; r < Canvas::kSide; ++r)
      for (Index c = 0; c < Canvas::kSide; ++c) {
        const Eigen::Vector2d from(canvas.x_of(c) - kappa[0], canvas.y_of(r) - kappa[1]);
        density(r, c) += scale * std::exp(-0.5 * from.dot(inverse * from));
      }
  }
  // The fourth root shows the flat peak in the plane beside the sharp ones on the axes.
  canvas.shade((density / density.maxCoeff()).array().sqrt().sqrt());
  canvas.axes();
  return canvas.picture();
}

class Posteriors final : public Experiment {
 public:
  std::string name() const override { return "posteriors"; }
  std::string place() const override { return "Figure 1"; }
  std::string title() const override { return "Posteriors have many peaks"; }

  std::vector<Json> trials(const Request& request) const override {
    // The paper does not state its parameters. Wide and narrow angle; slab means zero and not.
    return {{{"angle", 90}, {"slab_mean", 0}, {"points", 500}, {"seed", request.seed}},
            {{"angle", 40}, {"slab_mean", 2}, {"points", 500}, {"seed", request.seed}}};
  }

  Json run(const Json& settings, const Request& /*request*/) const override {
    Random random(settings["seed"].get<std::uint64_t>());
    const Model model = two_latents(settings["angle"].get<double>(), settings["slab_mean"].get<double>());
    const MatrixData data(sample(model, settings["points"].get<Index>(), random).data);
    InferenceOptions exact;
    exact.method = Method::exact;
    exact.threads = 1;
    const Posterior engine = infer(model, data, exact);

    double difference = 0, evidence = 0;
    Index several = 0;
    std::vector<std::pair<double, Index>> by_entropy;
    for (Index n = 0; n < data.rows(); ++n) {
      const std::vector<State> states = posterior_states(model, data.values().row(n), evidence);
      double entropy = 0;
      int likely = 0;
      Eigen::Vector2d active = Eigen::Vector2d::Zero(), mean = Eigen::Vector2d::Zero();
      for (std::size_t s = 0; s < states.size(); ++s) {
        const double q = states[s].probability;
        entropy -= q > 0 ? q * std::log(q) : 0;
        likely += q > kLikely;
        active += q * Eigen::Vector2d(s & 1, s >> 1 & 1);
        mean += q * states[s].kappa;
      }
      several += likely > 1;
      difference = std::max({difference, (active.transpose() - engine.probability.row(n)).cwiseAbs().maxCoeff(),
                             (mean.transpose() - engine.mean.row(n)).cwiseAbs().maxCoeff(),
                             std::abs(std::log(evidence) - engine.log_likelihood(n))});
      by_entropy.emplace_back(entropy, n);
    }
    // Observations that are more and more ambiguous: the median, upper quartile and highest entropy of p(s|y).
    std::sort(by_entropy.begin(), by_entropy.end());
    Json observations = Json::array();
    for (const std::size_t rank : {by_entropy.size() / 2, 3 * by_entropy.size() / 4, by_entropy.size() - 1}) {
      const Eigen::Vector2d y = data.values().row(by_entropy[rank].second);
      Json states = Json::array();
      for (const State& state : posterior_states(model, y, evidence))
        states.push_back({{"probability", state.probability},
                          {"kappa", {state.kappa(0), state.kappa(1)}},
                          {"Lambda", {state.Lambda(0, 0), state.Lambda(0, 1), state.Lambda(1, 1)}}});
      observations.push_back({{"y", {y(0), y(1)}}, {"states", states}});
    }
    Json points = Json::array();
    for (const auto& y : data.values().rowwise()) points.push_back({y(0), y(1)});
    return {{"basis", {{model.W(0, 0), model.W(1, 0)}, {model.W(0, 1), model.W(1, 1)}}},
            {"range", 1.05 * data.values().cwiseAbs().maxCoeff()},
            {"observations", observations},
            {"several_states", static_cast<double>(several) / static_cast<double>(data.rows())},
            {"engine_difference", difference},
            {"data", points}};
  }

  Summary summarise(const std::vector<Finished>& trials, const Request& /*request*/, Report& report) const override {
    Summary summary;
    report.add_text(
        "Left: data drawn from the model, its basis vectors (blue) and three observations (red). Right: the exact "
        "posteriors of s.z given them, first latent to the right, second upwards, the darker the more. What lies on an "
        "axis or at the origin does so exactly; it is spread a little to be seen, as in the paper.");
    double difference = 0, several = 1;
    for (const Finished& trial : trials) {
      const Json& result = trial.result;
      report.add_heading(fmt::format("Basis vectors {} degrees apart, slab mean {}", trial.settings["angle"].get<int>(),
                                     trial.settings["slab_mean"].get<int>()));
      std::vector<Figure> figures{{"Data", "", draw_data(result)}};
      for (const Json& observation : result["observations"]) {
        const double range = posterior_range(observation["states"]);
        const auto p = [&](std::size_t s) { return observation["states"][s]["probability"].get<double>(); };
        figures.push_back(
            {fmt::format("Posterior, y = ({:.2f}, {:.2f})", observation["y"][0].get<double>(),
                         observation["y"][1].get<double>()),
             fmt::format("active: none {:.2f}, first {:.2f}, second {:.2f}, both {:.2f}; axes from {:.1f} to {:.1f}",
                         p(0), p(1), p(2), p(3), -range, range),
             draw_posterior(observation["states"])});
      }
      report.add_figures(figures);
      difference = std::max(difference, result["engine_difference"].get<double>());
      several = std::min(several, result["several_states"].get<double>());
      summary.figures.push_back({{"angle", trial.settings["angle"]},
                                 {"several_states", result["several_states"]},
                                 {"engine_difference", result["engine_difference"]}});
    }
    summary.claims = {
        {fmt::format("Posteriors have several peaks: more than one state has a probability above {} for most "
                     "observations ({:.0f} % or more)",
                     kLikely, 100 * several),
         several > 0.5},
        {fmt::format(
             "Log-likelihoods, probabilities and means of the closed form are those of infer() to 1e-8 ({:.0e})",
             difference),
         difference < 1e-8}};
    return summary;
  }
};

}  // namespace

std::unique_ptr<Experiment> posteriors() { return std::make_unique<Posteriors>(); }

}  // namespace gsc::experiments
