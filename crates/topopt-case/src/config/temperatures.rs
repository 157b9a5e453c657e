//! Temperatures among the loads of a case.

use std::path::Path;

use toml::{Spanned, Value};

use super::{ComputedTemperature, Config, Load, Temperature};

impl Load {
    /// The temperature of its elements, if it is one, with its place.
    pub fn temperature(&self) -> Option<Spanned<Temperature>> {
        self.spanned("temperature")
    }

    /// Makes the path of a file of temperatures absolute, which is relative to `folder`.
    pub(super) fn make_absolute(&mut self, folder: &Path) {
        let Some(Temperature::Computed(computed)) = self.temperature().map(Spanned::into_inner)
        else {
            return;
        };
        let absolute = std::path::absolute(computed.path(folder)).ok();
        let file = absolute.unwrap_or(computed.file.clone());
        let value = Value::try_from(ComputedTemperature { file, ..computed });
        self.set("temperature", value.ok());
    }
}

impl Config {
    /// Temperatures of other files, with the folder that their paths are relative to.
    pub fn computed_temperatures(&self) -> impl Iterator<Item = Spanned<ComputedTemperature>> {
        let given = self.loads.iter().filter_map(Load::temperature);
        given.filter_map(|given| match given.get_ref() {
            Temperature::Computed(computed) => Some(Spanned::new(given.span(), computed.clone())),
            _ => None,
        })
    }

    /// Whether elements expand in a load case.
    pub fn has_temperatures(&self) -> bool {
        self.loads.iter().any(|load| load.temperature().is_some())
    }

    /// Folder of the case file, which paths in it are relative to.
    pub fn folder(&self) -> &Path {
        self.path().parent().unwrap_or(Path::new(""))
    }
}
