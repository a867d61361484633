//! Every call to the file system. Tests mount a simulated disk at a path (see `faults`); the rest is the real one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

#[cfg(feature = "faults")]
use crate::faults::{self, SimulatedFile};

/// Who may read a new file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// As the user's umask says.
    Ordinary,
    /// Its owner alone: there is a secret inside.
    Secret,
}

/// How a file is opened. Writing always appends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Open {
    Read,
    Append,
    /// Made if it is not there: only a lock, which is empty.
    AppendOrCreate(Access),
    /// Fails if it is there.
    CreateNew(Access),
}

/// Tells files apart, whatever they are called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileId(pub(crate) u64, pub(crate) u64);

/// One file of a folder.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// When it was last written.
    pub modified: SystemTime,
}

/// An open file.
#[derive(Clone, Debug)]
pub(crate) enum Handle {
    Real(Arc<File>),
    #[cfg(feature = "faults")]
    Simulated(Arc<SimulatedFile>),
}

/// Runs `$simulated` on the simulated disk that is mounted at a path, if one is.
macro_rules! on_simulated {
    ($path:expr, $disk:ident => $simulated:expr) => {
        #[cfg(feature = "faults")]
        if let Some($disk) = faults::mounted($path) {
            return $simulated;
        }
    };
}

pub(crate) fn open(path: &Path, how: Open) -> io::Result<Handle> {
    on_simulated!(path, disk => disk.open(path, how).map(|file| Handle::Simulated(Arc::new(file))));
    let mut options = OpenOptions::new();
    options.read(true).append(how != Open::Read);
    match how {
        Open::Read | Open::Append => {}
        Open::AppendOrCreate(access) => permissions(options.create(true), access),
        Open::CreateNew(access) => permissions(options.create_new(true), access),
    }
    Ok(Handle::Real(Arc::new(options.open(path)?)))
}

#[cfg(unix)]
fn permissions(options: &mut OpenOptions, access: Access) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(match access {
        Access::Ordinary => 0o666,
        Access::Secret => 0o600,
    });
}

#[cfg(not(unix))]
fn permissions(_: &mut OpenOptions, _: Access) {}

/// The whole content of a file of at most `most` bytes. Whole files are read through this alone: a wrong name, a device, or a
/// file made to do harm must not fill the memory.
///
/// # Errors
/// If it cannot be read, or has more.
pub fn read_small(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let bounded = |bytes: Vec<u8>| if bytes.len() > most { Err(too_large(most)) } else { Ok(bytes) };
    on_simulated!(path, disk => disk.read(path).and_then(bounded));
    let file = File::open(path)?;
    // A file that says how large it is need not be read to be refused.
    if file.metadata()?.len() > most as u64 {
        return Err(too_large(most));
    }
    let mut bytes = Vec::new();
    file.take((most as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    bounded(bytes)
}

fn too_large(most: usize) -> io::Error {
    let what =
        format!("it has more than {most} bytes, the most that such a file may have; check that it is the right file");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

/// The same for a file that must be UTF-8.
///
/// # Errors
/// If it cannot be read, has more, or is not UTF-8.
pub fn read_text(path: &Path, most: usize) -> io::Result<String> {
    let not_text = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    String::from_utf8(read_small(path, most)?).map_err(|error| not_text(error.utf8_error()))
}

/// Whether there is something of this name.
#[must_use]
pub fn exists(path: &Path) -> bool {
    on_simulated!(path, disk => disk.exists(path));
    path.exists()
}

/// Takes a file away.
///
/// # Errors
/// If that fails.
pub fn remove(path: &Path) -> io::Result<()> {
    on_simulated!(path, disk => disk.remove(path));
    fs::remove_file(path)
}

/// Makes a folder and those above it, so that a power cut does not take it away again.
///
/// # Errors
/// If that fails.
pub fn create_folders(dir: &Path) -> io::Result<()> {
    if dir.as_os_str().is_empty() || is_folder(dir) {
        return Ok(());
    }
    let parent = folder_of(dir);
    create_folders(parent)?;
    create_folder(dir, Access::Ordinary)?;
    sync_folder(parent)
}

/// The same for a folder that its owner alone may look into; those above it are made as usual. One that is there stays as it
/// is: see [`make_secret`].
///
/// # Errors
/// If that fails.
pub fn create_secret_folder(dir: &Path) -> io::Result<()> {
    if dir.as_os_str().is_empty() || is_folder(dir) {
        return Ok(());
    }
    let parent = folder_of(dir);
    create_folders(parent)?;
    create_folder(dir, Access::Secret)?;
    sync_folder(parent)
}

/// Whether others than its owner may read a file or look into a folder.
///
/// # Errors
/// If that cannot be found out.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    on_simulated!(path, disk => disk.is_open_to_others(path));
    Ok(mode(&fs::metadata(path)?) & 0o077 != 0)
}

/// Takes away what others than its owner may do with a file or a folder.
///
/// # Errors
/// If that fails, because it belongs to another user, for instance.
pub fn make_secret(path: &Path) -> io::Result<()> {
    on_simulated!(path, disk => disk.make_secret(path));
    set_mode(path, mode(&fs::metadata(path)?) & 0o700)
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions())
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Elsewhere a user's folders are the user's own.
#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0o700
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// The files of a folder, in no particular order.
///
/// # Errors
/// If it cannot be read.
pub fn list(dir: &Path) -> io::Result<Vec<Found>> {
    on_simulated!(dir, disk => disk.list(dir));
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        found.push(Found { path: entry.path(), modified: modified.unwrap_or(SystemTime::UNIX_EPOCH) });
    }
    Ok(found)
}

pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    on_simulated!(to, disk => disk.rename(from, to));
    fs::rename(from, to)
}

