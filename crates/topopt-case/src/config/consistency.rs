//! Consistency of a case file beyond each key by itself.

use std::ops::Range;

use toml::Spanned;

use super::candidates_consistency::candidates;
use super::design_consistency::design;
use super::elastic_laws::elastic_laws;
use super::load_consistency::{MASS_DENSITY, is_no_face, loads};
use super::objective_consistency::objective;
use super::physics_consistency::physics;
use super::transient_consistency::transient;
use super::{Axis, Config, Mesh, MeshMethod, Refine};
use crate::finding::{Finding, InputError};

/// Everything in `config` that does not fit together.
pub(super) fn check(config: &Config) -> Result<(), InputError> {
    // A method of making has a filter of its own.
    if !config.gives("filter") && config.design.method.is_none() {
        let remedy = "add [filter]: the filter, which sets the smallest feature size and prevents \
                      checkerboards";
        return Err(missing(config, "[filter]", remedy).into());
    }
    let mut findings = part(config);
    findings.extend(objective(config));
    findings.extend(design(config));
    findings.extend(candidates(config));
    InputError::if_any(findings)
}

/// Refuses conflicts between the keys that an analysis uses.
pub(super) fn check_part(config: &Config) -> Result<(), InputError> {
    InputError::if_any(part(config))
}

fn part(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(mesh(config));
    findings.extend(physics(config));
    findings.extend(transient(config));
    findings.extend(elastic_laws(config));
    findings.extend(held_or_loaded(config));
    findings.extend(inertia_relief(config));
    findings.extend(supports(config));
    findings.extend(springs(config));
    findings.extend(loads(config));
    findings.extend(load_cases(config));
    findings.extend(stiffness_of_void(config));
    findings
}

fn missing(config: &Config, table: &str, remedy: &str) -> Finding {
    let file = config.source().file_name();
    Finding::new(format!("{file} has no {table}")).remedy(remedy)
}

