#!/usr/bin/env bash
# Values of the first flip on 2x4 boards by Monte Carlo tree search, as playouts grow. Prints
# army, player, playouts, seed, then the first line of the analysis: the flip preferred and 1000 times its value.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --release
for army in KPPP NCPP KCPP; do
  for player in mcts:chance mcts:chance,share,backup=best,ucb=ucb1-tuned mcts:group; do
    for playouts in 10000 100000 1000000; do
      for seed in 1 2 3; do
        line=$(./target/release/anqi analyse start --rules "chen,board=2x4,army=$army,draw=off" \
          --player "$player,memory=1024" --playouts $playouts --seed $seed)
        echo "$army $player $playouts $seed ${line%%  depth*}"
      done
    done
  done
done
