#!/usr/bin/env bash
# Games by the static values, mobility fitted to them, and 1,000 games for each two of the weights.
# Interrupt it as often as you like; the same command goes on. Usage: run.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
here=experiments/takeuchi-tuning
anqi=${ANQI:-anqi}
out=${1:-$here/runs/$(date +%F)-$(git rev-parse --short=7 HEAD)}
work=${WORK:-$here/work}
mkdir -p "$out" "$work"

"$anqi" tournament "$here/games.toml" --dir "$work/games" >"$work/games.txt"
for free in ${FREE:-mobility all}; do
  args=(--eval course --start "$here/static.weights" --draws half --per-game 20 --thin 50)
  if [ "$free" != all ]; then args+=(--free "$free"); fi
  "$anqi" tune "$work/games/games.anqi" "${args[@]}" --check 'chen:var1,eval=course nodes=600' --pairs 500 \
    -o "$work/$free" >"$work/$free.txt"
  mkdir -p "$out/$free"
  cp "$work/$free.txt" "$out/$free/summary.txt"
  cp "$work/$free"/{mlm.weights,ls.weights,tune.json,metrics.csv,curves.csv,splits.csv,report.html} "$out/$free"
done
