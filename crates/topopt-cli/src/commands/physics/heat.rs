//! Temperatures and heat, for people and on pages.

use std::path::Path;

use topopt_case::finding::Finding;
use topopt_fem::Diffusion;
use topopt_mesh::numbers::{place, rounded, shown};
use topopt_mesh::vector::length;
use topopt_report::{Fact, Mark, NodalField, States, Table};
use topopt_study::design_file::DesignFile;
use topopt_study::heat::{Extreme, HeatBalance, HeatCase};
use topopt_study::run_directory::RunDirectory;
use topopt_study::solved_file::HeatFile;
use topopt_study::verification::{Compared, HighestTemperature};

use super::rows::{Rows, short};
use super::{CaseNumbers, OverallNumbers, Shown, mark};
use crate::commands::pages::wording::{Units, pictured, place_text};

impl Shown<1> for Diffusion {
    const TITLE: &str = "Temperatures and heat flux";
    const ABOUT: &str =
        "Heat flux at element centers, averaged at the nodes; arrows show its direction.";
    const OF_NUMBERS: Option<&str> =
        Some("Heat is per time: positive where it comes into the part.");
    const SOLVED: &str = "heat in ";
    const PICTURES: &str = "temperatures and heat flux";

    fn marks(file: &DesignFile) -> Vec<Mark> {
        vec![
            mark("heated", file.loaded()),
            mark("temperature held", file.supported()),
            mark("convection", file.convected()),
            mark("heat source within", &file.heated_within()),
        ]
    }

    fn states(
        results: &RunDirectory,
        file: &DesignFile,
        threshold: f64,
        names: &[&str],
        units: &Units,
    ) -> Result<Option<States>, Finding> {
        let cases = saved(file, names)?;
        let (shown, left_out) = pictured(&cases);
        let about = "Optimized design with its intermediate densities, without nodes in void.";
        let notes = [about, Self::ABOUT].map(str::to_owned).into_iter();
        Ok(Some(States {
            title: Self::TITLE.into(),
            fields: Self::pictures(&results.design(), shown, threshold, units)?,
            cases: HeatCase::table(&cases, 0.0, units),
            curves: Vec::new(),
            notes: notes.chain(left_out).collect(),
        }))
    }

    fn pictures(
        path: &Path,
        cases: &[HeatCase],
        least: f64,
        _: &Units,
    ) -> Result<Vec<NodalField>, Finding> {
        Ok(pictures(HeatFile::of_densities(path, &names(cases), least)?, cases))
    }

    fn verified_pictures(
        path: &Path,
        _: &HighestTemperature,
        cases: &[HeatCase],
        _: &Units,
    ) -> Result<Vec<NodalField>, Finding> {
        Ok(pictures(HeatFile::of_verification(path, &names(cases))?, cases))
    }
}

impl CaseNumbers for HeatCase {
    fn name(&self) -> &str {
        &self.name
    }

    fn lines(&self, _: f64, _: bool) -> Vec<(String, String)> {
        let compliance = self.compliance.map(|value| ("thermal compliance".into(), shown(value)));
        let extremes = [("coldest", &self.coldest), ("hottest", &self.hottest)];
        let extremes = extremes.map(|(name, at)| (name.into(), extreme(at)));
        let balance = self.heat.iter().flat_map(balance);
        compliance.into_iter().chain(extremes).chain(balance).collect()
    }

    fn table(cases: &[Self], _: f64, _: &Units) -> Table {
        let mut rows = Rows::of(cases);
        let has = |heat: fn(&HeatBalance) -> f64| {
            cases.iter().filter_map(|case| case.heat.as_ref()).any(|balance| heat(balance) != 0.0)
        };

        if cases.iter().any(|case| case.compliance.is_some()) {
            rows.add("Thermal compliance", |case| short(case.compliance.unwrap_or(f64::NAN)));
        }
        rows.add("Highest temperature", |case| at(&case.hottest));
        rows.add("Lowest temperature", |case| at(&case.coldest));
        if cases.iter().any(|case| case.into_nodes.is_some()) {
            let name = "Heat of loads, with that of ambients at the films";
            rows.add(name, |case| short(case.into_nodes.unwrap_or(f64::NAN)));
        }

        let Some(HeatBalance { supports, .. }) = cases.first().and_then(|case| case.heat.as_ref())
        else {
            return rows.table(Self::name);
        };
        rows.add("Heat of loads", |case| flow(case, |heat| heat.loads));
        if has(|heat| heat.convection) {
            rows.add("Heat by convection", |case| flow(case, |heat| heat.convection));
        }

        for (k, support) in supports.iter().enumerate() {
            let name = format!("Heat through support {}", support.set);
            rows.add(name, |case| flow(case, |heat| heat.supports[k].heat));
        }
        if has(|heat| heat.stored) {
            rows.add("Heat stored", |case| flow(case, |heat| heat.stored));
        }

        rows.add("Balance (in - out - stored)", |case| flow(case, |heat| heat.sum));
        rows.table(Self::name)
    }

    fn headline(cases: &[Self], _: &Units) -> Vec<Fact> {
        let hottest = cases.iter().map(|case| case.hottest.temperature).reduce(f64::max);
        let coldest = cases.iter().map(|case| case.coldest.temperature).reduce(f64::min);
        let facts = [("Highest temperature", hottest), ("Lowest temperature", coldest)];
        facts.into_iter().filter_map(|(name, value)| Some(Fact::new(name, short(value?)))).collect()
    }
}

