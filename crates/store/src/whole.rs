//! Files that are there complete or not at all.

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::disk::{self, Access, Handle, Open};

/// How long to wait for another process that writes the same file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// Writes a file under another name, `NAME.part`, and renames it when it is complete and on the medium. The other name is
/// locked meanwhile; what a killed writer left under it is taken away.
///
/// # Errors
/// If the file cannot be written, or another process is writing it; what was there before is there still. The errors of
/// `fill` are passed on.
pub fn write_whole<E: From<io::Error>>(
    path: &Path,
    access: Access,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    if disk::is_special(path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is there and not a file").into());
    }
    let started = Instant::now();
    let mut part = loop {
        match Part::begin(path, access)? {
            Some(part) => break part,
            None if started.elapsed() < PATIENCE => thread::sleep(PAUSE),
            None => return Err(io::Error::new(io::ErrorKind::WouldBlock, "another process is writing it").into()),
        }
    };
    let mut out = BufWriter::with_capacity(1 << 16, &mut part);
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    Ok(part.finish()?)
}

const PART: &str = ".part";

/// Takes away what killed writers left of files in a folder, if they would have one of the names that are `ours`. A file that
/// another process is writing stays. For those who have begun to write there: reading takes nothing away.
///
/// # Errors
/// If the folder cannot be read, or something cannot be removed.
pub fn clear_parts(dir: &Path, ours: impl Fn(&str) -> bool) -> io::Result<()> {
    for found in disk::list(dir)? {
        let name = found.path.file_name().and_then(OsStr::to_str);
        if name.and_then(|name| name.strip_suffix(PART)).is_some_and(&ours) {
            Part::clear(&found.path)?;
        }
    }
    Ok(())
}

/// A file in the making, under a locked name beside its own. If it is dropped unfinished, or the process dies, there is no
/// file; the other name is taken away, or is by the next writer.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    part: PathBuf,
    handle: Handle,
    finished: bool,
}

impl Part {
    /// Begins a file. `None` if another process is at it.
    pub(crate) fn begin(path: &Path, access: Access) -> io::Result<Option<Part>> {
        let name =
            path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"))?;
        let mut part_name = name.to_owned();
        part_name.push(PART);
        let part = path.with_file_name(part_name);
        loop {
            match disk::open(&part, Open::CreateNew(access)) {
                Ok(handle) => {
                    // Between these two calls another process may take the new file for one that was left behind.
                    if handle.try_lock()? && handle.is_at(&part)? {
                        return Ok(Some(Part { path: path.to_owned(), part, handle, finished: false }));
                    }
                    return Ok(None);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if !Part::clear(&part)? {
                        return Ok(None);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes away what a killed writer left. False if the writer is alive.
    fn clear(part: &Path) -> io::Result<bool> {
        // The name can be guessed, and others may write to the folder: a link is not followed.
        let Some(id) = disk::id(part)? else { return Ok(true) };
        let in_the_way = || io::Error::new(io::ErrorKind::AlreadyExists, format!("{} is in the way", part.display()));
        if disk::is_special(part) {
            return Err(in_the_way());
        }
        let handle = match disk::open(part, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            handle => handle?,
        };
        if handle.id()? != id {
            return Err(in_the_way());
        }
        if !handle.try_lock()? {
            return Ok(false);
        }
        if handle.is_at(part)? {
            disk::remove(part)?;
        }
        Ok(true)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the bytes are until it is finished.
    pub(crate) fn part(&self) -> &Path {
        &self.part
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.handle.sync()
    }

    /// Gives the file its name, once its bytes are on the medium.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.handle.sync()?;
        disk::rename(&self.part, &self.path)?;
        self.finished = true;
        // The new name must be on the medium, too.
        disk::sync_folder(disk::folder_of(&self.path))
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.handle.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.finished && self.handle.is_at(&self.part).unwrap_or(false) {
            // If this fails the next writer does it.
            let _ = disk::remove(&self.part);
        }
    }
}
