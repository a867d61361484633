//! Every command that the README and the transcripts show is run, and its output compared.

use std::path::Path;

#[test]
fn transcripts() -> std::io::Result<()> {
    // The commands name files from the project's root.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::set_current_dir(&root)?;
    trycmd::TestCases::new().case(root.join("README.md")).case(root.join("crates/cli/tests/transcripts/*.md"));
    Ok(())
}
