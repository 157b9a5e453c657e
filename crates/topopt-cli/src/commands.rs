//! What each subcommand does. Results go to the writer given, never straight to the console.

mod info;
mod init;
mod mesh;

use std::io::{self, Write};

use clap::CommandFactory;

use crate::args::{Cli, Command};
use crate::config;
use crate::report::{Finding, InputError};

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's input is wrong.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The results could not be printed.
    #[error("cannot write to standard output: {0}")]
    Print(#[from] io::Error),
}

impl Failure {
    /// Exit status of the program: 0 where the reader of a pipe has just gone away, else 1.
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Print(cause) if cause.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Input(_) | Failure::Print(_) => 1,
        }
    }

    /// What to tell the user; nothing where nobody listens any more.
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            Failure::Input(error) => error.findings().to_vec(),
            Failure::Print(_) if self.exit_status() == 0 => Vec::new(),
            Failure::Print(_) => vec![Finding::new(self.to_string())],
        }
    }
}

/// Does what the command line asks and prints to `out`.
///
/// # Errors
/// [`Failure`], with the exit status that belongs to it.
pub fn execute(command: &Command, out: &mut impl Write) -> Result<(), Failure> {
    match command {
        Command::Init { name } => init::init(name, out),
        Command::Mesh(args) => mesh::mesh(args, out),
        Command::Info { file, json } => info::info(file, *json, out),
        Command::Schema => Ok(writeln!(out, "{:#}", config::schema())?),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "topopt", &mut script);
            Ok(out.write_all(&script)?)
        }
    }
}
