#pragma once

#include <gsc/model.h>

#include <optional>

namespace gsc {

/// What was derived from a model, until another model comes. Comparing takes one look at each parameter, which is
/// nothing beside deriving.
template <class Derived>
class CachedByModel {
 public:
  template <class Make>
  const Derived& of(const Model& model, const Make& make) {
    if (!derived_ || !(model == model_)) {
      derived_.reset();  // not two at a time
      derived_.emplace(make());
      model_ = model;
    }
    return *derived_;
  }

 private:
  Model model_;
  std::optional<Derived> derived_;
};

}  // namespace gsc
