//! Problem and method of a computation: the keys of the case file, and what the run found beside them.

use toml::Table;
use topopt_mesh::HexMesh;
use topopt_report::{Fact, count, number};

use topopt_study::analysis::Analysis;
use topopt_study::summary::{Preconditioner, Summary};

use super::wording::{DIGITS, Units, with_unit};

/// The tables of the case file in the order of the report, and their titles.
const TABLES: [(&str, &str); 12] = [
    ("material", "Material"),
    ("materials", "Materials of sets"),
    ("supports", "Supports"),
    ("loads", "Loads"),
    ("load_cases", "Load cases"),
    ("springs", "Springs"),
    ("convection", "Convection"),
    ("transient", "Time"),
    ("design", "Design"),
    ("filter", "Filter"),
    ("projection", "Projection"),
    ("continuation", "Continuation"),
];

/// Size and method of a computation, as its results record them.
pub(in crate::commands) struct Computed<'a> {
    nodes: usize,
    elements: usize,
    free_dofs: usize,
    solid_elements: usize,
    void_elements: usize,
    element_width: f64,
    device: &'a str,
    strategy: &'a str,
    preconditioner: &'a Preconditioner,
    pcg_iterations: usize,
    peak_memory_mb: Option<f64>,
    notes: &'a [String],
}

impl<'a> From<&'a Summary> for Computed<'a> {
    fn from(run: &'a Summary) -> Self {
        Self {
            nodes: run.nodes,
            elements: run.elements,
            free_dofs: run.free_dofs,
            solid_elements: run.solid_elements,
            void_elements: run.void_elements,
            element_width: run.element_width,
            device: &run.device,
            strategy: &run.strategy,
            preconditioner: &run.preconditioner,
            pcg_iterations: run.done.pcg_iterations,
            peak_memory_mb: run.peak_memory_mb,
            notes: &run.notes,
        }
    }
}

impl<'a, C> From<&'a Analysis<C>> for Computed<'a> {
    fn from(analysis: &'a Analysis<C>) -> Self {
        Self {
            nodes: analysis.nodes,
            elements: analysis.elements,
            free_dofs: analysis.free_dofs,
            solid_elements: 0,
            void_elements: analysis.void_elements,
            element_width: analysis.element_width,
            device: &analysis.device,
            strategy: analysis.strategy,
            preconditioner: &analysis.preconditioner,
            pcg_iterations: analysis.pcg_iterations,
            peak_memory_mb: None,
            notes: &analysis.notes,
        }
    }
}

/// Groups of facts, with their titles.
pub(in crate::commands) fn groups(
    case: &Table,
    found: &Computed,
    mesh: &HexMesh,
    units: &Units,
) -> Vec<(String, Vec<Fact>)> {
    let group = |(key, title): (&str, &str)| {
        let facts = match case.get(key)? {
            toml::Value::Table(table) => facts_of(table, units),
            toml::Value::Array(entries) => entries
                .iter()
                .filter_map(|entry| Some(entry_of(entry.as_table()?, units)))
                .collect(),
            _ => return None,
        };
        (!facts.is_empty()).then(|| (title.to_owned(), facts))
    };
    let mut groups = vec![("Mesh".into(), mesh_facts(case, found, mesh, units))];
    groups.extend(TABLES.into_iter().filter_map(group));
    groups.extend(group(("optimizer", "Optimizer")));
    groups.push(("Solver".into(), solver_facts(case, found)));
    let notes: Vec<Fact> = found.notes.iter().map(|note| Fact::new("Note", note)).collect();
    groups.extend((!notes.is_empty()).then(|| ("Notes".into(), notes)));
    groups
}

