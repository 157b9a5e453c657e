//! Tables that grow row by row (`.csv`).

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::atomic::{self, WriteError};

/// A CSV file (RFC 4180, lines ended by \n) that holds whole rows at every moment, whatever
/// happens to the program or the disk.
#[derive(Debug)]
pub struct CsvFile {
    path: PathBuf,
    file: File,
    columns: usize,
    /// Length of the file up to its last whole row.
    length: u64,
}

impl CsvFile {
    /// Makes a new file with the names of the columns; a link in its place is replaced, not
    /// followed.
    ///
    /// # Errors
    /// [`WriteError`] with the operating system's cause.
    pub fn create(path: &Path, columns: &[&str]) -> Result<Self, WriteError> {
        Self::restore(path, columns, &(header(columns) + "\n"))
    }

    /// Replaces the file by `text`, whole rows of an earlier table of these columns, before more
    /// rows follow.
    ///
    /// # Errors
    /// [`WriteError`]: other columns, or the operating system's cause.
    pub fn restore(path: &Path, columns: &[&str], text: &str) -> Result<Self, WriteError> {
        let fault = |cause| WriteError::new(path, cause);
        if text.lines().next() != Some(&header(columns)) {
            return Err(fault(io::Error::other("the table to go on with has other columns")));
        }
        atomic::write(path, |file| file.write_all(text.as_bytes()))?;
        let file = File::options().append(true).open(path).map_err(fault)?;
        Ok(Self { path: path.into(), file, columns: columns.len(), length: text.len() as u64 })
    }

    /// Writes one row at once; when it cannot be written whole, nothing of it stays.
    ///
    /// # Errors
    /// [`WriteError`]: another number of fields than columns, or the operating system's cause.
    pub fn row(&mut self, fields: &[&dyn Display]) -> Result<(), WriteError> {
        let fault = |path: &Path, cause| Err(WriteError::new(path, cause));
        if fields.len() != self.columns {
            let text = format!("a row of {} fields for {} columns", fields.len(), self.columns);
            return fault(&self.path, io::Error::other(text));
        }
        let fields: Vec<String> = fields.iter().map(|field| quote(field.to_string())).collect();
        let line = fields.join(",") + "\n";
        match self.file.write_all(line.as_bytes()) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(cause) => {
                // The first error is the one to report.
                let _ = self.file.set_len(self.length);
                let _ = self.file.seek(SeekFrom::Start(self.length));
                fault(&self.path, cause)
            }
        }
    }
}

fn header(columns: &[&str]) -> String {
    let columns: Vec<String> = columns.iter().map(|&column| quote(column.into())).collect();
    columns.join(",")
}

/// The fields of a `line` of a table; none where its quotation marks make no sense.
pub fn fields(line: &str) -> Option<Vec<String>> {
    let (mut fields, mut rest) = (Vec::new(), line);
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (field, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                (field.to_owned(), after)
            }
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(fields),
            None => return None,
        }
    }
}

/// Returns the text up to the closing quotation mark, and the rest; two marks in it mean one.
fn unquoted(mut rest: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    loop {
        let (before, after) = rest.split_once('"')?;
        text += before;
        match after.strip_prefix('"') {
            Some(next) => (text, rest) = (text + "\"", next),
            None => return Some((text, after)),
        }
    }
}

/// A number of a table, with an exponent where it would have more than 17 digits without.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e17).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// A field of a table, in quotation marks if it needs them.
pub fn quote(field: String) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_file_as_soon_as_they_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.csv");
        let content = || std::fs::read_to_string(&path).unwrap();
        let mut csv = CsvFile::create(&path, &["iteration", "compliance", "note"]).unwrap();
        assert_eq!(content(), "iteration,compliance,note\n");
        csv.row(&[&1, &0.1f64, &"a, \"b\""]).unwrap();
        assert_eq!(content(), "iteration,compliance,note\n1,0.1,\"a, \"\"b\"\"\"\n");
        let error = csv.row(&[&2]).unwrap_err().to_string();
        assert!(error.ends_with("history.csv: a row of 1 fields for 3 columns"), "{error}");
        assert_eq!(content().lines().count(), 2);
    }

    #[test]
    fn names_of_columns_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.csv");
        let columns = ["a,b", "say \"no\"", "", "\"", ",", "plain"];
        CsvFile::create(&path, &columns).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(fields(text.strip_suffix('\n').unwrap()).unwrap(), columns);
        for wrong in ["\"a", "\"a\"b", "\"a\"\""] {
            assert_eq!(fields(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.1, "-0.1"),
            (1e308, "1e308"),
            (-1e-300, "-1e-300"),
            (123456789.25, "123456789.25"),
        ] {
            assert_eq!(number(value), text);
            assert_eq!(number(value).parse(), Ok(value));
        }
    }

    #[test]
    fn rows_follow_those_of_an_earlier_table() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.csv");
        std::fs::write(&path, "a,b\n1,2\n3,4\n5").unwrap();
        let mut csv = CsvFile::restore(&path, &["a", "b"], "a,b\n1,2\n").unwrap();
        csv.row(&[&6, &7]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a,b\n1,2\n6,7\n");
        let error = CsvFile::restore(&path, &["a", "c"], "a,b\n1,2\n").unwrap_err().to_string();
        assert!(error.ends_with("the table to go on with has other columns"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a,b\n1,2\n6,7\n");
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let error = CsvFile::create(directory.path(), &["iteration"]).unwrap_err().to_string();
        assert!(error.starts_with("cannot write ") && error.contains("Is a directory"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_not_replaced() {
        let error = CsvFile::create("/dev/full".as_ref(), &["iteration"]).unwrap_err().to_string();
        assert!(error.starts_with("cannot write /dev/full: it is a device"), "{error}");
    }
}
