// Denoises a picture by learning from its own patches: first says what will be done, then does it.

#include <gsc/gsc.h>

#include <cmath>
#include <cstdio>

/// Stripes that bend. <gsc/picture_files.h> reads pictures from files.
static gsc::Picture stripes(gsc::Index side) {
  gsc::Picture picture;
  picture.channels.emplace_back(side, side);
  for (gsc::Index r = 0; r < side; ++r)
    for (gsc::Index c = 0; c < side; ++c)
      picture.channels[0](r, c) =
          128 + 80 * std::sin(0.4 * static_cast<double>(r) + 0.002 * static_cast<double>(c * c));
  return picture;
}

int main() try {
  const gsc::Picture clean = stripes(64), noisy = gsc::add_noise(clean, 25, false, 1);

  gsc::DenoiseOptions options;
  options.quality = gsc::Quality::fast;  // all else follows from the picture
  const gsc::PlannedDenoising planned = gsc::plan_denoising(noisy, options);
  std::printf("noise %.1f; %s; about %.0f s\n", planned.noise.std, planned.text.c_str(), planned.seconds);
  const gsc::Denoised denoised = gsc::denoise_as_planned(noisy, planned);

  const double before = gsc::psnr(clean, noisy, clean.peak()), after = gsc::psnr(clean, denoised.picture, clean.peak());
  std::printf("PSNR %.1f -> %.1f dB, the first pixel %.0f +- %.1f\n", before, after, denoised.picture.channels[0](0, 0),
              denoised.std.channels[0](0, 0));
  return after > before + 3 ? 0 : 1;
} catch (const gsc::Error& error) {
  std::fprintf(stderr, "denoise: %s\n", error.what());
  return 1;
}
