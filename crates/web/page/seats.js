// Seats: what this browser holds in games with other people, the links that bring players, and its parts of deals.

import { button, html } from './dom.js';
import { commitmentOf } from './verify.js';
import { t } from './words.js';

/**
 * @typedef {import('./wire').GameView} GameView
 * @typedef {import('./wire').SeatName} SeatName
 * @typedef {import('./wire').You} You
 * @typedef {{ seed: string, nonce: string }} Contribution
 */

/**
 * What is kept of a game: the token of its seat, and what was seen of its deal before it was made.
 * @typedef {object} Holding
 * @property {string} [token]
 * @property {SeatName} [seat]
 * @property {string} [invitation] for the other player
 * @property {Contribution} [own] this browser's part of the deal
 * @property {SeatName} [by] whose part it is
 * @property {{ commitment: string | null, parts: (string | null)[] }} [seen] all fingerprints, as they were before anything was revealed
 */

const STORE = 'anqi-seats', MOST = 200;
/** Without storage a page holds its seats until it is closed. @type {Record<string, Holding>} */
let all = {};

const read = () => {
  try {
    all = { ...all, ...JSON.parse(localStorage.getItem(STORE) ?? '{}') };
  } catch { /* as above */ }
  return all;
};

/** @param {string} game @returns {Holding} */
export const holding = (game) => read()[game] ?? {};

/** Keeps more of a game; the newest games are kept. @param {string} game @param {Holding} more */
export const hold = (game, more) => {
  const { [game]: before, ...others } = read();
  all = Object.fromEntries([...Object.entries(others), [game, { ...before, ...more }]].slice(-MOST));
  try {
    localStorage.setItem(STORE, JSON.stringify(all));
  } catch { /* as above */ }
};

/** The games in which this browser holds a seat, the newest first. */
export const ownGames = () => Object.entries(read()).filter(([, { token }]) => token).map(([game]) => game).reverse();

/** 256 bits of this browser's own randomness. */
const random = () => Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('');

const SEATS = /** @type {const} */ (['first', 'second']);

/** The seat of this browser, if it has exactly one. @param {GameView} game @param {You | null} you @returns {SeatName | null} */
export const ownSeat = (game, you) => (you?.seats.length === 1 ? you.seats[0] : holding(game.game).seat ?? null);

/** Whether this browser acts for a player. @param {You | null} you */
export const plays = (you) => !you || you.seats.length > 0;

/** Whether each of two people sits at a board of its own. @param {GameView} game @param {You | null} you */
export const isBetweenTwo = (game, you) => !!you && you.seats.length < 2 && game.players.every((player) => player.person);

/** Whether plies can be played: all players are there, and the deal is made. @param {GameView} game */
export const hasBegun = (game) => !game.joint?.parts.some((part) => part && !part.revealed) && game.players.every(({ presence }) => presence !== 'invited');

/** What was asked of this browser already, so that it answers once. */
const answered = new Set();

/**
 * Commits to this browser's part of a deal, or reveals it, when that is awaited.
 * @param {GameView} game @param {You | null} you @param {(request: { type: 'commit', commitment: string } | { type: 'reveal', seed: string, nonce: string }) => Promise<unknown>} ask
 */
export const contribute = async (game, you, ask) => {
  const { joint } = game;
  const by = joint && game.inPlay ? SEATS.find((seat, index) => joint.parts[index]?.awaits && (!you || you.seats.includes(seat))) : undefined;
  if (!joint || !by) return;
  const { awaits, commitment } = /** @type {NonNullable<typeof joint.parts[0]>} */ (joint.parts[SEATS.indexOf(by)]);
  const asked = `${game.game} ${by} ${awaits}`;
  if (answered.has(asked)) return;
  answered.add(asked);
  // By the name to which parts are bound: a damaged game that goes on has another one.
  const own = holding(joint.game).own ?? { seed: random(), nonce: random() };
  hold(joint.game, { own, by });
  if (awaits === 'commitment') return void await ask({ type: 'commit', commitment: commitmentOf(own, by, joint.game) });
  // What was committed to decides: another browser may hold the same seat.
  if (commitment !== null && commitment !== commitmentOf(own, by, joint.game)) return;
  hold(joint.game, { seen: { commitment: game.commitment, parts: joint.parts.map((part) => part?.commitment ?? null) } });
  await ask({ type: 'reveal', ...own });
};

/** A page that comes back may be asked again. */
export const forgetAnswers = () => answered.clear();

/** @param {string} game @param {string} [rest] */
const address = (game, rest = '') => `${location.origin}${location.pathname}#game=${game}${rest}`;

/**
 * A link with what can be done with it.
 * @param {string} id @param {string} label @param {string} link
 */
const linkField = (id, label, link) => {
  const told = html('span', { role: 'status' });
  const field = html('input', { id, readonly: true, value: link, 'aria-label': label, focus: () => field.select() });
  const copy = button(t('copy'), async () => {
    try {
      await navigator.clipboard.writeText(link);
      told.textContent = t('copied');
    } catch {
      field.select();
    }
  }, { id: `${id}-copy` });
  const share = typeof navigator.share === 'function'
    ? button(t('share'), () => void navigator.share({ title: 'anqi', url: link }).catch(() => {}), { id: `${id}-share` })
    : null;
  return html('div', { class: 'link-field' }, html('span', {}, label), field, html('span', {}, copy, ' ', share), told);
};

/**
 * What there is to say and do about who plays; nothing in a game of one browser.
 * @param {GameView} game @param {You | null} you
 * @param {{ join: () => void, claim: () => void }} does
 * @returns {HTMLElement[]}
 */
export const seatsPanel = (game, you, does) => {
  if (!you) return [];
  const kept = holding(game.game);
  const own = ownSeat(game, you);
  const parts = [];
  if (you.invited && game.inPlay) {
    parts.push(html('p', {}, t('invited', t(you.invited === 'first' ? 'firstLower' : 'secondLower'))),
      button(t('join'), does.join, { id: 'join', class: 'main' }));
    return parts;
  }
  if (!plays(you)) return game.inPlay ? [html('p', { id: 'watching' }, t('watching'))] : [];
  const other = own && game.players[own === 'first' ? 1 : 0];
  if (!game.inPlay || !other || !other.person) return game.inPlay && kept.token ? [linkList(game, kept)] : [];
  if (other.presence === 'invited') {
    parts.push(html('p', { class: 'note' }, t('waitingNote')));
    if (kept.invitation) parts.push(linkField('invitation', t('inviteLink'), address(game.game, `&invite=${kept.invitation}`)));
  } else if (other.presence === 'away') parts.push(html('p', { id: 'away' }, t('opponentAway')));
  else if (other.presence === 'gone') parts.push(html('p', { id: 'away' }, t(hasBegun(game) ? 'opponentGone' : 'opponentAway')));
  if (other.presence === 'gone' && hasBegun(game)) parts.push(button(t('claim'), does.claim, { id: 'claim' }));
  parts.push(linkList(game, kept));
  return parts;
};

/** @param {GameView} game @param {Holding} kept */
const linkList = (game, kept) => html('details', { id: 'links' }, html('summary', {}, t('links')),
  linkField('watch-link', t('watchLink'), address(game.game)),
  kept.token ? linkField('own-link', t('ownLink'), address(game.game, `&seat=${kept.token}`)) : null);
