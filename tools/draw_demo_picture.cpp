// Draws assets/demo.png: a 256 x 256 grey picture with what makes denoising interesting: straight and curved edges,
// tiles, windows, smooth gradients, fine texture. Run it again after a change: draw_demo_picture assets/demo.png

#include <gsc/picture_files.h>

#include <cmath>
#include <cstdio>

namespace {

using gsc::Index;
constexpr Index kSize = 256;

/// 1 inside, 0 outside, with an edge one pixel wide.
double inside(double distance) { return std::fmin(1, std::fmax(0, 0.5 - distance)); }

double box(double x, double y, double left, double top, double right, double bottom) {
  return inside(std::fmax(std::fmax(left - x, x - right), std::fmax(top - y, y - bottom)));
}

double blend(double below, double above, double amount) { return below + (above - below) * amount; }

double pixel(double x, double y) {
  // Sky: a gradient with a sun and soft clouds.
  double value = 205 - 0.25 * y + 8 * std::sin(x / 37) * std::sin(y / 23);
  value = blend(value, 245, inside(std::hypot(x - 208, y - 44) - 22));

  // Hills.
  value = blend(value, 120 + 10 * std::sin(x / 11), inside(150 + 14 * std::sin(x / 40) - y));

  // A wall of bricks with mortar, and a gable.
  const double wall = box(x, y, 38, 112, 190, 256);
  const double row = std::floor((y - 112) / 9), shifted = x + (std::fmod(row, 2) != 0 ? 9 : 0);
  const bool mortar = std::fmod(y - 112, 9) < 1.5 || std::fmod(shifted, 18) < 1.5;
  value = blend(value, mortar ? 168 : 132 + 12 * std::sin(row * 2.1 + std::floor(shifted / 18) * 1.7), wall);

  // A roof of round tiles.
  const double eaves = 114, ridge = 58, slope = (y - ridge) / (eaves - ridge);
  if (y > ridge && y < eaves) {
    const double left = 104 - 78 * slope, right = 124 + 78 * slope;
    const double tile = 70 + 26 * std::fabs(std::sin(x * M_PI / 8)) + 10 * std::fmod(y - ridge, 8) / 8;
    value = blend(value, tile, inside(std::fmax(left - x, x - right)));
  }

  // Windows with frames and glazing bars, a door with a gradient.
  for (const double left : {56.0, 146.0})
    for (const double top : {132.0, 190.0}) {
      value = blend(value, 225, box(x, y, left, top, left + 30, top + 38));
      for (const double dx : {3.0, 16.0})
        for (const double dy : {3.0, 20.0})
          value = blend(value, 48 + (x - left) + 0.6 * (y - top),
                        box(x, y, left + dx, top + dy, left + dx + 11, top + dy + 15));
    }
  value = blend(value, 60 + 1.2 * (x - 98), box(x, y, 98, 176, 132, 256));
  value = blend(value, 210, inside(std::hypot(x - 126, y - 218) - 2));

  // Lawn: fine oriented texture; a striped cloth; a fence.
  const double lawn = inside(232 + 3 * std::sin(x / 9) - y) * (1 - box(x, y, 98, 0, 132, 256));
  value = blend(value, 96 + 22 * std::sin(1.9 * x + 0.7 * y) * std::sin(0.31 * x - 1.3 * y), lawn);
  value = blend(value, std::fmod(x + y, 8) < 4 ? 220 : 90, box(x, y, 205, 168, 246, 214));
  if (y > 196 && y < 236 && x > 192) value = blend(value, 238, inside(std::fabs(std::fmod(x, 14) - 7) - 2.2));
  return std::fmin(255, std::fmax(0, value));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: draw_demo_picture FILE.png\n");
    return 2;
  }
  gsc::Picture picture;
  picture.channels.emplace_back(kSize, kSize);
  for (Index y = 0; y < kSize; ++y)
    for (Index x = 0; x < kSize; ++x) picture.channels[0](y, x) = pixel(static_cast<double>(x), static_cast<double>(y));
  try {
    gsc::write_picture(argv[1], picture);
  } catch (const gsc::Error& error) {
    std::fprintf(stderr, "draw_demo_picture: %s\n", error.what());
    return 1;
  }
}
