// The page in Debian's chromium against the real server. ANQI names the binary, SHOTS a folder for screenshots.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const binary = process.env.ANQI ?? join(root, 'target/debug/anqi');
const games = mkdtempSync(join(tmpdir(), 'anqi-page-'));
const axe = readFileSync(fileURLToPath(new URL('node_modules/axe-core/axe.min.js', import.meta.url)), 'utf8');
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const DESKTOP = { viewport: { width: 1280, height: 800 } };

let server, url, browser;

/** A server with its address. */
const serve = async (folder, port = 0) => {
  const process = spawn(binary, ['serve', '--json', '--no-open', '--port', String(port), '--games', folder, '--seed', '7'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await new Promise((resolve, reject) => {
    process.stdout.once('data', (data) => resolve(String(data).split('\n')));
    process.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return [process, JSON.parse(line).url];
};

const start = async (port) => {
  [server, url] = await serve(games, port);
};

const kill = (process) => new Promise((resolve) => {
  process.removeAllListeners('exit');
  if (process.exitCode !== null || process.signalCode !== null) return resolve();
  process.once('exit', resolve);
  process.kill('SIGKILL');
});

const stop = () => kill(server);

before(async () => {
  await start();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  await stop();
  rmSync(games, { recursive: true });
});

const open = async (options = DESKTOP, address = url) => {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  await page.goto(address);
  // The form for a new game, unless the address names a game.
  await page.waitForSelector(address.includes('#') ? '#status:not(:empty)' : '#play');
  return page;
};

const close = async (page) => {
  assert.deepEqual(page.faults, []);
  await page.context().close();
};

const begin = async (page, opponent = 'level:1', seat = 'first') => {
  if (!await page.isVisible('#play')) await page.click('#new');
  await page.selectOption('#opponent', opponent);
  await page.selectOption('#seat', seat);
  await page.click('#play');
  await page.waitForFunction(() => location.hash.startsWith('#game='));
};

/** What the server says about the game on the page. */
const view = async (page) => {
  const id = new URL(page.url()).hash.slice('#game='.length);
  return (await page.request.get(`${url}api/games/${id}.json`)).json();
};

/** The next state in which a person is to move, or the end. */
const turn = async (page, plies) => {
  for (;;) {
    const game = await view(page);
    if (game.outcome || (game.yourTurn && game.plies.length >= plies)) {
      await page.waitForFunction((count) => document.querySelectorAll('.plies li').length === count && !document.getElementById('withdraw'), game.plies.length);
      return game;
    }
    await page.waitForTimeout(20);
  }
};

/** Captures first, then flips, then steps that do not go straight back. */
const wanted = ({ files, ranks, shown }, number) => {
  const face = (square) => shown.board[(ranks - Number(square[1])) * files + square.charCodeAt(0) - 97];
  const steps = Object.entries(shown.steps).flatMap(([from, tos]) => tos.map((to) => [from, to]));
  const capture = steps.find(([, to]) => face(to) !== '.');
  if (capture) return capture;
  if (shown.flips.length) return [shown.flips[(7 * number) % shown.flips.length]];
  return steps[number % steps.length];
};

const cell = (page, square) => page.locator(`[data-square=${square}]`);

/** Plays a whole game; `make` makes one move on the page. */
const playOut = async (page, make) => {
  let game = await turn(page, 0);
  for (let number = 0; !game.outcome; number++) {
    const before = game.plies.length;
    await make(page, wanted(game, number), number);
    game = await turn(page, before + 1);
  }
  await page.waitForFunction((text) => document.getElementById('status').textContent.includes(text), game.outcome.winner ? 'wins' : 'Draw');
  return game;
};

/** A picture for the docs, once nothing moves any more. */
const shoot = async (page, name) => {
  if (!process.env.SHOTS) return;
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(1000);
  await page.screenshot({ path: join(process.env.SHOTS, `page-${name}.png`) });
};

/** Keeps a position, and begins a game from it. */
const beginFrom = async (page, position, firstPly) => {
  const record = `[Rules "server"]\n[Position "${position}"]\n\n1. ${firstPly} *\n`;
  const { games: [id] } = await (await page.request.post(`${url}api/games`, { data: record, headers: { 'content-type': 'text/plain' } })).json();
  await page.goto(`${url}#game=${id}`);
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('.plies li').length === 1);
  await page.locator('#go-beginning').click();
  await page.click('#from-here');
  await page.waitForFunction((old) => !location.hash.includes(old), id);
  return turn(page, 0);
};

const accessible = async (page, what) => {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(serious.map(({ id, nodes }) => `${what}: ${id} ${nodes[0].html.slice(0, 120)}`), []);
};

test('a first visit is small, quick and accessible', async () => {
  const page = await open();
  const sizes = await page.evaluate(() => performance.getEntriesByType('resource').map((entry) => entry.decodedBodySize));
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 300_000);
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  console.log(`# first contentful paint after ${Math.round(paint)} ms`);
  await accessible(page, 'start');
  await shoot(page, 'start');
  await close(page);
});

test('a whole game by mouse, clicking and dragging; then review, puzzles, flip map, proof and link', async () => {
  const page = await open();
  await begin(page, 'level:1');
  const commitment = (await view(page)).commitment;
  assert.equal(await page.textContent('#fair code'), commitment);
  const game = await playOut(page, async (_, squares, number) => {
    const [from, to] = squares;
    if (!to) return cell(page, from).click();
    if (number % 2) {
      await cell(page, from).click();
      return cell(page, to).click();
    }
    const centre = async (square) => {
      const box = await cell(page, square).boundingBox();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    await page.mouse.move(...await centre(from));
    await page.mouse.down();
    const [x, y] = await centre(to);
    await page.mouse.move(x, y, { steps: 4 });
    return page.mouse.up();
  });
  assert.equal(game.commitment, commitment);

  await page.click('#verify');
  await page.waitForFunction(() => document.getElementById('verified').textContent.startsWith('Nothing was switched'));

  const switched = await page.evaluate(async (told) => {
    const { verify } = await import('/verify.js');
    const { holding } = await import('/seats.js');
    const kept = holding(told.game);
    const zero = '0'.repeat(64);
    const other = { ...told.deal, contributions: told.deal.contributions.map((part) => part && { ...part, seed: zero }) };
    const start = { ...told.shown, board: 'x'.repeat(32), pool: Object.entries({ K: 1, G: 2, M: 2, R: 2, N: 2, C: 2, P: 5, k: 1, g: 2, m: 2, r: 2, n: 2, c: 2, p: 5 }) };
    const tries = [told, { ...told, deal: { ...told.deal, seed: told.deal.nonce } }, { ...told, plies: told.plies.map((ply) => ply.replace('(P)', '(p)')) },
      { ...told, deal: other }];
    return [...tries.map((game) => [game, kept]), [told, { ...kept, seen: { ...kept.seen, commitment: zero } }], [told, {}]].map(([game, kept]) => {
      try {
        return verify(game, start, kept);
      } catch (error) {
        return error.message.split(' ').slice(1).join(' ');
      }
    });
  }, game);
  assert.equal(switched[0], game.plies.filter((ply) => ply.includes('(')).length);
  assert.match(switched[1], /do not open the fingerprint/);
  assert.match(switched[2], /is not what was dealt/);
  assert.match(switched[3], /was not made with what this page has contributed/);
  assert.match(switched[4], /is not the one that was shown before/);
  assert.equal(switched[5], switched[0], 'another browser checks it, too');

  await page.click('#do-review');
  await page.waitForSelector('#verdict', { timeout: 180_000 });
  assert.ok(await page.isVisible('#review .graph'));
  await accessible(page, 'review');
  await shoot(page, 'review');
  const puzzle = page.locator('.puzzles button').first();
  if (await puzzle.count()) {
    await puzzle.click();
    await page.waitForFunction(() => document.getElementById('status').textContent.includes('Find something better'));
    await page.click('#answer');
    await page.waitForFunction(() => document.getElementById('status').textContent.includes('The engine would play'));
    const best = (await page.textContent('#status')).match(/play (\S+)\./)[1];
    for (const square of best.split('-')) await cell(page, square).click();
    await page.waitForFunction(() => document.getElementById('status').textContent.startsWith('Right'));
    await shoot(page, 'puzzle');
  }

  await page.click('#analyse');
  await page.locator('#go-beginning').click();
  await page.waitForFunction(() => document.querySelectorAll('.worth').length === 32);
  await cell(page, 'b3').click();
  await page.waitForSelector('#flip-of');
  assert.equal(await page.locator('#flip-of tbody tr').count(), 14);

  await page.click('#share');
  const link = await page.inputValue('#share-link');
  const other = await open();
  await other.goto('about:blank');
  await other.goto(link);
  await other.waitForFunction((count) => document.querySelectorAll('.plies li').length === count, game.plies.length);
  assert.equal((await view(other)).outcome.text, game.outcome.text);
  await close(other);
  await close(page);
});

/** Every message of the server to the page, from here on. */
const listen = (page) => {
  const heard = [];
  page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => heard.push(JSON.parse(String(payload)))));
  return heard;
};

test('an open game is told as changes, one ply each', async () => {
  const context = await browser.newContext({ locale: 'en-GB', ...DESKTOP });
  const page = await context.newPage();
  page.faults = [];
  const heard = listen(page);
  await page.goto(url);
  await page.waitForSelector('#play');
  await begin(page, 'level:1');
  for (let number = 0; number < 10; number++) {
    const [from, to] = wanted(await turn(page, 2 * number), number);
    await cell(page, from).click();
    if (to) await cell(page, to).click();
  }
  await turn(page, 20);
  await page.click('#take-back');
  const game = await turn(page, 18);
  const whole = heard.filter(({ type }) => type === 'game'), changes = heard.filter(({ type }) => type === 'change');
  assert.deepEqual(whole.map(({ plies }) => plies.length), [0], 'the whole game comes when it is opened, and never again');
  assert.deepEqual(changes.map(({ version }) => version), changes.map((_, index) => index + 1));
  // The first tells that the page has contributed to the deal.
  assert.deepEqual(changes.map(({ plies }) => plies.length), [0, ...Array(20).fill(1), 0]);
  assert.equal(changes.at(-1).kept, 18);
  assert.ok(changes.every((change) => !('rules' in change) && JSON.stringify(change).length < 2500));
  assert.deepEqual(await page.locator('.plies li').allTextContents(), game.plies);
  await close(page);
});

test('a page that missed a change opens the game again', async () => {
  const context = await browser.newContext({ locale: 'en-GB', ...DESKTOP });
  const page = await context.newPage();
  page.faults = [];
  const opened = [];
  let lost = 0;
  await page.routeWebSocket(/socket$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const request = JSON.parse(message);
      if (request.type === 'open') opened.push(request.game);
      server.send(message);
    });
    server.onMessage((message) => {
      // The changes of the third and the fourth ply never arrive; the first change is of the deal.
      const { type, version } = JSON.parse(message);
      if (type === 'change' && (version === 4 || version === 5)) lost += 1;
      else socket.send(message);
    });
  });
  await page.goto(url);
  await page.waitForSelector('#play');
  await begin(page, 'person');
  await cell(page, 'a1').click();
  await turn(page, 1);
  await cell(page, 'b1').click();
  await turn(page, 2);
  // Another page plays two plies; this one hears of neither, and then of the third.
  const other = await open();
  await other.goto('about:blank');
  await other.goto(page.url());
  await other.waitForFunction(() => document.querySelectorAll('.plies li').length === 2);
  for (const square of ['c1', 'd1', 'a2']) {
    const before = (await turn(other, 2)).plies.length;
    await cell(other, square).click();
    await turn(other, before + 1);
  }
  const game = await turn(page, 5);
  assert.deepEqual([lost, opened], [2, [game.game]]);
  assert.deepEqual(await page.locator('.plies li').allTextContents(), game.plies);
  // It goes on as if nothing had been lost.
  await cell(page, 'b2').click();
  await turn(page, 6);
  assert.equal(opened.length, 1);
  await close(other);
  await close(page);
});

