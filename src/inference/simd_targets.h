#pragma once
// Which SIMD targets the kernels are compiled for; included before Highway.

// Vectors are members of structs here, which the variable-length SVE and RVV types cannot be; and AVX3_DL adds nothing
// over AVX3 that we use. Sanitizers multiply the compiler's time and find the same in one vector target as in all.
#ifdef GSC_FEW_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SSSE3 | HWY_AVX3_DL)
#endif
