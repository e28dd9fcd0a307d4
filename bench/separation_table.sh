#!/usr/bin/env bash
# How well sources are separated: Amari index of `gsc separate` with nothing but its defaults, few samples from offset
# 0, orthogonal mixings 1 to 10, no noise added. The table of docs/separate.md, "Measured". Needs the benchmark data:
# GSC_DATA=DIR bench/separation_table.sh [further options of gsc separate]
# as --method fastica, or --init random; MIXINGS=20 for other numbers of mixings.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${GSC_DATA:?set GSC_DATA to the folder of the benchmark data}
gsc=$PWD/build/release/bin/gsc
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
amari() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["amari"])' "$folder/metrics.json"; }
printf '%-12s %8s %8s %9s %8s\n' sources samples mean smallest largest
for sources in Sergio7 c5signals Speech4 10halo; do
  for samples in 200 500; do
    for seed in $(seq "${MIXINGS:-10}"); do
      "$gsc" separate --sources "$data/icalab/$sources.mat" --mix orthogonal --mix-seed "$seed" --samples "$samples" \
        -o "$folder/out" --metrics "$folder/metrics.json" --quiet "$@"
      amari
    done | awk -v what="$(printf '%-12s %8s' "$sources" "$samples")" \
      'NR == 1 { low = high = $1 } { sum += $1; low = $1 < low ? $1 : low; high = $1 > high ? $1 : high }
       END { printf "%s %8.3f %9.3f %8.3f\n", what, sum / NR, low, high }'
  done
done
