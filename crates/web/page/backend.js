// What answers the page: the interface that it talks to, and how it follows the game that is open. `socket.js` asks a server.

/**
 * @typedef {import('./wire').Request} Request
 * @typedef {import('./wire').Response} Response
 * @typedef {import('./wire').Event} Event
 * @typedef {import('./wire').GameView} GameView
 * @typedef {import('./wire').Change} Change
 */

/**
 * Which response answers which request. A refusal rejects the promise.
 * @typedef {{
 *   hello: 'welcome', new: 'game', open: 'game', 'open-link': 'game', 'go-on': 'game', close: 'closed', play: 'done' | 'warning', 'take-back': 'done',
 *   resign: 'done', 'offer-draw': 'done', 'accept-draw': 'done', 'decline-draw': 'done', hint: 'hint', at: 'position', analyse: 'done', 'stop-analysis': 'done', review: 'done', link: 'link',
 *   join: 'game', commit: 'done', reveal: 'done', claim: 'done', 'begin-series': 'series', series: 'series', 'next-game': 'game' }} Answers
 */

/**
 * The answer to a request.
 * @template {Request['type']} T
 * @typedef {Extract<Response, { type: Answers[T] }>} Answer
 */

/**
 * @typedef {object} Listener
 * @property {(event: Event) => void} event hears of everything that was not asked for
 * @property {(open: boolean) => void} connected hears whether requests can be answered; after a break the game is to be opened again
 */

/**
 * @typedef {object} Backend
 * @property {(listener: Listener) => void} events begins to talk
 * @property {<R extends Request>(request: R) => Promise<Answer<R['type']>>} request
 * @property {() => Promise<import('./wire').Games>} games the newest games that are kept
 * @property {(text: string) => Promise<import('./wire').Imported>} keep keeps the games of a text
 * @property {(game: string, format: 'anqi' | 'txt') => Promise<string>} download an address from which the game's file can be saved
 * @property {() => Promise<import('./wire').SeriesList>} series the series that are kept
 * @property {(series: string, end: '.csv' | '-games.csv' | '.anqi') => string} seriesFile the address of a file of a series, or of `all`
 */

/** A request was not done. */
export class Refusal extends Error {
  /** @param {import('./wire').Refused} refused */
  constructor({ kind, message }) {
    super(message);
    this.kind = kind;
  }
}

/** A game after a change; null if changes before it are missing. @param {GameView} game @param {Change} change @returns {GameView | null} */
export const follow = (game, { kept, plies, ...state }) => {
  if (state.version !== game.version + 1 || kept > game.plies.length) return null;
  return { ...game, ...state, plies: [...game.plies.slice(0, kept), ...plies] };
};
