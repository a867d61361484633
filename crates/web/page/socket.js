// The backend that is a server: requests and events over a socket, which comes back after a break; files over HTTP.

import { Refusal } from './backend.js';

/**
 * @typedef {import('./backend.js').Backend} Backend
 * @typedef {import('./backend.js').Response} Response
 * @typedef {import('./backend.js').Event} Event
 */

const FIRST_PAUSE = 250, LONGEST_PAUSE = 5000;

/** @param {globalThis.Response} response */
const read = async (response) => {
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};

/** @implements {Backend} */
export class Socket {
  number = 0;
  pause = FIRST_PAUSE;
  /** @type {Map<number, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
  waiting = new Map();
  /** @type {WebSocket | undefined} */
  socket;
  /** @type {import('./backend.js').Listener | undefined} */
  listener;

  /** @type {Backend['events']} */
  events(listener) {
    this.listener = listener;
    this.connect();
  }

  connect() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.socket = new WebSocket(`${scheme}://${location.host}/socket`);
    this.socket.onopen = () => {
      this.pause = FIRST_PAUSE;
      this.listener?.connected(true);
    };
    this.socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.socket.onclose = () => {
      for (const { reject } of this.waiting.values()) reject(new Error('the connection was lost'));
      this.waiting.clear();
      this.listener?.connected(false);
      setTimeout(() => this.connect(), this.pause);
      this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    };
  }

  /** @param {Response & { re: number } | Event & { re: undefined }} message */
  hear(message) {
    if (message.re === undefined) return this.listener?.event(message);
    const asked = this.waiting.get(message.re);
    this.waiting.delete(message.re);
    if (message.type === 'error') asked?.reject(new Refusal(message));
    else asked?.resolve(message);
  }

  /** @type {Backend['request']} */
  request(request) {
    return new Promise((resolve, reject) => {
      if (this.socket?.readyState !== WebSocket.OPEN) return reject(new Error('there is no connection'));
      this.number += 1;
      this.waiting.set(this.number, { resolve, reject });
      this.socket.send(JSON.stringify({ ...request, re: this.number }));
    });
  }

  /** @type {Backend['games']} */
  async games() {
    return read(await fetch('/api/games'));
  }

  /** @type {Backend['keep']} */
  async keep(text) {
    return read(await fetch('/api/games', { method: 'POST', body: text, headers: { 'content-type': 'text/plain' } }));
  }

  /** @type {Backend['download']} */
  async download(game, format) {
    return `/api/games/${game}.${format}`;
  }

  /** @type {Backend['series']} */
  async series() {
    return read(await fetch('/api/series'));
  }

  /** @type {Backend['seriesFile']} */
  seriesFile(series, end) {
    return `/api/series/${series}${end}`;
  }
}
