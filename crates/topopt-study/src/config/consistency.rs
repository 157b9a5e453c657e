//! What a case file must satisfy beyond each key by itself.

use std::ops::Range;

use topopt_io::gmsh::is_geometry;
use topopt_mesh::numbers::shown;

use super::load_consistency::{is_no_face, loads};
use super::{Axis, Config, Continuation, FilterKind, Mesh, Method, Style};
use crate::finding::{Finding, InputError};

/// Everything in `config` that does not fit together.
pub(super) fn check(config: &Config) -> Result<(), InputError> {
    let mut findings = Vec::new();
    findings.extend(mesh(config));
    findings.extend(materials(config));
    findings.extend(filter(config));
    findings.extend(method(config));
    findings.extend(projection(config));
    findings.extend(style(config));
    findings.extend(continuation(config));
    findings.extend(held_or_loaded(config));
    findings.extend(supports(config));
    findings.extend(springs(config));
    findings.extend(loads(config));
    findings.extend(load_cases(config));
    findings.extend(volume_fraction(config));
    InputError::if_any(findings)
}

/// What filtered sensitivities are no gradient for.
fn method(config: &Config) -> Option<Finding> {
    let name = match config.optimizer.method {
        Method::Gcmma => "gcmma",
        Method::Simpl => "simpl",
        _ => return None,
    };
    config.filter.get_ref().kind.is_of_sensitivities().then(|| {
        Finding::new(format!(
            "`optimizer.method = \"{name}\"` needs gradients, and filtered sensitivities are none",
        ))
        .at(config.source(), config.filter.span(), "filters sensitivities")
        .remedy("set `filter.kind` to \"density\", or `optimizer.method` to \"oc\" or \"mma\"")
    })
}

fn mesh(config: &Config) -> Option<Finding> {
    let mesh = config.mesh.get_ref();
    let size = mesh.size.as_ref().map(|size| size.span());
    let elements = mesh.elements.as_ref().map(|elements| elements.span());

    let has_geometry = mesh.file.as_ref().is_some_and(|file| is_geometry(file.get_ref()));
    if let (false, Some((key, span))) = (has_geometry, for_gmsh(mesh)) {
        let finding = Finding::new(format!("`mesh.{key}` needs a geometry to mesh"));
        return Some(
            finding
                .at(config.source(), span, "for geometries only")
                .remedy("name a .geo, .step or .brep file in `mesh.file`, or remove this key"),
        );
    }

    if let (None, Some(cut)) | (Some(true), Some(cut)) =
        (mesh.file.as_ref().map(|_| has_geometry), &mesh.cut)
    {
        return Some(
            Finding::new("`mesh.cut` needs a mesh file")
                .at(config.source(), cut.span(), "for mesh files only")
                .remedy("remove this key; of a geometry, `mesh.hexes` says how it is meshed"),
        );
    }

    if let (true, Some(_), Some(span)) = (has_geometry, &mesh.element_size, elements.clone()) {
        return Some(
            Finding::new("[mesh] has both `element_size` and `elements`")
                .at(config.source(), span, "one too many")
                .remedy("give the largest edge, or the number of elements"),
        );
    }

    let remedy = "give either `file = \"part.msh\"`, or `generator` with one of `size` (1 to 5) \
                  and `elements`";
    let finding = |message: &str, span: Range<usize>, label: &str| {
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };

    // Of a file only a geometry has a number of elements to ask for.
    let elements = elements.filter(|_| !has_geometry);
    match (&mesh.file, &mesh.generator, size, elements) {
        (None, None, ..) => finding("[mesh] names no mesh", config.mesh.span(), "this table"),
        (Some(_), Some(generator), ..) => {
            finding("[mesh] has both `file` and `generator`", generator.span(), "one too many")
        }
        (Some(_), None, Some(span), _) | (Some(_), None, None, Some(span)) => {
            finding("a mesh from a file has its own size", span, "for generators only")
        }
        (Some(_), None, None, None) => mesh.shuffled.as_ref().and_then(|key| {
            finding("a mesh from a file has its own numbering", key.span(), "for generators only")
        }),
        (None, Some(_), Some(_), Some(span)) => {
            finding("[mesh] has both `size` and `elements`", span, "one too many")
        }
        (None, Some(generator), None, None) => {
            finding("[mesh] does not say how large", generator.span(), "size missing")
        }
        _ => None,
    }
}

/// The first key for Gmsh, with its place.
fn for_gmsh(mesh: &Mesh) -> Option<(&'static str, Range<usize>)> {
    let size = mesh.element_size.as_ref().map(|key| ("element_size", key.span()));
    let hexes = mesh.hexes.as_ref().map(|key| ("hexes", key.span()));
    let timeout = mesh.gmsh_timeout.as_ref().map(|key| ("gmsh_timeout", key.span()));
    size.or(hexes).or(timeout)
}

