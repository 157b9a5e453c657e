//! Stresses at the Gauss points, eight in each hexahedron and four in each tetrahedron.

use std::io::{self, Write};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use topopt_case::tags::Tags;
use topopt_fem::stress::{self, Deformed, Stress};
use topopt_fem::{DIM, Elasticity, ElementData, Elements, ThermalStrains};
use topopt_io::csv;
use topopt_mesh::HexMesh;

use super::part::{Part, Solved};

/// Columns of the table: coordinates (length), stresses (force per area).
pub const COLUMNS: [&str; 13] = [
    "load_case",
    "element",
    "point",
    "x",
    "y",
    "z",
    "xx",
    "yy",
    "zz",
    "xy",
    "yz",
    "zx",
    "von_mises",
];

/// The largest stress of von Mises at a Gauss point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PeakStress {
    /// Von Mises stress (force per area).
    pub maximum: f64,
    /// Number of its element.
    pub element: u64,
    /// Coordinates of the Gauss point.
    pub at: [f64; 3],
}

/// The Gauss points of a solved part in a load case, in the user's numbering.
pub struct GaussPoints<'a> {
    load_case: &'a str,
    mesh: &'a HexMesh,
    data: ElementData,
    kernel: &'a Elasticity,
    tags: Option<&'a Tags>,
    /// Young's moduli, `[n_elements]` (force per area).
    moduli: Vec<f64>,
    /// Displacements, `[n_nodes][3]` (length).
    u: Vec<f64>,
    /// Strains by changes of temperature, if there are any.
    thermal: Option<ThermalStrains>,
    /// Whether the stresses of an element mean something, `[n_elements]`.
    has_stress: Vec<bool>,
}

impl<'a> GaussPoints<'a> {
    /// Collects the Gauss points of load case number `case`.
    pub fn of(solved: &'a Solved<Elasticity, DIM>, case: usize) -> Self {
        let Part { model, given, filling, .. } = &solved.part;
        let u = solved.states.states[case].as_chunks::<3>().0;
        let new_elements = model.renumbering.new_elements();
        let thermal = model.problem.load_cases()[case].thermal.as_ref();
        let laws = model.problem.elements().laws().map(|laws| laws.of_elements(&new_elements));
        Self {
            load_case: &model.problem.load_cases()[case].name,
            mesh: &model.mesh,
            data: ElementData { laws, ..ElementData::default() },
            kernel: model.problem.kernel(),
            tags: given.tags.as_ref(),
            moduli: model.renumbering.elements_to_original(&filling.stress_moduli),
            u: model.renumbering.nodes_to_original(u).into_flattened(),
            thermal: thermal.map(|strains| strains.of_elements(&new_elements)),
            has_stress: model.renumbering.elements_to_original(&solved.found.has_stress),
        }
    }

    /// Coordinates and stresses of the integration points of `element`.
    fn of_element(&self, element: usize) -> impl Iterator<Item = ([f64; 3], Stress)> {
        let Self { mesh, data, kernel, moduli, u, thermal, .. } = self;
        let deformed = Deformed { u, thermal: thermal.as_ref() };
        let elements = Elements::new(mesh, data);
        mesh.integration_points().into_iter().map(move |xi| {
            let stress =
                stress::stress_at(kernel, elements, moduli[element], deformed, element, xi);
            (mesh.point(element, xi), stress)
        })
    }

    /// The largest stress of von Mises at a point of `element`, and the point.
    pub fn largest(&self, element: usize) -> (f64, [f64; 3]) {
        let points = self.of_element(element).map(|(at, s)| (stress::von_mises(&s), at));
        let largest = points.into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a });
        largest.unwrap_or_default()
    }

    /// The point with the largest stress of von Mises; of equal ones that of the first element.
    pub fn peak(&self) -> PeakStress {
        let of_element = |element: usize| {
            let (maximum, at) = self.largest(element);
            (maximum, element, at)
        };
        let elements = (0..self.mesh.n_elements()).into_par_iter().filter(|&e| self.has_stress[e]);
        let larger =
            |a: &(f64, usize, _), b: &(f64, usize, _)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
        let (maximum, element, at) = elements.map(of_element).max_by(larger).unwrap_or_default();
        PeakStress { maximum, element: Tags::element(self.tags, element as u32), at }
    }

    /// Writes a row for each point.
    ///
    /// # Errors
    /// The operating system's.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let load_case = csv::quote(self.load_case.to_owned());
        for element in 0..self.mesh.n_elements() {
            let number = Tags::element(self.tags, element as u32);
            for (point, (at, stress)) in self.of_element(element).enumerate() {
                write!(out, "{load_case},{number},{}", point + 1)?;
                let von_mises = stress::von_mises(&stress);
                let mut values = at.iter().chain(&stress).chain([&von_mises]);
                values.try_for_each(|value| write!(out, ",{value:e}"))?;
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
