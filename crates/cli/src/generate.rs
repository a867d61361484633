//! `anqi completions` and `anqi man`, made from the command line's own description.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde::Serialize;

use crate::output::{Output, write_file};
use crate::{Cli, Exit};

/// Print shell completions
#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Serialize)]
struct Generated {
    schema: &'static str,
    text: String,
}

pub(crate) fn completions(args: &CompletionsArgs, out: &mut Output) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "anqi", &mut script);
    print(script, "anqi-completions-1", out)
}

/// Print the man page, or write the pages of all subcommands to a folder
#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write one page per subcommand here
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Serialize)]
struct Written {
    schema: &'static str,
    files: Vec<PathBuf>,
}

pub(crate) fn man(args: &ManArgs, out: &mut Output) -> Result<Exit> {
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        return print(page, "anqi-man-1", out);
    };
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mut files = Vec::new();
    let mut command = Cli::command();
    command.build();
    write_pages(&command, dir, &mut files)?;
    let written = Written { schema: "anqi-man-files-1", files };
    out.print(&written, |text| written.files.iter().try_for_each(|file| writeln!(text, "{}", file.display())))?;
    Ok(Exit::Done)
}

fn write_pages(command: &clap::Command, dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let file = dir.join(format!("{name}.1"));
    write_file(&file, |mut page| Ok(clap_mangen::Man::new(command.clone()).render(&mut page)?))?;
    files.push(file);
    let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    subcommands.into_iter().try_for_each(|sub| write_pages(sub, dir, files))
}

fn print(bytes: Vec<u8>, schema: &'static str, out: &mut Output) -> Result<Exit> {
    let generated = Generated { schema, text: String::from_utf8(bytes).context("not UTF-8")? };
    out.print(&generated, |text| text.write_all(generated.text.as_bytes()))?;
    Ok(Exit::Done)
}