test('a whole game by keyboard alone', async () => {
  const page = await open();
  await page.focus('#opponent');
  await page.keyboard.press('Home');
  await page.focus('#play');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#game='));
  await page.locator('[role=gridcell][tabindex="0"]').focus();
  const go = async (square) => {
    for (;;) {
      const at = await page.evaluate(() => document.activeElement.getAttribute('data-square'));
      assert.ok(at, 'the board has lost the focus');
      if (at === square) return page.keyboard.press('Enter');
      const [files, ranks] = [square.charCodeAt(0) - at.charCodeAt(0), Number(square[1]) - Number(at[1])];
      await page.keyboard.press(files > 0 ? 'ArrowRight' : files < 0 ? 'ArrowLeft' : ranks > 0 ? 'ArrowUp' : 'ArrowDown');
    }
  };
  await playOut(page, async (_, squares) => {
    for (const square of squares) await go(square);
  });
  await close(page);
});

test('a whole game by touch on a phone, second to move', async () => {
  const page = await open(PHONE);
  await begin(page, 'level:2', 'second');
  let shot = false;
  await playOut(page, async (_, squares, number) => {
    if (number === 12 && !shot) {
      shot = true;
      await accessible(page, 'phone');
      await page.evaluate(() => scrollTo(0, 0));
      await shoot(page, 'phone');
    }
    for (const square of squares) await cell(page, square).tap();
  });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.viewport.width, 'nothing is wider than the phone');
  await close(page);
});

