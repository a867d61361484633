// The page: holds what the server said, draws it, and sends what a person does. It knows no rules.

import { Refusal, follow } from './backend.js';
import { Board, faceOf } from './board.js';
import { button, byId, html, svg } from './dom.js';
import { gamesDialog } from './games.js';
import { mark, remark, reviewPanel } from './review.js';
import { contribute, forgetAnswers, hasBegun, hold, holding, isBetweenTwo, ownSeat, plays, seatsPanel } from './seats.js';
import { seriesDialog, seriesPanel } from './series.js';
import { Socket } from './socket.js';
import { graph, isFlip, studyPanel } from './study.js';
import { verify } from './verify.js';
import { preferred, speak, t } from './words.js';

/**
 * @typedef {import('./backend.js').Backend} Backend
 * @typedef {import('./backend.js').Request} Request
 * @typedef {Extract<Request, { type: 'new' | 'open' | 'open-link' | 'go-on' | 'join' | 'next-game' }>} Opening
 * @typedef {import('./wire').GameView} GameView
 * @typedef {import('./wire').PositionView} PositionView
 * @typedef {import('./wire').PlayerView} PlayerView
 * @typedef {import('./wire').Study} Study
 * @typedef {import('./wire').PlyReview} PlyReview
 * @typedef {import('./wire').Review} Review
 * @typedef {import('./wire').SeriesView} SeriesView
 * @typedef {import('./wire').Welcome} Welcome
 * @typedef {import('./wire').You} You
 * @typedef {import('./study.js').Chances} Chances
 * @typedef {import('./words.js').Word} Word
 */

/** @type {{ language: import('./words.js').Language, theme: 'auto' | 'light' | 'dark', faces: 'chinese' | 'letters', teach: boolean, level: number, seat: 'first' | 'second', clock: string }} */
const settings = { language: preferred(), theme: 'auto', faces: 'chinese', teach: false, level: 3, seat: 'first', clock: '' };
try {
  Object.assign(settings, JSON.parse(localStorage.getItem('anqi') ?? '{}'));
} catch { /* Without storage the page forgets, and works. */ }

const remember = () => {
  try {
    localStorage.setItem('anqi', JSON.stringify(settings));
  } catch { /* as above */ }
};

const state = {
  /** @type {Welcome | null} */ welcome: null,
  /** The game as the page shows it. @type {GameView | null} */ game: null,
  /** The game as it was told last; the page shows one ply after the other. @type {GameView | null} */ latest: null,
  /** Where the page looks; null for where the game stands. @type {PositionView | null} */ past: null,
  /** What this page is in the game; null if it acts for both sides. @type {You | null} */ you: null,
  /** The invitation by which it came. @type {string | null} */ invitation: null,
  /** The series that is played here, with or without one of its games. @type {SeriesView | null} */ series: null,
  analysing: false,
  /** @type {Study | null} */ study: null,
  /** Chances of the first player by ply. @type {Map<number, Chances>} */ chances: new Map(),
  /** @type {Map<number, PlyReview>} */ reviews: new Map(),
  /** @type {Review | null} */ review: null,
  reviewing: false,
  /** @type {PlyReview | null} */ puzzle: null,
  /** @type {string | null} */ hint: null,
  /** @type {string | null} */ square: null,
  /** What is said instead of whose turn it is. @type {string | null} */ said: null,
  /** When the clocks were told. */ told: 0,
  connected: false,
  starting: false,
  reopening: false,
};

/** @type {Backend} */
const backend = new Socket();
const board = new Board(byId('board'), move, (square) => {
  if (state.square === square) return;
  state.square = square;
  if (state.study) keepingFocus(drawStudy);
});

/** @param {string} message */
const say = (message) => {
  state.said = message;
  drawStatus();
};

/**
 * Asks, and says what is wrong.
 * @template {Request} R @param {R} request @returns {Promise<import('./backend.js').Answer<R['type']> | null>}
 */
