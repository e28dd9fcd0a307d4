// Structs whose fields are listed once: whatever follows a list must reach every field.

#include <gtest/gtest.h>

#include "inference/statistics_fields.h"
#include "learning/rescues_fields.h"
#include "random_model.h"

namespace gsc::test {
namespace {

TEST(Fields, StatisticsAddUpInEveryNumber) {
  for (const ModelKnobs& knobs : every_type(5, 3)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 1);
    Statistics statistics(model), other(model);
    Index numbers = 0;
    for_each_number(statistics, [&](auto& value) { value = ++numbers; });
    int i = 0;
    for_each_number(other, [&](auto& value) { value = 1000 * ++i; });
    statistics += other;
    i = 0;
    for_each_number(statistics, [&](auto& value) { EXPECT_EQ(value, 1001 * ++i); });
    // count, free_energy, clamped_pivots; s and m; YZ; the upper triangle of ZZ; YY; lambda, T and SS.
    const bool full_noise = model.noise.type() == NoiseType::full, full_slab = model.slab.type() == SlabType::full;
    EXPECT_EQ(numbers, 3 + 3 + 3 + 5 * 3 + 6 + (full_noise ? 15 : 5) + (full_slab ? 3 + 6 + 6 : 0));
  }
}

TEST(Fields, RescuesAddUp) {
  Rescues sum{1, 2, 3, 4, 5, 6};
  sum += {10, 20, 30, 40, 50, 60};
  EXPECT_EQ(sum.total(), 231);
  EXPECT_EQ(sum.unused_latents, 11);
  EXPECT_EQ(sum.floored_pi, 22);
  EXPECT_EQ(sum.floored_slab, 33);
  EXPECT_EQ(sum.floored_noise, 44);
  EXPECT_EQ(sum.slab_fallbacks, 55);
  EXPECT_EQ(sum.clamped_pivots, 66);
}

}  // namespace
}  // namespace gsc::test
