//! Numbers of the command line that no option takes.

use std::any::TypeId;
use std::num::NonZeroUsize;

use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory, Parser};
use topopt_cli::args::Cli;

/// Whether an option takes a number.
fn is_number(arg: &&Arg) -> bool {
    let found = arg.get_value_parser().type_id();
    let types = [
        TypeId::of::<f64>(),
        TypeId::of::<usize>(),
        TypeId::of::<NonZeroUsize>(),
        TypeId::of::<u8>(),
        TypeId::of::<u32>(),
        TypeId::of::<(String, f64)>(),
    ];
    types.iter().any(|&known| found == known)
}

/// Options of `command` that take a number, each with what precedes it.
fn options(command: &Command) -> Vec<(String, String)> {
    let numbers = command.get_arguments().filter(is_number);
    let named = numbers.filter_map(|arg| Some((command.get_name().into(), arg.get_long()?.into())));
    named.collect()
}

#[test]
fn each_option_says_which_numbers_it_takes() {
    let program = Cli::command();
    let all: Vec<_> = program.get_subcommands().flat_map(options).collect();
    assert!(all.len() >= 10, "{all:?}");
    for (command, option) in all {
        for value in ["nan", "inf", "-inf", "x", "", "1e999", "-nan"] {
            let value = if option == "speed" { format!("set={value}") } else { value.into() };
            let line = ["topopt", &command, &format!("--{option}"), &value];
            let error = Cli::try_parse_from(line).unwrap_err();
            let said = error.to_string();
            let case = format!("{command} --{option} {value}: {said}");
            assert_eq!(error.kind(), ErrorKind::ValueValidation, "{case}");
            let names = format!("invalid value '{value}' for '--{option} <");
            assert!(said.contains(&names) && said.contains(">': give a"), "{case}");
        }
    }
}

#[test]
fn numbers_out_of_range_are_no_options() {
    for (command, option, value, wanted) in [
        ("verify", "threshold", "0", "above 0 and up to 1"),
        ("verify", "threshold", "-0.1", "above 0 and up to 1"),
        ("verify", "threshold", "1.01", "above 0 and up to 1"),
        ("export", "decimate", "1", "between 0 and 1"),
        ("distance", "within", "-1", "a length in the unit of the mesh"),
        ("distance", "speed", "rings=0", "a speed above 0"),
        ("mesh", "element-size", "0", "a length above 0"),
        ("mesh", "element-size", "-1", "a length above 0"),
        ("mesh", "elements", "0", "at least 1"),
        ("mesh", "elements", "-3", "at least 1"),
        ("mesh", "elements", "99999999999999999999999", "at least 1"),
        ("mesh", "size", "6", "from 1 to 5"),
        ("mesh", "across", "0", "from 1 to 100"),
        ("run", "ranks", "0", "at least 1"),
        ("run", "ranks", "-1", "at least 1"),
    ] {
        let line = ["topopt", command, &format!("--{option}"), value];
        let said = Cli::try_parse_from(line).unwrap_err().to_string();
        let names = format!("invalid value '{value}' for '--{option} <");
        assert!(said.contains(&names) && said.contains(wanted), "{said}");
    }
}
