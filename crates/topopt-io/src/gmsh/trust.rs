//! Scan of geometries for commands beyond geometry: a `.geo` file is a program, and so is
//! all that it merges and the `.opt` file beside it.
//!
//! What reads the surroundings is no better: an environment variable may become the name of a set,
//! and go with results to others.
//!
//! The scan reads as Gmsh's own scanner does (src/parser/Gmsh.l of Gmsh 4.15: no escapes in
//! strings, at most 1023 bytes each, a NUL byte ends comments) and looks for the commands and
//! options of its grammar (Gmsh.y) that do such things. Where it cannot be sure it
//! refuses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// A place in a geometry that may do harm.
pub(super) struct Suspect {
    /// The geometry, or a file that it reads.
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    /// Suspect word of the script, or a description of the suspect text.
    pub word: String,
    /// Harm that the word may do.
    pub harm: Harm,
}

impl Suspect {
    fn of(path: &Path, line: usize, word: &str, harm: Harm) -> Self {
        Self { path: path.into(), line, word: word.into(), harm }
    }
}

/// Harm that a geometry must not do unless it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// Run programs or write files.
    Acts,
    /// Read what lies around it, such as variables of the environment, into names of sets and results.
    Reads,
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Acts => "may run programs or write files",
            Self::Reads => "may read what is outside the geometry",
        })
    }
}

/// Ends of the names of what runs programs, writes files or keeps a command for later. The end
/// counts, since Gmsh continues right after an `EndIf` or `Return` that it has skipped to.
const HARMFUL: &str = "SystemCall System OnelabRun ExternalProcess CommandLine Command Solver Plugin \
                       Save CreateDir SendToServer OptionsFileName ErrorFileName";

/// Ends of the names of what reads the environment, folders and files that are no geometry. The file of
/// a `Structured` field is named by `FileName`; the name of the geometry itself is no secret.
const CURIOUS: &str = "GetEnv CurrentDirectory CurrentDir AbsolutePath GmshExecutableName ListFromFile \
                       FileExists FileName PathName";
const OWN_NAME: &str = "CurrentFileName";

/// Begins the names of options that hold files which the user had open.
const RECENT: &str = "RecentFile";

/// Commands that read a file, as a script unless its name says otherwise.
const READING: &str = "Include Merge MergeWithBoundingBox ShapeFromFile";

/// Extensions of files that Gmsh never reads as a script. It minds their case.
const DATA: [&str; 11] =
    ["step", "STEP", "stp", "STP", "iges", "IGES", "igs", "IGS", "brep", "stl", "STL"];

/// Extensions of scripts that may be merged.
const SCRIPTS: [&str; 3] = ["geo", "opt", "pos"];

/// The first place in the geometry at `path`, or in what it reads, that may run a program or write
/// a file.
pub(super) fn suspect(path: &Path) -> Option<Suspect> {
    suspect_in(path, &mut BTreeSet::new())
}

fn suspect_in(path: &Path, known: &mut BTreeSet<PathBuf>) -> Option<Suspect> {
    if !known.insert(path.into()) {
        return None;
    }
    let of_file = if has_extension(path, &DATA) { None } else { suspect_in_script(path, known) };
    of_file.or_else(|| {
        // Gmsh merges it without being asked to.
        let mut options = path.as_os_str().to_owned();
        options.push(".opt");
        let options = PathBuf::from(options);
        if options.exists() { suspect_in(&options, known) } else { None }
    })
}

fn suspect_in_script(path: &Path, known: &mut BTreeSet<PathBuf>) -> Option<Suspect> {
    let may = |harm, line: usize, word: &str| Some(Suspect::of(path, line, word, harm));
    let at = |line: usize, word: &str| may(Harm::Acts, line, word);
    let Ok(text) = fs::read(path) else { return at(1, "a file that cannot be read") };
    if text.starts_with(b"$MeshFormat") {
        return None;
    }

    let tokens = match tokens(&text) {
        Ok(tokens) => tokens,
        Err((line, what)) => return at(line, what),
    };

    for (i, (line, token)) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let rest = tokens[i + 1..].iter().map(|(_, token)| token);
        if is_harmful(word, rest.clone()) {
            return at(*line, word);
        }
        if is_curious(word) {
            return may(Harm::Reads, *line, word);
        }

        // A file that is read is scanned as well; one whose name is not a plain text is suspect.
        if ends_with_one(word, READING) {
            let file = named_file(rest).filter(|file| {
                let file = Path::new(file);
                has_extension(file, &DATA) || has_extension(file, &SCRIPTS)
            });
            let Some(file) = file else { return at(*line, word) };
            if Path::new(file).is_absolute() {
                return may(Harm::Reads, *line, word);
            }

            let folder = path.parent().unwrap_or(Path::new(""));
            if let Some(suspect) = suspect_in(&folder.join(file), known) {
                return Some(suspect);
            }
        }
    }
    None
}

/// Whether a word ends with one of `ends`, which blanks separate.
fn ends_with_one(word: &str, ends: &str) -> bool {
    ends.split(' ').any(|end| word.ends_with(end))
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    path.extension().is_some_and(|extension| known.iter().any(|known| extension == *known))
}