test('take-back, hint, analysis, resigning, and a reload in between', async () => {
  const page = await open();
  await begin(page, 'level:1');
  await cell(page, 'b4').click();
  let game = await turn(page, 2);
  const [first] = game.plies;
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll('.plies li').length === 2);
  await page.click('#take-back');
  game = await turn(page, 0);
  assert.deepEqual([game.plies, game.takeBacks], [[], 1]);
  await cell(page, 'b4').click();
  game = await turn(page, 2);
  assert.equal(game.plies[0], first, 'the deal stays what it was');
  await page.click('#hint');
  await page.waitForSelector('.cell.hint');
  for (let number = 1; number < 7; number++) {
    const [from, to] = wanted(game, number);
    await cell(page, from).click();
    if (to) await cell(page, to).click();
    game = await turn(page, game.plies.length + 2);
  }
  await page.click('#analyse');
  await page.waitForSelector('.chances');
  await cell(page, game.shown.flips[0]).hover();
  await page.waitForSelector('#flip-of');
  await accessible(page, 'analysis');
  await shoot(page, 'analysis');
  await page.click('#resign');
  await page.click('#yes');
  game = await turn(page, 0);
  assert.equal(game.outcome.reason, 'resignation');
  await close(page);
});

test('two people agree on a draw', async () => {
  const page = await open();
  await begin(page, 'person');
  await page.click('#offer-draw');
  await page.click('#decline-draw');
  await page.waitForSelector('#offer-draw');
  await cell(page, 'b4').click();
  await turn(page, 1);
  await page.click('#offer-draw');
  await page.waitForSelector('#accept-draw');
  await accessible(page, 'an offered draw');
  await page.click('#accept-draw');
  const game = await turn(page, 1);
  assert.deepEqual([game.outcome.reason, game.outcome.winner], ['agreement', null]);
  await close(page);
});

