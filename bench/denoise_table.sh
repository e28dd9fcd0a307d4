#!/usr/bin/env bash
# PSNR on House (docs/denoise.md): denoise_table.sh GSC HOUSE.png OUT "SEEDS" [ROW...]; prints one line per run and keeps the JSON.
set -euo pipefail
gsc=$1 picture=$2 out=$3 seeds=$4
shift 4
rows=("$@")
[ ${#rows[@]} -gt 0 ] || rows=(paper paper-clipped fast standard best)
mkdir -p "$out"
paper_options() {  # as in the paper's Table 2
  local truncation="--candidates 18 --max-active 3"
  [ "$1" = 50 ] && truncation="--candidates 10 --max-active 8"
  echo "--patch 8 --latents 256 $truncation --selection singleton --init random --patch-mean keep --weights equal --models 1 --iterations 65 --precision double"
}
for row in "${rows[@]}"; do
  for sigma in 15 25 50; do
    for seed in $seeds; do
      case "$row" in
        paper) options=$(paper_options "$sigma") ;;
        paper-clipped) options="$(paper_options "$sigma") --clip" ;;
        *) options="--quality $row" ;;
      esac
      json=$out/$row-$sigma-$seed.json
      # shellcheck disable=SC2086
      "$gsc" denoise "$picture" -o "$out/$row-$sigma-$seed.png" --add-noise "$sigma" --noise-seed "$seed" $options --metrics "$json" --quiet
      /usr/bin/python3 - "$json" "$row" "$sigma" "$seed" <<'PYTHON'
import json, sys
m = json.load(open(sys.argv[1]))
print(f"{sys.argv[2]:14} sigma {sys.argv[3]:>2} seed {sys.argv[4]}  noisy {m['psnr_noisy']:.2f}  denoised {m['psnr']:.2f} dB  SSIM {m['ssim']:.3f}  "
      f"noise learned {m['noise_std']:.2f}  {m['seconds']:.1f} s", flush=True)
PYTHON
    done
  done
done
