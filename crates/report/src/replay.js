// Games to replay. Every change of the board was worked out before the page was written; the board draws it.

import { Board } from './board.js';
import { byId, html } from './dom.js';

const games = JSON.parse(byId('games').textContent ?? '[]');
const [list, slider, plies, letters] = ['list', 'slider', 'plies', 'letters'].map(byId);
let game = games[0], at = 0;

const look = () => undefined;
const board = new Board(byId('board'), look, look);

const squaresAfter = (count) => {
  const squares = [...game.start];
  for (const [, changes] of game.plies.slice(0, count)) for (const [place, face] of changes) squares[place] = face;
  return squares;
};

/** The last of so many plies as the board shows it: `c6-c7` or `c4(k)`. */
const last = (count, files, ranks) => {
  if (count === 0) return null;
  const [from, to] = game.plies[count - 1][0].slice(0, 5).split('-');
  if (!to) return { from: null, to: from.slice(0, 2), captured: null };
  const before = squaresAfter(count - 1)[(ranks - Number(to[1])) * files + to.charCodeAt(0) - 97];
  return { from, to, captured: before === '.' ? null : before };
};

const drawBoard = () => {
  const [files, ranks] = game.size;
  const shown = {
    board: squaresAfter(at).join(''), ply: at, position: `${game.round} ${at}`, last: last(at, files, ranks),
    steps: {}, flips: [], jumps: {}, threatened: [],
  };
  const faces = letters.checked ? 'letters' : 'chinese';
  const label = (square, face) => (face === '.' ? square : `${square} ${face === 'x' ? 'face down' : face}`);
  board.set({ files, ranks, shown, faces, movable: false, hint: null, map: null, threats: false, label });
};

const show = (ply) => {
  at = Math.max(0, Math.min(game.plies.length, ply));
  slider.value = at;
  drawBoard();
  byId('note').textContent = at > 0 ? `${at}: ${game.plies[at - 1][0]} ${game.plies[at - 1][2]}` : 'all pieces lie as dealt';
  plies.querySelectorAll('a').forEach((link, index) => link.setAttribute('aria-current', index + 1 === at));
  const current = plies.querySelector('a[aria-current=true]');
  if (current) plies.scrollTop = current.offsetTop - plies.offsetTop - plies.clientHeight / 2;
};

const listPlies = () => {
  plies.replaceChildren();
  game.plies.forEach(([text], index) => {
    if (index % 2 === 0) plies.append(html('span', { class: 'number' }, `${index / 2 + 1}.`), ' ');
    plies.append(html('a', { click: () => show(index + 1) }, text), ' ');
  });
};

const choose = (chosen) => {
  game = chosen;
  slider.max = game.plies.length;
  byId('heading').textContent = `${game.round}: ${game.first} – ${game.second} ${game.result}, ${game.ending}, ${game.plies.length} plies`;
  [...list.children].forEach((entry, index) => entry.setAttribute('aria-current', games[index] === game));
  listPlies();
  show(0);
};

for (const entry of games) {
  const parts = [entry.round, `${entry.first} – ${entry.second}`, entry.result].map((text) => html('span', {}, text));
  list.append(html('button', { type: 'button', title: `${entry.ending}, ${entry.plies.length} plies`, click: () => choose(entry) }, ...parts));
}
byId('filter').addEventListener('input', ({ target }) => {
  const wanted = target.value.toLowerCase();
  for (const entry of list.children) entry.hidden = !`${entry.textContent} ${entry.title}`.toLowerCase().includes(wanted);
});
const steps = { start: () => 0, back: () => at - 1, forward: () => at + 1, end: () => game.plies.length };
for (const step of document.querySelectorAll('[data-go]')) step.addEventListener('click', () => show(steps[step.dataset.go]()));
slider.addEventListener('input', () => show(Number(slider.value)));
letters.addEventListener('change', drawBoard);
document.addEventListener('keydown', (event) => {
  if (event.target.tagName === 'INPUT') return;
  const key = { ArrowLeft: 'back', ArrowRight: 'forward', Home: 'start', End: 'end' }[event.key];
  if (!key) return;
  event.preventDefault();
  show(steps[key]());
});
choose(game);
