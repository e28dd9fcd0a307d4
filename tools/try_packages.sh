#!/usr/bin/env bash
# Installs the packages of `./run package` in a minimal Debian in a folder, uses them there as a stranger would, removes
# them, and looks for what they left behind. As root; needs debootstrap and the network: tools/try_packages.sh
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
ls out/packages/gsc_*.deb out/packages/libgsc-dev_*.deb >/dev/null || { echo "make the packages first: ./run package" >&2; exit 2; }
top=$(mktemp -d)
root=$top/root
trap 'umount -l "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$top"' EXIT
echo "==> a minimal Debian in $root"
debootstrap --variant=minbase --include=ca-certificates bookworm "$root" >"$top/log" 2>&1 || { tail "$top/log"; exit 1; }
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp /etc/apt/sources.list.d/* "$root/etc/apt/sources.list.d/" 2>/dev/null || true
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc"
mkdir "$root/try"
cp out/packages/*.deb assets/demo.png "$root/try"
cp -r tests/package/consumer "$root/try/consumer"

cat >"$root/try/steps" <<'STEPS'
set -euo pipefail
cd /try
quiet() { "$@" >log 2>&1 || { tail -n 30 log; echo "failed: $*"; exit 1; }; }
export DEBIAN_FRONTEND=noninteractive
quiet apt-get update
echo "==> the program"
quiet apt-get install -y --no-install-recommends ./gsc_*.deb
gsc --version
gsc denoise demo.png -o out.png --quality fast --iterations 3 --quiet
gsc reproduce list | head -n 1
test -s out.png
test -s /usr/share/man/man1/gsc.1.gz -o -s /usr/share/man/man1/gsc.1 || grep -qs path-exclude /etc/dpkg/dpkg.cfg.d/*
test -s /usr/share/bash-completion/completions/gsc
echo "==> the library"
quiet apt-get install -y --no-install-recommends ./libgsc-dev_*.deb g++ cmake ninja-build pkg-config
quiet cmake -S consumer -B by-cmake -G Ninja -DCOMPONENTS=core -DTARGETS=gsc::core
quiet cmake --build by-cmake
./by-cmake/consumer
quiet g++ -std=c++20 -O3 -march=native consumer/consumer.cpp $(pkg-config --cflags --libs gsc_core) -o by-pkg-config
./by-pkg-config
echo "==> removed"
dpkg -L gsc libgsc-dev | sort -u >owned
quiet apt-get purge -y gsc libgsc-dev
left=$(while read -r path; do if [ -e "$path" ] && [ ! -d "$path" ]; then echo "$path"; fi; done <owned
  find / -xdev -path /proc -prune -o -path /try -prune -o \( -iname '*gsc*' -newer /try/demo.png \) -print)
if [ -n "$left" ]; then echo "left behind:"; echo "$left"; exit 1; fi
echo "nothing is left behind"
STEPS
chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash /try/steps
