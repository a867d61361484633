#!/usr/bin/env bash
# Tables of all endings of up to four pieces with up to two face down, and how many placements are worth what.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --release
dir=${1:-target/veiled}
./target/release/anqi solve table build --pieces 4 --dir "$dir"
./target/release/anqi solve table stats --csv --dir "$dir" > experiments/face-down/up-to-4-pieces.csv