fn filter(config: &Config) -> Option<Finding> {
    let filter = config.filter.get_ref();
    let message = match (filter.kind, filter.radius, filter.radius_in_elements) {
        (_, Some(_), Some(_)) => "[filter] has both `radius` and `radius_in_elements`",
        (kind, None, None) if kind != FilterKind::None => "[filter] has no radius",
        _ => return None,
    };
    Some(Finding::new(message).at(config.source(), config.filter.span(), "this table").remedy(
        "give either `radius` (a length) or `radius_in_elements` (in element widths); 1.5 to 3 \
         element widths are usual",
    ))
}

fn projection(config: &Config) -> Option<Finding> {
    // With a style the projection need not be the user's.
    let is_wrong = config.projection.is_some()
        && config.design.style == Style::Smooth
        && config.filter.get_ref().kind != FilterKind::Density;
    is_wrong.then(|| {
        Finding::new("[projection] without the density filter")
            .at(config.source(), config.span("projection"), "projects filtered densities")
            .remedy("add `kind = \"density\"` to [filter], or remove [projection]")
    })
}

/// What the user writes beside `style = "crisp"` wins, but must be able to give a crisp design.
fn style(config: &Config) -> Option<Finding> {
    if config.design.style == Style::Smooth {
        return None;
    }

    let finding = |message: &str, key: &str, label: &str, remedy: &str| {
        let finding = Finding::new(message).at(config.source(), config.span(key), label);
        Some(finding.remedy(remedy))
    };
    if config.filter.get_ref().kind != FilterKind::Density {
        return finding(
            "`design.style = \"crisp\"` without the density filter",
            "filter.kind",
            "another filter",
            "remove `kind` from [filter], or write `kind = \"density\"`; or remove `style`",
        );
    }

    let later = config.continuation.iter().filter_map(|stage| stage.sharpness);
    let first = config.projection.iter().map(|projection| projection.sharpness);
    let sharpest = first.chain(later).fold(0.0, f64::max);
    if sharpest <= 1.0 {
        return finding(
            "`design.style = \"crisp\"` with a projection that stays nearly linear",
            "design.style",
            "needs a sharpness above 1",
            "raise `sharpness` in stages of [[continuation]], up to 32 or 64; or remove \
             [projection] and [[continuation]], and the style has its own",
        );
    }
    None
}

fn continuation(config: &Config) -> Vec<Finding> {
    let finding = |(i, entry): (usize, &Continuation)| {
        let (key, message, label, remedy) = check_entry(config, i, entry).err()?;
        let span = config.span(&format!("continuation.{i}.{key}"));
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };
    config.continuation.iter().enumerate().filter_map(finding).collect()
}

/// Key, message, label and remedy.
type Misplaced = (&'static str, &'static str, &'static str, &'static str);

/// Whether entry `i` of the continuation stands in order and changes what there is.
fn check_entry(config: &Config, i: usize, entry: &Continuation) -> Result<(), Misplaced> {
    let radius = radius_key(entry)?;
    if i > 0 && entry.from <= config.continuation[i - 1].from {
        return Err((
            "from",
            "the entries of [[continuation]] are not in the order of their iterations",
            "not later than the previous entry",
            "sort the entries by `from`, and merge those of the same iteration",
        ));
    }
    if let Some(key) = radius
        && config.filter.get_ref().kind == FilterKind::None
    {
        let message = "[[continuation]] changes a filter that does not exist";
        let remedy = "set `filter.kind` and an initial radius, or remove the key";
        return Err((key, message, "no filter", remedy));
    }
    if entry.sharpness.is_some() && config.projection.is_none() {
        let message = "[[continuation]] changes a projection that does not exist";
        let remedy = "add [projection] with an initial `sharpness`, or remove the key";
        return Err(("sharpness", message, "no [projection]", remedy));
    }

    let changes = [entry.penalty, entry.sharpness, entry.tolerance];
    if radius.is_none() && changes == [None; 3] {
        return Err((
            "from",
            "an entry of [[continuation]] changes nothing",
            "this entry",
            "give one of `penalty`, `filter_radius`, `filter_radius_in_elements`, `sharpness` and \
             `tolerance`",
        ));
    }
    Ok(())
}

/// The key by which an entry changes the radius of the filter, if it does.
fn radius_key(entry: &Continuation) -> Result<Option<&'static str>, Misplaced> {
    match (entry.filter_radius, entry.filter_radius_in_elements) {
        (Some(_), Some(_)) => Err((
            "filter_radius_in_elements",
            "[[continuation]] has both `filter_radius` and `filter_radius_in_elements`",
            "one too many",
            "give one of them",
        )),
        (Some(_), None) => Ok(Some("filter_radius")),
        (None, Some(_)) => Ok(Some("filter_radius_in_elements")),
        (None, None) => Ok(None),
    }
}

