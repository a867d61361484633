//! The simulated disk.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use crate::disk::{Access, FileId, Found, Open};

/// What happens to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskFault {
    /// It fails and changes nothing.
    Error,
    /// A write takes only half of its bytes, and says so. Other calls fail.
    Short,
    /// A write takes only half of its bytes, and fails.
    Torn,
    /// It does everything, and fails.
    Late,
    /// The process dies: a write takes half of its bytes, and no call after it changes anything until the restart.
    Kill,
}

impl DiskFault {
    /// All of them.
    pub const ALL: [DiskFault; 5] =
        [DiskFault::Error, DiskFault::Short, DiskFault::Torn, DiskFault::Late, DiskFault::Kill];
}

static MOUNTED: RwLock<Vec<(PathBuf, Arc<SimulatedDisk>)>> = RwLock::new(Vec::new());
static DISKS: AtomicU64 = AtomicU64::new(0);

/// The disk at whose mount a path lies.
pub(crate) fn mounted(path: &Path) -> Option<Arc<SimulatedDisk>> {
    let mounted = MOUNTED.read().unwrap_or_else(PoisonError::into_inner);
    mounted.iter().find(|(mount, _)| path.starts_with(mount)).map(|(_, disk)| Arc::clone(disk))
}

/// A disk in memory.
#[derive(Debug)]
pub struct SimulatedDisk {
    mount: PathBuf,
    state: Mutex<State>,
}

#[derive(Clone, Debug)]
struct State {
    random: u64,
    files: HashMap<u64, Inode>,
    names: BTreeMap<PathBuf, Node>,
    /// What a power cut leaves for certain.
    durable_names: BTreeMap<PathBuf, Node>,
    /// What has changed in folders since they were forced to the medium, in order.
    renamed: Vec<NameChange>,
    /// By file: the handle that has locked it.
    locks: HashMap<u64, u64>,
    next: u64,
    calls: u64,
    fault: Option<(u64, DiskFault)>,
    struck: bool,
    killed: bool,
    /// Handles of processes before the last restart are dead.
    boots: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Folder,
    File(u64),
}

/// A change of one name; a rename is one change of two.
#[derive(Clone, Debug)]
struct NameChange {
    removed: Option<PathBuf>,
    set: Option<(PathBuf, Node)>,
}

impl NameChange {
    fn folder(&self) -> Option<&Path> {
        self.set.as_ref().map(|(path, _)| path.as_path()).or(self.removed.as_deref())?.parent()
    }

    fn apply(&self, names: &mut BTreeMap<PathBuf, Node>) {
        if let Some(removed) = &self.removed {
            names.remove(removed);
        }
        if let Some((path, node)) = &self.set {
            names.insert(path.clone(), *node);
        }
    }
}

#[derive(Clone, Default, Debug)]
struct Inode {
    /// What processes see.
    bytes: Vec<u8>,
    /// What a power cut leaves for certain.
    durable: Vec<u8>,
    /// The ranges that were not forced to the medium yet.
    written: Vec<(usize, usize)>,
    /// The ranges that a failed sync has dropped: a later one does not write them.
    dropped: Vec<(usize, usize)>,
    modified: u64,
    secret: bool,
}

impl SimulatedDisk {
    /// Mounts an empty disk at a new path until the guard is dropped.
    #[must_use]
    pub fn mount(seed: u64) -> Mount {
        let mount = PathBuf::from(format!("/simulated-disk-{}", DISKS.fetch_add(1, Ordering::Relaxed)));
        let names = BTreeMap::from([(mount.clone(), Node::Folder)]);
        let state = State {
            random: seed,
            files: HashMap::new(),
            durable_names: names.clone(),
            names,
            renamed: Vec::new(),
            locks: HashMap::new(),
            next: 1,
            calls: 0,
            fault: None,
            struck: false,
            killed: false,
            boots: 0,
        };
        let disk = Arc::new(SimulatedDisk { mount: mount.clone(), state: Mutex::new(state) });
        MOUNTED.write().unwrap_or_else(PoisonError::into_inner).push((mount, Arc::clone(&disk)));
        Mount(disk)
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.mount
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the call after so many others fail, counted from now.
    pub fn fail(&self, after: u64, fault: DiskFault) {
        let mut state = self.state();
        state.fault = Some((state.calls + after, fault));
        state.struck = false;
    }

    /// Whether the call that was to fail has come.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.state().struck
    }

