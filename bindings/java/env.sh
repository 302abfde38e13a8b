# For test and bench: a JDK of at least 22 in JAVA_HOME, the library of LIB3PT_PREFIX in LIB3PT_LIBRARY. Sourced; sh.

release_of() { # of the JDK in $1, 0 where there is none
  "$1/bin/javac" -version 2>/dev/null | sed -n 's/^javac \([0-9]*\).*/\1/p' | grep . || echo 0
}

find_jdk() {
  on_path=$(command -v javac 2>/dev/null) && on_path=$(readlink -f "$on_path") && on_path=${on_path%/bin/javac}
  for home in "${JAVA_HOME:-/no}" "${on_path:-/no}" /usr/lib/jvm/*; do
    if [ "$(release_of "$home")" -ge 22 ]; then
      JAVA_HOME=$home
      export JAVA_HOME
      return 0
    fi
  done
  return 1
}

find_library() {
  [ -n "${LIB3PT_PREFIX:-}" ] || return 0
  LIB3PT_LIBRARY=$(find "$LIB3PT_PREFIX" -name lib3pt.so.1 | head -n 1)
  export LIB3PT_LIBRARY
}
