# Runs steps, and prints how long each took.

work=$(mktemp -d)
touch "$work/times"
trap 'printf "\n=== time of each step that passed\n"; cat "$work/times"; printf "%6d s  together\n" $SECONDS; rm -rf "$work"' EXIT

step() {
  printf '\n=== %s\n' "$*"
  local started=$SECONDS
  "$@"
  printf '%6d s  %s\n' $((SECONDS - started)) "$*" >> "$work/times"
}

# Runs these functions at the same time, and prints the output of each in one piece. Only for steps that measure no time.
together() {
  local name failed=0
  declare -A running
  for name in "$@"; do
    (set -e; "$name") > "$work/$name" 2>&1 &
    running[$name]=$!
  done
  for name in "$@"; do
    wait "${running[$name]}" || failed=1
    cat "$work/$name"
  done
  return $failed
}
