// Finds the sources of a mixture of four channels, and says how near the mixing it found is to the true one.

#include <gsc/gsc.h>

#include <cstdio>

int main() try {
  gsc::Random random(1);
  const gsc::Matrix mixing = gsc::mixing_matrix(4, 0.2, random);
  gsc::Matrix mixture =  // channels x samples
      gsc::superposition(mixing, gsc::Coefficients::laplace, 0.05, 2000, random).transpose();
  gsc::check_mixture(mixture, "my recording");  // messages then call it so

  gsc::SeparateOptions options;
  options.restarts = 4;
  const gsc::Separation found = gsc::separate(mixture, options);
  for (const std::string& note : found.notes) std::printf("note: %s\n", note.c_str());

  // Order, sign and scale of sources cannot be known; the Amari index does not look at them.
  const double amari = gsc::amari_index(found.mixing, mixing);
  std::printf("%d sources; noise %.3f; Amari index %.3f\n", static_cast<int>(found.sources.rows()),
              found.fit.last().noise_std, amari);
  return amari < 0.1 ? 0 : 1;
} catch (const gsc::Error& error) {
  std::fprintf(stderr, "separate: %s\n", error.what());
  return 1;
}
