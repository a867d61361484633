//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

/// Writes a file under another name, `NAME.partial`, and renames it when it is complete and on the disk. Nobody else may
/// write the same file at the same time; what somebody who died has left is overwritten.
///
/// # Errors
/// If the file cannot be written; what was there before is there still.
pub fn write_whole(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"))?;
    let partial = path.with_file_name(format!("{}.partial", name.display()));
    let mut out = BufWriter::new(File::create(&partial)?);
    fill(&mut out)?;
    out.into_inner()?.sync_all()?;
    fs::rename(&partial, path)?;
    // The new name must be on the disk, too.
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(dir)?.sync_all()
}
