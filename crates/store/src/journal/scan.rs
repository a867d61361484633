//! Reading a journal from one end to the other, past whatever is damaged.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use super::framing::{DamageReason, Frame, Framing, JournalLine, TornMark};
use super::{Damage, Place};
use crate::disk::{Cursor, Handle};

/// No entry is longer: two records of the largest size.
const LONGEST: u64 = 64 << 20;

/// What a scan meets.
pub(super) enum Event<'a> {
    /// With the number of its line.
    Entry(JournalLine<'a>, Place, u64),
    Damaged(Damage),
}

/// What comes after the last line break.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Tail {
    /// Nothing: the next entry can be written.
    Ended,
    /// The beginning of a line, from this place on, that was never acknowledged.
    Torn { line: u64, at: u64, bytes: Vec<u8> },
    /// A damaged line without its line break.
    Open,
}

pub(super) struct Scan<'a> {
    framing: Framing,
    reader: BufReader<Cursor<'a>>,
    /// Where the reader is.
    at: u64,
    /// The number of the line there, from 1.
    line: u64,
}

impl<'a> Scan<'a> {
    pub(super) fn new(handle: &'a Handle, framing: Framing) -> Scan<'a> {
        Scan { framing, reader: BufReader::with_capacity(1 << 16, Cursor::new(handle, 0)), at: 0, line: 1 }
    }

    pub(super) fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// The number of the line that comes next.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Reads a line into `line`, with its line break. False at the end of the file, or if the line is longer than any.
    pub(super) fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        let read = self.reader.by_ref().take(LONGEST + Frame::LONGEST as u64).read_until(b'\n', line)?;
        self.at += read as u64;
        let ended = line.ends_with(b"\n");
        self.line += u64::from(ended);
        Ok(ended)
    }

