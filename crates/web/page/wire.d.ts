// Generated from crates/web/src/wire.rs: UPDATE=1 cargo test -p anqi-web --lib wire

export type Awaited = "commitment" | "reveal";

/**
 * What has changed in a game: its plies after the first `kept`, and its state.
 */
export type Change = { game: string, 
/**
 * One more than that of the change before. A page that missed one opens the game again.
 */
version: number, kept: number, plies: Array<string>, 
/**
 * First, then second.
 */
players: [PlayerView, PlayerView], inPlay: boolean, 
/**
 * Whether a person at the page is to move.
 */
yourTurn: boolean, canTakeBack: boolean, takeBacks: number, 
/**
 * Who has offered a draw that stands.
 */
offer: SeatName | null, outcome: OutcomeView | null, clocks: ClocksView | null, 
/**
 * Told when the game is over.
 */
deal: DealView | null, 
/**
 * Why the game may not be on the disk.
 */
trouble: string | null, damage?: DamageView, 
/**
 * Left out if the server alone deals.
 */
joint?: JointView, 
/**
 * Why the game ended before it began: `expired`, `not revealed` or `withdrawn`.
 */
void?: string, shown: PositionView, };

/**
 * Milliseconds left to the first and the second player, and whose clock runs.
 */
export type ClocksView = { left: [number, number], running: SeatName | null, };

/**
 * `red` or `black`.
 */
export type ColorName = "red" | "black";

/**
 * What a player has contributed to a deal.
 */
export type ContributionView = { seed: string, nonce: string, };

/**
 * A damaged file of the game, which is left as it is.
 */
export type DamageView = { file: string, 
/**
 * Counted from 1, if it is known.
 */
line: number | null, reason: string, 
/**
 * Whether `go-on` makes a new game of what is before the damage.
 */
canGoOn: boolean, };

export type DealView = { seed: string, nonce: string, 
/**
 * What the first and the second player have contributed.
 */
contributions?: [ContributionView | null, ContributionView | null], };

/**
 * What a page is told without having asked.
 */
export type Event = { "type": "game" } & GameView | { "type": "change" } & Change | { "type": "analysis" } & Study | { "type": "review-ply", game: string, review: PlyReview, } | { "type": "review" } & Review;

/**
 * A game of a series.
 */
export type GameOfSeries = { 
/**
 * From 1.
 */
number: number, 
/**
 * Who moves first.
 */
first: Mover, stands: GameStands, 
/**
 * Its name, once it has begun.
 */
game: string | null, result: PersonResult | null, 
/**
 * The fingerprint of its deal, which is promised with the series.
 */
commitment: string, };

export type GameStands = "waiting" | "in-play" | "over" | "unreadable";

/**
 * A game as a page sees it.
 */
export type GameView = { game: string, 
/**
 * How many changes this server has told; a [`Change`] carries the next number.
 */
version: number, rules: string, files: number, ranks: number, drawAt: number | null, commitment: string | null, 
/**
 * Its place in a series, if it is of one: then there is no help while it is in play.
 */
series?: SeriesGame, plies: Array<string>, 
/**
 * First, then second.
 */
players: [PlayerView, PlayerView], inPlay: boolean, 
/**
 * Whether a person at the page is to move.
 */
yourTurn: boolean, canTakeBack: boolean, takeBacks: number, 
/**
 * Who has offered a draw that stands.
 */
offer: SeatName | null, outcome: OutcomeView | null, clocks: ClocksView | null, 
/**
 * Told when the game is over.
 */
deal: DealView | null, 
/**
 * Why the game may not be on the disk.
 */
trouble: string | null, damage?: DamageView, 
/**
 * Left out if the server alone deals.
 */
joint?: JointView, 
/**
 * Why the game ended before it began: `expired`, `not revealed` or `withdrawn`.
 */
void?: string, shown: PositionView, };

/**
 * The list of games.
 */
export type Games = { schema: 'anqi-games-1', games: Array<Listed>, };

/**
 * What the plies of a proof lead to.
 */
export type Goal = "end" | "capture";

/**
 * How bad a move was.
 */
export type Grade = "mistake" | "blunder";

/**
 * What an import kept, and what it could not read.
 */
export type Imported = { schema: 'anqi-import-1', games: Array<string>, errors: Array<string>, };

/**
 * A deal that waits for contributions of players, or was made with them.
 */
export type JointView = { 
/**
 * The name of the game, to which all parts are bound.
 */
game: string, 
/**
 * Those of the first and the second player, as far as they contribute.
 */
parts: [PartView | null, PartView | null], };

