//! Regression benchmarks over whole runs.
