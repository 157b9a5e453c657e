//! What the pages of runs and of analyses share: tables, facts and their words.

pub(super) mod cases;
pub(super) mod part;
pub(super) mod problem;
pub(super) mod thermal;
pub(super) mod wording;
