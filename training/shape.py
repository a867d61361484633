"""The shape of the network. Equal to the constants of crates/engine/src/eval/network.rs, whose test compares the two."""

SQUARES, CODES, PIECES, MOST_OF_A_KIND = 32, 15, 14, 5
LEFT = [48, 32, 24, 16, 8, 4]
VIEW, INNER, HEADS = 256, 16, 8
VIEW_ONE, WEIGHT_ONE = 255, 64
# Inputs, view, inner layer, outcomes, heads.
SIZES = (CODES * SQUARES + PIECES * MOST_OF_A_KIND + len(LEFT), VIEW, INNER, 3, HEADS)
