//! A deck, line by line: its sections, and the files that it includes.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::deck::Deck;
use super::error::Fault;
use super::lines::{Card, Line, Lines};
use super::origin::Origin;
use crate::included::{DeckFolder, Refusal};
use crate::lines::TextLines;
use crate::quote::{begin, excerpt};
use crate::read_error::{Located, Parsed};

/// Files within files within files: deeper than anyone writes.
const DEEPEST: usize = 10;

/// Lines of the name of a file that INCLUDE names.
const NAME_LINES: usize = 20;

/// Characters of the name of a file that a message quotes at most.
const NAME_QUOTED: usize = 200;

/// Reads a deck into [`Deck`].
pub(super) struct Reader {
    pub deck: Deck,
    /// The folder of the deck, and files that were read.
    folder: DeckFolder,
    known: HashSet<PathBuf>,
    /// Whether the lines are bulk data and not the control sections before them.
    in_bulk: bool,
    has_ended: bool,
    /// Whether the last line of case control has a continuation.
    pub goes_on: bool,
    pub n_entries: usize,
    /// The line that is read.
    pub origin: Origin,
}

/// Reads the deck `bytes`, the file at `path`, and what it includes.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Parsed<Deck> {
    let folder = DeckFolder::of(path);
    let from = folder.path().to_path_buf();
    let path = path.canonicalize().unwrap_or_else(|_| path.into());
    let mut reader = Reader {
        deck: Deck::default(),
        folder,
        known: HashSet::from([path]),
        in_bulk: !has_control(bytes),
        has_ended: false,
        goes_on: false,
        n_entries: 0,
        origin: Origin::default(),
    };

    if Lines::new(bytes).take().is_none() {
        return Err(Fault::EmptyFile.into());
    }
    if let Some((line, keyword)) = keyword_of_abaqus(bytes) {
        return Err(Located::at_line(line, Fault::Abaqus(keyword)));
    }
    reader.file(0, bytes, &from, 0)?;
    if reader.n_entries == 0 {
        return Err(Fault::NotNastran.into());
    }
    Ok(reader.deck)
}

/// The line and the keyword of Abaqus that a file begins with, behind comments; none of a deck of
/// Nastran, whose first line continues nothing.
fn keyword_of_abaqus(bytes: &[u8]) -> Option<(usize, String)> {
    let mut lines = TextLines::new(bytes);
    while let Some(line) = lines.take() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"**") {
            continue;
        }
        let keyword = line.split(|&byte| byte == b',').next().unwrap_or_default().trim_ascii_end();
        let is_word = |&byte: &u8| byte.is_ascii_alphabetic() || byte == b' ';
        let letters =
            keyword.strip_prefix(b"*").filter(|it| it.len() > 3 && it.iter().all(is_word));
        return letters.map(|_| (lines.number(), excerpt(&String::from_utf8_lossy(keyword))));
    }
    None
}

/// Whether a file begins with control sections: it says where they end.
fn has_control(bytes: &[u8]) -> bool {
    let mut lines = Lines::new(bytes);
    std::iter::from_fn(|| lines.take()).any(|line| {
        let words = words(&line.text);
        matches!(words.as_slice(), [first, ..] if first == "CEND") || is_begin(&words)
    })
}

/// The first two words of a line, in capitals.
fn words(text: &[u8]) -> Vec<String> {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    let words = text.split(is_between).filter(|word| !word.is_empty()).take(2);
    words.map(|word| String::from_utf8_lossy(word).to_uppercase()).collect()
}

fn is_begin(words: &[String]) -> bool {
    matches!(words, [begin, ..] if begin == "BEGIN")
}

impl Reader {
    /// Reads a file: 0 is the deck, others are included, `depth` deep. Files that it includes are
    /// named relative to its `folder`.
    fn file(&mut self, file: usize, bytes: &[u8], folder: &Path, depth: usize) -> Parsed<()> {
        let mut lines = Lines::new(bytes);
        while !self.has_ended {
            let Some(line) = lines.take() else { return Ok(()) };
            self.origin = Origin { file, line: line.number };
            if let Some(name) = included(&line, &mut lines) {
                let name = name.map_err(|fault| self.deck.at(self.origin, fault))?;
                self.include(&name, folder, depth)?;
                continue;
            }

            let words = words(&line.text);
            let begins_part = matches!(words.as_slice(), [_, what, ..] if what != "BULK");
            if is_begin(&words) {
                if self.in_bulk || begins_part {
                    return Err(self.deck.at(self.origin, Fault::Parts));
                }
                self.in_bulk = true;
            } else if !self.in_bulk {
                self.control(&line);
            } else if words.first().is_some_and(|word| word == "ENDDATA") {
                self.has_ended = true;
            } else {
                let card = lines.card(&line);
                let read = card.and_then(|card| self.entry(&card));
                read.map_err(|located| self.deck.within(file, located))?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, card: &Card) -> Parsed<()> {
        if self.mesh_entry(card)?
            || self.material_entry(card)?
            || self.condition_entry(card)?
            || self.heat_entry(card)?
            || self.design_entry(card)?
        {
            self.n_entries += 1;
        } else {
            self.other_entry(card);
        }
        Ok(())
    }

    /// Reads the file `name` that the current line includes.
    fn include(&mut self, name: &str, folder: &Path, depth: usize) -> Parsed<()> {
        let origin = self.origin;
        let fault = |fault: Fault| self.deck.at(origin, fault);
        if depth == DEEPEST {
            return Err(fault(Fault::TooDeep(DEEPEST)));
        }

        let file = || begin(name, NAME_QUOTED);
        let (path, bytes) = self.folder.read(folder, name).map_err(|refusal| {
            fault(match refusal {
                Refusal::Elsewhere => Fault::IncludeElsewhere(file()),
                Refusal::Unread(cause) => Fault::IncludeUnread { file: file(), cause },
            })
        })?;
        if self.known.contains(&path) {
            return Err(fault(Fault::IncludedTwice(file())));
        }

        self.deck.included.push(file());
        let file = self.deck.included.len();
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        self.known.insert(path);
        self.file(file, &bytes, &folder, depth + 1)
    }
}

/// The file that `line` includes, if it does; a name within quotation marks may take several lines.
fn included(line: &Line, lines: &mut Lines) -> Option<Result<String, Fault>> {
    let text = line.text.trim_ascii();
    let (word, rest) = text.split_at_checked(7)?;
    if !word.eq_ignore_ascii_case(b"INCLUDE") || rest.first().is_some_and(u8::is_ascii_alphanumeric)
    {
        return None;
    }

    let rest = rest.trim_ascii();
    let rest = rest.strip_prefix(b"=").unwrap_or(rest).trim_ascii();
    let mut name = rest.to_vec();
    if let Some(&quote) = rest.first().filter(|first| b"'\"".contains(first)) {
        name.remove(0);
        let end = |name: &[u8]| name.iter().position(|&byte| byte == quote);
        for _ in 0..NAME_LINES {
            if end(&name).is_some() {
                break;
            }
            let Some(more) = lines.take() else { break };
            name.extend_from_slice(more.text.trim_ascii());
        }
        name.truncate(end(&name).unwrap_or(name.len()));
    }

    let name = String::from_utf8_lossy(&name).into_owned();
    if name.is_empty() {
        let (entry, field, found) = ("INCLUDE".into(), 2, "nothing".into());
        let expected = "the name of a file";
        return Some(Err(Fault::Malformed { entry, field, expected, found }));
    }
    Some(Ok(name))
}