test('a game survives the death of the server', async () => {
  const page = await open();
  await begin(page, 'level:1');
  for (const number of [0, 1, 2]) {
    const game = await turn(page, 2 * number);
    const [from, to] = wanted(game, number);
    await cell(page, from).click();
    if (to) await cell(page, to).click();
  }
  const before = await turn(page, 6);
  await stop();
  await page.waitForFunction(() => document.getElementById('status').textContent.includes('connection'));
  await start(new URL(url).port);
  await page.waitForFunction(() => !document.getElementById('status').textContent.includes('connection'), null, { timeout: 15_000 });
  assert.deepEqual((await view(page)).plies, before.plies);
  const [from, to] = wanted(before, 3);
  await cell(page, from).click();
  if (to) await cell(page, to).click();
  await turn(page, 8);
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_CONNECTION_REFUSED') && !fault.includes('WebSocket'));
  await close(page);
});

test('games of the match server are imported, listed and exported', async () => {
  const page = await open();
  const text = readFileSync(join(root, 'data/games/server.txt'), 'utf8');
  await page.click('#games');
  await page.fill('#import-text', text);
  await page.click('#import');
  await page.waitForFunction(() => location.hash.startsWith('#game='));
  const game = await view(page);
  assert.ok(game.plies.length > 0 && !game.inPlay);
  await page.locator('#go-beginning').click();
  await page.locator('#go-forward').click();
  await page.waitForFunction(() => document.querySelector('.plies [aria-current]')?.id === 'ply-1');
  await page.click('#games');
  await page.waitForSelector('#list tbody tr');
  await accessible(page, 'games');
  const exported = await (await page.request.get(`${url}api/games/${game.game}.anqi`)).text();
  const again = await (await page.request.post(`${url}api/games`, { data: exported, headers: { 'content-type': 'text/plain' } })).json();
  assert.deepEqual(again, { schema: 'anqi-import-1', games: [game.game], errors: [] });
  await close(page);
});

test('two languages, two themes, two sets of pieces', async () => {
  const page = await open();
  await page.click('#language');
  assert.equal(await page.textContent('#new'), '新對局');
  assert.equal(await page.getAttribute('html', 'lang'), 'zh-Hant');
  await page.click('#settings-open');
  await page.selectOption('#theme', 'dark');
  await accessible(page, 'settings');
  await page.click('#status');
  await begin(page, 'level:1');
  for (const number of [0, 1, 2, 3, 4]) {
    const [from, to] = wanted(await turn(page, 2 * number), number);
    await cell(page, from).click();
    if (to) await cell(page, to).click();
  }
  await turn(page, 10);
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(25, 22, 19)');
  await accessible(page, 'dark');
  await shoot(page, 'dark-chinese');
  await page.click('#settings-open');
  await page.selectOption('#faces', 'letters');
  assert.ok(await page.locator('#board text.sign').count() >= 2);
  await page.reload();
  await page.waitForSelector('#board text.sign');
  assert.equal(await page.textContent('#new'), '新對局');
  await close(page);
});

