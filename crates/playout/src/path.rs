//! `Path`: which kernel plays.

use std::fmt;
use std::str::FromStr;

use crate::lanes::portable;
#[cfg(target_arch = "x86_64")]
use crate::lanes::{Avx2, Avx512};
use crate::narrow::Narrow;
use crate::policy::UnknownName;
use crate::run::PlayoutBatch;
use crate::scalar;

/// A way to play many games that this machine is capable of. All ways lead to the same games.
///
/// ```
/// use anqi_playout::Path;
///
/// for path in Path::available() {
///     assert_eq!(path.to_string().parse(), Ok(path));
/// }
/// assert_eq!(Path::SCALAR.width(), 1);
/// assert!(Path::best().width() > 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Path(Inner);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Inner {
    Scalar,
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Path {
    /// One game after the other.
    pub const SCALAR: Path = Path(Inner::Scalar);

    /// Lanes in plain Rust, on any machine.
    pub const PORTABLE: Path = Path(Inner::Portable);

    /// The paths of this machine, slowest first.
    pub fn available() -> impl Iterator<Item = Path> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [Avx2::detect().map(Inner::Avx2), Avx512::detect().map(Inner::Avx512)];
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = [None; 0];
        [Path::SCALAR, Path::PORTABLE].into_iter().chain(vectors.into_iter().flatten().map(Path))
    }

    /// The fastest path of this machine.
    #[must_use]
    pub fn best() -> Path {
        Path::available().last().unwrap_or(Path::PORTABLE)
    }

    /// How many games share a vector.
    #[must_use]
    pub fn width(self) -> usize {
        match self.0 {
            Inner::Scalar => 1,
            Inner::Portable => portable::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2(_) => Avx2::WIDTH,
            #[cfg(target_arch = "x86_64")]
            Inner::Avx512(_) => Avx512::WIDTH,
        }
    }

    /// How many games are best under way at a time. A ply is one long chain of instructions, each waiting for the one
    /// before; with a second vector of games the processor has something to do meanwhile.
    pub(crate) fn lanes(self) -> usize {
        match self.width() {
            1 => 1,
            width => 2 * width,
        }
    }

    pub(crate) fn run<P: Narrow, const JUMPS: bool>(self, job: PlayoutBatch<'_>, squares: u32) {
        match self.0 {
            Inner::Portable => portable::run::<P, JUMPS>(job, squares),
            _ => self.run_heavy::<P, JUMPS>(job, squares),
        }
    }

    /// The same for a policy that takes more instructions than plain Rust can make vectors of: its
    /// portable lanes would take minutes to compile, to no avail.
    pub(crate) fn run_heavy<P: Narrow, const JUMPS: bool>(self, job: PlayoutBatch<'_>, squares: u32) {
        match self.0 {
            Inner::Scalar | Inner::Portable => {
                let _ = squares; // only the vector paths ask
                scalar::run::<P, JUMPS>(job);
            }
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2(avx2) => avx2.run::<P, JUMPS>(job, squares),
            #[cfg(target_arch = "x86_64")]
            Inner::Avx512(avx512) => avx512.run::<P, JUMPS>(job, squares),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Inner::Scalar => "scalar",
            Inner::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Inner::Avx512(_) => "avx512",
        })
    }
}

/// Knows the names of this machine's paths only.
impl FromStr for Path {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Path, UnknownName> {
        UnknownName::find("path on this machine", text, &Path::available().collect::<Vec<_>>())
    }
}
