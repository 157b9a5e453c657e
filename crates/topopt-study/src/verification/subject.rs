//! All that a verification is made from.

use super::carried::Carried;
use super::restraints::Restraint;
use super::shape::Shape;
use super::solve::Solution;
use crate::case::CaseLoads;
use crate::config::Config;
use crate::model::Model;
use crate::tags::Tags;

/// All that a verification is made from.
pub(super) struct Subject<'a> {
    pub config: &'a Config,
    pub model: &'a Model,
    pub design: Shape,
    pub carried: Carried,
    pub solution: Solution,
    /// Loads and what holds the part, by nodes as the user numbers them.
    pub loads: Vec<CaseLoads>,
    pub restraints: Vec<Restraint>,
    pub tags: Option<Tags>,
}