impl OverallNumbers for HighestTemperature {
    fn compared(&self) -> Vec<(&'static str, Compared)> {
        vec![("largest_temperature", self.largest_temperature.compared)]
    }

    fn void(&self) -> String {
        format!("{:e} of the conductivity", rounded(self.void_conductivity))
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let hottest = &self.largest_temperature;
        let at = place(hottest.at);
        vec![("hottest", format!("node {}, {at}, load case {}", hottest.node, hottest.load_case))]
    }

    fn mass(&self, mass: f64) -> String {
        shown(mass)
    }

    fn fact(&self, _: &Units) -> Fact {
        Fact::new("Void", format!("{} of the conductivity", short(self.void_conductivity)))
    }
}

/// Reads the load cases `names` of the last design of a run.
fn saved(file: &DesignFile, names: &[&str]) -> Result<Vec<HeatCase>, Finding> {
    let carries = file.carrying_nodes();
    let all = names.iter().zip(file.temperatures(names)?).zip(file.heat(names)?);
    let cases = all.map(|((name, temperatures), heat)| {
        let extreme = |before: fn(&f64, &f64) -> bool| {
            let nodes = (0..temperatures.len()).filter(|&node| carries[node]);
            let first = |a, b| if before(&temperatures[b], &temperatures[a]) { b } else { a };
            let node = nodes.reduce(first).unwrap_or_default();
            let (temperature, at) = (temperatures[node], file.mesh.coordinates()[node]);
            Extreme { temperature, node: None, at }
        };
        HeatCase {
            name: (*name).into(),
            compliance: None,
            coldest: extreme(f64::lt),
            hottest: extreme(f64::gt),
            heat: None,
            into_nodes: Some(heat.iter().sum()),
        }
    });
    Ok(cases.collect())
}

fn names(cases: &[HeatCase]) -> Vec<&str> {
    cases.iter().map(|case| case.name.as_str()).collect()
}

fn extreme(of: &Extreme) -> String {
    let node = of.node.map_or(String::new(), |node| format!("node {node}, "));
    format!("{} at {node}{}", shown(of.temperature), place(of.at))
}

/// Lines of the heat balance: loads, convection, supports, storage and their sum.
fn balance(heat: &HeatBalance) -> Vec<(String, String)> {
    let mut lines = vec![("heat of loads".to_owned(), shown(heat.loads + 0.0))];
    if heat.convection != 0.0 {
        lines.push(("convection".into(), shown(heat.convection)));
    }
    for support in &heat.supports {
        lines.push((format!("support {}", support.set), shown(support.heat)));
    }
    if heat.stored != 0.0 {
        lines.push(("stored".into(), shown(heat.stored)));
    }
    lines.push(("sum".into(), shown(heat.sum)));
    lines
}

/// A temperature and its place, for a table.
fn at(of: &Extreme) -> String {
    let node = of.node.map_or(String::new(), |node| format!("node {node} "));
    format!("{}\n{node}{}", short(of.temperature), place_text(of.at))
}

/// A heat flow of a load case, for a table; what is noise of its solve is shown as 0.
fn flow(case: &HeatCase, of: impl Fn(&HeatBalance) -> f64) -> String {
    let Some(heat) = &case.heat else { return short(f64::NAN) };
    let supports = heat.supports.iter().map(|support| support.heat);
    let all = supports.chain([heat.loads, heat.convection, heat.stored]);
    let largest = all.fold(0.0, |size: f64, heat| size.max(heat.abs()));
    let flow = of(heat);
    if flow.abs() <= ROUNDING * largest { "0".into() } else { short(flow) }
}

/// Share of the largest heat below which another is rounding.
const ROUNDING: f64 = 1e-12;

/// Temperature and heat flux in each load case of `cases`.
fn pictures(fields: HeatFile, cases: &[HeatCase]) -> Vec<NodalField> {
    let HeatFile { temperatures, fluxes } = fields;
    let is_single = cases.len() == 1;

    let mut pictures = Vec::new();
    for ((temperatures, fluxes), case) in temperatures.into_iter().zip(fluxes).zip(cases) {
        let name = if is_single { String::new() } else { format!(", {}", case.name) };
        let sizes: Vec<f64> = fluxes.iter().map(|flux| length(*flux)).collect();
        let highest = most_of(&sizes);

        pictures.push(NodalField {
            title: format!("Temperature{name}"),
            unit: String::new(),
            values: temperatures,
            lowest: case.coldest.temperature,
            highest: case.hottest.temperature,
            is_exceeded: false,
            displacements: None,
            arrows: None,
        });
        pictures.push(NodalField {
            title: format!("Heat flux{name}"),
            unit: String::new(),
            is_exceeded: sizes.iter().any(|size| *size > highest),
            values: sizes,
            lowest: 0.0,
            highest,
            displacements: None,
            arrows: Some(fluxes),
        });
    }
    pictures
}

/// Returns the 99th percentile of the fluxes > 0: at edges of held nodes the flux grows without end.
fn most_of(sizes: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = sizes.iter().copied().filter(|size| *size > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(99 * sizes.len() / 100).copied().unwrap_or(0.0)
}