test('teaching warns before a blunder', async () => {
  const page = await open();
  await page.check('#teach');
  await begin(page, 'level:1');
  // Red wins easily, unless its king steps beside the pawn.
  await beginFrom(page, 'P3/P3/4/4/4/1g2/1K1p/4 r -', 'b2-b3');
  await cell(page, 'b2').click();
  await cell(page, 'c2').click();
  await page.waitForSelector('dialog[open]');
  assert.match(await page.textContent('dialog'), /Careful: b2-c2/);
  await accessible(page, 'warning');
  await shoot(page, 'warning');
  await page.locator('dialog button').nth(1).click();
  await turn(page, 1);
  await close(page);
});

test('endgame tables say who wins, in both languages', async () => {
  const page = await open();
  await beginFrom(page, '4/4/4/4/4/4/1p2/K2n r -', 'a1-a2');
  await page.click('#analyse');
  await page.waitForSelector('#table-verdict');
  assert.match(await page.textContent('#table-verdict'), /^Endgame table: (won|lost|a draw)/);
  assert.match(await page.textContent('#study .note'), /(win|loss|draw) 100/);
  await page.click('#language');
  await page.waitForFunction(() => document.getElementById('table-verdict').textContent.startsWith('殘局庫'));
  await close(page);
});

test('a cannon shows what it jumps over, and takes it', async () => {
  const page = await open();
  await beginFrom(page, '4/4/4/4/4/4/r3/CPk1 r -', 'b1-b2');
  await cell(page, 'a1').click();
  assert.equal(await page.locator('.jumped').count(), 1);
  assert.equal(await page.locator('.target.ring').count(), 1);
  await cell(page, 'c1').click();
  const game = await turn(page, 2);
  assert.equal(game.plies[0], 'a1-c1');
  await page.waitForFunction(() => document.getElementById('bottom').textContent.includes('black king'));
  await close(page);
});

test('two people, clocks, any player, and a string that names nobody', async () => {
  const page = await open();
  await page.click('#start summary');
  await page.selectOption('#clock', '5:00+3');
  await begin(page, 'person');
  assert.deepEqual(await page.locator('.clock').allTextContents(), ['5:00', '5:00']);
  await cell(page, 'a1').click();
  await page.waitForFunction(() => document.getElementById('status').textContent.endsWith('to move'));
  await cell(page, 'b1').click();
  assert.equal((await turn(page, 2)).plies.length, 2);
  await page.click('#new');
  await page.selectOption('#opponent', 'string');
  await page.fill('#string', 'nobody depth=3');
  await page.click('#play');
  await page.waitForFunction(() => document.getElementById('status').textContent.includes('"nobody"'));
  await page.fill('#string', 'chen:var1 depth=2');
  await page.click('#play');
  await page.waitForFunction(() => document.getElementById('bottom').textContent.includes('chen:var1') || document.getElementById('top').textContent.includes('chen:var1'));
  await turn(page, 0);
  await cell(page, 'a1').click();
  assert.equal((await turn(page, 2)).plies.length, 2);
  await close(page);
});

test('a file with a damaged game keeps the others and says what is wrong', async () => {
  const page = await open();
  const sound = '[Rules "server"]\n[Position "4/4/4/4/4/4/4/Kg2 r -"]\n\n1. a1-b1 1-0\n';
  const damaged = '[Rules "server"]\n\n1. a1-a2 *\n';
  await page.click('#games');
  await page.setInputFiles('#import-file', { name: 'games.anqi', mimeType: 'text/plain', buffer: Buffer.from(`${sound}\n${damaged}`) });
  await page.waitForFunction(() => document.getElementById('import-text').value.includes('a1-a2'));
  await page.click('#import');
  await page.waitForFunction(() => document.querySelector('dialog').textContent.includes('1 imported'));
  assert.match(await page.textContent('dialog'), /a1-a2/);
  assert.ok(await page.isVisible('dialog'));
  await close(page);
});

test('a game that cannot be saved says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'anqi-page-'));
  const [other, address] = await serve(folder);
  try {
    const page = await open(DESKTOP, address);
    await page.selectOption('#opponent', 'person');
    await page.click('#play');
    await page.waitForFunction(() => location.hash.startsWith('#game='));
    rmSync(folder, { recursive: true });
    await cell(page, 'a1').click();
    await page.waitForSelector('#trouble:not([hidden])');
    assert.match(await page.textContent('#trouble'), /may not be saved: .* was deleted while in use/);
    await close(page);
  } finally {
    other.removeAllListeners('exit');
    other.kill('SIGKILL');
  }
});