export type LastView = { ply: string, from: string | null, to: string, captured: string | null, };

/**
 * A level of play.
 */
export type LevelView = { number: number, player: string, 
/**
 * The rating, and half of its 95 % interval.
 */
elo: [number, number], };

/**
 * One line of the list of games.
 */
export type Listed = { game: string, date: string | null, first: ListedPlayer, second: ListedPlayer, result: string, reason: string | null, plies: number, inPlay: boolean, 
/**
 * A file of it is not what was written.
 */
damaged?: boolean, };

/**
 * The player of one side of a listed game.
 */
export type ListedPlayer = { name: string, level: number | null, };

/**
 * What one move is worth.
 */
export type MoveInfo = { 
/**
 * The move.
 */
move: string, 
/**
 * Its place among all moves, 0 for the best.
 */
order: number, 
/**
 * What it is worth, in the player's own units.
 */
score: number, 
/**
 * The standard deviation of what a flip brings, in the same units; 0 for a step.
 */
spread: number, 
/**
 * For a flip: what may come up.
 */
outcomes: Array<OutcomeInfo>, 
/**
 * Random games that began with the move.
 */
visits?: number, 
/**
 * The expected score, 1 for a win.
 */
winrate?: number, 
/**
 * Chances of win, draw and loss for the mover.
 */
wdl?: [number, number, number], };

export type Mover = "person" | "program";

/**
 * A game that a page has opened.
 */
export type OpenedGame = { 
/**
 * Left out where every page may act for both sides.
 */
you?: You, game: string, 
/**
 * How many changes this server has told; a [`Change`] carries the next number.
 */
version: number, rules: string, files: number, ranks: number, drawAt: number | null, commitment: string | null, 
/**
 * Its place in a series, if it is of one: then there is no help while it is in play.
 */
series?: SeriesGame, plies: Array<string>, 
/**
 * First, then second.
 */
players: [PlayerView, PlayerView], inPlay: boolean, 
/**
 * Whether a person at the page is to move.
 */
yourTurn: boolean, canTakeBack: boolean, takeBacks: number, 
/**
 * Who has offered a draw that stands.
 */
offer: SeatName | null, outcome: OutcomeView | null, clocks: ClocksView | null, 
/**
 * Told when the game is over.
 */
deal: DealView | null, 
/**
 * Why the game may not be on the disk.
 */
trouble: string | null, damage?: DamageView, 
/**
 * Left out if the server alone deals.
 */
joint?: JointView, 
/**
 * Why the game ended before it began: `expired`, `not revealed` or `withdrawn`.
 */
void?: string, shown: PositionView, };

/**
 * What it is worth that a piece comes up.
 */
export type OutcomeInfo = { 
/**
 * The piece's letter.
 */
piece: string, 
/**
 * How many of it are face down.
 */
count: number, 
/**
 * How likely it is.
 */
probability: number, 
/**
 * What it is worth, in the player's own units, if the search looked.
 */
score?: number, 
/**
 * The expected score, 1 for a win.
 */
winrate?: number, };

export type OutcomeView = { winner: SeatName | null, reason: string, score: string, text: string, };

/**
 * A player's part of a deal.
 */
export type PartView = { 
/**
 * What it has committed to, if it must.
 */
commitment: string | null, 
/**
 * What it is asked for now.
 */
awaits: Awaited | null, 
/**
 * What it has revealed is told when the game is over.
 */
revealed: boolean, };

/**
 * How a game ended for the person.
 */
export type PersonResult = "won" | "drawn" | "lost";

export type PlayerView = { name: string, person: boolean, level: number | null, color: ColorName | null, 
/**
 * Left out where no token holds the seat, and when the game is over.
 */
presence?: Presence, };

/**
 * What is said about one ply.
 */
export type PlyReview = { 
/**
 * How many plies were played before it.
 */
ply: number, 
/**
 * The ply.
 */
played: string, 
/**
 * The best move.
 */
best: string, 
/**
 * Who moved.
 */
seat: SeatName, 
/**
 * Chances of win, draw and loss for the first player before the ply.
 */
wdl: [number, number, number], 
/**
 * Expected score that the move gave away.
 */
loss: number, 
/**
 * Whether that is a mistake or a blunder.
 */
grade: Grade | null, 
/**
 * Expected score that chance gave to the player who flipped.
 */
luck: number | null, 
/**
 * Moves that lose next to nothing; playing one of them solves the puzzle.
 */
good: Array<string>, };

/**
 * One position of a game.
 */
