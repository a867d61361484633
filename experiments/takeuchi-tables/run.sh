#!/usr/bin/env bash
# Values of every method over server-games.txt and over 2,000 games of ours, then tables, curves and plots.
# Interrupt it as often as you like; the same command goes on. Usage: run.sh SERVER-GAMES [FOLDER]
# About 4,000 core-seconds; PER_GAME_SERVER and PER_GAME_OWN (positions of a game) make it smaller or larger.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=experiments/takeuchi-tables
anqi=${ANQI:-anqi}
server=$1
out=${2:-$here/runs/$(date +%F)-$(git rev-parse --short=7 HEAD)}
work=${WORK:-$here/work}
mkdir -p "$out" "$work"

methods=(
  --player 'mcts:chance playouts=500' --player 'mcts:chance playouts=5000' --player 'mcts:chance playouts=50000'
  --player 'mc playouts=500' --player 'mc playouts=5000'
  --player 'mc-score playouts=500' --player 'mc-score playouts=5000'
  --player 'negascout nodes=1000' --player 'negascout nodes=10000'
  --player eval:static --player eval:static,quiet --player eval:dynamic --player eval:dynamic,quiet
)

assess() { # NAME RECORDS POSITIONS-A-GAME
  "$anqi" assess "$2" "${methods[@]}" --per-game "$3" --cache "$work/$1.cache" -o "$work/$1" >"$work/$1.txt"
  # The same values with draws as half a win, wins, draws and losses apart.
  "$anqi" assess --values "$work/$1/values.parquet" --draws three -o "$work/$1-draws" >"$work/$1-draws.txt"
  for run in "$1" "$1-draws"; do
    mkdir -p "$out/$run"
    cp "$work/$run.txt" "$out/$run/summary.txt"
    cp "$work/$run"/{metrics.csv,curves.csv,splits.csv,comparisons.csv,report.html} "$out/$run"
  done
  cp "$work/$1/values.parquet" "$out/$1"
}

assess server "$server" "${PER_GAME_SERVER:-7}"
"$anqi" tournament "$here/tournament.toml" --dir "$work/games" | grep -v "^Records" >"$work/games.txt"
cp "$work/games.txt" "$out/games.txt"
assess own "$work/games/games.anqi" "${PER_GAME_OWN:-5}"