test('a damaged game says where and why, and goes on from there as a new one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'anqi-page-'));
  let [other, address] = await serve(folder);
  const plies = (page, count) => page.waitForFunction((wanted) => document.querySelectorAll('.plies li').length === wanted, count);
  const list = (page) => page.$$eval('.plies li', (items) => items.map((item) => item.textContent));
  try {
    const first = await open(DESKTOP, address);
    await first.selectOption('#opponent', 'person');
    await first.click('#play');
    await first.waitForFunction(() => location.hash.startsWith('#game='));
    for (const [index, square] of ['a1', 'b1', 'c1', 'd1', 'a2', 'b2'].entries()) {
      await cell(first, square).click();
      await plies(first, index + 1);
    }
    const played = await list(first);
    const id = new URL(first.url()).hash.slice('#game='.length);
    await close(first);
    await kill(other);

    // One flipped bit in the fifth ply, which is on line 8: the page's part of the deal is before the plies.
    const path = join(folder, `${id}.journal`);
    const whole = readFileSync(path);
    const bytes = Buffer.from(whole);
    bytes[whole.indexOf('\nentry 6 ') + 30] ^= 1;
    writeFileSync(path, bytes);
    [other, address] = await serve(folder);
    let page = await open(DESKTOP, `${address}#game=${id}`);
    await page.waitForSelector('#go-on');
    assert.deepEqual(await list(page), played.slice(0, 4));
    const told = await page.textContent('#trouble');
    assert.match(told, new RegExp(`^${id}\\.journal, line 8, is damaged: its checksum is [0-9a-f]{8}, .*can go on from here as a new game`));
    assert.ok(!told.includes(folder), told);
    assert.equal(await page.textContent('#status'), 'A damaged game');
    assert.equal(await page.locator('#resign').count(), 0);
    await accessible(page, 'a damaged game');
    await page.click('#language');
    assert.match(await page.textContent('#trouble'), /第 8 行已損壞/);
    assert.equal(await page.textContent('#go-on'), '從此處繼續');
    await page.click('#language');
    await page.click('#go-on');
    await page.waitForFunction((old) => !location.hash.includes(old), id);
    assert.ok(await page.isHidden('#trouble'));
    const gone = new URL(page.url()).hash;
    assert.deepEqual(await list(page), played.slice(0, 4));
    await cell(page, 'a2').click();
    await plies(page, 5);
    assert.deepEqual(await list(page), played.slice(0, 5), 'the deal is the same');
    assert.deepEqual(readFileSync(path), bytes, 'the damaged file is kept');
    // Asked again it is the same new game.
    await page.click('#games');
    await page.waitForFunction(() => document.querySelector('#list')?.textContent.includes('damaged'));
    await page.click(`[data-game="${id}"]`);
    await page.click('#go-on');
    await page.waitForFunction((hash) => location.hash === hash, gone);
    await plies(page, 5);
    await close(page);
    await kill(other);

    // Without its head nothing is known of the deal.
    const headless = Buffer.from(whole);
    headless[whole.indexOf('\nhead 0 ') + 30] ^= 1;
    writeFileSync(path, headless);
    [other, address] = await serve(folder);
    page = await open(DESKTOP, `${address}#game=${id}`);
    await page.waitForFunction(() => document.getElementById('status').textContent.includes('the head, is damaged'));
    assert.match(await page.textContent('#status'), new RegExp(`${id}\\.journal: line 2, the head, .*the deal was in it`));
    assert.deepEqual(readFileSync(path), headless);
    await close(page);
  } finally {
    await kill(other);
    rmSync(folder, { recursive: true });
  }
});

/** The page of another person: a browser of its own. */
const visit = async (address, options = DESKTOP) => {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && page.faults.push(message.text()));
  await page.goto(address);
  return page;
};

const says = (page, id, text) => page.waitForFunction(([place, wanted]) => document.getElementById(place)?.textContent.includes(wanted), [id, text]);