    /// The process dies and a new one begins: locks and open files are gone, what was written is there.
    pub fn restart(&self) {
        self.state().restart();
    }

    /// The power is cut: of what was not forced to the medium any part may be lost, in any order. A new process begins.
    pub fn cut_power(&self) {
        let mut state = self.state();
        state.restart();
        let mut names = std::mem::take(&mut state.durable_names);
        for change in std::mem::take(&mut state.renamed) {
            if state.chance(2) {
                change.apply(&mut names);
            }
        }
        // What was in a folder that is lost is lost, too.
        while let Some(orphan) = names.keys().find(|path| **path != self.mount && !names.contains_key(folder(path))) {
            let orphan = orphan.clone();
            names.remove(&orphan);
        }
        state.durable_names = names.clone();
        state.names = names;
        let mut numbers: Vec<u64> = state.files.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let Some(mut file) = state.files.remove(&number) else { continue };
            let mut left = std::mem::take(&mut file.durable);
            let lost = std::mem::take(&mut file.dropped).into_iter().chain(std::mem::take(&mut file.written));
            for (from, to) in lost {
                let kept = match state.chance(3).then(|| state.chance(2)) {
                    None => continue,
                    Some(true) => to,
                    Some(false) => from + state.below(to - from + 1),
                };
                // What lies before it and was lost reads as zeros.
                let length = left.len().max(if state.chance(4) { to } else { kept });
                left.resize(length, 0);
                left[from..kept].copy_from_slice(&file.bytes[from..kept]);
            }
            file.bytes.clone_from(&left);
            file.durable = left;
            state.files.insert(number, file);
        }
    }

    /// The bytes of a file, without a call that counts.
    #[must_use]
    pub fn peek(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        match state.names.get(path)? {
            Node::File(number) => state.files.get(number).map(|file| file.bytes.clone()),
            Node::Folder => None,
        }
    }

    /// Puts a file there, forced to the medium, without a call that counts.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        let file = Inode { bytes: bytes.to_vec(), durable: bytes.to_vec(), ..Inode::default() };
        state.files.insert(number, file);
        state.names.insert(path.to_owned(), Node::File(number));
        state.durable_names.insert(path.to_owned(), Node::File(number));
    }

    /// Puts a folder there, forced to the medium, without a call that counts.
    pub fn put_folder(&self, path: &Path) {
        let mut state = self.state();
        state.names.insert(path.to_owned(), Node::Folder);
        state.durable_names.insert(path.to_owned(), Node::Folder);
    }

    /// The names of all files, without a call that counts.
    #[must_use]
    pub fn names(&self) -> Vec<PathBuf> {
        let state = self.state();
        let files = state.names.iter().filter(|(_, node)| matches!(node, Node::File(_)));
        files.map(|(path, _)| path.clone()).collect()
    }

    /// Whether only its owner may read a file.
    #[must_use]
    pub fn is_secret(&self, path: &Path) -> bool {
        let state = self.state();
        match state.names.get(path) {
            Some(Node::File(number)) => state.files.get(number).is_some_and(|file| file.secret),
            _ => false,
        }
    }

    /// Runs a call that does all or nothing, unless it is its turn to fail.
    fn call<T>(&self, act: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.state();
        match state.count()? {
            None => act(&mut state),
            Some(DiskFault::Late) => {
                let done = act(&mut state);
                // A file that was opened takes the state to be closed.
                drop(state);
                done.and_then(|_| Err(fault()))
            }
            Some(_) => Err(fault()),
        }
    }

    pub(crate) fn open(self: &Arc<Self>, path: &Path, how: Open) -> io::Result<SimulatedFile> {
        self.call(|state| {
            let number = match (state.names.get(path), how) {
                (Some(Node::Folder), _) => return Err(io::ErrorKind::IsADirectory.into()),
                (Some(Node::File(_)), Open::CreateNew(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
                (Some(Node::File(number)), _) => *number,
                (None, Open::Read | Open::Append) => return Err(io::ErrorKind::NotFound.into()),
                (None, Open::AppendOrCreate(access) | Open::CreateNew(access)) => {
                    if state.names.get(folder(path)) != Some(&Node::Folder) {
                        return Err(io::ErrorKind::NotFound.into());
                    }
                    let number = state.next;
                    state.next += 1;
                    state.files.insert(number, Inode { secret: access == Access::Secret, ..Inode::default() });
                    state.change(NameChange { removed: None, set: Some((path.to_owned(), Node::File(number))) });
                    number
                }
            };
            let handle = state.next;
            state.next += 1;
            Ok(SimulatedFile { disk: Arc::clone(self), number, handle, boot: state.boots })
        })
    }

    pub(crate) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.call(|state| match state.names.get(path) {
            Some(Node::File(number)) => Ok(state.files.get(number).map(|file| file.bytes.clone()).unwrap_or_default()),
            Some(Node::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        })
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.state().names.contains_key(path)
    }

    pub(crate) fn is_folder(&self, path: &Path) -> bool {
        self.state().names.get(path) == Some(&Node::Folder)
    }

    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(|state| match state.names.get(path) {
            Some(Node::File(_)) => {
                state.change(NameChange { removed: Some(path.to_owned()), set: None });
                Ok(())
            }
            Some(Node::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        })
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(|state| {
            let node = *state.names.get(from).ok_or(io::ErrorKind::NotFound)?;
            state.change(NameChange { removed: Some(from.to_owned()), set: Some((to.to_owned(), node)) });
            Ok(())
        })
    }

    /// Folders of this disk have no permissions.
    pub(crate) fn is_open_to_others(&self, path: &Path) -> io::Result<bool> {
        self.call(|state| match state.names.get(path) {
            Some(Node::File(number)) => Ok(state.files.get(number).is_some_and(|file| !file.secret)),
            Some(Node::Folder) => Ok(false),
            None => Err(io::ErrorKind::NotFound.into()),
        })
    }

    pub(crate) fn make_secret(&self, path: &Path) -> io::Result<()> {
        self.call(|state| {
            if let Some(Node::File(number)) = state.names.get(path).copied() {
                state.files.entry(number).and_modify(|file| file.secret = true);
            }
            Ok(())
        })
    }

    pub(crate) fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.call(|state| {
            if !state.names.contains_key(path) {
                state.change(NameChange { removed: None, set: Some((path.to_owned(), Node::Folder)) });
            }
            Ok(())
        })
    }

    pub(crate) fn sync_folder(&self, dir: &Path) -> io::Result<()> {
        self.call(|state| {
            for change in std::mem::take(&mut state.renamed) {
                if change.folder() == Some(dir) {
                    change.apply(&mut state.durable_names);
                } else {
                    state.renamed.push(change);
                }
            }
            Ok(())
        })
    }

    pub(crate) fn list(&self, dir: &Path) -> io::Result<Vec<Found>> {
        self.call(|state| {
            let inside = state.names.iter().filter(|(path, _)| path.parent() == Some(dir));
            let found = inside.map(|(path, node)| {
                let modified = match node {
                    Node::File(number) => state.files.get(number).map_or(0, |file| file.modified),
                    Node::Folder => 0,
                };
                Found { path: path.clone(), modified: SystemTime::UNIX_EPOCH + Duration::from_secs(modified) }
            });
            Ok(found.collect())
        })
    }

    pub(crate) fn id(&self, path: &Path) -> io::Result<Option<FileId>> {
        self.call(|state| {
            Ok(state.names.get(path).map(|node| match node {
                Node::File(number) => FileId(0, *number),
                Node::Folder => FileId(1, 0),
            }))
        })
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

fn fault() -> io::Error {
    io::Error::other("simulated fault")
}

impl State {
    /// Counts a call; says what is to happen to it.
    fn count(&mut self) -> io::Result<Option<DiskFault>> {
        if self.killed {
            return Err(io::Error::other("simulated death"));
        }
        let call = self.calls;
        self.calls += 1;
        let Some((_, fault)) = self.fault.filter(|(at, _)| *at == call) else { return Ok(None) };
        (self.struck, self.killed) = (true, fault == DiskFault::Kill);
        Ok(Some(fault))
    }

    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.renamed.push(change);
    }

    fn restart(&mut self) {
        self.locks.clear();
        (self.killed, self.fault) = (false, None);
        self.boots += 1;
    }

    /// A number below `bound`, from the seed (SplitMix64).
    fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    /// True but for one time in so many.
    fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) != 0
    }
}

