use crate::Exit;
use crate::output::Output;
/// Check
#[derive(clap::Args)]
pub(crate) struct CheckEngineArgs {}
pub(crate) fn run(_: &CheckEngineArgs, _: &mut Output) -> anyhow::Result<Exit> {
    Ok(Exit::Done)
}
