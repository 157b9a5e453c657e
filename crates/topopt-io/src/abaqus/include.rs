//! A deck with the files that it includes, as one text.

use std::path::{Path, PathBuf};

use super::error::Fault;
use super::lines::{capitals, unquoted};
use crate::included::{DeckFolder, Refusal};
use crate::read_error::{Fault as ReadFault, Located, Parsed, Place, ReadError};

/// Files within files, and files in all, before a deck is refused.
const DEEPEST: usize = 10;
const MOST_FILES: usize = 1000;

/// The text of a deck and of the files it includes in the places of their keywords.
#[derive(Default)]
pub(super) struct Text {
    pub bytes: Vec<u8>,
    /// The file of every stretch of lines: its first line in the text and in the file, both from 1.
    stretches: Vec<(usize, PathBuf, usize)>,
    /// Lines of the text.
    n_lines: usize,
    n_files: usize,
}

impl Text {
    /// Reads the file at `path` with all that it includes.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let mut text = Self::default();
        let at_file =
            |fault: ReadFault| ReadError { path: path.into(), place: None, fault: Box::new(fault) };
        let bytes = std::fs::read(path).map_err(|cause| at_file(ReadFault::Io(cause)))?;
        let deck = path.canonicalize().map_err(|cause| at_file(ReadFault::Io(cause)))?;
        text.add(path, &bytes, &DeckFolder::of(path), &mut vec![deck])
            .map_err(|located| text.explained(located, path))?;
        Ok(text)
    }

    /// An error at a line of the text as one in the file that the line stands in.
    pub fn explained(&self, Located { place, fault }: Located, path: &Path) -> ReadError {
        let Some(Place::Line(line)) = place else {
            return ReadError { path: path.into(), place, fault };
        };
        let (path, line) = self.at(line).unwrap_or((path, line));
        ReadError { path: path.into(), place: Some(Place::Line(line)), fault }
    }

    /// A line of the text for people, with the file unless it is the deck itself.
    pub fn shown(&self, line: usize) -> String {
        let deck = self.stretches.first().map(|(_, path, _)| path.as_path());
        match self.at(line) {
            Some((path, of_file)) if Some(path) != deck => {
                format!("line {of_file} of {}", path.file_name().unwrap_or_default().display())
            }
            Some((_, of_file)) => format!("line {of_file}"),
            None => format!("line {line}"),
        }
    }

    /// The file and the line of a line of the text.
    fn at(&self, line: usize) -> Option<(&Path, usize)> {
        let behind = self.stretches.partition_point(|(first, ..)| *first <= line);
        let (first, path, of_file) = self.stretches.get(behind.checked_sub(1)?)?;
        Some((path, of_file + line - first))
    }

    /// Adds the lines of a file; `open` are the files around it and itself, without links.
    fn add(
        &mut self,
        path: &Path,
        bytes: &[u8],
        folder: &DeckFolder,
        open: &mut Vec<PathBuf>,
    ) -> Parsed<()> {
        self.n_files += 1;
        self.stretches.push((self.n_lines + 1, path.into(), 1));
        // A byte order mark may begin each file, not only the first.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut lines = bytes.split_inclusive(|b| *b == b'\n').zip(1..).peekable();
        while let Some((line, number)) = lines.next() {
            self.bytes.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                self.bytes.push(b'\n');
            }
            self.n_lines += 1;
            let Some(mut keyword) = input_of(line) else { continue };

            // A keyword continues after a comma.
            while keyword.trim_end().ends_with(',')
                && let Some((more, _)) = lines.next_if(|(more, _)| !more.starts_with(b"*"))
            {
                keyword.push_str(&String::from_utf8_lossy(more));
                self.bytes.extend_from_slice(more);
                self.n_lines += 1;
            }
            let Some(name) = input(&keyword) else { continue };
            let at = self.n_lines;
            let inner =
                self.included(&name, folder, open).map_err(|fault| Located::at_line(at, fault))?;
            let (inner, bytes) = inner;
            // In messages the path starts with that of the deck, as the user wrote it.
            let below = inner.strip_prefix(folder.path()).unwrap_or(&inner);
            let shown = self.stretches[0].1.with_file_name(below);
            open.push(inner);
            self.add(&shown, &bytes, folder, open)?;
            open.pop();
            let next = lines.peek().map_or(number + 1, |(_, next)| *next);
            self.stretches.push((self.n_lines + 1, path.into(), next));
        }
        Ok(())
    }

    /// The path and the bytes of the file `name`, relative to the folder of the deck.
    fn included(
        &self,
        name: &str,
        folder: &DeckFolder,
        open: &[PathBuf],
    ) -> Result<(PathBuf, Vec<u8>), Fault> {
        let refused = |cause: &str| Fault::Include { file: name.into(), cause: cause.into() };
        if open.len() > DEEPEST || self.n_files > MOST_FILES {
            return Err(refused("too many files include each other"));
        }
        // Decks from Windows have its separators.
        let read = folder.read(folder.path(), &name.replace('\\', "/"));
        let (path, bytes) = read.map_err(|refusal| match refusal {
            Refusal::Elsewhere => refused("it lies outside of the deck's folder"),
            Refusal::Unread(cause) => refused(&cause),
        })?;
        if open.contains(&path) {
            return Err(refused("it includes itself"));
        }
        Ok((path, bytes))
    }
}