fn mesh(config: &Config) -> Option<Finding> {
    let mesh = config.mesh.get_ref();
    let size = mesh.size.as_ref().map(|size| size.span());
    let elements = mesh.elements.as_ref().map(|elements| elements.span());
    let method = mesh.method.as_ref().map(|method| *method.get_ref());

    let has_geometry = mesh.is_of_geometry();
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

    if let Some(space) = &mesh.design_space {
        return beside_space(config, mesh)
            .or_else(|| space.get_ref().check(config.source()))
            .or_else(|| finer(config, mesh));
    }

    let remedy = "give either `file = \"part.msh\"`, or `generator` with one of `size` (1 to 5) \
                  and `elements`";
    let finding = |message: &str, span: Range<usize>, label: &str| {
        Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
    };

    if let Some(finding) = finer(config, mesh) {
        return Some(finding);
    }

    if let (Some(MeshMethod::Hexahedra), Some(hexes)) = (method, &mesh.hexes) {
        return Some(
            Finding::new("[mesh] has both `method = \"hexahedra\"` and `hexes`, which is for Gmsh")
                .at(config.source(), hexes.span(), "one too many")
                .remedy("remove `hexes`, or choose another `method`"),
        );
    }

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

/// Smaller elements that there cannot be.
fn finer(config: &Config, mesh: &Mesh) -> Option<Finding> {
    let method = mesh.method.as_ref().map(|method| *method.get_ref());
    if let (None | Some(MeshMethod::Tetrahedra), Some(across)) = (method, &mesh.across) {
        return Some(
            Finding::new("`mesh.across` counts hexahedra, and the part is meshed by tetrahedra")
                .at(config.source(), across.span(), "for hexahedra only")
                .remedy("set `mesh.method` to \"hexahedra\" or \"auto\", or remove this key"),
        );
    }

    let size = mesh.element_size.as_ref()?;
    let is_no_smaller = |refine: &&Refine| refine.element_size.get_ref() >= size.get_ref();
    let refine = mesh.refine.iter().find(is_no_smaller)?;
    Some(
        Finding::new("`mesh.refine` asks for elements that are no smaller than all")
            .at(config.source(), refine.element_size.span(), "not below `mesh.element_size`")
            .remedy("give a smaller `element_size` there, or remove the entry"),
    )
}

/// A key of another mesh beside a design space.
fn beside_space(config: &Config, mesh: &Mesh) -> Option<Finding> {
    let file = mesh.file.as_ref().map(|key| ("file", key.span()));
    let generator = mesh.generator.as_ref().map(|key| ("generator", key.span()));
    let size = mesh.size.as_ref().map(|key| ("size", key.span()));
    let shuffled = mesh.shuffled.as_ref().map(|key| ("shuffled", key.span()));
    let (key, span) = file.or(generator).or(size).or(shuffled)?;
    let finding = Finding::new(format!("[mesh] has both `design_space` and `{key}`"));
    let remedy = format!("remove `{key}`; `element_size` or `elements` say how fine it is");
    Some(finding.at(config.source(), span, "one too many").remedy(remedy))
}

/// The first key for Gmsh, with its place.
fn for_gmsh(mesh: &Mesh) -> Option<(&'static str, Range<usize>)> {
    let size = mesh.element_size.as_ref().map(|key| ("element_size", key.span()));
    let method = mesh.method.as_ref().map(|key| ("method", key.span()));
    let hexes = mesh.hexes.as_ref().map(|key| ("hexes", key.span()));
    let timeout = mesh.gmsh_timeout.as_ref().map(|key| ("gmsh_timeout", key.span()));
    let across = mesh.across.as_ref().map(|key| ("across", key.span()));
    let refine = mesh.refine.first().map(|refine| ("refine", refine.set.span()));
    size.or(method).or(hexes).or(timeout).or(across).or(refine)
}

/// A part that nothing holds, or nothing loads.
fn held_or_loaded(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    if config.transient.is_some() {
        // What is warm at the beginning cools by itself.
        return findings;
    }

    let [held, loaded] = config.physics.kind.data().held_or_loaded;
    let is_held = config.inertia_relief || !config.supports.is_empty();
    if !is_held && config.springs.is_empty() && config.convection.is_empty() {
        findings.push(missing(config, "[[supports]]", held));
    }
    if config.load_case_names().is_empty() {
        findings.push(missing(config, "[[loads]]", loaded));
    }

    findings
}

/// Inertia relief without mass; with several materials the mesh decides.
fn inertia_relief(config: &Config) -> Option<Finding> {
    let has_mass = config.material.mass_density.is_some() || !config.materials.is_empty();
    (config.inertia_relief && !has_mass).then(|| {
        Finding::new("inertia relief needs the mass of the material")
            .at(config.source(), config.span("inertia_relief"), "[material] has no `mass_density`")
            .remedy(MASS_DENSITY)
    })
}

fn supports(config: &Config) -> Vec<Finding> {
    let finding = |support: &super::Support| {
        let at = |message: String, span: Range<usize>, label: &str, remedy: String| {
            Some(Finding::new(message).at(config.source(), span, label).remedy(remedy))
        };

        if let (Some(center), None) = (&support.center, &support.rotation) {
            return at(
                "`center` without `rotation`".into(),
                center.span(),
                "center of what?",
                "remove `center`, or give `rotation`, which turns about it".into(),
            );
        }
        if let Some(rotation) = &support.rotation
            && let Some(finding) = turned_freely(config, support, rotation)
        {
            return Some(finding);
        }
        let Some(displacement) = &support.displacement else {
            let is_other = support.temperature.is_some() || support.rotation.is_some();
            let case = support.case.as_ref().filter(|_| !is_other)?;
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

/// A rotation that moves nodes in a direction in which they are not held.
fn turned_freely(
    config: &Config,
    support: &super::Support,
    rotation: &Spanned<[f64; 3]>,
) -> Option<Finding> {
    let turns = |axis: usize| (0..3).any(|i| i != axis && rotation.get_ref()[i] != 0.0);
    let is_free = |axis: &Axis| !support.fix.contains(axis) && turns(*axis as usize);
    let free = [Axis::X, Axis::Y, Axis::Z].into_iter().find(is_free)?;
    let name = ["x", "y", "z"][free as usize];
    let message =
        format!("a rotation moves nodes in {name}, a direction in which they are not held");
    let finding = Finding::new(message).at(config.source(), rotation.span(), "turns this set");
    Some(finding.remedy(format!("add \"{name}\" to `fix`")))
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

/// A stiffness of 0.
fn stiffness_of_void(config: &Config) -> Option<Finding> {
    let design = &config.design;
    (design.density_min == 0.0 && design.void_stiffness == 0.0).then(|| {
        Finding::new("`design.density_min` is 0")
            .at(config.source(), config.span("design.density_min"), "no stiffness at all")
            .remedy(
                "with density 0 the stiffness matrix is singular; 0.01 is usual; or give \
                 `void_stiffness = 1e-9`",
            )
    })
}
