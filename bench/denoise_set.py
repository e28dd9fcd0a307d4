"""Reads what denoise_set.sh has made, runs BM3D where it is installed, and prints the table."""

import json
import pathlib
import sys
import time

import numpy as np
from PIL import Image

try:
    import bm3d
except ImportError:
    bm3d = None


def pixels(path):
    return np.asarray(Image.open(path), dtype=float)


def real_pixels(path):
    """Pictures of real numbers hold shares of white; deviations (--std) are in the units of the picture that was read."""
    return 255 * pixels(path)


def psnr(clean, other):
    return 10 * np.log10(255**2 / np.mean((clean - other) ** 2))


def bm3d_result(clean, noisy, sigma):
    """PSNR and seconds."""
    start = time.time()
    return psnr(clean, bm3d.bm3d(noisy, sigma)), time.time() - start


def main():
    out, (qualities, sigmas, seeds) = pathlib.Path(sys.argv[1]), (text.split() for text in sys.argv[2:5])
    for sigma in sigmas:
        yardstick = {}
        for picture in sys.argv[5:]:
            for seed in seeds:
                if bm3d:
                    noisy = real_pixels(out / f"{pathlib.Path(picture).stem}-noisy-{sigma}-{seed}.tif")
                    yardstick[picture, seed] = bm3d_result(pixels(picture), noisy, float(sigma))
        if yardstick:
            means = np.mean(list(yardstick.values()), axis=0)
            print(f"sigma {sigma:>2}  BM3D      {means[0]:.2f} dB  {means[1]:.1f} s")
        for quality in qualities:
            rows = []
            for picture in sys.argv[5:]:
                for seed in seeds:
                    name = out / f"{pathlib.Path(picture).stem}-{quality}-{sigma}-{seed}"
                    figures = json.loads(pathlib.Path(f"{name}.json").read_text())
                    clean, denoised, std = pixels(picture), real_pixels(f"{name}.tif"), pixels(f"{name}-std.tif")
                    inside = np.mean(np.abs(denoised - clean) < 2 * std)
                    against = figures["psnr"] - yardstick[picture, seed][0] if yardstick else float("nan")
                    rows.append((figures["psnr"], against, figures["seconds"], inside,
                                 figures["noise_estimate"] / float(sigma) - 1))
                    print(f"    {pathlib.Path(picture).stem:12} {figures['psnr']:.2f} ({against:+.2f}) dB  "
                          f"{figures['seconds']:.1f} s  within two std {inside:.3f}  noise {100 * rows[-1][4]:+.1f} %")
            mean = np.mean(rows, axis=0)
            print(f"sigma {sigma:>2}  {quality:9} {mean[0]:.2f} ({mean[1]:+.2f}, worst {min(r[1] for r in rows):+.2f}) dB  "
                  f"{mean[2]:.1f} s  within two std {mean[3]:.3f}", flush=True)


if __name__ == "__main__":
    main()