/// Forces the names in a folder to the medium.
pub(crate) fn sync_folder(dir: &Path) -> io::Result<()> {
    on_simulated!(dir, disk => disk.sync_folder(dir));
    File::open(dir)?.sync_all()
}

/// The folder that holds a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Which file has this name now, if one has. Links are not followed.
pub(crate) fn id(path: &Path) -> io::Result<Option<FileId>> {
    on_simulated!(path, disk => disk.id(path));
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(real_id(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether something that is neither a file nor a link to one has this name: a folder, a pipe, a device.
pub(crate) fn is_special(path: &Path) -> bool {
    on_simulated!(path, disk => disk.is_folder(path));
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

fn is_folder(path: &Path) -> bool {
    on_simulated!(path, disk => disk.is_folder(path));
    path.is_dir()
}

fn create_folder(path: &Path, access: Access) -> io::Result<()> {
    on_simulated!(path, disk => disk.create_folder(path));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, if access == Access::Secret { 0o700 } else { 0o777 });
    #[cfg(not(unix))]
    let _ = access;
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(unix)]
fn real_id(metadata: &fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    FileId(metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn real_id(_: &fs::Metadata) -> FileId {
    FileId(0, 0)
}

impl Handle {
    /// Writes at the end; perhaps less than everything.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Handle::Real(file) => io::Write::write(&mut &**file, bytes),
            #[cfg(feature = "faults")]
            Handle::Simulated(file) => file.write(bytes),
        }
    }

    pub(crate) fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Forces everything that was written to the medium.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match self {
            Handle::Real(file) => file.sync_data(),
            #[cfg(feature = "faults")]
            Handle::Simulated(file) => file.sync(),
        }
    }

    /// Locks the file for this process. False if another one has it.
    pub(crate) fn try_lock(&self) -> io::Result<bool> {
        match self {
            Handle::Real(file) => match file.try_lock() {
                Ok(()) => Ok(true),
                Err(TryLockError::WouldBlock) => Ok(false),
                Err(TryLockError::Error(error)) => Err(error),
            },
            #[cfg(feature = "faults")]
            Handle::Simulated(file) => file.try_lock(),
        }
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        match self {
            Handle::Real(file) => Ok(file.metadata()?.len()),
            #[cfg(feature = "faults")]
            Handle::Simulated(file) => file.len(),
        }
    }

    pub(crate) fn id(&self) -> io::Result<FileId> {
        match self {
            Handle::Real(file) => Ok(real_id(&file.metadata()?)),
            #[cfg(feature = "faults")]
            Handle::Simulated(file) => file.id(),
        }
    }

    /// The bytes from `at` on, as many as there are and as `buffer` holds.
    pub(crate) fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Handle::Real(file) => std::os::unix::fs::FileExt::read_at(&**file, buffer, at),
            #[cfg(windows)]
            Handle::Real(file) => std::os::windows::fs::FileExt::seek_read(&**file, buffer, at),
            #[cfg(feature = "faults")]
            Handle::Simulated(file) => file.read_at(at, buffer),
        }
    }

    /// The bytes of a part of the file, which must be there.
    pub(crate) fn read_range(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to - from).map_err(io::Error::other)?];
        Cursor::new(self, from).read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether the path still leads to this file.
    pub(crate) fn is_at(&self, path: &Path) -> io::Result<bool> {
        Ok(id(path)? == Some(self.id()?))
    }
}

/// Reads a file from a place on, without a position that others would share.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    handle: &'a Handle,
    at: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(handle: &'a Handle, at: u64) -> Cursor<'a> {
        Cursor { handle, at }
    }
}

impl Read for Cursor<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.handle.read_at(self.at, buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Cursor<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.handle.len()?.checked_add_signed(by),
        }
        .ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
