#!/usr/bin/env python3
"""Fits what a value v of the analyst means in won, drawn and lost games: fit.py values.csv

With h pieces face down, and L the logistic function:

    lead = (SLOPE - FLATTER * h) * ln(v / (1 - v)) + SHIFT
    P(win) = L(lead - draws), P(loss) = L(-lead - draws), draws = DRAWS if h > 0, else OPEN_DRAWS

Maximum likelihood on the games of even number, judged on those of odd number, then on all. Proofs are left out.
"""
import csv, math, sys

START = [1.0, 0.0, 0.0, 0.5, 0.5]
NAMES = ['SLOPE', 'FLATTER', 'SHIFT', 'DRAWS', 'OPEN_DRAWS']

def logistic(x):
    return 1 / (1 + math.exp(-x))

def chances(v, h, p):
    v = min(max(v, 0.001), 0.999)
    lead = (p[0] - p[1] * h) * math.log(v / (1 - v)) + p[2]
    draws = p[3] if h else p[4]
    win, loss = logistic(lead - draws), logistic(-lead - draws)
    return win, 1 - win - loss, loss

def log_loss(rows, p):
    return -sum(math.log(max(1e-12, chances(v, h, p)[i])) for v, i, _, h in rows) / len(rows)

def fit(rows, p, free):
    best, steps = log_loss(rows, p), [0.02 if i == 1 else 0.4 for i in range(len(p))]
    while max(steps) > 2e-4:
        better = False
        for i in free:
            for d in (steps[i], -steps[i]):
                q = list(p)
                q[i] += d
                if min(q[3], q[4]) <= 0:
                    continue
                now = log_loss(rows, q)
                if now < best - 1e-12:
                    p, best, better = q, now, True
        if not better:
            steps = [step / 2 for step in steps]
    return p

def show(name, p, rows):
    values = '  '.join(f'{n} {x:.3f}' for n, x in zip(NAMES, p))
    print(f'{name:32} log loss {log_loss(rows, p):.4f}   {values}')

rows = []
for r in csv.DictReader(open(sys.argv[1])):
    try:
        v = float(r['value'])
    except ValueError:
        continue
    if 0 <= v <= 1:
        rows.append((v, {1: 0, 0.5: 1, 0: 2}[float(r['result'])], int(r['game']), int(r['hidden'])))
even, odd = ([r for r in rows if r[2] % 2 == k] for k in (0, 1))
print(f'{len(rows)} positions without a proof out of {len({r[2] for r in rows})} games\n')
for name, free in [('draws alone', [3, 4]), ('slope, draws', [0, 3, 4]), ('slope, shift, draws', [0, 2, 3, 4]), ('all', [0, 1, 2, 3, 4])]:
    p = fit(even, START, free)
    show(f'{name}: seen in odd games', p, odd)
print('\nvalue      n     won  said    drawn  said     lost  said   (fitted to even games, seen in odd ones)')
def line(name, some):
    seen = [sum(r[1] == i for r in some) / len(some) for i in range(3)]
    said = [sum(chances(r[0], r[3], p)[i] for r in some) / len(some) for i in range(3)]
    print(f'{name:10} {len(some):5}  ' + '  '.join(f'{a:.3f} {b:.3f} ' for a, b in zip(seen, said)))
for k in range(10):
    line(f'{k/10:.1f}-{k/10+.1:.1f}', [r for r in odd if k / 10 <= r[0] < (k + 1) / 10 + (k == 9)])
for low, high in [(0, 0), (1, 8), (9, 16), (17, 24), (25, 32)]:
    line(f'down {low}-{high}', [r for r in odd if low <= r[3] <= high])
print()
p = fit(rows, p, range(5))
show('all games', p, rows)