/// Whether a word may do harm where the tokens `rest` follow it.
fn is_harmful<'a>(word: &str, mut rest: impl Iterator<Item = &'a Token<'a>>) -> bool {
    if ends_with_one(word, HARMFUL) {
        return true;
    }
    if word.ends_with("Print") {
        // `Print.` begins the name of an option.
        return rest.next() != Some(&Token::Symbol(b'.'));
    }
    // `Printf(...) > "file"`: the sign may stand anywhere in the statement.
    let in_statement = || rest.take_while(|token| **token != Token::Symbol(b';'));
    word.ends_with("Printf") && in_statement().any(|token| *token == Token::Symbol(b'>'))
}

/// Whether a word may read what is no part of the geometry.
fn is_curious(word: &str) -> bool {
    ends_with_one(word, CURIOUS) && !word.ends_with(OWN_NAME) || word.contains(RECENT)
}

/// The file that a statement names by nothing else than a text.
fn named_file<'a>(mut rest: impl Iterator<Item = &'a Token<'a>>) -> Option<&'a str> {
    let mut next = rest.next()?;
    if *next == Token::Symbol(b'(') {
        next = rest.next()?;
    }
    let Token::Text(file) = next else { return None };
    matches!(rest.next(), Some(Token::Symbol(b';' | b')'))).then_some(file)
}

#[derive(Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Text(&'a str),
    Symbol(u8),
}

/// The words, texts and symbols of a script with their lines; or the line that Gmsh may read in
/// another way than this does, and what stands there.
fn tokens(text: &[u8]) -> Result<Vec<(usize, Token<'_>)>, (usize, &'static str)> {
    let mut scan = Scan { text, at: 0, line: 1, is_first: true };
    let mut tokens = Vec::new();
    let mut has_loops = false;
    let mut over_lines = None;

    while let Some(&byte) = text.get(scan.at) {
        let line = scan.line;
        let is_behind_code = !scan.is_first;

        match (byte, text.get(scan.at + 1)) {
            (b'/', Some(b'/')) => drop(scan.skip_to(b"\n")?),
            (b'/', Some(b'*')) => {
                scan.step(2)?;
                scan.skip_to(b"*/")?;
                scan.step(2)?;
            }
            (b'"' | b'\'', _) => tokens.push((line, Token::Text(scan.quoted(byte)?))),
            _ if is_letter(byte) => {
                let word = scan.word()?;
                has_loops |= ends_with_one(word, "For Macro Function");
                tokens.push((line, Token::Word(word)));
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    tokens.push((line, Token::Symbol(byte)));
                }
                scan.step(1)?;
            }
        }

        if scan.line > line && byte != b'\n' && is_behind_code {
            over_lines.get_or_insert(line);
        }
    }

    // Gmsh goes back to the line behind the head of a loop, which would then begin within.
    match over_lines.filter(|_| has_loops) {
        Some(line) => Err((line, "a comment or text over several lines, behind code")),
        None => Ok(tokens),
    }
}

/// Texts of more bytes end early in Gmsh.
const LONGEST_TEXT: usize = 1022;

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// A place in a script.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// From 1.
    line: usize,
    /// Whether nothing but blanks stands before it in its line.
    is_first: bool,
}

impl<'a> Scan<'a> {
    /// Advances by `count` bytes, or to the end.
    fn step(&mut self, count: usize) -> Result<(), (usize, &'static str)> {
        for _ in 0..count {
            let Some(&byte) = self.text.get(self.at) else { return Ok(()) };
            self.at += 1;
            match byte {
                0 => return Err((self.line, "a NUL byte")),
                b'\r' if self.text.get(self.at) != Some(&b'\n') => {
                    return Err((self.line, "a carriage return within a line"));
                }
                b'\n' => {
                    self.line += 1;
                    self.is_first = true;
                }
                _ => self.is_first &= byte.is_ascii_whitespace(),
            }
        }
        Ok(())
    }

    /// Reads the text between the next two marks `quote`, and advances past the second.
    fn quoted(&mut self, quote: u8) -> Result<&'a str, (usize, &'static str)> {
        let line = self.line;
        self.step(1)?;
        let content = self.skip_to(&[quote])?;
        self.step(1)?;
        if content.len() > LONGEST_TEXT {
            return Err((line, "a text of more than 1023 bytes"));
        }
        str::from_utf8(content).map_err(|_| (line, "a text not in UTF-8"))
    }

    /// Reads the next letters and digits, and advances past them.
    fn word(&mut self) -> Result<&'a str, (usize, &'static str)> {
        let rest = &self.text[self.at..];
        let is_part = |b: &u8| is_letter(*b) || b.is_ascii_digit();
        let word = &rest[..rest.iter().take_while(|b| is_part(b)).count()];
        self.step(word.len())?;
        Ok(str::from_utf8(word).unwrap_or_default())
    }

    /// Advances to the next `mark`, or to the end; returns the bytes before it.
    fn skip_to(&mut self, mark: &[u8]) -> Result<&'a [u8], (usize, &'static str)> {
        let rest = &self.text[self.at..];
        let found = rest.windows(mark.len()).position(|window| window == mark);
        let content = &rest[..found.unwrap_or(rest.len())];
        self.step(content.len())?;
        Ok(content)
    }
}
