// The connection to the server: requests with answers, news, and coming back after a break.

/**
 * @typedef {{ name: string, person: boolean, level: number | null, color: 'red' | 'black' | null }} PlayerView
 * @typedef {{ ply: string, from: string | null, to: string, captured: string | null }} LastView
 * @typedef {{
 *   ply: number, board: string, position: string, turn: 'red' | 'black' | null, seat: 'first' | 'second', quiet: number,
 *   last: LastView | null, flips: string[], steps: Record<string, string[]>, jumps: Record<string, string>,
 *   threatened: string[], captured: [string, number][], pool: [string, number][] }} PositionView
 * @typedef {{
 *   type: 'game', game: string, rules: string, files: number, ranks: number, players: [PlayerView, PlayerView],
 *   plies: string[], inPlay: boolean, yourTurn: boolean, canTakeBack: boolean, takeBacks: number, drawAt: number | null,
 *   outcome: { winner: 'first' | 'second' | null, reason: string, score: string, text: string } | null,
 *   clocks: { left: [number, number], running: 'first' | 'second' | null } | null,
 *   commitment: string | null, deal: { seed: string, nonce: string } | null, trouble: string | null,
 *   shown: PositionView }} GameView
 * @typedef {{ piece: string, count: number, probability: number, winrate: number | null }} OutcomeInfo
 * @typedef {{ square: string, winrate: number, outcomes: OutcomeInfo[] }} FlipInfo
 * @typedef {[number, number, number]} Chances
 * @typedef {{
 *   type: 'analysis', game: string, ply: number, turn: 'red' | 'black' | null, seat: 'first' | 'second', nodes: number,
 *   depth: number, isDuringSearch: boolean, wdl: Chances, move: string, pv: string[],
 *   moveInfos: { move: string, winrate: number, wdl: Chances }[], flips: FlipInfo[],
 *   table: { result: 'win' | 'draw' | 'loss', plies: number | null, to: 'end' | 'capture' | null, knowsDrawRule: boolean } | null,
 *   trouble: string | null }} Study
 * @typedef {{
 *   ply: number, played: string, best: string, seat: 'first' | 'second', wdl: Chances, loss: number,
 *   grade: 'mistake' | 'blunder' | null, luck: number | null, good: string[] }} PlyReview
 * @typedef {{ moves: number, mistakes: number, blunders: number, loss: number, flips: number, luck: number }} SideReview
 * @typedef {{ type: 'review', game: string, value: string, nodes: number, sides: [SideReview, SideReview], puzzles: number[] }} Review
 * @typedef {{ number: number, player: string, elo: [number, number] }} Level
 * @typedef {{ type: 'welcome', version: string, levels: Level[], rules: string[], players: string[] }} Welcome
 */

const FIRST_PAUSE = 250, LONGEST_PAUSE = 5000;

export class Socket {
  /** @param {(message: any) => void} news @param {(open: boolean) => void} changed */
  constructor(news, changed) {
    this.news = news;
    this.changed = changed;
    this.number = 0;
    this.pause = FIRST_PAUSE;
    /** @type {Map<number, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
    this.waiting = new Map();
    this.connect();
  }

  connect() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.socket = new WebSocket(`${scheme}://${location.host}/socket`);
    this.socket.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.changed(true);
    };
    this.socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.socket.onclose = () => {
      for (const { reject } of this.waiting.values()) reject(new Error('the connection was lost'));
      this.waiting.clear();
      this.changed(false);
      setTimeout(() => this.connect(), this.pause);
      this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    };
  }

  /** @param {any} message */
  hear(message) {
    const asked = message.re === undefined ? undefined : this.waiting.get(message.re);
    if (!asked) return this.news(message);
    this.waiting.delete(message.re);
    if (message.type === 'error') asked.reject(new Error(message.message));
    else asked.resolve(message);
  }

  /** Asks and waits for the answer. @param {{ type: string, [field: string]: unknown }} request @returns {Promise<any>} */
  ask(request) {
    return new Promise((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) return reject(new Error('there is no connection'));
      this.number += 1;
      this.waiting.set(this.number, { resolve, reject });
      this.socket.send(JSON.stringify({ ...request, re: this.number }));
    });
  }
}