test('two people play by link, one on a phone, a third watches, and the server dies in between', async () => {
  const one = await open();
  await one.selectOption('#opponent', 'friend');
  await one.click('#play');
  await one.waitForSelector('#invitation');
  await says(one, 'status', 'Waiting for your friend');
  await accessible(one, 'an invitation');
  const invitation = await one.inputValue('#invitation');
  assert.match(invitation, /#game=[0-9a-f]{16}&invite=[0-9a-f]{32}$/);
  const watched = one.url();
  assert.ok(!/invite|seat/.test(watched), 'the address bar holds no token');

  const two = await visit(invitation, PHONE);
  await two.waitForSelector('#join');
  await accessible(two, 'an invited phone');
  await two.tap('#join');
  await two.waitForSelector('#join', { state: 'detached' });
  const three = await visit(watched);
  await three.waitForSelector('#watching');
  await says(one, 'status', 'Flip any piece');
  await says(two, 'status', 'Your opponent moves');

  const shown = (page) => page.$$eval('.plies li', (items) => items.map((item) => item.textContent));
  const plies = (page, count) => page.waitForFunction((wanted) => document.querySelectorAll('.plies li').length === wanted, count);
  const play = async (count) => {
    for (let number = 0; number < count; number++) {
      const game = await view(one);
      if (game.outcome) return;
      const squares = wanted(game, game.plies.length);
      const [page, click] = game.plies.length % 2 ? [two, 'tap'] : [one, 'click'];
      for (const square of squares) await cell(page, square)[click]();
      for (const each of [one, two, three]) await plies(each, game.plies.length + 1);
    }
  };
  await play(7);
  // A spectator cannot move, nor can the player who is not to move.
  const before = (await view(one)).plies;
  await cell(three, (await view(one)).shown.flips[0]).click();
  await cell(one, (await view(one)).shown.flips[0]).click();
  assert.deepEqual((await view(one)).plies, before);
  for (const id of ['resign', 'offer-draw', 'take-back']) assert.equal(await three.locator(`#${id}`).count(), 0);
  assert.equal(await one.locator('#take-back').count(), 0);

  await stop();
  for (const page of [one, two, three]) await says(page, 'status', 'connection');
  await start(new URL(url).port);
  for (const page of [one, two, three]) await page.waitForFunction(() => !document.getElementById('status').textContent.includes('connection'), null, { timeout: 15_000 });
  await play(4);
  assert.deepEqual(await shown(two), (await view(one)).plies);

  // One reloads, the other comes back by the very link that invited it.
  await one.reload();
  await plies(one, before.length + 4);
  await two.goto('about:blank');
  await says(one, 'away', 'Your opponent is away');
  await two.goto(invitation);
  await plies(two, before.length + 4);
  await one.waitForSelector('#away', { state: 'detached' });
  await play(5);
  assert.equal(await two.evaluate(() => document.documentElement.scrollWidth), PHONE.viewport.width, 'nothing is wider than the phone');
  await accessible(two, 'a phone in a game with a friend');

  // The link is used: another person watches.
  const four = await visit(invitation);
  await says(four, 'status', 'The invitation was used already');
  await four.waitForSelector('#watching');
  await close(four);
  // The player's own link plays on from another device.
  await one.click('#links summary');
  const own = await one.inputValue('#own-link');
  const five = await visit(own);
  await five.waitForSelector('#resign');

  await two.tap('#resign');
  await two.tap('#yes');
  for (const page of [one, three, five]) await says(page, 'status', 'resignation');
  for (const page of [one, two, three]) {
    await page.click('#verify');
    await says(page, 'verified', 'the deal was made of all parts');
  }
  const tokens = [invitation, own].map((link) => link.slice(-32));
  const public_ = [await (await one.request.get(`${url}api/games`)).text(), JSON.stringify(await view(one)), await (await one.request.get(`${url}api/games/${(await view(one)).game}.anqi`)).text()];
  for (const text of public_) assert.ok(tokens.every((token) => !text.includes(token)));
  for (const page of [one, two, three, five]) page.faults = page.faults.filter((fault) => !fault.includes('ERR_CONNECTION_REFUSED') && !fault.includes('WebSocket'));
  for (const page of [five, three, two, one]) await close(page);
});

test('a player who is told that the other has left may claim the game', async () => {
  const context = await browser.newContext({ locale: 'en-GB', ...PHONE });
  const one = await context.newPage();
  one.faults = [];
  // For the page a minute passes at once; the server knows better.
  await one.routeWebSocket(/socket$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => server.send(message));
    server.onMessage((message) => socket.send(String(message).replace('"presence":"away"', '"presence":"gone"')));
  });
  await one.goto(url);
  await one.waitForSelector('#play');
  await one.selectOption('#opponent', 'friend');
  await one.click('#play');
  await one.waitForSelector('#invitation');
  const two = await visit(await one.inputValue('#invitation'));
  await two.click('#join');
  await says(two, 'status', 'Your opponent moves');
  await close(two);
  await one.waitForSelector('#claim');
  await accessible(one, 'a player who has left');
  await one.tap('#claim');
  await says(one, 'status', 'the second player is not away');
  await close(one);
});

test('a browser lists its seats where the server lists no games', async () => {
  const page = await open();
  await page.route('**/api/games', (route) => route.fulfill({ json: { schema: 'anqi-games-1', games: [] } }));
  await page.click('#games');
  await says(page, 'dialog', 'No game is kept yet');
  await page.keyboard.press('Escape');
  await page.selectOption('#opponent', 'friend');
  await page.click('#play');
  await page.waitForSelector('#invitation');
  const hash = new URL(page.url()).hash;
  await begin(page, 'level:1');
  await page.click('#games');
  await says(page, 'dialog', 'Your seat in game');
  await accessible(page, 'own seats');
  await page.click(`[data-game="${hash.slice('#game='.length)}"]`);
  await page.waitForFunction((wanted) => location.hash === wanted, hash);
  await page.waitForSelector('#invitation');
  await close(page);
});