fn mesh_facts(case: &Table, found: &Computed, mesh: &HexMesh, units: &Units) -> Vec<Fact> {
    let length = &units.length;
    let cubic = if length.is_empty() { String::new() } else { format!(" {length}³") };
    let extent = mesh.bounding_box().extent().map(|x| number(x, 6)).join(" \u{d7} ");
    let volume = number(mesh.volumes().iter().sum(), DIGITS);

    let mut facts: Vec<Fact> = case
        .get("mesh")
        .and_then(toml::Value::as_table)
        .map_or_else(Vec::new, |table| facts_of(table, units));
    facts.extend([
        Fact::new("Elements of the mesh", count(found.elements)),
        Fact::new("Nodes", count(found.nodes)),
        Fact::new("Unknowns", count(found.free_dofs)),
        Fact::new("Element width", with_unit(found.element_width, length)),
        Fact::new("Extent", format!("{extent} {length}")),
        Fact::new("Volume", format!("{volume}{cubic}")),
    ]);

    let passive = [("Always solid", found.solid_elements), ("Always void", found.void_elements)];
    for (name, elements) in passive.into_iter().filter(|(_, elements)| *elements > 0) {
        facts.push(Fact::new(name, format!("{} elements", count(elements))));
    }

    facts
}

fn solver_facts(case: &Table, found: &Computed) -> Vec<Fact> {
    let Preconditioner { name, cycle, levels, .. } = found.preconditioner;
    let tolerance = case.get("solver").and_then(|solver| solver.get("tolerance")?.as_float());

    let mut name = name.clone();
    if let Some(cycle) = cycle {
        name += &format!(", {cycle}-cycle over {} levels", levels.len());
    }

    let mut facts = vec![
        Fact::new("Device", found.device),
        Fact::new("Strategy", found.strategy),
        Fact::new("Preconditioner", name),
        Fact::new("Tolerance", tolerance.map_or("\u{2013}".into(), |x| number(x, 6))),
        Fact::new("PCG iterations", count(found.pcg_iterations)),
    ];

    if let Some(megabytes) = found.peak_memory_mb {
        facts.push(Fact::new("Peak memory", format!("{megabytes:.0} MiB")));
    }
    facts
}

/// A fact for each key.
fn facts_of(table: &Table, units: &Units) -> Vec<Fact> {
    let fact = |(key, value): (&String, &toml::Value)| {
        Fact::new(units.words(key), shown(value, &units.of_key(key), units))
    };
    table.iter().map(fact).collect()
}

/// An entry of a list by what it is of, with all else that it says.
fn entry_of(entry: &Table, units: &Units) -> Fact {
    const NAMES: [&str; 3] = ["set", "name", "from"];
    let name = NAMES.into_iter().find_map(|key| Some((key, entry.get(key)?)));
    let rest = entry.iter().filter(|(key, _)| name.is_none_or(|(name, _)| *key != name));
    let rest: Vec<String> = rest
        .map(|(key, value)| {
            format!("{} {}", key.replace('_', " "), shown(value, &units.of_key(key), units))
        })
        .collect();
    let name = match name {
        Some(("from", iteration)) => format!("From iteration {iteration}"),
        Some((_, name)) => shown(name, "", units),
        None => "All".into(),
    };
    Fact::new(name, rest.join("\n"))
}

fn shown(value: &toml::Value, unit: &str, units: &Units) -> String {
    let plain = match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(n) => return format!("{n} {unit}").trim_end().into(),
        toml::Value::Float(x) => number(*x, 6),
        toml::Value::Boolean(yes) => return if *yes { "yes" } else { "no" }.into(),
        toml::Value::Datetime(date) => date.to_string(),

        toml::Value::Array(values) => {
            let values: Vec<_> = values.iter().map(|value| shown(value, "", units)).collect();
            match values.len() {
                0 => "none".into(),
                1 => values.join(""),
                _ => format!("({})", values.join(", ")),
            }
        }

        toml::Value::Table(table) => {
            let facts = facts_of(table, units);
            let texts: Vec<_> = facts.iter().map(|f| format!("{} {}", f.name, f.value)).collect();
            return texts.join(", ");
        }
    };

    format!("{plain} {unit}").trim_end().into()
}
