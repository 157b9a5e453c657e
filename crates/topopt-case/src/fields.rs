//! Properties of materials that vary in the part.

use std::collections::BTreeMap;

use rayon::prelude::*;
use topopt_fem::orthotropy::mean_conductivity;
use topopt_mesh::HexMesh;
use topopt_mesh::numbers::{place, shown};

use crate::config::{Given, MaterialProperty, Property};
use crate::expression::Expression;
use crate::finding::Finding;
use crate::lookup::Lookup;
use crate::tags::Tags;

/// Properties of all elements by their numbers in the mesh, `[n_elements]`; none where every
/// material has a number. Elements of a material that lacks the property have 1.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// Heat per time, length and temperature; the geometric mean where there are several.
    pub conductivity: Option<Vec<f64>>,
    /// Conductivity along x, y and z, where a material has one along each axis.
    pub conductivity_along: Option<Vec<[f64; 3]>>,
    /// Heat per mass and temperature.
    pub heat_capacity: Option<Vec<f64>>,
    /// Mass per volume.
    pub mass_density: Option<Vec<f64>>,
}

/// Mesh, materials and arrays that fields are computed from.
pub(crate) struct Maker<'a> {
    pub lookup: &'a Lookup<'a>,
    pub tags: Option<&'a Tags>,
    /// Elements of each of `[[materials]]`.
    pub sets: &'a [Vec<u32>],
    /// Arrays of the mesh file by their names, `[n_elements]`.
    pub arrays: &'a BTreeMap<String, Vec<f64>>,
}

/// A value with its place.
struct Bad {
    element: u32,
    value: f64,
    at: [f64; 3],
}

impl Fields {
    /// Computes the fields of a case whose expressions have been checked. Values that are not
    /// positive and finite are reported.
    pub(crate) fn of(maker: &Maker, findings: &mut Vec<Finding>) -> Self {
        let [conductivity, heat_capacity, mass_density] = maker.lookup.config.properties();
        let along = maker.along(&conductivity, findings);
        let means =
            |along: &Vec<[f64; 3]>| along.par_iter().copied().map(mean_conductivity).collect();
        Self {
            conductivity: match &along {
                Some(along) => Some(means(along)),
                None => maker.field(&conductivity, findings),
            },
            conductivity_along: along,
            heat_capacity: maker.field(&heat_capacity, findings),
            mass_density: maker.field(&mass_density, findings),
        }
    }
}

impl Maker<'_> {
    /// None where every material has a number.
    fn field(&self, of: &MaterialProperty, findings: &mut Vec<Finding>) -> Option<Vec<f64>> {
        let is_field = of.given().any(|given| given.number().is_none());
        is_field.then(|| self.part(of, 0, findings))
    }

    /// Values along x, y and z, where a material has one along each axis.
    fn along(&self, of: &MaterialProperty, findings: &mut Vec<Finding>) -> Option<Vec<[f64; 3]>> {
        of.given().find(|given| given.is_orthotropic())?;
        let [x, y, z] = [0, 1, 2].map(|axis| self.part(of, axis, findings));
        Some((0..x.len()).map(|e| [x[e], y[e], z[e]]).collect())
    }

    /// The values along an axis.
    fn part(&self, of: &MaterialProperty, axis: usize, findings: &mut Vec<Finding>) -> Vec<f64> {
        let mut values = vec![1.0; self.lookup.mesh.n_elements()];
        let others = others(values.len(), self.sets);
        let materials = self.sets.iter().zip(&of.of_sets).chain([(&others, &of.of_all)]);
        for (elements, given) in materials {
            let Some(given) = given else { continue };
            let Some(property) = given.along(axis) else { continue };
            match self.values(property, elements) {
                Ok(own) => elements.iter().zip(own).for_each(|(&e, own)| values[e as usize] = own),
                // Of a material with a single one it has been reported.
                Err(_) if axis >= given.parts.len() => {}
                Err(bad) => findings.push(self.refused(of.key, given, axis, &bad)),
            }
        }
        values
    }

    /// The values of a property in `elements`.
    fn values(&self, field: &Property, elements: &[u32]) -> Result<Vec<f64>, Bad> {
        if let Some(number) = field.number() {
            return Ok(vec![number; elements.len()]);
        }
        let array = field.array().and_then(|name| self.arrays.get(name));
        let expression = match field {
            Property::Expression(text) => Expression::parse(text).ok(),
            _ => None,
        };
        let value = |&element: &u32| {
            let (mesh, e) = (self.lookup.mesh, element as usize);
            let found = match (array, &expression) {
                (Some(values), _) => usable(values[e], mesh.center(e)),
                (_, Some(expression)) => mean(expression, mesh, e),
                _ => Ok(1.0),
            };
            found.map_err(|(value, at)| Bad { element, value, at })
        };
        // The first one that is wrong, whatever the threads find first.
        let found: Vec<_> = elements.par_iter().map(value).collect();
        found.into_iter().collect()
    }

    fn refused(&self, key: &str, given: &Given, axis: usize, bad: &Bad) -> Finding {
        let message = format!(
            "`{}` is {} in element {} at {}, and must be positive and finite",
            given.name(key, axis),
            shown(bad.value),
            Tags::element(self.tags, bad.element),
            place(bad.at)
        );
        let remedy = match given.along(axis) {
            Some(Property::Array(_)) => "correct the array in the mesh file",
            _ => "give an expression that is positive in all elements of the material",
        };
        let finding = Finding::new(message);
        finding.at(self.lookup.config.source(), given.span.clone(), "this field").remedy(remedy)
    }
}

/// The elements in none of `sets`, of `n`.
pub fn others(n: usize, sets: &[Vec<u32>]) -> Vec<u32> {
    let mut is_other = vec![true; n];
    sets.iter().flatten().for_each(|&e| is_other[e as usize] = false);
    let is_other = is_other.into_par_iter().enumerate();
    is_other.filter_map(|(e, is_other)| is_other.then_some(e as u32)).collect()
}

/// The numbers of a property by element, `[n_elements]`; 1 in a material that has none.
pub(crate) fn numbers(of: &MaterialProperty, n: usize, sets: &[Vec<u32>]) -> Vec<f64> {
    let number = |given: &Option<Given>| given.as_ref().and_then(Given::number).unwrap_or(1.0);
    let mut values = vec![number(&of.of_all); n];
    for (elements, given) in sets.iter().zip(&of.of_sets) {
        let own = number(given);
        elements.iter().for_each(|&e| values[e as usize] = own);
    }
    values
}

/// `value`, with its place where it is not positive and finite.
fn usable(value: f64, at: [f64; 3]) -> Result<f64, (f64, [f64; 3])> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err((value, at)) }
}

/// The mean of `field` over the volume of the element at `x`, by its Gauss points; exact where it
/// is constant.
fn mean(field: &Expression, mesh: &HexMesh, element: usize) -> Result<f64, (f64, [f64; 3])> {
    let (mut first, mut sum, mut volume) = (None, 0.0, 0.0);
    for xi in mesh.integration_points() {
        let point = mesh.point(element, xi);
        let value = usable(field.at(&point), point)?;
        let det = mesh.determinant(element, xi);
        sum += det * (value - *first.get_or_insert(value));
        volume += det;
    }
    Ok(first.unwrap_or_default() + sum / volume)
}
