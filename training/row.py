"""The rows that `anqi records samples` writes. Made from crates/assess/src/rows.rs by its test; do not edit."""

import numpy as np

SAMPLE = np.dtype(
    [
        ("squares", "u1", 32),  # 0 nothing, 1-7 own pieces by rung, 8-14 the enemy's, 15 face down
        ("pool", "u1", 14),  # how many of each are face down
        ("left", "<u2"),  # quiet plies until a draw
        ("ply", "<u2"),  # plies played
        ("result", "i1"),  # for the side to move: 1, 0, -1
        ("known", "u1"),  # whether there is a score
        ("score", "<i4"),  # what a search said, in units of its own
    ]
)