    /// Reads on to the end, or until `meet` has had enough. Gives what comes after the last line break.
    pub(super) fn run(&mut self, mut meet: impl FnMut(Event<'_>) -> ControlFlow<()>) -> io::Result<Option<Tail>> {
        if self.framing == Framing::Blocks { self.run_blocks(&mut meet) } else { self.run_lines(&mut meet) }
    }

    fn run_lines(&mut self, meet: &mut impl FnMut(Event<'_>) -> ControlFlow<()>) -> io::Result<Option<Tail>> {
        let mut buffer = Vec::new();
        loop {
            let (mut at, number) = (self.at, self.line);
            let ended = self.read_line(&mut buffer)?;
            if buffer.is_empty() {
                return Ok(Some(Tail::Ended));
            }
            let mut rest = buffer.strip_suffix(b"\n").unwrap_or(&buffer);
            // More than one round only where a line break was damaged: the length says where the next line begins.
            loop {
                let read = self
                    .framing
                    .decode(rest)
                    .and_then(|line| if ended { Ok(line) } else { Err(DamageReason::NoLineEnd) });
                let reason = match read {
                    Ok(line) => {
                        let place = Place { from: at, to: at + rest.len() as u64 };
                        if meet(Event::Entry(line, place, number)).is_break() {
                            return Ok(None);
                        }
                        break;
                    }
                    Err(_) if ended && TornMark::ends(rest) => break,
                    Err(reason) => reason,
                };
                let Some((length, reason)) = self.next_after_damage(rest, ended, reason) else {
                    if buffer.len() as u64 > LONGEST {
                        return self.too_long(number, meet);
                    }
                    return Ok(Some(Tail::Torn { line: number, at, bytes: rest.to_vec() }));
                };
                if meet(Event::Damaged(Damage { line: number, reason })).is_break() {
                    return Ok(None);
                }
                (at, rest) = (at + length as u64, &rest[length..]);
                if rest.is_empty() {
                    if !ended {
                        return Ok(Some(Tail::Open));
                    }
                    break;
                }
            }
        }
    }

    /// How many of these bytes are damaged, and what is wrong with them. `None` if they are the beginning of a line that was
    /// cut off.
    fn next_after_damage(&self, bytes: &[u8], ended: bool, reason: DamageReason) -> Option<(usize, DamageReason)> {
        let length = match self.framing {
            Framing::Lines => Frame::read(bytes).ok().and_then(|frame| frame.whole_length()),
            _ => (!ended).then_some(bytes.len()),
        };
        if let Some(length) = length.filter(|length| (1..=bytes.len()).contains(length)) {
            // The beginning of a mark behind a line that was cut off before its line break.
            if !ended && bytes[length - 1] == b' ' {
                return None;
            }
            // All its text is there, and another byte where its line break should be.
            if self.framing.decode(&bytes[..length - 1]).is_ok() {
                return Some((length, DamageReason::NoLineEnd));
            }
            if self.framing == Framing::Lines && Frame::read(&bytes[length..]).is_ok() {
                return Some((length, reason));
            }
        }
        // What a power cut took away reads as zeros, line breaks included.
        let zeros = bytes.iter().rposition(|&byte| byte == 0).map(|at| at + 1);
        if let Some(length) = zeros.filter(|&length| length < bytes.len()) {
            return Some((length, DamageReason::Lost));
        }
        ended.then_some((bytes.len(), reason))
    }

    /// A line that is longer than any: passed over up to its end.
    fn too_long(&mut self, line: u64, meet: &mut impl FnMut(Event<'_>) -> ControlFlow<()>) -> io::Result<Option<Tail>> {
        let reason = DamageReason::Content(format!("it is longer than {LONGEST} bytes"));
        if meet(Event::Damaged(Damage { line, reason })).is_break() {
            return Ok(None);
        }
        let mut last = Vec::new();
        loop {
            if self.read_line(&mut last)? {
                return self.run_lines(meet);
            }
            if last.is_empty() {
                return Ok(Some(Tail::Open));
            }
        }
    }

    fn run_blocks(&mut self, meet: &mut impl FnMut(Event<'_>) -> ControlFlow<()>) -> io::Result<Option<Tail>> {
        // What is passed over until the next sound block: damage, or a block that was cut off and marked.
        let mut skipped: Option<Skipped> = None;
        let (mut block, mut line) = (Vec::new(), Vec::new());
        loop {
            let (at, number) = (self.at, self.line);
            let reason = match self.read_block(&mut block)? {
                Ok(()) => {
                    if let Some(skipped) = skipped.take()
                        && meet(Event::Damaged(skipped.damage)).is_break()
                    {
                        return Ok(None);
                    }
                    let place = Place { from: at, to: self.at - 1 };
                    match Framing::Blocks.decode(&block) {
                        Ok(line) => {
                            if meet(Event::Entry(line, place, number)).is_break() {
                                return Ok(None);
                            }
                        }
                        Err(reason) => {
                            if meet(Event::Damaged(Damage { line: number, reason })).is_break() {
                                return Ok(None);
                            }
                        }
                    }
                    continue;
                }
                Err(DamageReason::NoLineEnd) if self.at > at => {
                    let damage = Damage { line: self.line, reason: DamageReason::NoLineEnd };
                    let damages = skipped.take().map(|skipped| skipped.damage).into_iter().chain([damage]);
                    for damage in damages {
                        if meet(Event::Damaged(damage)).is_break() {
                            return Ok(None);
                        }
                    }
                    continue;
                }
                Err(reason) => reason,
            };
            (self.at, self.line) = (at, number);
            self.reader.seek(SeekFrom::Start(at))?;
            let mut ended = self.read_line(&mut line)?;
            if line.is_empty() {
                break;
            }
            // What a power cut took away reads as zeros, line breaks included.
            let zeros = line.iter().rposition(|&byte| byte == 0).map(|at| at + 1);
            if let Some(length) = zeros.filter(|&length| length < line.len()) {
                line.truncate(length);
                (self.at, self.line, ended) = (at + length as u64, number, false);
                self.reader.seek(SeekFrom::Start(self.at))?;
            }
            let damage = Damage { line: number, reason };
            let passed = skipped.get_or_insert_with(|| Skipped { at, bytes: Vec::new(), damage });
            if passed.bytes.len() as u64 <= LONGEST {
                passed.bytes.extend(&line);
            }
            if ended && TornMark::ends(&passed.bytes[..passed.bytes.len() - 1]) {
                skipped = None;
            }
        }
        let Some(Skipped { at, bytes, damage }) = skipped else { return Ok(Some(Tail::Ended)) };
        let length = Frame::read(&bytes).ok().and_then(|frame| frame.whole_length());
        let is_cut_off = if bytes.ends_with(b"\n") {
            length.is_some_and(|length| length > bytes.len())
        } else {
            // All its text may be there, with another byte where its line break should be.
            length.and_then(|length| bytes.get(..length)).is_none_or(|block| {
                let (last, text) = block.split_last().unwrap_or((&b' ', &[]));
                *last == b' ' || Framing::Blocks.decode(text).is_err()
            })
        };
        if is_cut_off {
            return Ok(Some(Tail::Torn { line: damage.line, at, bytes }));
        }
        if meet(Event::Damaged(damage)).is_break() {
            return Ok(None);
        }
        Ok(Some(if bytes.ends_with(b"\n") { Tail::Ended } else { Tail::Open }))
    }

    /// Reads a block without its last line break, or says what is wrong where one should be.
    fn read_block(&mut self, block: &mut Vec<u8>) -> io::Result<Result<(), DamageReason>> {
        block.clear();
        self.reader.by_ref().take(Frame::LONGEST as u64).read_until(b'\n', block)?;
        let length = match Frame::read(block) {
            Err(reason) => return Ok(Err(reason)),
            Ok(frame) if block.get(frame.end) != Some(&b'\n') || frame.length > LONGEST => {
                return Ok(Err(DamageReason::NoFrame(crate::excerpt(&String::from_utf8_lossy(block)))));
            }
            Ok(frame) => frame.length,
        };
        let head = block.len();
        self.reader.by_ref().take(length + 1).read_to_end(block)?;
        let text = block.split_off(head);
        let frame = Frame::read(block);
        let checked = match text.split_last() {
            Some((&b'\n', text)) => frame.and_then(|frame| frame.check(text)),
            // All its text is there, and another byte where its line break should be; a mark would begin with a space.
            Some((byte, text)) if *byte != b' ' && frame.is_ok_and(|frame| frame.check(text).is_ok()) => {
                self.at += (head + text.len() + 1) as u64;
                self.line += 1 + text.iter().filter(|&&byte| byte == b'\n').count() as u64;
                return Ok(Err(DamageReason::NoLineEnd));
            }
            _ if text.len() as u64 <= length => Err(DamageReason::Length { said: length, is: text.len() as u64 }),
            _ => Err(DamageReason::NoLineEnd),
        };
        if checked.is_ok() {
            self.at += (head + text.len()) as u64;
            self.line += 1 + text.iter().filter(|&&byte| byte == b'\n').count() as u64;
            block.extend(&text[..text.len() - 1]);
        }
        Ok(checked)
    }
}

struct Skipped {
    at: u64,
    bytes: Vec<u8>,
    damage: Damage,
}
