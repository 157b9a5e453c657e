//! Displacements, stresses and forces, for people and on pages.

use std::path::Path;

use topopt_case::finding::Finding;
use topopt_fem::{DIM, Elasticity};
use topopt_mesh::numbers::{place, shown};
use topopt_mesh::vector::length;
use topopt_report::{Fact, Mark, NodalField, Table};
use topopt_study::design_file::DesignFile;
use topopt_study::solved::{
    Balance, Displacement, LeftOut, MeshError, NodalPeak, NodalPeaks, PeakStress, Reaction,
    RestraintKind, Safety, SolvedCase, Stress,
};
use topopt_study::solved_file::SolvedFile;
use topopt_study::verification::{Compared, LargestElastic};

use super::accelerations;
use super::rows::{Rows, short};
use super::{CaseNumbers, OverallNumbers, Shown, mark};
use crate::commands::pages::wording::{
    DIGITS, Units, mass_text, of, place_text, vector, with_unit,
};

impl Shown<DIM> for Elasticity {
    const TITLE: &str = "Displacements and stresses";
    const ABOUT: &str = "Stresses at element centers; in the pictures averaged at the nodes.";
    const OF_NUMBERS: Option<&str> = None;
    const SOLVED: &str = "";
    const PICTURES: &str = "stresses and displacements";

    fn marks(file: &DesignFile) -> Vec<Mark> {
        vec![mark("loaded", file.loaded()), mark("supported", file.supported())]
    }

    fn pictures(
        path: &Path,
        cases: &[SolvedCase],
        least: f64,
        units: &Units,
    ) -> Result<Vec<NodalField>, Finding> {
        let SolvedFile { von_mises, displacements } =
            SolvedFile::of_analysis(path, &names(cases), least)?;
        let is_single = cases.len() == 1;

        let mut pictures = Vec::new();
        for ((stress, u), case) in von_mises.into_iter().zip(displacements).zip(cases) {
            let name = if is_single { String::new() } else { format!(", {}", case.name) };
            let highest = case.von_mises.percentile_99;
            pictures.push(NodalField {
                title: format!("Von Mises stress{name}"),
                unit: units.stress.clone(),
                is_exceeded: stress.iter().any(|stress| *stress > highest),
                values: stress,
                lowest: 0.0,
                highest,
                displacements: Some(u.clone()),
                arrows: None,
            });
            pictures.push(moved(format!("Displacement{name}"), u, case, units));
        }
        Ok(pictures)
    }

    fn verified_pictures(
        path: &Path,
        overall: &LargestElastic,
        cases: &[SolvedCase],
        units: &Units,
    ) -> Result<Vec<NodalField>, Finding> {
        let SolvedFile { mut von_mises, displacements } =
            SolvedFile::of_verification(path, &names(cases))?;
        let worst = if cases.len() > 1 { ", largest of all load cases" } else { "" };
        let stress = NodalField {
            title: format!("Von Mises stress{worst}"),
            unit: units.stress.clone(),
            values: von_mises.remove(0),
            lowest: 0.0,
            highest: overall.von_mises.percentile_99,
            is_exceeded: true,
            displacements: None,
            arrows: None,
        };
        let shapes = displacements.into_iter().zip(cases).map(|(u, case)| {
            moved(format!("Displacement, load case {}", case.name), u, case, units)
        });
        Ok(std::iter::once(stress).chain(shapes).collect())
    }
}

impl CaseNumbers for SolvedCase {
    fn name(&self) -> &str {
        &self.name
    }