const ask = async (request) => {
  try {
    return await backend.request(request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    say(error instanceof Refusal && error.kind === 'damaged' ? t('unreadable', message) : message);
    return null;
  }
};

/** @param {boolean} now */
async function connected(now) {
  state.connected = now;
  if (!now) return drawStatus();
  state.welcome = await ask({ type: 'hello', schema: 'anqi-page-2' });
  forgetAnswers();
  if (state.game ? !await openGame(state.game.game) : !await openPlace()) draw();
}

/** Asks how a series stands, and shows it. @param {string} series */
async function openSeries(series) {
  const view = await ask({ type: 'series', series });
  if (!view) return false;
  state.series = view;
  if (!state.game) history.replaceState(null, '', `#series=${series}`);
  state.starting = false;
  draw();
  return true;
}

/** The game of the series that is in play, or the next one. */
const nextGame = () => void (state.series && open({ type: 'next-game', series: state.series.series }));

/** Opens what the address names: a game, a seat of it, an invitation to one, or a whole game in a link. */
async function openPlace() {
  const place = new URLSearchParams(location.hash.slice(1));
  const [game, link, series] = [place.get('game'), place.get('link'), place.get('series')];
  if (link) return open({ type: 'open-link', link });
  if (series) return openSeries(series);
  if (!game) return false;
  const seat = place.get('seat');
  if (seat) hold(game, { token: seat });
  return openGame(game, place.get('invite'));
}

addEventListener('hashchange', () => void openPlace());

/** Opens a game, and shows it. @param {Opening} request */
async function open(request) {
  const view = await ask(request);
  if (view) enter(view);
  return !!view;
}

/** @param {import('./wire').OpenedGame} view */
function enter({ you, ...game }) {
  coming.length = 0;
  state.you = you ?? null;
  if (you?.seats.length === 1) hold(game.game, { seat: you.seats[0] });
  if (you?.token) hold(game.game, { token: you.token });
  if (you?.invitation) hold(game.game, { invitation: you.invitation });
  state.latest = game;
  show(game);
}

/** Opens a game with the seat that this browser has in it, or with an invitation; else to watch. @param {string} game @param {string | null} [invitation] */
async function openGame(game, invitation = null) {
  let refused = '';
  for (const token of [holding(game).token, invitation]) {
    if (!token) continue;
    try {
      enter(await backend.request({ type: 'open', game, token }));
      state.invitation = token;
      return true;
    } catch (error) {
      if (!(error instanceof Refusal) || !['taken', 'wrong-token'].includes(error.kind)) break;
      refused = error.kind;
      if (token !== invitation) hold(game, { token: undefined });
    }
  }
  const opened = await open({ type: 'open', game });
  if (opened && refused) say(t(refused === 'taken' ? 'taken' : 'wrongSeat'));
  return opened;
}

/** Opens the game again of which a change is missing. */
const reopen = async (/** @type {string} */ game) => {
  if (state.reopening) return;
  state.reopening = true;
  await openGame(game);
  state.reopening = false;
};

/** What was not asked for. @param {import('./backend.js').Event} event */
function hear(event) {
  if (event.game !== state.latest?.game) return;
  switch (event.type) {
    case 'game': return showInTurn(event);
    case 'change': {
      const game = follow(state.latest, event);
      return game ? showInTurn(game) : void reopen(event.game);
    }
    case 'analysis': {
      const study = event;
      if (study.ply !== shown()?.ply || !state.analysing) return;
      state.study = study;
      if (study.wdl) state.chances.set(study.ply, study.seat === 'first' ? study.wdl : [study.wdl[2], study.wdl[1], study.wdl[0]]);
      keepingFocus(drawStudy);
      drawBoard();
      break;
    }
    case 'review-ply': {
      const { review } = event;
      state.reviews.set(review.ply, review);
      state.chances.set(review.ply, review.wdl);
      keepingFocus(() => {
        drawReview();
        drawMoves();
      });
      break;
    }
    case 'review':
      state.review = event;
      state.reviewing = false;
      if (state.game?.outcome) {
        const { winner } = state.game.outcome;
        state.chances.set(state.game.plies.length, [Number(winner === 'first'), Number(!winner), Number(winner === 'second')]);
      }
      draw();
      break;
  }
}

/** Long enough to see what came up before the answer to it. */
const SEEN = 320;
const calm = matchMedia('(prefers-reduced-motion: reduce)');
/** What is still to be shown, and from when on. @type {GameView[]} */
const coming = [];
let seen = 0;

/** Shows every ply, each for a moment; whoever is far behind sees where the game stands. @param {GameView} game */
function showInTurn(game) {
  state.latest = game;
  // Where nothing moves there is nothing to be seen.
  if (!coming.length && game.shown.position === state.game?.shown.position) return show(game);
  coming.push(game);
  if (coming.length > 3) coming.splice(0, coming.length - 1);
  if (coming.length === 1) setTimeout(showNext, calm.matches ? 0 : Math.max(0, seen - performance.now()));
}

function showNext() {
  const game = coming.shift();
  if (game && game.game === state.game?.game) show(game);
  if (coming.length) setTimeout(showNext, calm.matches ? 0 : SEEN);
}

/** A game as it stands now. @param {GameView} game */
function show(game) {
  const other = state.game?.game !== game.game;
  if (other) {
    Object.assign(state, { past: null, study: null, review: null, reviewing: false, puzzle: null, square: null, starting: false });
    state.chances = new Map();
    state.reviews = new Map();
    board.drawn = '';
    history.replaceState(null, '', `#game=${game.game}`);
    if (state.series?.series !== game.series?.series) state.series = null;
  }
  // How its series stands changes when a game of it begins and when it ends.
  if (game.series && (other || game.inPlay !== state.game?.inPlay)) void openSeries(game.series.series);
  const moved = other || state.game?.shown.position !== game.shown.position;
  Object.assign(state, { game, said: null, told: performance.now() });
  if (moved) seen = performance.now() + SEEN;
  if (moved) state.hint = null;
  if (moved && !state.past) study();
  draw();
  // What is refused, another page of this browser has done.
  void contribute(game, state.you, (request) => backend.request(request).catch(() => null));
}

/** Whether the server refuses to help in a game: it is one of a series, and not over. @param {GameView | null} game */
const withoutHelp = (game) => !!game?.series && !game.outcome;

/** Whether this page is to move. @param {GameView} game */
const isMyTurn = (game) => game.yourTurn && (!state.you || state.you.seats.includes(game.shown.seat));

/** What the board shows. @returns {PositionView | null} */
const shown = () => state.past ?? state.game?.shown ?? null;

/** Looks at another ply of the game. @param {number} ply */
async function look(ply) {
  const game = state.game;
  if (!game) return;
  const wanted = Math.max(0, Math.min(game.plies.length, ply));
  state.puzzle = null;
  if (wanted === game.plies.length) state.past = null;
  else {
    const answer = await ask({ type: 'at', ply: wanted });
    if (answer) state.past = answer.shown;
  }
  state.hint = null;
  state.said = null;
  study();
  draw();
}

/** Has the position studied that is shown, if analysis is on. */
function study() {
  state.study = null;
  const position = shown();
  if (state.analysing && position && !withoutHelp(state.game)) void ask({ type: 'analyse', ply: position.ply });
}

/** @param {string} wanted */
async function move(wanted) {
  if (state.puzzle) return solve(wanted);
  if (state.past || !state.game) return;
  /** @type {Extract<Request, { type: 'play' }>} */
  const request = { type: 'play', move: wanted, ply: state.game.plies.length, teach: false };
  const answer = await ask({ ...request, teach: settings.teach && !withoutHelp(state.game) });
  if (answer?.type !== 'warning') return;
  state.hint = answer.better;
  drawBoard();
  openDialog([
    html('p', {}, t('warning', answer.move, answer.loss.toFixed(2), answer.better)),
    html('p', {}, button(t('think'), closeDialog, { autofocus: true }), ' ', button(t('playAnyway'), () => {
      closeDialog();
      void ask(request);
    })),
  ], t('teach'));
}

/** @param {number} ply */
async function puzzle(ply) {
  await look(ply);
  state.puzzle = state.reviews.get(ply) ?? null;
  const position = shown();
  byId('table').scrollIntoView({ block: 'nearest' });
  if (state.puzzle && position) say(t('puzzleAsk', position.turn ? t(position.turn) : t('mover'), state.puzzle.played));
  draw();
}

/** @param {string} wanted */
function solve(wanted) {
  const { good, best } = /** @type {PlyReview} */ (state.puzzle);
  const right = good.includes(wanted) || wanted === best;
  state.hint = right ? wanted : null;
  say(t(right ? 'puzzleRight' : 'puzzleWrong', wanted));
  drawBoard();
}

// Dialogs.

const dialog = /** @type {HTMLDialogElement} */ (byId('dialog'));

/** @param {import('./dom.js').Child[]} parts @param {string} label */
function openDialog(parts, label) {
  dialog.replaceChildren(...parts.filter((part) => part instanceof Node));
  dialog.setAttribute('aria-label', label);
  if (!dialog.open) dialog.showModal();
}

function closeDialog() {
  dialog.close();
}

async function openGames() {
  const choose = async (/** @type {string} */ game) => {
    if (await openGame(game)) closeDialog();
  };
  openDialog(await gamesDialog(backend, choose, closeDialog), t('gamesTitle'));
}

async function openAllSeries() {
  const { rules, players } = state.welcome ?? { rules: [], players: [] };
  const openOne = async (/** @type {string} */ series) => {
    closeDialog();
    if (!await openSeries(series) || !state.series) return;
    const last = state.series.games.filter(({ stands }) => stands === 'over').at(-1)?.game;
    if (state.series.next !== null) nextGame();
    else if (last) void openGame(last);
  };
  const begin = async (/** @type {import('./series.js').BeginSeries} */ request) => {
    try {
      const begun = await backend.request(request);
      await openOne(begun.series);
    } catch (error) {
      byId('series-told').textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const parts = await seriesDialog(backend, players, rules, begin, openOne, closeDialog);
  openDialog([...parts, html('p', { role: 'alert', id: 'series-told' })], t('series'));
}

async function share() {
  const answer = await ask({ type: 'link' });
  const { game } = state;
  if (!answer || !game) return;
  const address = `${location.origin}${location.pathname}#link=${encodeURIComponent(answer.link)}`;
  const told = html('p', { role: 'status' });
  const text = html('textarea', { id: 'share-link', rows: 3, readonly: true, 'aria-label': t('link') }, address);
  try {
    await navigator.clipboard.writeText(address);
    told.textContent = t('copied');
  } catch { /* The text can be copied by hand. */ }
  const file = async (/** @type {'anqi' | 'txt'} */ format, /** @type {Word} */ word) =>
    html('a', { href: await backend.download(game.game, format), download: `anqi-${game.game}.${format}` }, t(word));
  openDialog([
    html('h2', {}, t('share')), html('p', {}, t('link')), text, told,
    html('p', {}, `${t('export')}: `, await file('anqi', 'exportOwn'), game.outcome ? ' · ' : '', game.outcome ? await file('txt', 'exportServer') : ''),
    button(t('close'), closeDialog),
  ], t('share'));
}

/** A damaged game goes on as a new one, with the same seats. */
async function goOn() {
  const kept = state.game ? holding(state.game.game) : {};
  if (await open({ type: 'go-on' }) && state.game && kept.token) hold(state.game.game, kept);
  draw();
}

/** @param {string} question @param {() => void} then */
function confirmed(question, then) {
  openDialog([
    html('p', {}, question),
    html('p', {}, button(t('yes'), () => {
      closeDialog();
      then();
    }, { id: 'yes' }), ' ', button(t('no'), closeDialog, { autofocus: true })),
  ], question);
}

// Drawing.

/** @param {PlayerView} player @param {number} index */
function nameOf(player, index) {
  if (player.level) return t('level', player.level);
  if (player.name !== 'person') return player.name;
  const own = state.game && ownSeat(state.game, state.you);
  if (own) return t((own === 'first') === (index === 0) ? 'person' : 'opponent');
  return state.game?.players.every((each) => each.name === 'person') ? t(index ? 'second' : 'first') : t('person');
}

/** @returns {[string, string]} */
const names = () => {
  const [first, second] = state.game?.players ?? [];
  return first && second ? [nameOf(first, 0), nameOf(second, 1)] : ['', ''];
};

/** Draws, and gives the focus back to whatever took its element's place. @param {() => void} drawing */
function keepingFocus(drawing) {
  const focused = document.activeElement?.id;
  drawing();
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

const draw = () => keepingFocus(drawAll);

function drawAll() {
  speak(settings.language);
  document.documentElement.dataset.theme = settings.theme;
  document.body.classList.toggle('idle', !state.game);
  drawHead();
  drawStatus();
  drawSides();
  drawBoard();
  drawSeats();
  drawSeries();
  drawActions();
  drawStart();
  drawStudy();
  drawReview();
  drawMoves();
  drawPool();
  drawFair();
}

function drawHead() {
  byId('nav').replaceChildren(
    button(t('newGame'), () => {
      state.starting = true;
      draw();
      byId('start').scrollIntoView({ block: 'nearest' });
      byId('play').focus();
    }, { id: 'new' }),
    button(t('games'), () => void openGames(), { id: 'games' }));
  const choose = (/** @type {'theme' | 'faces'} */ what, /** @type {[string, Word][]} */ values) => {
    const select = html('select', {
      id: what,
      change: () => {
        Object.assign(settings, { [what]: select.value });
        remember();
        draw();
      },
    }, ...values.map(([value, word]) => html('option', { value, selected: settings[what] === value }, t(word))));
    return html('label', {}, t(what), ' ', select);
  };
  const opened = document.querySelector('#settings[open]') !== null;
  byId('options').replaceChildren(
    button(t('language'), () => {
      settings.language = settings.language === 'zh' ? 'en' : 'zh';
      remember();
      draw();
    }, { id: 'language', lang: settings.language === 'zh' ? 'en' : 'zh-Hant', 'aria-label': t('languageLabel') }),
    html('details', { id: 'settings', open: opened },
      html('summary', { id: 'settings-open' }, t('settings')),
      html('div', { class: 'menu' },
        choose('theme', [['auto', 'themeAuto'], ['light', 'themeLight'], ['dark', 'themeDark']]),
        choose('faces', [['chinese', 'facesChinese'], ['letters', 'facesLetters']]))));
}

// A menu closes when somebody looks elsewhere.
document.addEventListener('pointerdown', (event) => {
  const menu = document.getElementById('settings');
  if (menu && event.target instanceof Node && !menu.contains(event.target)) menu.removeAttribute('open');
});

function drawStatus() {
  const { game, said, connected: here } = state;
  const status = byId('status');
  if (!here) status.textContent = state.welcome ? t('lost') : '';
  else if (said) status.textContent = said;
  else if (!game) status.textContent = t('welcome');
  else if (game.outcome) status.textContent = outcomeText(game);
  else if (game.void) status.textContent = t(/** @type {Word} */ (`void ${game.void}`));
  else if (!game.inPlay) status.textContent = t(game.damage?.canGoOn ? 'damagedGame' : 'kept');
  else if (!hasBegun(game)) status.textContent = t(game.players.every(({ presence }) => presence !== 'invited') ? 'dealing' : plays(state.you) ? 'waiting' : 'notBegun');
  else {
    const mover = game.shown.seat === 'first' ? 0 : 1;
    const color = game.shown.turn ? t(game.shown.turn) : t(mover ? 'second' : 'first');
    const bothHere = game.players.every((player) => player.person) && !(plays(state.you) && isBetweenTwo(game, state.you));
    const whose = !game.yourTurn ? t('thinking', names()[mover])
      : bothHere || !plays(state.you) ? t('turnOf', color)
        : isMyTurn(game) ? `${t('yourTurn')} (${color})` : t('opponentTurn', color);
    const quiet = game.shown.quiet && game.drawAt ? ` · ${t('quiet', game.shown.quiet, game.drawAt)}` : '';
    status.textContent = !game.shown.turn && isMyTurn(game) ? t('firstFlip') : `${whose}${quiet}`;
  }
  const trouble = byId('trouble');
  const told = [game?.trouble ? t('trouble', game.trouble) : '', game?.damage ? damageText(game.damage) : ''].filter(Boolean);
  trouble.hidden = !told.length;
  trouble.textContent = told.join(' ');
}

/** @param {import('./wire').DamageView} damage */
const damageText = ({ file, line, reason, canGoOn }) => (line === null
  ? `${t('damagedFile', file, reason)} ${t('damagedRecord')}`
  : `${t('damagedLine', file, line, reason)} ${t('damagedUpTo')}${canGoOn ? ` ${t('goOnNote')}` : ''}`);

/** @param {GameView} game */
function outcomeText(game) {
  const outcome = /** @type {NonNullable<GameView['outcome']>} */ (game.outcome);
  const kind = outcome.reason.startsWith('repetition') ? 'repetition' : outcome.reason;
  const reason = t(/** @type {Word} */ (`reason ${kind}`), game.drawAt ?? '');
  if (!outcome.winner) return t('draw', reason);
  const index = outcome.winner === 'first' ? 0 : 1;
  const color = game.players[index].color;
  return t('wins', color ? `${names()[index]} (${t(color)})` : names()[index], reason);
}

/** Small pieces in a row. @param {[string, number][]} pieces @param {string} label */
function row(pieces, label) {
  const text = pieces.map(([face, count]) => `${t(/** @type {Word} */ (face))} ×${count}`).join(', ');
  const each = pieces.map(([face, count]) => html('span', { class: 'small', 'aria-hidden': 'true' },
    svg('svg', { viewBox: '-46 -46 92 92' }, ...faceOf(face, settings.faces)), count > 1 ? html('sub', {}, count) : null));
  return html('span', { class: 'row' }, html('span', { class: 'hidden-text' }, `${label}: ${text || '–'}`), ...each);
}

/** @param {number} milliseconds */
const clockText = (milliseconds) => {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

function drawSides() {
  const { game } = state;
  const own = game && ownSeat(game, state.you);
  const bottom = own ? Number(own === 'second') : game && !game.players[0].person && game.players[1].person ? 1 : 0;
  for (const [id, index] of /** @type {[string, number][]} */ ([['top', 1 - bottom], ['bottom', bottom]])) {
    const place = byId(id);
    place.replaceChildren();
    if (!game) continue;
    const player = game.players[index];
    const mine = (/** @type {string} */ face) => (face === face.toUpperCase() ? 'red' : 'black') === player.color;
    const gone = (shown()?.captured ?? []).filter(([face]) => player.color && !mine(face));
    const running = game.inPlay && hasBegun(game) && game.shown.seat === (index ? 'second' : 'first');
    place.classList.toggle('to-move', running);
    let left = game.clocks?.left[index];
    if (left !== undefined && game.clocks?.running === (index ? 'second' : 'first')) left -= performance.now() - state.told;
    place.append(
      html('span', { class: `dot ${player.color ?? ''}` }),
      html('strong', {}, names()[index]),
      html('span', { class: 'note' }, player.color ? t(player.color) : t('noColor')),
      row(gone, t('captured')));
    if (left !== undefined) place.append(html('span', { class: 'clock' }, clockText(left)));
  }
}
setInterval(() => {
  if (state.game?.clocks?.running) drawSides();
}, 500);

/** @param {string} square @param {string} face @param {number} [worth] */
const label = (square, face, worth) =>
  face === '.' ? t('emptySquare', square)
    : worth !== undefined ? t('hiddenWorth', square, Math.round(worth * 100)) : face === 'x' ? t('hiddenSquare', square) : t('pieceSquare', square, t(/** @type {Word} */ (face)));

const EMPTY = /** @type {PositionView} */ ({
  ply: 0, board: 'x'.repeat(32), position: '', turn: null, seat: 'first', quiet: 0, last: null, flips: [], steps: {}, jumps: {},
  threatened: [], captured: [], pool: [] });

function drawBoard() {
  const { game } = state;
  const movable = state.puzzle !== null || (!state.past && !!game && isMyTurn(game));
  const map = state.study && state.analysing ? new Map(state.study.moveInfos.filter(isFlip).map((flip) => [flip.move, flip.winrate ?? 0])) : null;
  board.root.setAttribute('aria-label', 'anqi');
  board.set({ files: game?.files ?? 4, ranks: game?.ranks ?? 8, shown: shown() ?? EMPTY, faces: settings.faces, movable, hint: state.hint, map, threats: state.analysing && !withoutHelp(game), label });
}

/** Who plays, who is away, and the links. */
function drawSeats() {
  const { game, you } = state;
  const place = byId('seats');
  const opened = document.querySelector('#links[open]') !== null;
  const parts = game ? seatsPanel(game, you, {
    join: () => void (state.invitation && open({ type: 'join', token: state.invitation })),
    claim: () => void ask({ type: 'claim' }),
  }) : [];
  place.hidden = !parts.length;
  // What is being copied is left alone.
  const drawn = parts.map((part) => part.outerHTML).join('') + settings.language;
  if (place.dataset.drawn === drawn) return;
  place.dataset.drawn = drawn;
  place.replaceChildren(...parts);
  if (opened) document.getElementById('links')?.setAttribute('open', '');
}

/** How the series stands. */
function drawSeries() {
  const { game, series } = state;
  const place = byId('series');
  place.hidden = !series || (!!game && game.series?.series !== series.series);
  if (!series || place.hidden) return place.replaceChildren();
  const opened = document.querySelector('#series-games[open]') !== null;
  place.replaceChildren(...seriesPanel(series, game?.game ?? null, backend, { next: nextGame, open: (wanted) => void openGame(wanted) }));
  if (opened) document.getElementById('series-games')?.setAttribute('open', '');
}

function drawActions() {
  const { game } = state;
  const place = byId('actions');
  place.replaceChildren();
  if (!game) return;
  const add = (/** @type {Word} */ word, /** @type {() => void} */ click, /** @type {import('./dom.js').Attributes} */ attributes = {}) =>
    place.append(button(t(word), click, attributes), ' ');
  if (game.inPlay && plays(state.you) && !hasBegun(game)) {
    add('withdraw', () => confirmed(t('withdrawSure'), () => void ask({ type: 'resign' })), { id: 'withdraw' });
  } else if (game.inPlay && plays(state.you)) {
    const between = isBetweenTwo(game, state.you);
    if (!between && !game.series) add('takeBack', () => void ask({ type: 'take-back' }), { id: 'take-back', disabled: !game.canTakeBack });
    if (!game.series) add('hint', async () => {
      const answer = await ask({ type: 'hint' });
      if (!answer) return;
      state.hint = answer.move;
      drawBoard();
    }, { id: 'hint', disabled: !isMyTurn(game) || !!state.past });
    // Engines decline every draw.
    if (game.players.every((player) => player.person)) {
      if (game.offer && between && game.offer === ownSeat(game, state.you)) {
        place.append(html('span', { class: 'note', id: 'offered' }, t('drawOffered')), ' ');
      } else if (game.offer) {
        add('acceptDraw', () => void ask({ type: 'accept-draw' }), { id: 'accept-draw' });
        add('declineDraw', () => void ask({ type: 'decline-draw' }), { id: 'decline-draw' });
      } else {
        add('offerDraw', () => void ask({ type: 'offer-draw' }), { id: 'offer-draw' });
      }
    }
    add('resign', () => confirmed(t('resignSure'), () => void ask({ type: 'resign' })), { id: 'resign' });
  }
  if (game.damage?.canGoOn && plays(state.you)) add('goOn', goOn, { id: 'go-on' });
  if (!withoutHelp(game)) add('analysis', () => {
    state.analysing = !state.analysing;
    if (!state.analysing) void ask({ type: 'stop-analysis' });
    study();
    draw();
  }, { id: 'analyse', 'aria-pressed': String(state.analysing) });
  if (!game.inPlay && game.plies.length) {
    add('review', () => {
      state.reviewing = true;
      state.review = null;
      state.reviews = new Map();
      void ask({ type: 'review' });
      drawReview();
      byId('review').scrollIntoView({ block: 'nearest' });
    }, { id: 'do-review', disabled: state.reviewing });
  }
  const { puzzle: asked } = state;
  if (asked) {
    add('answer', () => {
      state.hint = asked.best;
      say(t('puzzleAnswer', asked.best));
      drawBoard();
    }, { id: 'answer' });
  }
  add('share', share, { id: 'share' });
}

function drawStart() {
  const place = byId('start');
  place.hidden = (!!state.game || !!state.series) && !state.starting;
  const drawn = place.hidden || !state.welcome ? '' : `${settings.language} ${settings.faces}`;
  // What somebody is filling in is left alone.
  if (place.dataset.drawn === drawn) return;
  place.dataset.drawn = drawn;
  if (!drawn || !state.welcome) return place.replaceChildren();
  const { levels, rules, players } = state.welcome;
  const opponent = html('select', { id: 'opponent' },
    ...levels.map(({ number, elo: [elo, margin] }) => html('option', { value: `level:${number}`, selected: number === settings.level }, `${t('level', number)} · ${t('elo', elo, margin)}`)),
    html('option', { value: 'friend' }, t('aFriend')), html('option', { value: 'person' }, t('twoPeople')), html('option', { value: 'string' }, t('anyPlayer')));
  const string = html('input', { id: 'string', list: 'players', value: 'champion nodes=20000', spellcheck: 'false' });
  const stringField = html('label', { hidden: true }, t('playerString'), ' ', string, html('datalist', { id: 'players' }, ...players.map((value) => html('option', { value }))));
  opponent.onchange = () => {
    stringField.hidden = opponent.value !== 'string';
  };
  const select = (/** @type {string} */ id, /** @type {[string, string][]} */ values, /** @type {string} */ chosen) =>
    html('select', { id }, ...values.map(([value, text]) => html('option', { value, selected: value === chosen }, text)));
  const seat = select('seat', [['first', t('youFirst')], ['second', t('youSecond')]], settings.seat);
  const clock = select('clock', [['', t('noClock')], ['5:00+3', '5:00 + 3'], ['15:00', '15:00'], ['1:00', '1:00']], settings.clock);
  const ruleNames = /** @type {Record<string, Word>} */ ({ server: 'rulesServer', chen: 'rulesChen', olympiad: 'rulesOlympiad' });
  const rule = select('rules', rules.map((name) => [name, ruleNames[name] ? t(ruleNames[name]) : name]), 'server');
  const teach = html('input', { id: 'teach', type: 'checkbox', checked: settings.teach });
  const begin = async (/** @type {Event} */ event) => {
    event.preventDefault();
    settings.level = Number(opponent.value.split(':')[1]) || settings.level;
    Object.assign(settings, { seat: seat.value, clock: clock.value, teach: teach.checked });
    remember();
    const other = opponent.value === 'string' ? string.value : opponent.value === 'friend' ? 'person' : opponent.value;
    const [first, second] = seat.value === 'first' ? ['person', other] : [other, 'person'];
    /** @type {Extract<Request, { type: 'new' }>} */
    const request = { type: 'new', first, second, rules: rule.value, clock: clock.value || null, contribute: true };
    if (opponent.value === 'friend') request.invite = seat.value === 'first' ? 'second' : 'first';
    await open(request);
  };
  place.replaceChildren(html('form', { submit: begin },
    html('label', {}, t('opponent'), ' ', opponent), stringField,
    html('label', {}, t('you'), ' ', seat),
    html('details', {}, html('summary', {}, t('options')),
      html('label', {}, t('clock'), ' ', clock), html('label', {}, t('rules'), ' ', rule),
      html('p', { class: 'note' }, t('eloNote'))),
    html('label', {}, teach, ' ', t('teach')),
    html('button', { id: 'play', class: 'main' }, t('play'))),
  html('p', {}, button(t('seriesOpen'), () => void openAllSeries(), { id: 'open-series' })), howTo());
}

/** What somebody needs to know who has never played. */
function howTo() {
  const rank = (/** @type {string} */ face) => html('span', { class: 'small', title: t(/** @type {Word} */ (face)) },
    svg('svg', { viewBox: '-46 -46 92 92', role: 'img', 'aria-label': t(/** @type {Word} */ (face)) }, ...faceOf(face, settings.faces)));
  const ranks = ['K', 'G', 'M', 'R', 'N', 'P'].flatMap((face, index) => (index ? [html('span', { 'aria-hidden': 'true' }, '›'), rank(face)] : [rank(face)]));
  return html('details', { id: 'how-to', open: true }, html('summary', {}, t('howTo')),
    html('p', {}, t('howFlip')), html('p', {}, t('howCapture')), html('p', { class: 'row' }, ...ranks),
    html('p', {}, t('howPawn')), html('p', {}, rank('C'), t('howCannon')), html('p', {}, t('howEnd')));
}

function drawStudy() {
  const place = byId('study');
  place.hidden = !state.analysing || !state.game || withoutHelp(state.game);
  if (place.hidden) return place.replaceChildren();
  const game = /** @type {GameView} */ (state.game);
  /** @type {HTMLElement[]} */
  const parts = state.study
    ? studyPanel(state.study, shown()?.threatened ?? [], state.square, (wanted) => {
      state.hint = wanted;
      drawBoard();
    })
    : [html('p', { class: 'note' }, '…')];
  if (state.chances.size > 1 && !state.reviews.size) parts.push(graph(state.chances, game.plies.length, shown()?.ply ?? 0, look));
  place.replaceChildren(html('h2', {}, t('analysis')), ...parts);
}

function drawReview() {
  const place = byId('review');
  const { game, review, reviews, reviewing } = state;
  place.hidden = !game || (!reviewing && !review);
  if (!game || place.hidden) return place.replaceChildren();
  const parts = [];
  if (reviews.size) parts.push(graph(state.chances, game.plies.length, shown()?.ply ?? 0, look));
  const winner = game.outcome?.winner ? Number(game.outcome.winner === 'second') : null;
  if (review) parts.push(...reviewPanel(review, names(), winner, puzzle));
  else parts.push(html('p', { role: 'status' }, t('reviewing', reviews.size + 1, game.plies.length)));
  place.replaceChildren(html('h2', {}, t('review')), ...parts);
}

function drawMoves() {
  const { game } = state;
  const place = byId('moves');
  place.hidden = !game || !game.plies.length;
  if (!game || place.hidden) return place.replaceChildren();
  const at = shown()?.ply ?? 0;
  const list = html('ol', { class: 'plies', tabindex: 0, 'aria-label': t('moves') });
  game.plies.forEach((ply, index) => {
    const review = state.reviews.get(index);
    list.append(html('li', {}, button(`${ply}${mark(review)}`, () => void look(index + 1), {
      id: `ply-${index + 1}`, class: 'link', 'aria-current': index + 1 === at ? 'step' : null, title: review ? remark(review) || null : null })));
  });
  const step = (/** @type {Word} */ word, /** @type {string} */ sign, /** @type {number} */ ply) =>
    button(sign, () => void look(ply), { id: `go-${word}`, 'aria-label': t(word), disabled: ply < 0 || ply > game.plies.length || ply === at });
  const now = at > 0 ? state.reviews.get(at - 1) : undefined;
  const here = shown();
  place.replaceChildren(html('h2', {}, t('moves')), list,
    html('p', { class: 'steps' }, step('beginning', '«', 0), step('back', '‹', at - 1), html('span', {}, t('plyOf', at, game.plies.length)), step('forward', '›', at + 1), step('end', '»', game.plies.length)),
    html('p', { class: 'note', id: 'remark' }, now ? remark(now) : ''),
    !game.inPlay && here && here.turn && at < game.plies.length ? button(t('fromHere'), async () => {
      await open({ type: 'new', first: 'person', second: `level:${settings.level}`, rules: game.rules, position: here.position, contribute: true });
    }, { id: 'from-here' }) : '');
  const current = list.querySelector('[aria-current]')?.parentElement;
  if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;
}

/** What is face down: a row for each kind, red and black. */
function drawPool() {
  const pool = shown()?.pool ?? [];
  const place = byId('pool');
  place.hidden = !state.game;
  const counts = new Map(pool);
  const total = pool.reduce((sum, [, each]) => sum + each, 0);
  const title = total ? t('faceDown', total) : t('nothingDown');
  const each = [...'KGMRNCP'].flatMap((kind) => [kind, kind.toLowerCase()]).map((face) => {
    const count = counts.get(face) ?? 0;
    return html('span', { class: `small${count ? '' : ' none'}` }, svg('svg', { viewBox: '-46 -46 92 92' }, ...faceOf(face, settings.faces)), html('sub', {}, count || ''));
  });
  const text = pool.map(([face, count]) => `${t(/** @type {Word} */ (face))} ×${count}`).join(', ');
  place.replaceChildren(
    html('h2', {}, html('span', { class: 'hidden-text' }, `${title} ${text}`), html('span', { 'aria-hidden': 'true' }, total)),
    html('p', { class: 'note', 'aria-hidden': 'true' }, t('down')),
    html('div', { class: 'kinds', 'aria-hidden': 'true', title }, ...each));
}

function drawFair() {
  const { game } = state;
  const place = byId('fair');
  place.hidden = !game?.commitment;
  if (!game?.commitment || place.hidden) return place.replaceChildren();
  const told = html('p', { role: 'status', id: 'verified' });
  const line = (/** @type {Word} */ word, /** @type {string} */ value) => html('p', { class: 'hash' }, `${t(word)} `, html('code', {}, value));
  place.replaceChildren(
    html('h2', {}, t('fair')),
    html('p', { class: 'note' }, t(game.void ? 'fairVoid' : game.deal ? 'fairAfter' : game.joint ? 'fairJoint' : 'fairBefore')),
    line('commitment', game.commitment));
  const { joint } = game;
  const parties = (joint?.parts ?? []).flatMap((part, index) => (part ? [{ part, index, name: t(index ? 'secondLower' : 'firstLower') }] : []));
  for (const { part, name } of parties)
    if (part.commitment) place.append(html('p', { class: 'hash' }, `${t('fingerprintOf', name)} `, html('code', {}, part.commitment)));
  if (game.takeBacks) place.append(html('p', { class: 'note' }, t('takeBacks', game.takeBacks)));
  if (!game.deal) return;
  const { contributions } = game.deal;
  place.append(line('seed', game.deal.seed), line('nonce', game.deal.nonce));
  for (const { index, name } of parties) {
    const part = contributions?.[index];
    if (part) place.append(html('p', { class: 'hash' }, `${t('partOf', name)} `, html('code', {}, part.seed), ' ', html('code', {}, part.nonce)));
  }
  place.append(
    button(t('verify'), async () => {
      const beginning = await ask({ type: 'at', ply: 0 });
      if (!beginning) return;
      try {
        told.textContent = t(joint ? 'verifiedJoint' : 'verified', verify(game, beginning.shown, holding(joint?.game ?? game.game)));
      } catch (error) {
        told.textContent = t('switched', error instanceof Error ? error.message : String(error));
      }
    }, { id: 'verify' }), told, html('p', { class: 'note' }, t('verifyCommand')));
}

// Left and right walk through the game wherever the board does not use them.
document.addEventListener('keydown', (event) => {
  const target = event.target;
  if (!(target instanceof Element) || target.closest('input, select, textarea, dialog') || event.ctrlKey || event.altKey || event.metaKey) return;
  const at = shown()?.ply ?? 0;
  if (event.key === 'ArrowLeft') void look(at - 1);
  else if (event.key === 'ArrowRight') void look(at + 1);
});

draw();
backend.events({ event: hear, connected });
