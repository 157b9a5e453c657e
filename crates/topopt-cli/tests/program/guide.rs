//! The commands, cases and outputs that README and the guide show, in the order of each page.
//!
//! A page runs in a folder of its own, in which `meshes` and `benchmarks` are those of the project.
//! Its blocks of code mean:
//!
//! - `sh`: run by the shell and successful, if its first line begins with `topopt`; with `sh,fails`
//!   it must fail.
//! - `text`: lines that the block before has printed, with any numbers; `...` stands for lines that
//!   are left out. With `text,near` numbers may differ by a tenth.
//! - `toml` with a first line `# NAME.toml`: a case, written to that file and checked.
//!   With `toml,part` it is for an analysis alone, which a later block asks for.
//! - `toml` without: some tables, checked in place of those of the page's last case, or of a small one.
//! - any other with a first line `// NAME`: a file.
//!
//! What `,gmsh` marks needs Gmsh and is skipped without it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::gmsh::has_gmsh;
use crate::{CASE, Finished, topopt};

#[test]
fn the_readme_and_the_guide_show_what_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    let guide = std::fs::read_dir(root.join("docs/guide/src")).unwrap();
    pages.extend(guide.map(|entry| entry.unwrap().path()));
    pages.sort();
    assert!(pages.len() > 15, "{pages:?}");

    let mut n_blocks = 0;
    for path in pages {
        n_blocks += Page::new(&path, &root).check_all();
    }
    assert!(n_blocks > 60, "{n_blocks} blocks of code were checked");
}

/// A page whose blocks are checked in turn.
struct Page {
    name: String,
    text: String,
    folder: tempfile::TempDir,
    /// The last case, into which tables alone are put.
    case: toml::Table,
    /// Output of the last block of commands; none where it was skipped.
    printed: Option<String>,
}

/// A block of code: what stands behind its fence, its lines, and where it begins.
struct Block {
    info: String,
    text: String,
    line: usize,
}

impl Page {
    fn new(path: &Path, root: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["meshes", "benchmarks"] {
            std::os::unix::fs::symlink(root.join(name), folder.path().join(name)).unwrap();
        }
        Self {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            text: std::fs::read_to_string(path).unwrap(),
            folder,
            case: CASE.parse().unwrap(),
            printed: None,
        }
    }

    /// Checks every block; returns how many there were to check.
    fn check_all(&mut self) -> usize {
        blocks(&self.text).iter().filter(|block| self.check(block)).count()
    }

    /// Checks a block; whether there was something to check.
    fn check(&mut self, block: &Block) -> bool {
        match block.info.as_str() {
            "sh,gmsh" | "toml,gmsh" if !has_gmsh() => self.printed = None,
            "sh" | "sh,fails" | "sh,gmsh" if block.text.starts_with("topopt ") => self.run(block),
            "text" | "text,near" => self.compare(block),
            "toml,part" => drop(self.write_case(block)),
            "toml" | "toml,gmsh" => self.check_case(block),
            _ => match block.text.lines().next().and_then(|line| line.strip_prefix("// ")) {
                Some(name) => std::fs::write(self.path(name), &block.text).unwrap(),
                None => return false,
            },
        }
        true
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the file and line of a block, for people.
    fn place(&self, block: &Block) -> String {
        format!("{}:{}", self.name, block.line)
    }

    fn run(&mut self, block: &Block) {
        let program = Path::new(env!("CARGO_BIN_EXE_topopt")).parent().unwrap();
        let mut path = program.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &block.text]).current_dir(self.folder.path()).env("PATH", path);
        let Finished { status, out, err } = shell.output().unwrap().into();
        let place = self.place(block);
        assert_eq!(status != 0, block.info == "sh,fails", "{place}: status {status}\n{out}{err}");
        self.printed = Some(out + &err);
    }

    fn compare(&self, block: &Block) {
        let Some(printed) = &self.printed else { return };
        let lines: Vec<_> = printed.lines().map(without_numbers).collect();
        for line in block.text.lines().filter(|line| line.trim() != "...") {
            let (place, shown) = (self.place(block), without_numbers(line));
            let is_there = match block.info.as_str() {
                "text,near" => printed.lines().any(|other| are_near(line, other)),
                _ => lines.contains(&shown),
            };
            assert!(is_there, "{place}: `{line}` is not in what is printed:\n{printed}");
        }
    }

    /// Writes a case, or the last one with other tables; returns the name of its file.
    fn write_case(&mut self, block: &Block) -> String {
        let name = block.text.lines().next().and_then(|line| line.strip_prefix("# "));
        let tables: toml::Table =
            block.text.parse().unwrap_or_else(|error| panic!("{}: {error}", self.place(block)));
        match name.filter(|name| name.ends_with(".toml")) {
            Some(name) => {
                std::fs::write(self.path(name), &block.text).unwrap();
                self.case = tables;
                name.into()
            }
            None => {
                let mut case = self.case.clone();
                case.extend(tables);
                std::fs::write(self.path("tables.toml"), case.to_string()).unwrap();
                "tables.toml".into()
            }
        }
    }

    fn check_case(&mut self, block: &Block) {
        let file = self.write_case(block);
        let (status, out, err) = topopt(self.folder.path(), &["check", &file]);
        assert_eq!(status, 0, "{}\n{out}{err}", self.place(block));
    }
}

/// The blocks of code of a Markdown text.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside =
            lines.by_ref().map(|(_, line)| line).take_while(|line| !line.starts_with("```"));
        let text = inside.map(|line| format!("{line}\n")).collect();
        blocks.push(Block { info: info.into(), text, line: number + 1 });
    }
    blocks
}

/// `line` with `#` in place of every word that holds a digit, and one blank between words: numbers
/// differ between machines.
fn without_numbers(line: &str) -> String {
    let is_number = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
    let words = line.split_whitespace().map(|word| if is_number(&word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether two lines have the same words, and numbers that differ by a tenth at most.
fn are_near(line: &str, other: &str) -> bool {
    let number = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit()).parse::<f64>().ok();
    let is_near = |(a, b): (&str, &str)| match (number(a), number(b)) {
        (Some(a), Some(b)) => (a - b).abs() <= 0.1 * a.abs().max(b.abs()),
        _ => true,
    };
    let words = line.split_whitespace().zip(other.split_whitespace());
    without_numbers(line) == without_numbers(other) && words.into_iter().all(is_near)
}

#[test]
fn blocks_are_found_and_numbers_left_out() {
    let found = blocks("# A\n```sh\ntopopt info\n```\ntext\n```text\na  1.5e3 (2 b)\n```\n");
    let found: Vec<_> = found.iter().map(|b| (b.info.as_str(), b.text.as_str(), b.line)).collect();
    assert_eq!(found, [("sh", "topopt info\n", 2), ("text", "a  1.5e3 (2 b)\n", 6)]);
    assert_eq!(without_numbers("  a  1.5e3 (2 b)"), "a # # b)");
    assert!(are_near("  8000 triangles, 0.44;", "7700 triangles, 0.42;"));
    assert!(!are_near("8782 triangles", "7690 triangles") && !are_near("9 nodes", "9 edges"));
}