/// A mounted disk; the mount ends with this.
#[derive(Debug)]
pub struct Mount(Arc<SimulatedDisk>);

impl std::ops::Deref for Mount {
    type Target = SimulatedDisk;

    fn deref(&self) -> &SimulatedDisk {
        &self.0
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        MOUNTED.write().unwrap_or_else(PoisonError::into_inner).retain(|(mount, _)| *mount != self.0.mount);
    }
}

/// An open file of the simulated disk.
#[derive(Debug)]
pub(crate) struct SimulatedFile {
    disk: Arc<SimulatedDisk>,
    number: u64,
    handle: u64,
    boot: u64,
}

impl SimulatedFile {
    /// The disk, for a process that is alive.
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.disk.state();
        if state.boots == self.boot { Ok(state) } else { Err(io::Error::other("a handle of a dead process")) }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state()?;
        let fault_now = state.count()?;
        let take = match fault_now {
            None | Some(DiskFault::Late) => bytes.len(),
            Some(DiskFault::Error) => 0,
            Some(DiskFault::Short | DiskFault::Torn | DiskFault::Kill) => bytes.len() / 2,
        };
        let now = state.calls;
        if let Some(file) = state.files.get_mut(&self.number) {
            let from = file.bytes.len();
            file.bytes.extend(&bytes[..take]);
            file.modified = now;
            if take > 0 {
                file.written.push((from, from + take));
            }
        }
        match fault_now {
            None => Ok(take),
            Some(DiskFault::Short) if take > 0 => Ok(take),
            Some(_) => Err(fault()),
        }
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        let mut state = self.state()?;
        let fault_now = state.count()?;
        let number = self.number;
        if let Some(file) = state.files.get_mut(&number) {
            match fault_now {
                None | Some(DiskFault::Late) => {
                    for (from, to) in std::mem::take(&mut file.written) {
                        file.durable.resize(file.durable.len().max(to), 0);
                        file.durable[from..to].copy_from_slice(&file.bytes[from..to]);
                    }
                }
                Some(_) => file.dropped.append(&mut file.written),
            }
        }
        if fault_now.is_some() { Err(fault()) } else { Ok(()) }
    }

    pub(crate) fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.state()?;
        if state.count()?.is_some() {
            return Err(fault());
        }
        let handle = self.handle;
        Ok(*state.locks.entry(self.number).or_insert(handle) == handle)
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        let mut state = self.state()?;
        if state.count()?.is_some() {
            return Err(fault());
        }
        Ok(state.files.get(&self.number).map_or(0, |file| file.bytes.len() as u64))
    }

    pub(crate) fn id(&self) -> io::Result<FileId> {
        let mut state = self.state()?;
        if state.count()?.is_some() {
            return Err(fault());
        }
        Ok(FileId(0, self.number))
    }

    pub(crate) fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state()?;
        if state.count()?.is_some() {
            return Err(fault());
        }
        let Some(file) = state.files.get(&self.number) else { return Ok(0) };
        let rest = file.bytes.get(at as usize..).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if state.boots == self.boot && state.locks.get(&self.number) == Some(&self.handle) {
            state.locks.remove(&self.number);
        }
    }
}
