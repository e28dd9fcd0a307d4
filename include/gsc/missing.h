#pragma once
// Missing values. NaN stands for them wherever InferenceOptions::missing is nan; here is what makes NaN of other signs
// (docs/gaps.md).

#include <gsc/inference.h>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

/// Another table with NaN for what is missing. NaN in that table stays. What it is made of must outlive it.
class MaskedData final : public Data {
 public:
  /// Missing is what has this value.
  MaskedData(const Data& data, double value) : data_(data), value_(value) {}
  /// Missing is what has a zero in the mask, a table of the same shape. Throws Error if it is of another.
  MaskedData(const Data& data, const Data& mask);

  Index rows() const override { return data_.rows(); }
  Index cols() const override { return data_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override;
  std::string name() const override { return data_.name(); }
  bool random_access() const override { return data_.random_access() && (mask_ == nullptr || mask_->random_access()); }
  std::vector<std::string> column_names() const override { return data_.column_names(); }
  bool root_only() const override { return data_.root_only() || (mask_ != nullptr && mask_->root_only()); }

 private:
  const Data& data_;
  const Data* mask_ = nullptr;
  double value_ = 0;
};

#pragma GCC visibility pop
}  // namespace gsc
