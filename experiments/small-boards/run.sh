#!/usr/bin/env bash
# Every fair set of the small boards, solved exactly: one CSV a board, and the picture of 2x4.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --release
for board in 2x2 3x2 2x4; do
  ./target/release/anqi solve --board $board --all --csv --svg experiments/small-boards/$board.svg > experiments/small-boards/$board.csv
done
