#pragma once
// Missing values. NaN stands for them wherever InferenceOptions::missing is nan; here is what makes NaN of other signs
// (docs/gaps.md).

#include <gsc/export.h>
#include <gsc/inference.h>

namespace gsc {

/// Another table with NaN for what is missing. `nan`: what a NaN elsewhere in that table is, an Error that names row
/// and column, or missing, too. What it is made of must outlive it.
class GSC_EXPORT MaskedData final : public Data {
 public:
  /// Missing is what has this value. A fraction is also met as the float next to it, as tables in single precision have
  /// it.
  MaskedData(const Data& data, double value, Missing nan = Missing::nan);
  /// Missing is what has anything but 0 in the mask, a table of the same shape (as in masks of pictures). Throws Error
  /// if it is of another.
  MaskedData(const Data& data, const Data& mask, Missing nan = Missing::nan);

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
  double value_ = 0, as_float_ = 0;
  Missing nan_;
};

struct ImputeOptions {
  bool denoise_observed = false;  ///< also replace observed values by what the model says of them without noise
  /// Truncated and factored posteriors are too sure of themselves where little is observed. Some observed values are
  /// set aside and predicted; if two deviations hold less than 95 % of them, all deviations get the factor with which
  /// they do. Never by the exact method.
  bool calibrate = true;
};

/// A table without gaps.
struct Imputed {
  Matrix mean;  ///< rows x D: b + W <s.z> where a value was missing, else the value (or as above)
  /// Rows x D: how far off that may be. Of a missing value the deviation of what would have been measured, noise
  /// included; of a denoised one that of the value without noise; 0 where the value was kept. Empty where the method
  /// gives codes alone (point_estimate()).
  Matrix std;
  double scale = 1;                 ///< the factor that is in std
  Index held_out = 0;               ///< from how many observed values; too few: none
  std::int64_t clamped_pivots = 0;  ///< as in Statistics; of the rows that were filled, not of those held out
};

/// Fills the gaps of rows first .. first+count-1 (count < 0: to the end); `options.missing` is taken to be nan. On the
/// processor.
GSC_EXPORT Imputed impute(const Model& model, const Data& data, const InferenceOptions& options,
                          const ImputeOptions& what = {}, Index first = 0, Index count = -1,
                          const StopRequest& stop = {});

}  // namespace gsc
