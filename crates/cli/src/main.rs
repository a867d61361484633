//! The command `anqi`: one file per subcommand, all of them thin.

mod analyse;
mod arena;
mod assess;
mod bench;
mod check_engine;
mod concurrency;
#[cfg(test)]
mod disk_tests;
mod endgame;
mod engine;
mod experiment;
mod fleet;
mod games;
mod generate;
mod guide;
mod matches;
mod output;
mod parts;
mod perft;
mod play;
mod play_out;
mod players;
mod position;
mod progress;
mod records;
mod report;
mod resources;
mod result;
mod self_play;
mod serve;
mod serve_match;
mod show;
mod solve;
mod sprt;
mod tournament;
mod tune;
mod verify_deal;
mod worker;

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use output::Output;

/// The workshop for Chinese Dark Chess (暗棋, banqi)
#[derive(Parser)]
#[command(name = "anqi", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    json: bool,
    /// How much of endgame tables in files stays unpacked in memory, in MB [default: 256]
    #[arg(long, global = true, value_name = "MB", hide_short_help = true, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    tables_cache: Option<u32>,
}

#[derive(Subcommand)]
enum Command {
    Serve(Box<serve::ServeArgs>),
    Games(games::GamesArgs),
    Play(play::PlayArgs),
    VerifyDeal(verify_deal::VerifyDealArgs),
    Guide(guide::GuideArgs),
    Perft(perft::PerftArgs),
    Show(show::ShowArgs),
    Moves(show::MovesArgs),
    PlayOut(play_out::PlayOutArgs),
    Records(records::RecordsArgs),
    Players(players::PlayersArgs),
    Analyse(analyse::AnalyseArgs),
    Match(Box<matches::MatchArgs>),
    Tournament(Box<tournament::TournamentArgs>),
    ServeMatch(Box<serve_match::ServeMatchArgs>),
    Worker(Box<worker::WorkerArgs>),
    Fleet(Box<fleet::FleetCommandArgs>),
    Plan(parts::PlanArgs),
    Part(parts::PartArgs),
    Merge(parts::MergeArgs),
    Report(report::ReportArgs),
    Experiment(experiment::ExperimentArgs),
    Solve(solve::SolveArgs),
    Assess(Box<assess::AssessArgs>),
    Tune(Box<tune::TuneArgs>),
    Sprt(sprt::SprtArgs),
    Endgame(endgame::EndgameArgs),
    Engine(engine::EngineArgs),
    CheckEngine(check_engine::CheckEngineArgs),
    SelfPlay(Box<self_play::SelfPlayArgs>),
    Bench(bench::BenchArgs),
    Completions(generate::CompletionsArgs),
    Man(generate::ManArgs),
}

/// How a command that did its work ends; errors are another way, with code 1.
pub(crate) enum Exit {
    /// Code 0.
    Done,
    /// Code 1: it worked, and what it checked is wrong.
    Failed,
    /// Code 3: a side lost on time or by misbehaving, and that was not to happen.
    Forfeited,
    /// Code 4: the null hypothesis was accepted, and that was not to happen.
    Rejected,
    /// Code 130: interrupted, and everything is saved.
    Interrupted,
}

fn main() -> ExitCode {
    if let Some(code) = anqi_protocol::supervise_if_asked() {
        return code;
    }
    let cli = Cli::parse();
    cli.tables_cache.into_iter().for_each(resources::limit_tables_cache);
    let mut out = Output::new(cli.json);
    match run(&cli, &mut out) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::Failed) => ExitCode::FAILURE,
        Ok(Exit::Forfeited) => ExitCode::from(3),
        Ok(Exit::Rejected) => ExitCode::from(4),
        Ok(Exit::Interrupted) => ExitCode::from(130),
        // Whoever read our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("anqi: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli, out: &mut Output) -> Result<Exit> {
    match &cli.command {
        None => serve::run(&serve::ServeArgs::default(), out),
        Some(Command::Serve(args)) => serve::run(args, out),
        Some(Command::Games(args)) => games::run(args, out),
        Some(Command::Play(args)) => play::run(args),
        Some(Command::VerifyDeal(args)) => verify_deal::run(args, out),
        Some(Command::Guide(args)) => guide::run(args, out),
        Some(Command::Perft(args)) => perft::run(args, out),
        Some(Command::Show(args)) => show::show(args, out),
        Some(Command::Moves(args)) => show::moves(args, out),
        Some(Command::PlayOut(args)) => play_out::run(args, out),
        Some(Command::Records(args)) => records::run(args, out),
        Some(Command::Players(args)) => players::run(args, out),
        Some(Command::Analyse(args)) => analyse::run(args, out),
        Some(Command::Worker(args)) => worker::run(args, out),
        Some(Command::Fleet(args)) => fleet::run(args, out),
        Some(Command::Plan(args)) => parts::plan(args, out),
        Some(Command::Part(args)) => parts::part(args, out),
        Some(Command::Merge(args)) => parts::merge(args, out),
        Some(Command::Report(args)) => report::run(args, out),
        Some(Command::Experiment(args)) => experiment::run(args, out),
        Some(Command::Assess(args)) => assess::run(args, out),
        Some(Command::Tune(args)) => tune::run(args, out),
        Some(Command::Match(args)) => matches::run(args, out),
        Some(Command::Tournament(args)) => tournament::run(args, out),
        Some(Command::ServeMatch(args)) => serve_match::run(args, out),
        Some(Command::Solve(args)) => solve::run(args, out),
        Some(Command::Sprt(args)) => sprt::run(args, out),
        Some(Command::Endgame(args)) => endgame::run(args, out),
        Some(Command::Engine(args)) => engine::run(args, out),
        Some(Command::CheckEngine(args)) => check_engine::run(args, out),
        Some(Command::SelfPlay(args)) => self_play::run(args, out),
        Some(Command::Bench(args)) => bench::run(args, out),
        Some(Command::Completions(args)) => generate::completions(args, out),
        Some(Command::Man(args)) => generate::man(args, out),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        io.or_else(|| cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind))
    };
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}
