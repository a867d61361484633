'use strict';
// Draws what it is told. Every change of the board was worked out before the page was written.
(() => {
  const data = document.getElementById('games');
  if (!data) return;
  const games = JSON.parse(data.textContent);
  const byId = (id) => document.getElementById(id);
  const [list, board, slider, plies] = ['list', 'board', 'slider', 'plies'].map(byId);
  const CELL = 60, MARGIN = 26;
  let game = games[0], at = 0;

  const element = (name, attributes, text) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const squaresAfter = (count) => {
    const squares = [...game.start];
    for (const [, changes] of game.plies.slice(0, count)) for (const [place, face] of changes) squares[place] = face;
    return squares;
  };

  const drawSquare = (face, file, row, touched) => {
    const [x, y] = [MARGIN + file * CELL, row * CELL];
    board.append(element('rect', { x, y, width: CELL, height: CELL, fill: touched ? '#f6e27a' : '#e9d3a8', stroke: '#8a6d3b' }));
    if (face === '.') return;
    const [cx, cy] = [x + CELL / 2, y + CELL / 2];
    const hidden = face === 'x';
    board.append(element('circle', { cx, cy, r: CELL * 0.4, fill: hidden ? '#7a5c32' : '#fffaf0', stroke: '#5d4523', 'stroke-width': 2 }));
    if (hidden) return;
    const red = face === face.toUpperCase();
    board.append(element('text', { x: cx, y: cy + 1, fill: red ? '#b3261e' : '#111' }, face.toUpperCase()));
  };

  const drawBoard = () => {
    const [files, ranks] = game.size;
    const squares = squaresAfter(at);
    const touched = new Set(at > 0 ? game.plies[at - 1][1].map(([place]) => place) : []);
    board.setAttribute('viewBox', `0 0 ${MARGIN + files * CELL + 2} ${ranks * CELL + MARGIN}`);
    board.replaceChildren();
    squares.forEach((face, place) => drawSquare(face, place % files, Math.floor(place / files), touched.has(place)));
    for (let row = 0; row < ranks; row++)
      board.append(element('text', { x: MARGIN / 2, y: row * CELL + CELL / 2, class: 'label' }, ranks - row));
    for (let file = 0; file < files; file++)
      board.append(element('text', { x: MARGIN + file * CELL + CELL / 2, y: ranks * CELL + MARGIN / 2, class: 'label' }, 'abcd'[file]));
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
      if (index % 2 === 0) {
        const number = document.createElement('span');
        number.className = 'number';
        number.textContent = `${index / 2 + 1}.`;
        plies.append(number, ' ');
      }
      const link = document.createElement('a');
      link.textContent = text;
      link.onclick = () => show(index + 1);
      plies.append(link, ' ');
    });
  };

  const choose = (chosen) => {
    game = chosen;
    slider.max = game.plies.length;
    byId('heading').textContent = `${game.round}: ${game.first} – ${game.second} ${game.result}, ${game.ending}, ${game.plies.length} plies`;
    [...list.children].forEach((button, index) => button.setAttribute('aria-current', games[index] === game));
    listPlies();
    show(0);
  };

  for (const entry of games) {
    const button = document.createElement('button');
    for (const text of [entry.round, `${entry.first} – ${entry.second}`, entry.result]) {
      const part = document.createElement('span');
      part.textContent = text;
      button.append(part);
    }
    button.title = `${entry.ending}, ${entry.plies.length} plies`;
    button.onclick = () => choose(entry);
    list.append(button);
  }
  byId('filter').oninput = ({ target }) => {
    const wanted = target.value.toLowerCase();
    [...list.children].forEach((button) => {
      button.hidden = !`${button.textContent} ${button.title}`.toLowerCase().includes(wanted);
    });
  };
  const steps = { start: () => 0, back: () => at - 1, forward: () => at + 1, end: () => game.plies.length };
  document.querySelectorAll('[data-go]').forEach((button) => {
    button.onclick = () => show(steps[button.dataset.go]());
  });
  slider.oninput = () => show(Number(slider.value));
  document.addEventListener('keydown', (event) => {
    if (event.target.tagName === 'INPUT') return;
    const key = { ArrowLeft: 'back', ArrowRight: 'forward', Home: 'start', End: 'end' }[event.key];
    if (!key) return;
    event.preventDefault();
    show(steps[key]());
  });
  choose(game);
})();
