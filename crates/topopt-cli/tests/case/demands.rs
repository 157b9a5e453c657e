//! Demands of `[[manufacturing]]` alone and in every pair that goes together: derivatives of the
//! density by differences, on a mesh of distorted elements, a turned one and one of a single layer.

use std::collections::BTreeSet;
use std::path::Path;

use topopt_case::case::Case;
use topopt_case::config::{self, Config};
use topopt_case::formulation;
use topopt_case::model::Model;
use topopt_design::{Chain, Cone, DesignTransform, Realization};
use topopt_fem::Elasticity;
use topopt_linalg::Cpu;
use topopt_mesh::HexMesh;
use topopt_testing::{Noise, derivative, mapped_box};

/// A demand by its kind, with the rest of its keys.
type Demand = (String, String);

/// A box of 6 x 4 x 5, turned by `turn`, whose planes of symmetry, axes and draws are turned with it.
struct Block {
    name: &'static str,
    mesh: HexMesh,
    turn: [[f64; 3]; 3],
}

/// Extent of the boxes.
const EXTENT: [f64; 3] = [6.0, 4.0, 5.0];

const STRAIGHT: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A turn about no axis of the box.
const TURNED: [[f64; 3]; 3] = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]];

impl Block {
    /// Elements in layers of so many, whose nodes are moved by up to `share` of an element.
    fn new(
        name: &'static str,
        counts: [usize; 3],
        share: f64,
        turn: [[f64; 3]; 3],
    ) -> Self {
        let straight = mapped_box(counts, |x| std::array::from_fn(|i| EXTENT[i] * x[i]));
        let mut noise = Noise(5);
        let width = straight.element_width();
        let moved = |x: &[f64; 3]| x.map(|v| v + share * width * noise.number());
        let nodes: Vec<[f64; 3]> = straight.coordinates().iter().map(moved).collect();
        let mut sets = straight.sets().clone();
        let at = |end: f64| {
            let is_at = |n: &u32| (straight.coordinates()[*n as usize][0] - end).abs() < 1e-6;
            (0..straight.n_nodes() as u32).filter(is_at).collect::<Vec<u32>>()
        };
        sets.nodes.insert("fixed".into(), at(0.0));
        sets.nodes.insert("load".into(), at(EXTENT[0]));
        let nodes = nodes.into_iter().map(|x| turned(&turn, x)).collect();
        let mesh = HexMesh::new(nodes, straight.hexes().to_vec(), sets).unwrap();
        Self { name, mesh, turn }
    }

    fn all() -> [Self; 3] {
        [
            Self::new("distorted", [6, 4, 5], 0.15, STRAIGHT),
            Self::new("turned", [6, 4, 5], 0.0, TURNED),
            Self::new("one layer", [10, 1, 9], 0.1, STRAIGHT),
        ]
    }

    /// A vector of the box as the mesh has it.
    fn at(&self, x: [f64; 3]) -> String {
        format!("{:?}", turned(&self.turn, x))
    }

    /// The demands of a `kind`, in ways that go with different others.
    fn demands(&self, kind: &str) -> Vec<Demand> {
        let middle = self.at([3.0, 2.0, 2.5]);
        let [x, y, z] = STRAIGHT.map(|axis| self.at(axis));
        let up = self.at([0.0, 0.1, 1.0]);
        let keys = match kind {
            "symmetry" => vec![
                format!("point = {middle}\nnormal = {y}"),
                format!("point = {middle}\nnormal = {z}"),
            ],
            "cyclic" => vec![
                format!("point = {middle}\naxis = {z}\nsectors = 2"),
                format!("point = {middle}\naxis = {z}\nsectors = 3\nmirrored = {x}"),
            ],
            "pattern" => vec![format!("pitch = {}", self.at([2.0, 0.0, 0.0]))],
            "extrusion" => vec![
                format!("direction = {x}"),
                format!("direction = {x}\npoint = {middle}\ntwist_degrees = 40\ntwist_length = 6"),
                format!(
                    "path = [{}, {}, {}]",
                    self.at([0.0, 2.0, 2.5]),
                    self.at([3.0, 2.3, 2.5]),
                    self.at([6.0, 3.2, 2.5])
                ),
            ],
            "uniform" => vec![format!("normal = {y}"), format!("normal = {z}")],
            "overhang" => vec![
                format!("build_direction = {z}"),
                format!("build_direction = {up}\nangle_degrees = 40\nanywhere = true"),
            ],
            "casting" => vec![
                format!("draw_direction = {z}"),
                format!("draw_direction = {z}\nsides = 2"),
                format!("draw_direction = {z}\nparting = {middle}\ndraft_degrees = 10"),
                format!("draw_direction = {up}\nthrough_holes = false\ndraft_degrees = 5"),
                format!("draw_direction = {z}\nthickness = 3.2"),
                format!("draw_direction = {z}\nthickness = 3.2\nthrough_holes = false"),
            ],
            "milling" => vec![
                format!("tool_directions = [{z}, {}]", self.at([0.0, 0.0, -1.0])),
                format!("tool_directions = [{z}, {up}]\ndiameter = 2"),
            ],
            "open_voids" => vec![String::new()],
            "member_size" => {
                vec!["minimum = 3.2\ngap = 3.2".into(), "maximum = 3.2".into()]
            }
            other => panic!("no demand of the kind {other} is tried"),
        };
        keys.into_iter().map(|keys| (kind.to_owned(), keys)).collect()
    }
}