fn materials(config: &Config) -> Vec<Finding> {
    let ratio = config.material.poissons_ratio;
    let differs = |material: &super::SetMaterial| {
        let own = material.poissons_ratio.as_ref().filter(|own| *own.get_ref() != ratio)?;
        let message = format!(
            "the material of set `{}` has Poisson's ratio {}, [material] has {}",
            material.set.get_ref(),
            shown(*own.get_ref()),
            shown(ratio)
        );
        Some(Finding::new(message).at(config.source(), own.span(), "another ratio").remedy(
            "all materials must have one Poisson's ratio: remove this key, or give [material] and \
             all [[materials]] the same",
        ))
    };
    config.materials.iter().filter_map(differs).collect()
}

/// A part that nothing holds, or nothing loads.
fn held_or_loaded(config: &Config) -> Vec<Finding> {
    let missing = |table: &str, remedy: &str| {
        let file = config.source().file_name();
        Finding::new(format!("{file} has no {table}")).remedy(remedy)
    };
    let mut findings = Vec::new();
    if config.supports.is_empty() && config.springs.is_empty() {
        let remedy = "add [[supports]]: where the part is held; or add [[springs]] that hold it";
        findings.push(missing("[[supports]]", remedy));
    }
    if config.load_case_names().is_empty() {
        let remedy = "add [[loads]]: the forces on the part; or give [[supports]] a `displacement`";
        findings.push(missing("[[loads]]", remedy));
    }
    findings
}

fn supports(config: &Config) -> Vec<Finding> {
    let finding = |support: &super::Support| {
        let at = |message: String, span: Range<usize>, label: &str, remedy: String| {
            Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
        };

        let Some(displacement) = &support.displacement else {
            let case = support.case.as_ref()?;
            return at(
                "a support holds in all load cases".into(),
                case.span(),
                "has no effect without a displacement",
                "leave `case` out, or add `displacement = [x, y, z]`".into(),
            );
        };

        let is_free = |axis: &Axis| {
            !support.fix.contains(axis) && displacement.get_ref()[*axis as usize] != 0.0
        };
        let free = [Axis::X, Axis::Y, Axis::Z].into_iter().find(is_free)?;

        let name = ["x", "y", "z"][free as usize];
        at(
            format!("a displacement in {name}, a direction in which the set is not held"),
            displacement.span(),
            "this direction is free",
            format!("add \"{name}\" to `fix`, or give 0 for {name}"),
        )
    };
    config.supports.iter().filter_map(finding).collect()
}

fn springs(config: &Config) -> Vec<Finding> {
    let finding = |spring: &super::Spring| {
        let at = |message: &str, span: Range<usize>, label: &str, remedy: &str| {
            Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
        };

        let kinds = "give one of `stiffness` (on each node) and `stiffness_per_area` (on faces)";
        let stiffness = match (&spring.stiffness, &spring.stiffness_per_area) {
            (Some(stiffness), None) | (None, Some(stiffness)) => stiffness,
            (None, None) => {
                return at("springs without stiffness", spring.set.span(), "how stiff?", kinds);
            }
            (Some(_), Some(area)) => {
                return at(
                    "springs with two kinds of stiffness",
                    area.span(),
                    "one too many",
                    kinds,
                );
            }
        };
        if spring.stiffness_per_area.is_some() && is_no_face(spring.kind) {
            let remedy = "leave `kind` out, or give `stiffness`";
            let label = "`kind` says otherwise";
            return at("a stiffness per area needs faces", spring.set.span(), label, remedy);
        }

        let values = stiffness.get_ref();
        let message = match values {
            _ if values.iter().any(|&k| k < 0.0) => "springs with negative stiffness",
            [0.0, 0.0, 0.0] => "springs with zero stiffness",
            _ => return None,
        };
        at(
            message,
            stiffness.span(),
            "here",
            "give numbers of at least 0, at least one of them above 0",
        )
    };
    config.springs.iter().filter_map(finding).collect()
}

fn load_cases(config: &Config) -> Vec<Finding> {
    let finding = |(i, entry): (usize, &super::LoadCase)| {
        let name = entry.name.get_ref();
        let at = |message: String, label: &str, remedy: &str| {
            let finding = Finding::new(message).at(config.source(), entry.name.span(), label);
            Some(finding.remedy(remedy))
        };
        if config.load_cases[..i].iter().any(|other| other.name == entry.name) {
            let message = format!("load case `{name}` is listed twice");
            return at(message, "a second time", "keep one [[load_cases]] for each name");
        }
        if !config.load_case_names().contains(&name.as_str()) {
            let message = format!("load case `{name}` has no loads");
            let remedy = format!("add `case = \"{name}\"` to the [[loads]] that belong to it");
            return at(message, "no [[loads]] of this case", &remedy);
        }
        None
    };
    config.load_cases.iter().enumerate().filter_map(finding).collect()
}

fn volume_fraction(config: &Config) -> Option<Finding> {
    let design = &config.design;
    let fraction = *design.volume_fraction.get_ref();
    (fraction < design.density_min).then(|| {
        Finding::new("`design.volume_fraction` is less than `design.density_min`")
            .at(config.source(), design.volume_fraction.span(), "too little material")
            .remedy(format!(
                "even void has density {}: raise `volume_fraction` or lower `density_min`",
                design.density_min
            ))
    })
}