export type PositionView = { ply: number, 
/**
 * The highest rank first, from file a on: a piece's letter, `x` face down, `.` empty.
 */
board: string, position: string, turn: ColorName | null, seat: SeatName, quiet: number, last: LastView | null, flips: Array<string>, steps: { [key in string]: Array<string> }, 
/**
 * For each jump the square that is jumped over.
 */
jumps: { [key in string]: string }, 
/**
 * Pieces of the side to move that could be captured.
 */
threatened: Array<string>, captured: Array<[string, number]>, pool: Array<[string, number]>, };

/**
 * Whether a player is there.
 */
export type Presence = "invited" | "here" | "away" | "gone";

/**
 * What is proven for the side to move.
 */
export type Proven = "win" | "draw" | "loss";

/**
 * Why a request was not done, for programs.
 */
export type RefusalKind = "malformed" | "wrong-setup" | "wrong-player" | "no-such-game" | "wrong-link" | "nothing-open" | "no-such-ply" | "not-a-move" | "illegal" | "other-ply" | "not-your-turn" | "nothing-to-take-back" | "nobody-to-resign" | "no-offer" | "offered-already" | "kept" | "over" | "still-played" | "nothing-to-play" | "too-many-nodes" | "storage" | "damaged" | "not-damaged" | "not-seated" | "wrong-token" | "taken" | "not-begun" | "not-awaited" | "not-opened" | "no-take-back" | "not-away" | "nothing-to-claim" | "void" | "in-series" | "no-such-series" | "series-over" | "busy" | "quota";

/**
 * Why a request was not done.
 */
export type Refused = { kind: RefusalKind, 
/**
 * The same in words, with what was received.
 */
message: string, };

/**
 * What a page asks for.
 */
export type Request = { "type": "hello", schema?: Schema | null, } | { "type": "new", first: string, second: string, rules?: string | null, clock?: string | null, position?: string | null, 
/**
 * The seat of a second person, who comes by a link.
 */
invite?: SeatName | null, 
/**
 * Whether persons contribute to the deal: then nothing is dealt before they have. Who is invited always does.
 */
contribute?: boolean | null, } | { "type": "open", game: string, 
/**
 * That of a seat, or the invitation to one; without it the game is watched.
 */
token?: string | null, } | { "type": "open-link", link: string, } | { "type": "close", } | { "type": "go-on", } | { "type": "play", move: string, 
/**
 * How many plies were played when the move was chosen.
 */
ply: number, 
/**
 * Warn before a blunder instead of playing it.
 */
teach: boolean, } | { "type": "take-back", } | { "type": "resign", } | { "type": "offer-draw", } | { "type": "accept-draw", } | { "type": "decline-draw", } | { "type": "hint", } | { "type": "at", ply: number, } | { "type": "analyse", ply: number, 
/**
 * Stop after so many positions.
 */
nodes?: number | null, } | { "type": "stop-analysis", } | { "type": "review", } | { "type": "link", } | { "type": "join", 
/**
 * The invitation.
 */
token: string, } | { "type": "commit", commitment: string, } | { "type": "reveal", seed: string, nonce: string, } | { "type": "claim", } | { "type": "begin-series", person: string, 
/**
 * How strong the person is, 1 for the strongest.
 */
rank?: number | null, 
/**
 * A level, or a player string with its budget.
 */
program: string, 
/**
 * Those of Chen et al., if they are left out.
 */
rules?: string | null, clock?: string | null, 
/**
 * How many games in each order; five, if it is left out.
 */
each?: number | null, } | { "type": "series", series: string, } | { "type": "next-game", series: string, };

/**
 * The answer to a request.
 */
export type Response = { "type": "welcome" } & Welcome | { "type": "game" } & OpenedGame | { "type": "closed", } | { "type": "done", } | { "type": "warning", move: string, better: string, 
/**
 * Expected score that the move gives away.
 */
loss: number, } | { "type": "hint", move: string, } | { "type": "position", shown: PositionView, } | { "type": "link", link: string, } | { "type": "series" } & SeriesView | { "type": "error" } & Refused;

/**
 * The whole game.
 */
export type Review = { 
/**
 * The game's id.
 */
game: string, 
/**
 * How luck is measured.
 */
value: string, 
/**
 * Positions that were looked at for each ply.
 */
nodes: number, 
/**
 * The first player and the second.
 */
sides: [SideReview, SideReview], 
/**
 * Plies that are worth a second try, the worst first.
 */
puzzles: Array<number>, };

/**
 * The choice, and what it took.
 */