fn turned(turn: &[[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
    turn.map(|row| (0..3).map(|i| row[i] * x[i]).sum())
}

/// Names of all kinds, by the schema of the case file.
fn kinds() -> Vec<String> {
    let schema = serde_json::to_value(config::schema()).unwrap();
    let all = &schema["$defs"]["Manufacturing"]["properties"]["kind"]["oneOf"];
    let names = all.as_array().unwrap().iter().map(|kind| kind["const"].as_str().unwrap().into());
    names.collect()
}

/// The model of `demands` with the `keys` of the filter and what follows it; none where they are
/// refused.
fn model(block: &Block, demands: &[&Demand], keys: &str) -> Option<Model<Elasticity, 3>> {
    let mut text = String::from(
        "[mesh]\ngenerator = \"cantilever\"\n[[supports]]\nset = \"fixed\"\n[[loads]]\n\
         set = \"load\"\nforce = [0, 0, -1]\n[design]\nvolume_fraction = 0.5\nkeep_symmetry = false\n",
    );
    text += keys;
    for (kind, keys) in demands {
        text += &format!("[[manufacturing]]\nkind = \"{kind}\"\n{keys}\n");
    }
    let config = Config::parse(Path::new("case.toml"), text, &[]).ok()?;
    let case = Case::on::<Elasticity>(&config, block.mesh.clone()).ok()?;
    Model::build(&config, case, false).ok()
}

/// The way from variables to densities of a model.
fn chain<'a>(model: &'a Model<Elasticity, 3>) -> Chain<'a, Cpu> {
    let centers = || model.problem.mesh().centers();
    let cone = move |radius: f64| Ok(Box::new(Cone::new(centers(), radius, usize::MAX)) as Box<_>);
    formulation::of(model.subject(), &Cpu, Box::new(cone), None).unwrap().transform
}

const FILTER: &str = "[filter]\nkind = \"density\"\nradius = 3.2\n";
const PROJECTION: &str = "[projection]\nsharpness = 4\n[optimizer]\nmethod = \"mma\"\n";

/// Largest error of a derivative as a share of the sum of the sizes of its terms.
const ERROR: f64 = 1e-6;

/// Error of the derivative of the weighted densities along a direction of no pattern.
fn error(chain: &mut Chain<Cpu>, realization: Realization) -> f64 {
    let mut noise = Noise(3);
    let [n, n_elements] = [chain.inputs().points, chain.outputs().points];
    let x: Vec<f64> = noise.vector(n).iter().map(|x| 0.5 + 0.45 * x).collect();
    let [direction, weights] = [n, n_elements].map(|n| noise.vector(n));
    let mut density = vec![0.0; n_elements];
    chain.realize(realization);
    chain.forward(&Cpu, &x, &mut density).unwrap();
    let mut gradient = vec![0.0; n];
    chain.backward(&Cpu, &weights, &mut gradient).unwrap();

    let found = derivative(&x, &direction, 1e-6, |x| {
        chain.forward(&Cpu, x, &mut density).unwrap();
        density.iter().zip(&weights).map(|(x, w)| x * w).sum()
    });
    let terms = gradient.iter().zip(&direction).map(|(g, d)| g * d);
    let size: f64 = terms.clone().map(f64::abs).sum();
    (found - terms.sum::<f64>()).abs() / size
}

/// Asserts that derivatives are differences of the designs that are made, built and thinner.
fn has_derivatives(block: &Block, demands: &[&Demand]) -> bool {
    let Some(model) = model(block, demands, &format!("{FILTER}{PROJECTION}")) else { return false };
    let mut chain = chain(&model);
    for realization in [Realization::Built, Realization::Eroded, Realization::Dilated] {
        let error = error(&mut chain, realization);
        assert!(error < ERROR, "{} {demands:?}: {error:e} of {realization:?}", block.name);
    }
    true
}

#[test]
fn derivatives_of_all_demands_and_legal_pairs_are_differences() {
    for block in Block::all() {
        let all: Vec<Demand> = kinds().iter().flat_map(|kind| block.demands(kind)).collect();
        let mut alone = BTreeSet::new();
        let mut pairs = BTreeSet::new();
        for (i, first) in all.iter().enumerate() {
            if has_derivatives(&block, &[first]) {
                alone.insert(first.0.clone());
            }
            for second in &all[i + 1..] {
                if has_derivatives(&block, &[first, second]) {
                    pairs.insert([first.0.clone(), second.0.clone()]);
                }
            }
        }
        println!("{}: {} {pairs:?}", block.name, alone.len());
        assert_eq!(alone, kinds().into_iter().collect(), "{}", block.name);
    }
}
