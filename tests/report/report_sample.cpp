// Writes a page with every kind of section, for the test in a browser and for whoever wants to look at one:
//   report_sample FILE.html

#include <gsc/data.h>
#include <gsc/generate.h>
#include <gsc/report.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>

namespace {

using gsc::Index;

/// A disc, a grating and a gradient.
gsc::Picture drawing(Index height, Index width, bool colour) {
  gsc::Picture picture;
  for (int c = 0; c < (colour ? 3 : 1); ++c) {
    gsc::Matrix channel(height, width);
    for (Index y = 0; y < height; ++y)
      for (Index x = 0; x < width; ++x) {
        const double u = static_cast<double>(x) / static_cast<double>(width) - 0.5;
        const double v = static_cast<double>(y) / static_cast<double>(height) - 0.5;
        const double disc = std::hypot(u, v) < 0.32 ? 90 + 30 * c : 0;
        channel(y, x) = 60 + 80 * (v + 0.5) + disc + (u * v < 0 ? 25 * std::sin(60 * (u + v)) : 0);
      }
    picture.channels.push_back(std::move(channel));
  }
  return picture;
}

gsc::Picture with_noise(gsc::Picture picture, double sigma, gsc::Random& random) {
  std::normal_distribution<double> normal(0, sigma);
  for (gsc::Matrix& channel : picture.channels)
    for (double& value : channel.reshaped()) value += normal(random);
  return picture;
}

gsc::Picture difference(const gsc::Picture& a, const gsc::Picture& b) {
  gsc::Picture result = a;
  for (std::size_t c = 0; c < result.channels.size(); ++c) result.channels[c] -= b.channels[c];
  return result;
}

gsc::Chart source_traces() {
  gsc::Chart chart;
  chart.title = "Sources <estimated & true>";
  chart.x_label = "sample";
  chart.y_label = "amplitude";
  for (int k = 1; k <= 3; ++k) {
    gsc::Chart::Series series{"source " + std::to_string(k), {}, {}};
    for (int n = 0; n < 5000; ++n)
      series.y.push_back(std::sin(0.002 * k * n) * std::exp(-n / 4000.0) + (n % 500 == 17 * k ? 1.5 : 0));
    chart.series.push_back(std::move(series));
  }
  chart.series[2].y[100] = std::numeric_limits<double>::quiet_NaN();
  return chart;
}

gsc::Chart logarithmic() {
  gsc::Chart chart;
  chart.title = "Time against data points";
  chart.x_label = "data points";
  chart.y_label = "seconds";
  chart.log_x = chart.log_y = true;
  for (const auto& [name, factor] : {std::pair{"singleton", 1e-5}, std::pair{"conditional", 1.7e-5}}) {
    gsc::Chart::Series series{name, {}, {}};
    for (double n = 100; n <= 1e6; n *= 10) {
      series.x.push_back(n);
      series.y.push_back(factor * n);
      series.error.push_back(factor * n * (n > 5e5 ? 0.5 : 1.2));  // most reach below 0, which has no logarithm
    }
    chart.series.push_back(std::move(series));
  }
  chart.series.push_back({.name = "linear", .y = {2e-4, 2}, .x = {100, 1e6}, .reference = true});
  return chart;
}

/// Gabor functions, which is what patches of pictures give.
gsc::Model gabors(Index latents, Index size, Index channels, gsc::Random& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  gsc::Model model;
  model.W.resize(size * size * channels, latents);
  model.pi.resize(latents);
  for (Index h = 0; h < latents; ++h) {
    const double angle = std::numbers::pi * uniform(random), wave = 0.6 + 1.2 * uniform(random);
    const double phase = 6 * uniform(random), cx = uniform(random), cy = uniform(random);
    for (Index i = 0; i < size * size; ++i) {
      const double x = static_cast<double>(i % size) - cx * static_cast<double>(size);
      const double y = static_cast<double>(i / size) - cy * static_cast<double>(size);
      const double along = x * std::cos(angle) + y * std::sin(angle);
      for (Index c = 0; c < channels; ++c)
        model.W(i * channels + c, h) =
            std::exp(-(x * x + y * y) / 12) * std::cos(wave * along + phase + 0.5 * double(c));
    }
    model.pi[h] = 0.2 * std::exp(-5 * uniform(random));
  }
  return model;
}

void write_sample(const char* path) {
  gsc::Random random(7);
  const gsc::Picture clean = drawing(256, 256, false), noisy = with_noise(clean, 25, random);
  const gsc::Picture denoised = with_noise(clean, 4, random);

  gsc::Report report("A sample of every section", "Drawn data, so that nothing but the page itself is on show");
  report.add_heading("The picture");
  report.add_slider({"Noisy", "PSNR 20.2 dB", noisy}, {"Denoised", "PSNR 36.1 dB", denoised});
  report.add_figures({{"Noisy", "PSNR 20.17 dB, SSIM 0.291", noisy},
                      {"Denoised", "PSNR 36.09 dB, SSIM 0.941", denoised},
                      {"Clean", "", clean},
                      {"Difference", "denoised - clean, -20 to 20", difference(denoised, clean), -20, 20},
                      {"Posterior standard deviation", "0 to 40", difference(noisy, clean), 0, 40}});
  report.add_table({"run", "sigma", "PSNR", "SSIM"},
                   {{"noisy", "25", "20.17 dB", "0.291"}, {"denoised <b>bold?</b>", "25", "36.09 dB", "0.941"}});
  report.add_heading("Learning");
  report.add_text("A model of ten bars, learned from a thousand samples of it.");
  const gsc::Model truth = gsc::bars_model(10, random);
  gsc::FitOptions options;
  options.latents = 10;
  options.inference.candidates = 5;
  options.inference.max_active = 3;
  options.iterations = 60;
  options.tolerance = 0;
  const gsc::FitResult result = gsc::fit(gsc::MatrixData(gsc::sample(truth, 1000, random).data), options);
  report.add_learning(result.state);
  report.add_heading("Basis functions");
  report.add_basis(result.model(), 5, 5, 1);
  report.add_basis(gabors(300, 8, 1, random), 8, 8, 1);
  report.add_basis(gabors(24, 8, 3, random), 8, 8, 3);
  report.add_heading("Basis functions as traces");
  report.add_basis(gabors(12, 8, 1, random), 0, 0, 1);
  report.add_basis(gabors(4, 2, 1, random), 0, 0, 1);
  report.add_heading("Signals");
  report.add_charts({source_traces()});
  report.add_charts(
      {logarithmic(), {"A single point", "x", "y", gsc::Chart::Kind::line, false, false, {}, {{"", {1}, {}}}}});
  report.add_heading("Small pictures and colour");
  report.add_figures({{"16 x 16", "", drawing(16, 16, true)}, {"256 x 128", "", drawing(128, 256, true)}});
  report.add_facts("Options", {{"latents", "10"},
                               {"candidates", "5"},
                               {"max-active", "3"},
                               {"selection", "conditional"},
                               {"noise", "scalar"},
                               {"seed", "7"},
                               {"input", "/a/rather/long/path/to/the/pictures/of/somebody/house256-with-noise.png"}});
  report.write(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: report_sample FILE.html\n");
    return 2;
  }
  try {
    write_sample(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "report_sample: %s\n", error.what());
    return 1;
  }
}
