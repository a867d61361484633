//! Files of networks: a header that says what the weights are, then the weights.
//!
//! All numbers are little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `anqi-net` |
//! | 4 | format, 1 |
//! | 4 | length of the line of provenance, at most 1,000 |
//! | 5 × 4 | sizes: inputs, view, inner layer, outcomes, heads |
//! | 32 | BLAKE3 of the weights |
//! | … | the line of provenance: UTF-8, where the weights come from |
//! | 32 | BLAKE3 of everything so far |
//! | … | the weights |
//!
//! Older files are the weights alone. They are read, and are known by `checked: false`.

use anqi_rules::excerpt;

const MAGIC: &[u8; 8] = b"anqi-net";
const FORMAT: u32 = 1;
/// Everything before the line of provenance.
const FIXED: usize = 8 + 4 + 4 + 4 * SIZES + HASH;
const SIZES: usize = 5;
const HASH: usize = 32;
/// The longest line of provenance.
const LONGEST_LINE: usize = 1000;

/// Why bytes are no network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NetworkError {
    /// Another kind of file.
    #[error("not a network: it begins with {0:?}, and a network with \"anqi-net\"")]
    Foreign(String),
    /// Written by a later version of the program.
    #[error("a network of format {0}, and this program reads format 1: use a newer one")]
    NewerFormat(u32),
    /// The end is missing.
    #[error("truncated: {found} bytes of {expected}")]
    Truncated {
        /// How many bytes there are.
        found: usize,
        /// How many there should be, as far as is known.
        expected: usize,
    },
    /// There is more after the end.
    #[error("damaged: {0} bytes after the end of the weights")]
    TooLong(usize),
    /// The header or the weights are not what was written.
    #[error("damaged: {0} does not fit its checksum")]
    Damaged(&'static str),
    /// A network of another shape.
    #[error("a network of sizes {found:?}, and this program plays with {expected:?}")]
    OtherSizes {
        /// Inputs, view, inner layer, outcomes, heads.
        found: [u32; SIZES],
        /// What they should be.
        expected: [u32; SIZES],
    },
}

/// What is in a file.
pub(super) struct Contents<'a> {
    pub(super) weights: &'a [u8],
    /// BLAKE3 of the weights.
    pub(super) hash: [u8; HASH],
    /// Where they come from.
    pub(super) provenance: &'a str,
    /// Whether a header vouches for them.
    pub(super) checked: bool,
}

/// Checks everything but the meaning of the weights, of which there must be `length` bytes.
pub(super) fn open(bytes: &[u8], sizes: [u32; SIZES], length: usize) -> Result<Contents<'_>, NetworkError> {
    let hash = |bytes: &[u8]| -> [u8; HASH] { blake3::hash(bytes).into() };
    if !bytes.starts_with(MAGIC) {
        if bytes.len() == length {
            return Ok(Contents { weights: bytes, hash: hash(bytes), provenance: "", checked: false });
        }
        let beginning = bytes.iter().take(MAGIC.len()).map(|&byte| char::from(byte)).collect::<String>();
        return Err(NetworkError::Foreign(excerpt(&beginning)));
    }
    let number =
        |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|bytes| u32::from_le_bytes(*bytes));
    let truncated = |expected| NetworkError::Truncated { found: bytes.len(), expected };
    match number(8).ok_or_else(|| truncated(FIXED + HASH + length))? {
        FORMAT => {}
        0 => return Err(NetworkError::Damaged("the header")),
        newer => return Err(NetworkError::NewerFormat(newer)),
    }
    let line = number(12).ok_or_else(|| truncated(FIXED + HASH + length))? as usize;
    if line > LONGEST_LINE {
        return Err(NetworkError::Damaged("the header"));
    }
    let end = FIXED + line;
    let Some(written) = bytes.get(end..end + HASH) else { return Err(truncated(end + HASH + length)) };
    if hash(&bytes[..end]) != *written {
        return Err(NetworkError::Damaged("the header"));
    }
    let found: [u32; SIZES] = std::array::from_fn(|place| number(16 + 4 * place).unwrap_or_default());
    if found != sizes {
        return Err(NetworkError::OtherSizes { found, expected: sizes });
    }
    let weights = &bytes[end + HASH..];
    if weights.len() < length {
        return Err(truncated(end + HASH + length));
    }
    if weights.len() > length {
        return Err(NetworkError::TooLong(weights.len() - length));
    }
    let known = hash(weights);
    if known != bytes[FIXED - HASH..FIXED] {
        return Err(NetworkError::Damaged("the body of weights"));
    }
    let provenance = std::str::from_utf8(&bytes[FIXED..end]).map_err(|_| NetworkError::Damaged("the header"))?;
    Ok(Contents { weights, hash: known, provenance, checked: true })
}

