//! The program: configuration, case, run, report.
