//! All that a verification is made from.

use super::carried::Carried;
use super::shape::Shape;
use super::solve::Solution;
use crate::model::Model;
use crate::tags::Tags;

/// All that a verification is made from.
pub(super) struct Subject<'a> {
    pub model: &'a Model,
    pub design: Shape,
    pub carried: Carried,
    pub solution: Solution,
    pub tags: Option<Tags>,
}
