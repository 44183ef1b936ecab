#!/usr/bin/env bash
# Installs the peers of bench/peers.py, each into an environment of its own, .cache/peers/NAME. One that cannot
# be had leaves the reason in .cache/peers/NAME.missing.
set -uo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
dir=$PWD/.cache/peers
mkdir -p "$dir"

# pip_of NAME ARGUMENTS…: pip of the peer's environment.
pip_of() { local name=$1; shift; "$dir/$name/bin/pip" --disable-pip-version-check -q "$@"; }

# peer NAME INSTALLER
peer() {
  local name=$1
  [ -e "$dir/$name/.complete" ] && return
  rm -rf "${dir:?}/$name" "$dir/$name.missing"
  if "$python" -m venv "$dir/$name" && "$2" 2>"$dir/$name.log"; then
    touch "$dir/$name/.complete"
  else
    tail -n 1 "$dir/$name.log" >"$dir/$name.missing"
  fi
}

sail() { pip_of sail install --only-binary :all: pysail==0.7.2; }
roapi() { pip_of roapi install --only-binary :all: roapi==0.12.7; }

# Ballista's wheel asks for glibc 2.39. It does without: all that it needs of that version are weak symbols.
ballista() {
  pip_of ballista install --only-binary :all: datafusion==54.0.0 pyarrow==26.0.1 typing_extensions==4.16.0 || return
  pip_of ballista install --only-binary :all: --no-deps ballista==54.1.0 2>/dev/null && return
  local packages wheel=$dir/ballista/wheel
  packages=$("$dir/ballista/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  pip_of ballista download --no-deps --only-binary :all: --platform "manylinux_2_39_$(uname -m)" -d "$wheel" ballista==54.1.0 &&
    "$python" -m zipfile -e "$wheel"/*.whl "$packages" &&
    "$python" bench/weak_glibc.py "$packages/ballista/_internal_ballista.abi3.so" GLIBC_2.39 &&
    "$dir/ballista/bin/python" -c 'import ballista'
}

# Trino asks for Java 24 or later.
java_home() {
  local home version
  for home in "${TRINO_JAVA_HOME:-}" "${JAVA_HOME:-}" /usr/lib/jvm/*; do
    version=$("$home/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
    if [ "${version:-0}" -ge 24 ]; then
      echo "$home"
      return
    fi
  done
  echo "no JDK of 24 or later: set TRINO_JAVA_HOME" >&2
  return 1
}

trino() {
  local home
  home=$(java_home) && mkdir "$dir/trino/server" &&
    "${MVN:-mvn}" -q dependency:copy -Dartifact=io.trino:trino-server:476:tar.gz -DoutputDirectory="$dir/trino" >&2 &&
    tar -xzf "$dir/trino/trino-server-476.tar.gz" --strip-components=1 -C "$dir/trino/server" && rm "$dir"/trino/*.tar.gz &&
    ln -s "$home" "$dir/trino/java"
}

peer sail sail
peer roapi roapi
peer ballista ballista
peer trino trino
echo "its package holds no server: it downloads one at first use" >"$dir/gizmosql.missing"