test('a game that no friend joins is called off, and its promise is told', async () => {
  const page = await open(PHONE);
  await page.selectOption('#opponent', 'friend');
  await page.selectOption('#seat', 'second');
  await page.click('#play');
  await page.waitForSelector('#invitation');
  await page.click('#withdraw');
  await page.click('#yes');
  await says(page, 'status', 'called off before it began');
  await page.click('#verify');
  await says(page, 'verified', 'Nothing was switched');
  await accessible(page, 'a void game');
  await close(page);
});

test('a series of games against a program is left, killed and resumed, and ends with its table', async () => {
  const page = await open();
  await page.click('#open-series');
  await page.waitForSelector('#series-form');
  await accessible(page, 'a new series');
  await page.fill('#series-person', 'Alice');
  await page.fill('#series-rank', '2');
  await page.fill('#series-each', '1');
  await page.fill('#series-budget', 'movetime=61');
  await page.click('#begin-series');
  await says(page, 'series-told', 'asks for too much');
  await page.fill('#series-budget', 'depth=1');
  await page.click('#begin-series');
  await page.waitForFunction(() => location.hash.startsWith('#game='));
  await says(page, 'series-progress', 'Game 1 of 2');
  await says(page, 'series-progress', 'so far 0 won, 0 lost, 0 drawn');
  const withoutHelp = async () => {
    await page.waitForSelector('#resign');
    for (const id of ['take-back', 'hint', 'analyse', 'do-review', 'next-game']) assert.equal(await page.locator(`#${id}`).count(), 0, id);
  };
  await withoutHelp();
  await accessible(page, 'a game of a series');
  let game = await turn(page, 0);
  const [from] = wanted(game, 0);
  await cell(page, from).click();
  game = await turn(page, game.plies.length + 2);
  const first = game.game;

  // The server dies in the game, and the page is closed.
  await stop();
  await says(page, 'status', 'connection');
  await start(new URL(url).port);
  await page.waitForFunction(() => !document.getElementById('status').textContent.includes('connection'), null, { timeout: 15_000 });
  assert.deepEqual((await turn(page, game.plies.length)).plies, game.plies);
  page.faults = page.faults.filter((fault) => !fault.includes('ERR_CONNECTION_REFUSED') && !fault.includes('WebSocket'));
  await close(page);

  const again = await open(PHONE);
  await again.tap('#open-series');
  await again.tap('[data-series]');
  await again.waitForFunction((id) => location.hash === `#game=${id}`, first);
  await says(again, 'series-progress', 'Game 1 of 2');
  await accessible(again, 'a series on a phone');
  const resign = async () => {
    await again.tap('#resign');
    await again.tap('#yes');
  };
  await resign();
  await says(again, 'series-progress', 'Game 2 of 2');
  await says(again, 'series-progress', 'so far 0 won, 1 lost, 0 drawn');
  assert.equal(await again.locator('#analyse').count(), 1, 'a game that is over may be looked at');
  await again.tap('#next-game');
  await again.waitForFunction((id) => location.hash.startsWith('#game=') && !location.hash.includes(id), first);
  await again.waitForSelector('#resign');
  await again.reload();
  await says(again, 'series-progress', 'Game 2 of 2');
  await resign();
  await says(again, 'series-progress', 'The series is over: 2 of 2 games · so far 0 won, 2 lost, 0 drawn');
  assert.deepEqual(await again.locator('#series-table tbody td').allTextContents(), ['chen:var1 depth=1', '(1, 0, 0)', '(0, 1, 0)', '1.0000', '1.0000', '1.0000']);
  await accessible(again, 'the table of a series');
  assert.equal(await again.evaluate(() => document.documentElement.scrollWidth), PHONE.viewport.width, 'nothing is wider than the phone');
  const files = await again.locator('#series a').evaluateAll((links) => links.map((link) => link.href));
  const [csv, games, records] = await Promise.all(files.map(async (file) => (await again.request.get(file)).text()));
  assert.match(csv, /\nchen:var1 depth=1,"chen,repeat=position:3",p1-[0-9a-f]{32},1,1,0,0,0,1,0,1\.0000,1\.0000,1\.0000\n$/);
  assert.equal(games.match(/,Alice,2,chen:var1 depth=1,.*,loss,resignation,/g).length, 2);
  assert.equal(records.match(/\[SeriesGame "[12]\/2"\]/g).length, 2);
  await again.tap('#series-games summary');
  await again.tap('#series-game-1');
  await again.waitForFunction((id) => location.hash === `#game=${id}`, first);
  await again.tap('#verify');
  await says(again, 'verified', 'Nothing was switched');
  await again.tap('#language');
  await says(again, 'series-progress', '系列賽結束：2/2 局');
  await close(again);
});