    fn lines(&self, residual: f64, is_whole: bool) -> Vec<(String, String)> {
        let (weight, compliance) = (shown(self.weight), shown(self.compliance));
        let mut lines: Vec<(String, String)> = Vec::new();
        if is_whole {
            lines.extend([
                ("compliance".into(), format!("{compliance}, weight {weight}")),
                ("largest displacement".into(), displacement(&self.largest_displacement)),
                ("von Mises stress".into(), percentiles(&self.von_mises)),
                (String::new(), largest(&self.von_mises)),
            ]);
        }
        lines.extend(self.gauss_points.iter().map(|PeakStress { maximum, element, at }| {
            let (maximum, at) = (shown(*maximum), place(*at));
            (String::new(), format!("at a Gauss point up to {maximum}, element {element}, {at}"))
        }));
        lines.extend(self.nodal_von_mises.iter().flat_map(nodal));
        lines.extend(self.mesh_error.map(|error| ("error of the mesh".into(), error.words())));
        lines.extend(self.safety_factors.iter().map(|s| ("safety factor".into(), safety(s))));
        let at_points = self.gauss_point_safety_factors.iter();
        lines.extend(at_points.map(|s| (String::new(), format!("at a Gauss point {}", safety(s)))));
        lines.extend(forces(&self.balance, residual));
        lines
    }

    fn table(cases: &[Self], residual: f64, units: &Units) -> Table {
        let mut rows = Rows::of(cases);
        rows.add("Weight", |case| short(case.weight));
        rows.add(of("Compliance", &units.energy), |case| short(case.compliance));
        rows.add(of("Largest displacement", &units.length), |case| {
            let moved = &case.largest_displacement;
            let along = without_noise(moved.components, 1e-6 * moved.value);
            format!("{}\n{along}\nnode {} {}", short(moved.value), moved.node, place_text(moved.at))
        });

        let stress = |what: &str| of(&format!("Von Mises stress, {what} by volume"), &units.stress);
        rows.add(stress("95th percentile"), |case| short(case.von_mises.percentile_95));
        rows.add(stress("99th percentile"), |case| short(case.von_mises.percentile_99));
        rows.add(of("Largest von Mises stress", &units.stress), |case| {
            let Stress { maximum, element, at, .. } = case.von_mises;
            in_element(maximum, element, at)
        });
        if cases.iter().any(|case| case.gauss_points.is_some()) {
            rows.add(of("Largest at a Gauss point", &units.stress), |case| {
                let peak = case.gauss_points.as_ref();
                peak.map_or_else(String::new, |p| in_element(p.maximum, p.element, p.at))
            });
        }

        add_nodal(&mut rows, cases, units);

        add_safety(&mut rows, cases.first(), "", |case| &case.safety_factors);
        add_safety(&mut rows, cases.first(), " at a Gauss point", |case| {
            &case.gauss_point_safety_factors
        });
        add_forces(&mut rows, cases.first(), residual, units);
        rows.table(Self::name)
    }

    fn headline(cases: &[Self], units: &Units) -> Vec<Fact> {
        let largest = |value: fn(&Self) -> f64| cases.iter().map(value).fold(0.0, f64::max);
        let moved = largest(|case| case.largest_displacement.value);
        let stress = largest(|case| case.von_mises.maximum);
        let mut facts = vec![
            Fact::new("Largest displacement", with_unit(moved, &units.length)),
            Fact::new("Largest von Mises stress", with_unit(stress, &units.stress)),
        ];
        facts.extend(Self::least_safety(cases));
        facts
    }

    fn least_safety(cases: &[Self]) -> Option<Fact> {
        let all = |case: &Self| {
            let factors = case.safety_factors.iter().chain(&case.gauss_point_safety_factors);
            factors.map(|safety| safety.factor).reduce(f64::min)
        };
        let least = cases.iter().filter_map(all).reduce(f64::min)?;
        Some(Fact::new("Safety factor", short(least)).noted("yield strength / von Mises stress"))
    }
}

impl OverallNumbers for LargestElastic {
    fn compared(&self) -> Vec<(&'static str, Compared)> {
        Vec::new()
    }

    fn void(&self) -> String {
        format!("{:e} of the stiffness", self.void_stiffness)
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let Self { largest_displacement: moved, von_mises: stress, .. } = self;
        let moved = format!("{}, load case {}", displacement(moved), moved.load_case);
        vec![
            ("largest displacement", moved),
            ("von Mises stress", percentiles(stress)),
            ("", format!("{}, load case {}", largest(stress), stress.load_case)),
        ]
    }

    fn mass(&self, mass: f64) -> String {
        mass_text(mass, self.units.as_ref())
    }

