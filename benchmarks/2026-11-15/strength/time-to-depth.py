#!/usr/bin/env python3
"""Seconds and nodes that players need to reach a depth, in positions of recorded games: time-to-depth.py GAMES.anqi DEPTH PLAYER..."""

import re
import subprocess
import sys
import time

AFTER = [6, 14, 24, 40]  # plies


def positions(path):
    for game in open(path).read().split("\n[Event ")[:8]:
        text = re.sub(r"\{[^}]*\}", "", game.split("\n\n", 1)[1])
        moves = [re.sub(r"[-()]", "", word) for word in text.split() if re.match(r"[a-d]\d", word)]
        moves = [move[:2] + move if len(move) == 3 else move for move in moves]  # b8G is b8b8G there
        yield from (" ".join(moves[:plies]) for plies in AFTER if plies < len(moves))


games, depth, players = sys.argv[1], sys.argv[2], sys.argv[3:]
for player in players:
    engine = subprocess.Popen(
        ["anqi", "engine", "--player", player], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    print("uci", file=engine.stdin)
    nodes, started = 0, time.time()
    for position in positions(games):
        print(f"position startpos moves {position}\ngo depth {depth}", file=engine.stdin, flush=True)
        found = 0
        for line in engine.stdout:
            found = int((re.findall(r"nodes (\d+)", line) or [found])[-1])
            if line.startswith("bestmove"):
                break
        nodes += found
    print(f"{player:24} depth {depth}  {time.time() - started:6.2f} s  {nodes:10} nodes of the first thread", flush=True)
    engine.communicate("quit\n")
