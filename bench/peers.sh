#!/usr/bin/env bash
# Methods beside the programs of others and beside what they are made of, in one run on one machine: ratios, and what
# they should be. Peers come from PyPI, into build/venv/peers; those that do not install are left out, and it is said.
#   bench/peers.sh [PICTURE]     after: cmake --preset bench && cmake --build build/bench
# PICTURE: a clean grey one for online dictionary learning; else House of the benchmark data (GSC_DATA), else the demo's.
# PYTHON=FILE: an interpreter that has the peers already. Some minutes; other work on the machine disturbs it.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/build/bench/bin
for program in gsc gsc_bench_dictionary gsc_bench_beta_process; do
  [ -x "$bin/$program" ] || { echo "peers.sh: $bin/$program is not there; build it: cmake --preset bench && cmake --build build/bench --target ${program/%gsc/gsc_program}" >&2; exit 1; }
done
picture=${1:-${GSC_DATA:-}/images/house256.png}
if [ $# -eq 0 ] && [ ! -e "$picture" ]; then picture=assets/demo.png; fi
[ -r "$picture" ] || { echo "peers.sh: $picture cannot be read; give a clean grey picture" >&2; exit 1; }

python=${PYTHON:-build/venv/peers/bin/python}
if [ -z "${PYTHON:-}" ]; then
  [ -x "$python" ] || python3 -m venv build/venv/peers
  for package in numpy pillow scikit-learn spams-bin; do
    "$python" -m pip install -q --disable-pip-version-check "$package" || echo "peers.sh: $package does not install"
  done
fi
has() { "$python" -c "import $1" 2>/dev/null || { echo "left out: $python has no $1"; return 1; }; }
title() { printf '\n== %s\n' "$1"; }

title "Online dictionary learning beside SPAMS on $(basename "$picture"): at most 1.2 x its time, at its PSNR"
if has spams && has PIL; then "$python" bench/online_peer.py "$bin/gsc" "$picture"; fi
title "FastICA beside scikit-learn's, the same sources to 1e-6: not slower, a ratio of 1 or less"
if has sklearn; then "$python" bench/fastica_peers.py "$bin/gsc"; fi
title "K-SVD's batch pursuit beside the plain one: at least 3 x as fast"
"$bin/gsc_bench_dictionary"
title "Gibbs sweeps of the Beta process: at most 3 x their matrix product W'y, and linear in N"
"$bin/gsc_bench_beta_process"
