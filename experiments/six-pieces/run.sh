#!/usr/bin/env bash
# Counts wins, draws and losses of all 709 classes of six revealed pieces. Interrupt it as often as you like; the same command goes on.
# Usage: run.sh [FOLDER FOR THE SMALLER TABLES]
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --release
dir=${1:-target/endings}
./target/release/anqi endgame build --pieces 5 --dir "$dir"
./target/release/anqi endgame count --pieces 6 --dir "$dir" --csv experiments/six-pieces/six.csv
