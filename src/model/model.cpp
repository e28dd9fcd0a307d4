#include <gsc/model.h>

#include <cmath>

#include "math/number_text.h"

namespace gsc {
namespace {

std::string shape(Index rows, Index cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

template <class Values>
bool same(const Values& one, const Values& other) {
  return one.rows() == other.rows() && one.cols() == other.cols() && one == other;
}

}  // namespace

void Model::validate() const {
  const Index D = dimensions(), H = latents();
  if (D == 0 || H == 0) throw Error("model: W is " + shape(D, H) + "; it needs at least one row and one column");
  for (Index d = 0; d < D; ++d)
    for (Index h = 0; h < H; ++h)
      if (!std::isfinite(W(d, h)))
        throw Error("model: W is " + std::to_string(W(d, h)) + " in row " + std::to_string(d) + ", column " +
                    std::to_string(h) + " (from 0); every value must be finite");
  if (W_variance.size() > 0 && (W_variance.rows() != D || W_variance.cols() != H))
    throw Error("model: W_variance is " + shape(W_variance.rows(), W_variance.cols()) + ", W is " + shape(D, H));
  if (!W_variance.allFinite() || (W_variance.array() < 0).any())
    throw Error("model: W_variance holds a negative number, NaN or infinity");
  if (intercept.size() > 0 && intercept.size() != D)
    throw Error("model: intercept has " + std::to_string(intercept.size()) + " entries for " + std::to_string(D) +
                " dimensions");
  for (Index d = 0; d < intercept.size(); ++d)
    if (!std::isfinite(intercept(d)))
      throw Error("model: intercept of dimension " + std::to_string(d) + " is " + std::to_string(intercept(d)) +
                  "; it must be finite");
  if (pi.size() != H)
    throw Error("model: pi has " + std::to_string(pi.size()) + " entries for " + std::to_string(H) + " latents");
  for (Index h = 0; h < H; ++h)
    if (!(pi(h) > 0 && pi(h) < 1))
      throw Error("model: pi of latent " + std::to_string(h) + " is " + number_text(pi(h)) +
                  "; it must lie between 0 and 1");
  if (mu.size() != H)
    throw Error("model: mu has " + std::to_string(mu.size()) + " entries for " + std::to_string(H) + " latents");
  for (Index h = 0; h < H; ++h)
    if (!std::isfinite(mu(h)))
      throw Error("model: mu of latent " + std::to_string(h) + " is " + std::to_string(mu(h)) + "; it must be finite");
  if (slab.latents() != H)
    throw Error("model: slab is for " + std::to_string(slab.latents()) + " latents, W for " + std::to_string(H));
  if (noise.dimensions() != D)
    throw Error("model: noise is for " + std::to_string(noise.dimensions()) + " dimensions, W for " +
                std::to_string(D));
}

bool operator==(const Model& one, const Model& other) {
  return one.slab.type() == other.slab.type() && one.noise.type() == other.noise.type() &&
         one.noise.dimensions() == other.noise.dimensions() && same(one.noise.values(), other.noise.values()) &&
         same(one.pi, other.pi) && same(one.mu, other.mu) && same(one.slab.values(), other.slab.values()) &&
         same(one.W, other.W) && same(one.W_variance, other.W_variance) && same(one.intercept, other.intercept);
}

std::string_view to_string(NoiseType type) {
  switch (type) {
    case NoiseType::scalar:
      return "scalar";
    case NoiseType::diagonal:
      return "diagonal";
    case NoiseType::full:
      return "full";
  }
  return "";
}

std::string_view to_string(SlabType type) { return type == SlabType::diagonal ? "diagonal" : "full"; }

std::string_view to_string(Init init) { return init == Init::random ? "random" : "data"; }

std::string_view to_string(Intercept intercept) {
  switch (intercept) {
    case Intercept::learned:
      return "learned";
    case Intercept::mean:
      return "mean";
    case Intercept::none:
      return "none";
  }
  return "";
}

}  // namespace gsc