export type RootInfo = { 
/**
 * The side to move.
 */
currentPlayer: ColorName | null, 
/**
 * The best move.
 */
move: string, 
/**
 * What it is worth, in the player's own units.
 */
score: number, 
/**
 * How the player thinks that the game goes on.
 */
pv: Array<string>, 
/**
 * The last depth that was searched to the end.
 */
depth: number, 
/**
 * Positions that were looked at.
 */
nodes: number, 
/**
 * Random games that were played.
 */
playouts: number, 
/**
 * How long it took; absent where an analysis is a function of the game alone.
 */
seconds?: number, 
/**
 * Positions a second; absent with `seconds`.
 */
nodesPerSecond?: number, };

/**
 * Which messages a connection speaks: the oldest, unless `hello` names another.
 */
export type Schema = "anqi-page-1" | "anqi-page-2";

/**
 * `first` or `second`.
 */
export type SeatName = "first" | "second";

/**
 * The place of a game in its series, as its journal and its record tell it.
 */
export type SeriesGame = { 
/**
 * The name of the series.
 */
series: string, 
/**
 * Which game of it, from 1.
 */
number: number, 
/**
 * How many games the series has.
 */
of: number, 
/**
 * Who plays against the program.
 */
person: string, 
/**
 * The person's rank, if it was given.
 */
rank?: number, };

/**
 * The list of series.
 */
export type SeriesList = { schema: 'anqi-series-list-1', series: Array<SeriesView>, };

/**
 * A series of games of a person against a program, and how it stands.
 */
export type SeriesView = { 
/**
 * Its name.
 */
series: string, person: string, rank: number | null, program: string, rules: string, clock: string | null, 
/**
 * In the order in which they are played.
 */
games: Array<GameOfSeries>, 
/**
 * The number of the game that is in play, or else of the next one; none if all are over.
 */
next: number | null, 
/**
 * The scores of the finished games; more than one row if the program has changed in between.
 */
table: Array<TableRow>, };

/**
 * One player in the whole game.
 */
export type SideReview = { 
/**
 * Plies.
 */
moves: number, 
/**
 * Mistakes that are no blunders.
 */
mistakes: number, 
/**
 * Blunders.
 */
blunders: number, 
/**
 * Expected score given away, in all.
 */
loss: number, 
/**
 * Flips.
 */
flips: number, 
/**
 * Expected score that chance gave, in all.
 */
luck: number, };

/**
 * What the analyst thinks of a position of a game.
 */
export type Study = { game: string, 
/**
 * The version of this document.
 */
schema: 'anqi-analysis-1', 
/**
 * The position, in our notation.
 */
position: string, 
/**
 * The rules.
 */
rules: string, 
/**
 * The player string.
 */
player: string, 
/**
 * How many plies were played before the position.
 */
ply: number, 
/**
 * The side to move.
 */
turn: ColorName | null, 
/**
 * The player to move.
 */
seat: SeatName, 
/**
 * Whether the search goes on.
 */
isDuringSearch: boolean, 
/**
 * Chances of win, draw and loss, if the player's scores mean any.
 */
wdl: [number, number, number] | null, 
/**
 * What was chosen, and what it took.
 */
rootInfo: RootInfo, 
/**
 * Every move that was looked at, the best first.
 */
moveInfos: Array<MoveInfo>, 
/**
 * What endgame tables prove.
 */
table: TableProof | null, 
/**
 * Why the tables could not be read.
 */
trouble: string | null, };

/**
 * What endgame tables prove about a position.
 */
export type TableProof = { 
/**
 * Who wins.
 */
result: Proven, 
/**
 * How long it takes, if the tables know.
 */
plies: number | null, 
/**
 * What the plies lead to.
 */
to: Goal | null, 
/**
 * Whether the proof holds for the game's draw by quiet plies; repetition is in no table.
 */
knowsDrawRule: boolean, };

/**
 * A row of Table 5 of Chen et al.
 */
export type TableRow = { program: string, 
/**
 * Wins, losses and draws of the program where it moved first.
 */
computerFirst: [number, number, number], 
/**
 * Wins, losses and draws of the person where the person did.
 */
humanFirst: [number, number, number], gsFirst: number | null, gsSecond: number | null, ts: number | null, };

/**
 * What a page needs to begin.
 */
export type Welcome = { schema: Schema, version: string, levels: Array<LevelView>, rules: Array<string>, players: Array<string>, };

/**
 * What a connection is in the game that it has opened.
 */
export type You = { 
/**
 * The seats for which it acts; none if it watches.
 */
seats: Array<SeatName>, 
/**
 * The seat that its invitation is good for, until it joins.
 */
invited?: SeatName, 
/**
 * The token of its seats, told once.
 */
token?: string, 
/**
 * The token for the other player, told once.
 */
invitation?: string, };
