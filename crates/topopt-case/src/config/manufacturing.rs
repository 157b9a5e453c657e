//! The keys of `[[manufacturing]]`: how the part is made, and what that asks of its design.

use std::ops::{Deref, Range};

use serde::{Deserialize, Serialize};
use toml::{Spanned, Value};

use super::own_keys::OwnKeys;

/// A demand of the way in which the part is made; [`crate::manufacturing`] has the table of its
/// kinds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "OwnKeys", into = "OwnKeys")]
pub struct Manufacturing {
    /// Name of its kind.
    pub kind: Spanned<String>,
    /// Keys of the kind.
    own: OwnKeys,
}

impl Manufacturing {
    /// A demand of a `kind` that stands at a `place` of the case file, with its keys there.
    pub(super) fn at(
        place: Range<usize>,
        kind: &str,
        keys: impl IntoIterator<Item = (&'static str, Range<usize>, Value)>,
    ) -> Self {
        Self { kind: Spanned::new(place, kind.into()), own: OwnKeys::at(keys) }
    }

    /// Whether it is of the kind of another one, with the same keys and values.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        let [mut one, mut two] = [self.own.clone(), other.own.clone()];
        one.with_floats();
        two.with_floats();
        self.kind.get_ref() == other.kind.get_ref() && one.is_as(&two)
    }
}

impl TryFrom<OwnKeys> for Manufacturing {
    type Error = toml::de::Error;

    fn try_from(mut own: OwnKeys) -> Result<Self, toml::de::Error> {
        let kind = own.taken("kind")?.unwrap_or_else(|| Spanned::new(0..0, String::new()));
        Ok(Self { kind, own })
    }
}

impl From<Manufacturing> for OwnKeys {
    fn from(demand: Manufacturing) -> Self {
        let mut keys = demand.own;
        keys.put("kind", Some(demand.kind.into_inner().into()));
        keys
    }
}

impl Deref for Manufacturing {
    type Target = OwnKeys;

    fn deref(&self) -> &OwnKeys {
        &self.own
    }
}