/// The first line of a keyword that may name a file: *INCLUDE, *NODE and *ELEMENT.
fn input_of(line: &[u8]) -> Option<String> {
    if line.first() != Some(&b'*') || line.starts_with(b"**") {
        return None;
    }
    let text = String::from_utf8_lossy(&line[..line.len().min(4096)]).into_owned();
    let keyword = capitals(text.split(',').next().unwrap_or_default());
    matches!(keyword.as_str(), "*INCLUDE" | "*NODE" | "*ELEMENT").then_some(text)
}

/// The value of the parameter INPUT of a keyword.
fn input(keyword: &str) -> Option<String> {
    let mut fields = keyword.split(',').filter_map(|field| field.split_once('='));
    let (_, value) = fields.find(|(name, _)| capitals(name) == "INPUT")?;
    Some(unquoted(value.trim()).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.inp", "*HEADING\n*INCLUDE,\nINPUT=b.inc\n*STEP\n*END STEP");
        write("b.inc", "*NODE, INPUT=\"c.inc\"\n** b 2\n");
        write("c.inc", "1, 0, 0, 0\n2, 1, 0, 0");

        let path = folder.path().join("a.inp");
        let text = Text::read(&path).unwrap();
        let lines: Vec<&str> = std::str::from_utf8(&text.bytes).unwrap().lines().collect();
        let names = |line: usize| {
            let (file, line) = text.at(line).unwrap();
            (file.file_name().unwrap().to_str().unwrap().to_owned(), line)
        };

        for (line, file, of_file, start) in [
            (1, "a.inp", 1, "*HEADING"),
            (3, "a.inp", 3, "INPUT=b.inc"),
            (4, "b.inc", 1, "*NODE"),
            (5, "c.inc", 1, "1, 0"),
            (6, "c.inc", 2, "2, 1"),
            (7, "b.inc", 2, "** b 2"),
            (8, "a.inp", 4, "*STEP"),
            (9, "a.inp", 5, "*END STEP"),
        ] {
            assert!(lines[line - 1].starts_with(start), "{line}: {lines:?}");
            assert_eq!(names(line), (file.to_owned(), of_file), "{line}");
        }
    }

    #[test]
    fn a_byte_order_mark_begins_any_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.inp");
        std::fs::write(&path, "\u{feff}*HEADING\n*INCLUDE, INPUT=b.inc\n").unwrap();
        std::fs::write(folder.path().join("b.inc"), "\u{feff}*CLOAD\n1, 2, 3.\n").unwrap();
        let text = Text::read(&path).unwrap();
        let expected = "*HEADING\n*INCLUDE, INPUT=b.inc\n*CLOAD\n1, 2, 3.\n";
        assert_eq!(std::str::from_utf8(&text.bytes).unwrap(), expected);
    }

    #[test]
    fn files_outside_and_circles_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("deck");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(folder.path().join("out.inc"), "").unwrap();
        // Nobody writes into the pipe: who opens it waits for ever.
        let made = std::process::Command::new("mkfifo").arg(inner.join("pipe")).status();
        assert!(made.unwrap().success());
        for (name, words) in [
            ("../out.inc", "outside of the deck's folder"),
            ("a.inp", "includes itself"),
            ("pipe", "it is not a file"),
            ("none.inc", "No such file"),
        ] {
            let path = inner.join("a.inp");
            std::fs::write(&path, format!("*HEADING\n*INCLUDE, INPUT={name}\n")).unwrap();
            let error = Text::read(&path).err().unwrap().to_string();
            assert!(error.contains("line 2: ") && error.contains(words), "{error}");
        }
    }
}