#[cfg(test)]
mod tests {
    use anqi_rules::Seed;
    use rand_core::Rng;

    use super::*;

    const LENGTH: usize = 2000;
    const SHAPE: [u32; SIZES] = [5, 4, 3, 2, 1];

    fn weights() -> Vec<u8> {
        let mut weights = vec![0; LENGTH];
        Seed::from(1).rng().fill_bytes(&mut weights);
        weights
    }

    /// A file, with the checksums that its header should have.
    fn file(format: u32, sizes: [u32; SIZES], line: &str, weights: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(format.to_le_bytes());
        bytes.extend((line.len() as u32).to_le_bytes());
        sizes.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
        bytes.extend(blake3::hash(weights).as_bytes());
        bytes.extend(line.as_bytes());
        bytes.extend(*blake3::hash(&bytes.clone()).as_bytes());
        bytes.extend(weights);
        bytes
    }

    fn error(bytes: &[u8]) -> NetworkError {
        open(bytes, SHAPE, LENGTH).map(drop).expect_err("no network")
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = file(FORMAT, SHAPE, "trained on nothing", &weights());
        let contents = open(&bytes, SHAPE, LENGTH).unwrap();
        assert_eq!(
            (contents.weights, contents.provenance, contents.checked),
            (&weights()[..], "trained on nothing", true)
        );
        assert_eq!(contents.hash, *blake3::hash(&weights()).as_bytes());
        // The same weights without a header.
        let old = weights();
        let contents = open(&old, SHAPE, LENGTH).unwrap();
        assert_eq!((contents.hash, contents.checked), (*blake3::hash(&old).as_bytes(), false));
    }

    #[test]
    fn no_flipped_bit_is_accepted() {
        let bytes = file(FORMAT, SHAPE, "trained on nothing", &weights());
        let header = bytes.len() - LENGTH;
        let mut rng = Seed::from(2).rng();
        let in_body = (0..1000).map(|_| 8 * header + rng.next_u32() as usize % (8 * LENGTH)).collect::<Vec<_>>();
        for bit in (0..8 * header).chain(in_body) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&flipped, SHAPE, LENGTH).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let bytes = file(FORMAT, SHAPE, "line", &weights());
        for cut in 0..bytes.len() {
            let expected = if cut < MAGIC.len() { "not a network" } else { "truncated" };
            assert!(error(&bytes[..cut]).to_string().starts_with(expected), "{cut}");
        }
        assert_eq!(error(b"PNG and more"), NetworkError::Foreign("PNG and ".to_owned()));
        assert_eq!(error(&file(2, SHAPE, "", &weights())), NetworkError::NewerFormat(2));
        assert_eq!(error(&[&bytes[..], &[0]].concat()), NetworkError::TooLong(1));
        let other = [5, 4, 3, 2, 2];
        assert_eq!(
            error(&file(FORMAT, other, "", &weights())),
            NetworkError::OtherSizes { found: other, expected: SHAPE }
        );
        let mut damaged = bytes.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(error(&damaged).to_string(), "damaged: the body of weights does not fit its checksum");
    }
}
