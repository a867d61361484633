#!/usr/bin/env python3
"""Trains the network of the champion on samples that `anqi records samples` wrote. See README.md."""

import argparse
import os
import time

import numpy as np
import torch
from torch import nn

from network_file import weights_of, with_header
from row import SAMPLE
from shape import CODES, HEADS, INNER, LEFT, MOST_OF_A_KIND, PIECES, SQUARES, VIEW, VIEW_ONE, WEIGHT_ONE


def symmetries() -> torch.Tensor:
    """The board turned onto itself in four ways: where every square comes from."""
    file, rank = torch.arange(SQUARES) // 8, torch.arange(SQUARES) % 8
    return torch.stack([f * 8 + r for f in (file, 3 - file) for r in (rank, 7 - rank)])


def whole(weight: torch.Tensor, one: int) -> torch.Tensor:
    """The weight as the whole number that the engine will have; gradients go through to what it was rounded from."""
    return weight + ((weight * one).round() / one - weight).detach()


class Network(nn.Module):
    """Two views through one layer, then two small ones, of which there are eight for different numbers of pieces."""

    def __init__(self):
        super().__init__()
        # What a piece is worth wherever it stands is learned apart from what a square adds, and from more positions; the two
        # are one row in the end.
        self.squares = nn.Parameter(torch.randn(CODES, SQUARES, VIEW) * 0.02)
        self.codes = nn.Parameter(torch.randn(CODES, 1, VIEW) * 0.1)
        self.others = nn.Linear(PIECES * MOST_OF_A_KIND + len(LEFT), VIEW)
        self.inner = nn.Linear(2 * VIEW, HEADS * INNER)
        self.outcome = nn.Parameter(torch.randn(HEADS, 3, INNER) / INNER**0.5)
        self.outcome_bias = nn.Parameter(torch.zeros(HEADS, 3))
        nn.init.constant_(self.others.bias, 0.1)

    def view(self, squares, pool, left):
        codes = torch.arange(1, CODES + 1, device=squares.device)
        pieces = (squares[:, None, :] == codes[:, None]).flatten(1)
        steps = torch.arange(MOST_OF_A_KIND, device=pool.device)
        counts = (pool[:, :, None] > steps).flatten(1)
        hurry = left[:, None] < torch.tensor(LEFT, device=left.device)
        inputs = torch.cat([pieces, counts, hurry], 1).to(self.others.weight.dtype)
        return (inputs @ whole(self.rows(), VIEW_ONE) + whole(self.others.bias, VIEW_ONE)).clamp(0, 1)

    def forward(self, squares, pool, left):
        own = (squares >= 1) & (squares <= 7)
        foe = (squares >= 8) & (squares <= 14)
        other = squares + 7 * own.to(squares.dtype) - 7 * foe.to(squares.dtype)
        views = [self.view(squares, pool, left), self.view(other, pool.roll(7, 1), left)]
        head = ((squares > 0).sum(1) - 1).clamp(0) // 4
        inner = nn.functional.linear(torch.cat(views, 1), whole(self.inner.weight, WEIGHT_ONE), self.inner.bias)
        inner = inner.clamp(0, 1).view(-1, HEADS, INNER)[torch.arange(len(head), device=head.device), head]
        return (whole(self.outcome, WEIGHT_ONE)[head] @ inner[:, :, None])[:, :, 0] + self.outcome_bias[head]

    @torch.no_grad()
    def clip(self):
        """Keeps the weights where whole numbers can follow."""
        most = 127 / WEIGHT_ONE
        self.inner.weight.clamp_(-most, most)
        self.outcome.clamp_(-most, most)

    def rows(self):
        """The first layer as the engine has it."""
        return torch.cat([(self.squares + self.codes).view(-1, VIEW), self.others.weight.t()])

    @torch.no_grad()
    def bytes(self) -> bytes:
        """The weights as whole numbers, in the order in which the engine reads them."""

        def numbers(tensor, one, dtype):
            limits = np.iinfo(dtype)
            return np.clip(np.rint(tensor.cpu().double().numpy() * one), limits.min, limits.max).astype(dtype).tobytes()

        parts = [numbers(self.rows(), VIEW_ONE, "<i2"), numbers(self.others.bias, VIEW_ONE, "<i2")]
        for head in range(HEADS):
            inner = slice(head * INNER, (head + 1) * INNER)
            parts += [
                numbers(self.inner.weight[inner], WEIGHT_ONE, "i1"),
                numbers(self.inner.bias[inner], VIEW_ONE * WEIGHT_ONE, "<i4"),
                numbers(self.outcome[head], WEIGHT_ONE, "i1"),
                numbers(self.outcome_bias[head], VIEW_ONE * WEIGHT_ONE, "<i4"),
            ]
        return b"".join(parts)

    @torch.no_grad()
    def read(self, data: bytes):
        """Takes the weights of an earlier network, the other way round."""

        def take(parameter, one, dtype):
            nonlocal data
            size = parameter.numel() * np.dtype(dtype).itemsize
            if len(data) < size:
                raise SystemExit("too few bytes for a network of this size")
            numbers = np.frombuffer(data[:size], dtype).astype(np.float32) / one
            parameter.copy_(torch.from_numpy(numbers).view(parameter.shape))
            data = data[size:]

        rows = torch.empty(CODES * SQUARES + PIECES * MOST_OF_A_KIND + len(LEFT), VIEW)
        take(rows, VIEW_ONE, "<i2")
        self.codes.zero_()
        self.squares.copy_(rows[: CODES * SQUARES].view(CODES, SQUARES, VIEW))
        self.others.weight.copy_(rows[CODES * SQUARES :].t())
        take(self.others.bias, VIEW_ONE, "<i2")
        for head in range(HEADS):
            inner = slice(head * INNER, (head + 1) * INNER)
            take(self.inner.weight[inner], WEIGHT_ONE, "i1")
            take(self.inner.bias[inner], VIEW_ONE * WEIGHT_ONE, "<i4")
            take(self.outcome[head], WEIGHT_ONE, "i1")
            take(self.outcome_bias[head], VIEW_ONE * WEIGHT_ONE, "<i4")
        if data:
            raise SystemExit(f"{len(data)} bytes too many for a network of this size")