    fn fact(&self, units: &Units) -> Fact {
        let Stress { percentile_95, percentile_99, .. } = self.von_mises;
        let [p95, p99] = [percentile_95, percentile_99].map(|p| with_unit(p, &units.stress));
        let text = format!(
            "95th percentile by volume {p95}, 99th percentile by volume {p99}; largest of all load \
             cases"
        );
        Fact::new("Von Mises stress", text)
    }
}

fn names(cases: &[SolvedCase]) -> Vec<&str> {
    cases.iter().map(|case| case.name.as_str()).collect()
}

/// Name and text of each line on the stresses at nodes.
fn nodal(NodalPeaks { away, left_out }: &NodalPeaks) -> Vec<(String, String)> {
    let text = |NodalPeak { maximum, node, at }: &NodalPeak| {
        format!("{} at node {node}, {}", shown(*maximum), place(*at))
    };
    let away = away.as_ref().map_or(NOWHERE.into(), |peak| format!("largest {}", text(peak)));
    let left_out = left_out.iter().map(|LeftOut { place, peak }| {
        (String::new(), format!("left out near {place}: {}", text(peak)))
    });
    std::iter::once(("von Mises at nodes".into(), away)).chain(left_out).collect()
}

/// Text where no node is away from supports and loads.
const NOWHERE: &str = "every node is near an edge of a support or a concentrated load";

fn safety(of: &Safety) -> String {
    let Safety { factor, element, at, yield_strength, .. } = of;
    let [factor, strength] = [*factor, *yield_strength].map(shown);
    let (material, at) = (of.material(), place(*at));
    format!("{factor} at element {element}, {at}; {material} yields at {strength}")
}

/// Name and text of each line of the forces on the part.
fn forces(
    Balance { applied, reactions, inertia, sum, .. }: &Balance,
    residual: f64,
) -> Vec<(String, String)> {
    let all = reactions.iter().map(|reaction| &reaction.force).chain([applied]).flatten();
    let size = all.fold(0.0, |size: f64, f| size.max(f.abs()));
    let inertia = inertia.as_ref();
    let text = |force: &[f64; 3], share: f64| {
        place(force.map(|f| if f.abs() <= share * size { 0.0 } else { f }))
    };

    let mut lines = vec![("applied forces".into(), text(applied, ROUNDING))];
    lines.extend(reactions.iter().map(|Reaction { kind, set, force, .. }| {
        (format!("{} {set}", kind_name(*kind)), text(force, residual.max(ROUNDING)))
    }));
    lines.extend(inertia.map(|of| ("inertia forces".into(), text(&of.force, ROUNDING))));
    lines.push(("sum".into(), text(sum, ROUNDING)));
    lines.extend(inertia.into_iter().flat_map(accelerations::lines));
    lines
}

/// Share of the largest force below which a component is shown as 0.
const ROUNDING: f64 = 1e-12;

fn kind_name(kind: RestraintKind) -> &'static str {
    match kind {
        RestraintKind::Support => "support",
        RestraintKind::Springs => "springs",
    }
}

fn displacement(moved: &Displacement) -> String {
    format!("{} at node {}, {}", shown(moved.value), moved.node, place(moved.at))
}

fn percentiles(stress: &Stress) -> String {
    let [p95, p99] = [stress.percentile_95, stress.percentile_99].map(shown);
    format!("95th percentile by volume {p95}, 99th percentile {p99}")
}

fn largest(stress: &Stress) -> String {
    let maximum = shown(stress.maximum);
    format!("largest {maximum} at element {}, {}", stress.element, place(stress.at))
}

/// A value in an element and the place of its center, for a table.
fn in_element(value: f64, element: u64, at: [f64; 3]) -> String {
    format!("{}\nelement {element} {}", short(value), place_text(at))
}

