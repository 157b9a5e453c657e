//! Parts that the pages of runs and of analyses share: tables, facts and their words.

pub(super) mod part;
pub(super) mod problem;
pub(super) mod targets;
pub(super) mod warnings;
pub(super) mod wording;