def worth(score: np.ndarray, known: np.ndarray, result: np.ndarray, bins: int = 100) -> np.ndarray:
    """What a search's score was worth in these games: the mean result of scores like it. Its own numbers depend on its
    evaluation, and are surer than they should be."""
    if not known.any():
        return np.zeros(len(score), np.float32)
    edges = np.quantile(score[known], np.linspace(0, 1, bins + 1)[1:-1])
    place = np.searchsorted(np.unique(edges), score, side="right")
    sums = np.bincount(place[known], result[known], bins)
    counts = np.bincount(place[known], minlength=bins)
    return (sums / np.maximum(counts, 1))[place].astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--start", help="go on from the weights of this network")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=16384)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--score-weight", type=float, default=24.0, help="weight of the error against what the search said")
    parser.add_argument("--held-out", type=float, default=0.05)
    parser.add_argument("--provenance", help="a line for the header of the file: where the weights come from")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = np.concatenate([np.fromfile(path, SAMPLE) for path in args.samples])
    # The last games are held out: neighbours of a position must not be on both sides.
    held = int(len(data) * (1 - args.held_out))
    columns = {
        "squares": torch.from_numpy(data["squares"].copy()),
        "pool": torch.from_numpy(data["pool"].copy()),
        "result": torch.from_numpy(data["result"].astype(np.int64)),
        "left": torch.from_numpy(data["left"].astype(np.int32)),
        "known": torch.from_numpy(data["known"].astype(np.float32)),
        "worth": torch.from_numpy(worth(data["score"], data["known"] == 1, data["result"])),
    }
    columns = {name: column.to(device) for name, column in columns.items()}
    turns = symmetries().to(device)
    network = Network()
    if args.start:
        with open(args.start, "rb") as file:
            network.read(weights_of(file.read()))
    network = network.to(device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=args.rate, weight_decay=1e-4)
    steps = args.epochs * (held // args.batch + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.rate, total_steps=steps + 1)

    def losses(rows, turned):
        squares = columns["squares"][rows].long()
        if turned:
            turn = turns[torch.randint(4, (len(rows),), device=device)]
            squares = squares.gather(1, turn)
        logits = network(squares, columns["pool"][rows].long(), columns["left"][rows])
        outcome = nn.functional.cross_entropy(logits, 1 - columns["result"][rows])
        chances = logits.softmax(1)
        error = chances[:, 0] - chances[:, 2] - columns["worth"][rows]
        return outcome, (columns["known"][rows] * error**2).mean()

    @torch.no_grad()
    def tested() -> str:
        network.eval()
        rest = torch.arange(held, len(data), device=device).split(args.batch)
        found = torch.tensor([[len(rows), *losses(rows, False)] for rows in rest])
        share = found[:, :1] / found[:, 0].sum()
        outcome, error = (found[:, 1:] * share).sum(0).tolist()
        return f"held out: log loss {outcome:.4f}, squared error {error:.4f}"

    print(f"{held} samples, {len(data) - held} held out", flush=True)
    if args.start:
        print(f"at the start: {tested()}", flush=True)
    started = time.time()
    for epoch in range(args.epochs):
        network.train()
        order = torch.randperm(held, device=device)
        for rows in order.split(args.batch):
            outcome, error = losses(rows, True)
            optimizer.zero_grad(set_to_none=True)
            (outcome + args.score_weight * error).backward()
            optimizer.step()
            schedule.step()
            network.clip()
        print(f"epoch {epoch + 1}: {tested()}, {time.time() - started:.0f} s", flush=True)
    last = tested().removeprefix("held out: ")
    default = f"{time.strftime('%Y-%m-%d')}, {held} samples, {args.epochs} epochs, held out: {last}"
    with open(f"{args.output}.new", "wb") as file:
        file.write(with_header(network.bytes(), args.provenance or default))
    os.replace(f"{args.output}.new", args.output)


if __name__ == "__main__":
    main()