/// Adds rows for the stresses at nodes and the error of the mesh, where there are some.
fn add_nodal(rows: &mut Rows<SolvedCase>, cases: &[SolvedCase], units: &Units) {
    let peak = |NodalPeak { maximum, node, at }: &NodalPeak| {
        format!("{}\nnode {node} {}", short(*maximum), place_text(*at))
    };
    let left_out = |LeftOut { place, peak: of }: &LeftOut| format!("{place}: {}", peak(of));
    let peaks = || cases.iter().filter_map(|case| case.nodal_von_mises.as_ref());

    if peaks().next().is_some() {
        rows.add(of("Largest von Mises stress at a node", &units.stress), |case| {
            let away = case.nodal_von_mises.as_ref().and_then(|peaks| peaks.away.as_ref());
            away.map_or_else(|| NOWHERE.into(), peak)
        });
    }
    if peaks().any(|peaks| !peaks.left_out.is_empty()) {
        rows.add(of("Left out, as it grows with every refinement", &units.stress), |case| {
            let all = case.nodal_von_mises.iter().flat_map(|peaks| &peaks.left_out);
            all.map(left_out).collect::<Vec<_>>().join("\n")
        });
    }
    if cases.iter().any(|case| case.mesh_error.is_some()) {
        rows.add("Estimated error of the mesh", |case| {
            case.mesh_error.map_or_else(String::new, MeshError::words)
        });
    }
}

/// Adds a row for each material of the `first` load case with a safety factor.
fn add_safety(
    rows: &mut Rows<SolvedCase>,
    first: Option<&SolvedCase>,
    at: &str,
    factors: impl Fn(&SolvedCase) -> &[Safety],
) {
    for (k, safety) in first.into_iter().flat_map(&factors).enumerate() {
        let set = safety.set.as_ref().map_or(String::new(), |set| format!(", set {set}"));
        rows.add(format!("Safety factor{at}{set}"), |case| {
            let safety = factors(case).get(k);
            safety.map_or_else(String::new, |s| in_element(s.factor, s.element, s.at))
        });
    }
}

/// Adds rows for applied forces and for each reaction of the `first` load case.
fn add_forces(
    rows: &mut Rows<SolvedCase>,
    first: Option<&SolvedCase>,
    residual: f64,
    units: &Units,
) {
    let [force, moment] =
        [&units.force, &units.energy].map(|unit| move |name: &str| of(name, unit));

    rows.add(force("Applied force"), |case| {
        without_noise(case.balance.applied, 1e-9 * scale(&case.balance, FORCE))
    });
    rows.add(moment("Moment about the origin"), |case| {
        without_noise(case.balance.applied_moment, 1e-9 * scale(&case.balance, MOMENT))
    });

    if first.is_some_and(|case| case.balance.inertia.is_some()) {
        accelerations::add(rows, units);
    }

    let noise = residual.max(1e-9);
    for (k, Reaction { kind, set, .. }) in
        first.into_iter().flat_map(|case| &case.balance.reactions).enumerate()
    {
        rows.add(force(&format!("Reaction of {} {set}", kind_name(*kind))), |case| {
            without_noise(case.balance.reactions[k].force, noise * scale(&case.balance, FORCE))
        });
        rows.add(moment("Moment about the origin"), |case| {
            without_noise(case.balance.reactions[k].moment, noise * scale(&case.balance, MOMENT))
        });
    }
}

/// Force or moment of the loads, and of a reaction.
type Part = (fn(&Balance) -> [f64; 3], fn(&Reaction) -> [f64; 3]);
const FORCE: Part = (|balance| balance.applied, |reaction| reaction.force);
const MOMENT: Part = (|balance| balance.applied_moment, |reaction| reaction.moment);

/// Length of the largest force or moment of a load case.
fn scale(balance: &Balance, (applied, reacting): Part) -> f64 {
    let all = balance.reactions.iter().map(reacting).chain([applied(balance)]);
    all.map(length).fold(0.0, f64::max)
}

/// A vector as text; components up to `noise`, the error of the solver, are shown as 0.
fn without_noise(of: [f64; 3], noise: f64) -> String {
    vector(of.map(|x| if x.abs() <= noise { 0.0 } else { x }), DIGITS)
}

/// The displacements `u` of a load case on the deformed shape.
fn moved(title: String, u: Vec<[f64; 3]>, case: &SolvedCase, units: &Units) -> NodalField {
    NodalField {
        title,
        unit: units.length.clone(),
        values: u.iter().map(|u| length(*u)).collect(),
        lowest: 0.0,
        highest: case.largest_displacement.value,
        is_exceeded: false,
        displacements: Some(u),
        arrows: None,
    }
}
