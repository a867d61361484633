#!/usr/bin/env python3
"""Fits what a value v of the champion means in won, drawn and lost games: fit.py values.csv

With e = 2 v - 1, h pieces face down, and L the logistic function:

    lead = LINEAR * e + BEND * e^3 + STEEP * e^7 + SHIFT
    draws = DRAWS + QUIET * e^6 if h > 0, else OPEN_DRAWS + QUIET * e^6
    P(win) = L(lead - draws), P(loss) = L(-lead - draws)

Where the search sees a draw, mostly a repetition that saves the side to move, BEHIND is added to the lead and DRAWN to the draws.

Maximum likelihood on the games of even number, judged on those of odd number. Proofs are left out.
"""
import csv, math, sys

START = [1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0]
NAMES = ['LINEAR', 'BEND', 'STEEP', 'SHIFT', 'DRAWS', 'OPEN_DRAWS', 'QUIET', 'BEHIND', 'DRAWN']

def logistic(x):
    return 1 / (1 + math.exp(-x))

def chances(v, h, p):
    e = 2 * v - 1
    drawn = abs(e) < 1e-9
    lead = p[0] * e + p[1] * e**3 + p[2] * e**7 + p[3] + p[7] * drawn
    draws = max((p[4] if h else p[5]) + p[6] * e**6 + p[8] * drawn, 0.01)
    win, loss = logistic(lead - draws), logistic(-lead - draws)
    return win, 1 - win - loss, loss

def log_loss(rows, p):
    return -sum(math.log(max(1e-12, chances(v, h, p)[i])) for v, i, _, h in rows) / len(rows)

def fit(rows, p, free):
    best, steps = log_loss(rows, p), [0.4] * len(p)
    while max(steps) > 2e-3:
        better = False
        for i in free:
            for d in (steps[i], -steps[i]):
                q = list(p)
                q[i] += d
                now = log_loss(rows, q)
                if now < best - 1e-12:
                    p, best, better = q, now, True
        if not better:
            steps = [step / 2 for step in steps]
    return p

def show(name, p, rows):
    values = '  '.join(f'{n} {x:.3f}' for n, x in zip(NAMES, p))
    print(f'{name:36} log loss {log_loss(rows, p):.4f}   {values}')

def calibration_error(rows, p, of):
    """By tenths of what is said."""
    bins = {}
    for v, i, _, h in rows:
        said, seen = of(chances(v, h, p)), of([i == 0, i == 1, i == 2])
        bins.setdefault(min(int(said * 10), 9), []).append((said, seen))
    return sum(abs(sum(a - b for a, b in pairs)) for pairs in bins.values()) / len(rows)

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
for name, free in [('linear, draws', [0, 4, 5]), ('and shift', [0, 3, 4, 5]), ('and steep', [0, 2, 3, 4, 5]), ('and quiet', [0, 2, 3, 4, 5, 6]), ('and where it is drawn', [0, 2, 3, 4, 5, 6, 7, 8]), ('all', range(9))]:
    p = fit(even, START, free)
    show(f'{name}: seen in odd games', p, odd)
for name, of in [('expected score', lambda c: c[0] + c[1] / 2), ('win', lambda c: c[0]), ('draw', lambda c: c[1]), ('loss', lambda c: c[2])]:
    print(f'calibration error of {name:16} {calibration_error(odd, p, of):.4f} (fitted to even games, seen in odd ones)')
print('\nvalue      n     won  said    drawn  said     lost  said   (fitted to even games, seen in odd ones)')
def line(name, some):
    seen = [sum(r[1] == i for r in some) / len(some) for i in range(3)]
    said = [sum(chances(r[0], r[3], p)[i] for r in some) / len(some) for i in range(3)]
    print(f'{name:10} {len(some):5}  ' + '  '.join(f'{a:.3f} {b:.3f} ' for a, b in zip(seen, said)))
for k in range(10):
    line(f'{k/10:.1f}-{k/10+.1:.1f}', [r for r in odd if k / 10 <= r[0] < (k + 1) / 10 + (k == 9)])
for low, high in [(0, 0), (1, 8), (9, 16), (17, 24), (25, 32)]:
    line(f'down {low}-{high}', [r for r in odd if low <= r[3] <= high])
