#!/usr/bin/env bash
# The table of docs/denoise.md: mean PSNR over pictures, noise unknown to us, against BM3D, which is told sigma, on the
# same noisy files, with the seconds of both. BM3D is the package bm3d from PyPI, where PYTHON has it (with numpy and
# pillow). What is in OUT already is not made again.
#   denoise_set.sh GSC OUT "QUALITIES" "SIGMAS" "SEEDS" PICTURE...
set -euo pipefail
gsc=$1 out=$2 qualities=$3 sigmas=$4 seeds=$5
shift 5
python=${PYTHON:-python3}
mkdir -p "$out"
for sigma in $sigmas; do
  for quality in $qualities; do
    for picture in "$@"; do
      for seed in $seeds; do
        name=$out/$(basename "$picture" .png)-$quality-$sigma-$seed
        noisy=$out/$(basename "$picture" .png)-noisy-$sigma-$seed.tif
        [ -e "$name.json" ] && [ -e "$noisy" ] && continue
        "$gsc" denoise "$picture" -o "$name.tif" --depth float --std "$name-std.tif" --add-noise "$sigma" \
          --noise-seed "$seed" --keep-noisy "$noisy" --quality "$quality" --metrics "$name.json" --quiet
      done
    done
  done
done
"$python" "$(dirname "$0")/denoise_set.py" "$out" "$qualities" "$sigmas" "$seeds" "$@"
