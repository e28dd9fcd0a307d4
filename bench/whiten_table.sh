#!/usr/bin/env bash
# Does whitening help? Amari index with --whiten on and off, and the part of the whitened channels' variance that is
# learned as noise: what `--whiten auto` decides by. Needs the benchmark data: GSC_DATA=DIR bench/whiten_table.sh
set -euo pipefail
cd "$(dirname "$0")/.."
data=${GSC_DATA:?set GSC_DATA to the folder of the benchmark data}
gsc=$PWD/build/release/bin/gsc
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
field() { /usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$folder/$1.json" "$2"; }
printf '%-12s %-11s %6s %9s %9s %12s\n' sources mixing noise on off 'noise share'
for sources in Sergio7 Speech4 c5signals; do
  for mix in orthogonal 1; do
    for noise in 0 0.1 0.3 1; do
      for seed in 1 2 3; do
        for whiten in on off; do
          "$gsc" separate --sources "$data/icalab/$sources.mat" --normalise --samples 1000 --mix "$mix" --mix-seed "$seed" \
            --add-noise "$noise" --restarts 4 --whiten "$whiten" -o "$folder/out" --metrics "$folder/$whiten.json" --quiet
        done
        echo "$(field on amari) $(field off amari) $(field on noise_share)"
      done | awk -v what="$(printf '%-12s %-11s %6s' "$sources" "$mix" "$noise")" \
        '{ on += $1; off += $2; share += $3 } END { printf "%s %9.3f %9.3f %12.2f\n", what, on / NR, off / NR, share / NR }'
    done
  done
done
