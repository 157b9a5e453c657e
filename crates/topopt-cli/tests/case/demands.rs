//! Demands of `[[manufacturing]]` alone and in every pair that goes together: derivatives of the
//! density by differences, on a mesh of distorted elements, a turned one, one of a single layer and
//! one of tetrahedra.

mod chains;
mod turned;

use std::collections::BTreeSet;
use std::path::Path;

use topopt_case::case::Case;
use topopt_case::config::{self, Config};
use topopt_case::finding::InputError;
use topopt_case::formulation;
use topopt_case::model::Model;
use topopt_design::{Chain, Cone, DesignTransform, Realization};
use topopt_fem::Elasticity;
use topopt_linalg::Cpu;
use topopt_mesh::HexMesh;
use topopt_testing::{Noise, derivative, kuhn, mapped_box};

/// A demand by its kind, with the rest of its keys.
type Demand = (String, String);

/// A box whose planes of symmetry, axes and draws are turned with it.
struct Block {
    name: &'static str,
    mesh: HexMesh,
    extent: [f64; 3],
    turn: [[f64; 3]; 3],
}

const STRAIGHT: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A turn about no axis of the box.
const TURNED: [[f64; 3]; 3] = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]];

/// Side of a brick, in widths of its tetrahedra: the cube root of 6.
const BRICK: f64 = 1.817;

impl Block {
    /// So many hexahedra of the width 1, whose nodes are moved by up to a `share` of it.
    fn new(name: &'static str, counts: [usize; 3], share: f64, turn: [[f64; 3]; 3]) -> Self {
        let extent = counts.map(|n| n as f64);
        let straight = mapped_box(counts, |x| std::array::from_fn(|i| extent[i] * x[i]));
        Self::moved(name, &straight, extent, share, turn)
    }

    /// Bricks of six tetrahedra of about the width 1 each, whose nodes are moved.
    fn of_tetrahedra(name: &'static str, bricks: [usize; 3], turn: [[f64; 3]; 3]) -> Self {
        let extent = bricks.map(|n| BRICK * n as f64);
        let straight = kuhn(bricks, |x| std::array::from_fn(|i| extent[i] * x[i]), false);
        Self::moved(name, &straight, extent, 0.15, turn)
    }

    /// A `straight` mesh whose nodes are moved by up to a `share`, and turned.
    fn moved(
        name: &'static str,
        straight: &HexMesh,
        extent: [f64; 3],
        share: f64,
        turn: [[f64; 3]; 3],
    ) -> Self {
        let mut noise = Noise(5);
        let mut moved = |x: &[f64; 3]| turned(&turn, x.map(|v| v + share * noise.number()));
        let nodes = straight.coordinates().iter().map(&mut moved).collect();
        let mut sets = straight.sets().clone();
        for (name, axis, end) in [("fixed", 0, 0.0), ("load", 0, extent[0]), ("plate", 2, 0.0)] {
            let is_at = |n: &u32| (straight.coordinates()[*n as usize][axis] - end).abs() < 1e-6;
            let nodes = (0..straight.n_nodes() as u32).filter(is_at).collect();
            sets.nodes.insert(name.into(), nodes);
        }
        let mesh = straight.part_of(nodes, straight.connectivity().to_vec());
        Self { name, mesh: mesh.with_sets(sets).unwrap(), extent, turn }
    }

    fn all() -> [Self; 4] {
        [
            Self::new("distorted", [6, 4, 5], 0.15, STRAIGHT),
            Self::new("turned", [6, 4, 5], 0.15, TURNED),
            Self::new("one layer", [12, 1, 8], 0.1, STRAIGHT),
            Self::of_tetrahedra("tetrahedra", [3, 2, 3], STRAIGHT),
        ]
    }

    /// A vector of the box as the mesh has it.
    fn vector(&self, x: [f64; 3]) -> String {
        format!("{:?}", turned(&self.turn, x))
    }

    /// The place at these shares of the extent.
    fn place(&self, share: [f64; 3]) -> String {
        self.vector(std::array::from_fn(|i| share[i] * self.extent[i]))
    }

    /// The keys of a copy of the first half, to a place at these shares of the extent.
    fn copied(&self, share: [f64; 3], keys: &str) -> String {
        let [x, y, _] = STRAIGHT.map(|axis| self.vector(axis));
        let [a, b, c] = self.extent;
        let (from, to) = (self.place([0.0; 3]), self.place(share));
        format!(
            "origin = {from}\nsize = {:?}\nx = {x}\ny = {y}\nto = {to}\n{keys}",
            [0.5 * a, b, c]
        )
    }

    /// The demands of a `kind`, in ways that go with different others.
    fn demands(&self, kind: &str) -> Vec<Demand> {
        let middle = self.place([0.5; 3]);
        let [x, _, z] = STRAIGHT.map(|axis| self.vector(axis));
        let (up, down) = (self.vector([0.0, 0.1, 1.0]), self.vector([0.0, 0.0, -1.0]));
        let wide = 3.02 * self.mesh.element_width();
        let ends = [[0.0, 0.5, 0.5], [0.5, 0.55, 0.5], [1.0, 0.65, 0.5]].map(|it| self.place(it));
        let twisted = "twist_degrees = 40\ntwist_length = 6";
        let keys = match kind {
            "symmetry" => vec![
                format!("point = {middle}\nnormal = {x}"),
                format!("point = {middle}\nnormal = {z}"),
            ],
            "cyclic" => vec![
                format!("point = {middle}\naxis = {z}\nsectors = 2"),
                format!("point = {middle}\naxis = {x}\nsectors = 3\nmirrored = {z}"),
            ],
            "pattern" => vec![format!("pitch = {}", self.vector([2.0, 0.0, 0.0]))],
            "copy" => vec![
                self.copied([0.5, 0.25, 0.0], &format!("to_x = {x}\nscale = 1")),
                self.copied(
                    [1.0, 0.5, 0.0],
                    &format!("to_x = {}\nscale = 0.5", self.vector([0.0, 0.1, 1.0])),
                ),
            ],
            "extrusion" => vec![
                format!("direction = {x}"),
                format!("direction = {x}\npoint = {middle}\n{twisted}"),
                format!("path = [{}]", ends.join(", ")),
            ],
            "uniform" => vec![format!("normal = {x}"), format!("normal = {z}")],
            "overhang" => vec![
                format!("build_direction = {z}\nplate = \"plate\""),
                format!("build_direction = {up}\nangle_degrees = 40\nanywhere = true"),
            ],
            "casting" => vec![
                format!("draw_direction = {z}"),
                format!("draw_direction = {z}\nsides = 2"),
                format!("draw_direction = {z}\nparting = {middle}\ndraft_degrees = 10"),
                format!("draw_direction = {up}\nthrough_holes = false\ndraft_degrees = 5"),
                format!("draw_direction = {z}\nthickness = {wide}"),
                format!("draw_direction = {up}\nthickness = {wide}\nthrough_holes = false"),
            ],
            "milling" => vec![
                format!("tool_directions = [{z}, {down}]"),
                format!("tool_directions = [{z}, {up}]\ndiameter = 2"),
            ],
            "open_voids" => vec![String::new()],
            "member_size" => {
                vec![format!("minimum = {wide}\ngap = {wide}"), format!("maximum = {wide}")]
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
    let schema = config::schema();
    let all = &schema["properties"]["manufacturing"]["items"]["properties"]["kind"]["oneOf"];
    let names = all.as_array().unwrap().iter().map(|kind| kind["const"].as_str().unwrap().into());
    names.collect()
}

/// The model of `demands` with the `keys` of the filter and what follows it.
///
/// # Errors
/// Demands that are refused.
fn model(
    block: &Block,
    demands: &[&Demand],
    keys: &str,
) -> Result<Model<Elasticity, 3>, InputError> {
    let mut text = String::from(
        "[mesh]\ngenerator = \"cantilever\"\nelements = 100\n[[supports]]\nset = \"fixed\"\n[[loads]]\n\
         set = \"load\"\nforce = [0, 0, -1]\n[design]\nvolume_fraction = 0.5\nkeep_symmetry = false\n",
    );
    text += keys;
    for (kind, keys) in demands {
        text += &format!("[[manufacturing]]\nkind = \"{kind}\"\n{keys}\n");
    }
    let config = Config::parse(Path::new("case.toml"), text, &[])?;
    let case = Case::on::<Elasticity>(&config, block.mesh.clone())?;
    Model::build(&config, case, false)
}

/// The way from variables to densities of a model.
fn chain<'a>(model: &'a Model<Elasticity, 3>) -> Chain<'a, Cpu> {
    let centers = || model.problem.mesh().centers();
    let cone = move |radius: f64| Ok(Box::new(Cone::new(centers(), radius, usize::MAX)) as Box<_>);
    formulation::of(model.subject(), &Cpu, Box::new(cone), None).unwrap().transform
}

const FILTER: &str = "[filter]\nkind = \"density\"\nradius = 3.2\n";
const PROJECTION: &str = "[projection]\nsharpness = 4\n[optimizer]\nmethod = \"mma\"\n";

/// Largest error of a derivative, as a share of the sizes of its terms.
const ERROR: f64 = 1e-6;

/// Error of the derivative of weighted densities along a direction without any pattern.
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

    // What a few variables change is little more than the rounding of smaller steps.
    let step = if n < 10 { 1e-5 } else { 1e-6 };
    let found = derivative(&x, &direction, step, |x| {
        chain.forward(&Cpu, x, &mut density).unwrap();
        density.iter().zip(&weights).map(|(x, w)| x * w).sum()
    });
    let terms = gradient.iter().zip(&direction).map(|(g, d)| g * d);
    let size: f64 = terms.clone().map(f64::abs).sum();
    (found - terms.sum::<f64>()).abs() / size
}

/// Errors of derivatives of the designs that are made of the `demands`, built, thinner and thicker;
/// none where the demands are refused.
fn errors(block: &Block, demands: &[&Demand]) -> Option<Vec<f64>> {
    let model = model(block, demands, &format!("{FILTER}{PROJECTION}")).ok()?;
    let mut chain = chain(&model);
    let all = [Realization::Built, Realization::Eroded, Realization::Dilated];
    // Without least widths all three are the same.
    let n = if model.space.sizes().is_some() { 3 } else { 1 };
    Some(all.into_iter().take(n).map(|realization| error(&mut chain, realization)).collect())
}

/// Kinds that are tried together, and demands whose derivatives are wrong.
type Tried = (BTreeSet<Vec<String>>, Vec<String>);

/// Tries all of the `demands` together, and returns whether they go together.
fn tried(block: &Block, demands: &[&Demand], (kinds, wrong): &mut Tried) -> bool {
    let Some(errors) = errors(block, demands) else { return false };
    kinds.insert(demands.iter().map(|(kind, _)| kind.clone()).collect());
    if !errors.iter().all(|error| *error < ERROR) {
        wrong.push(format!("{} {demands:?}: {errors:?}", block.name));
    }
    true
}

/// All demands on a block.
fn all_of(block: &Block) -> Vec<Demand> {
    kinds().iter().flat_map(|kind| block.demands(kind)).collect()
}

#[test]
fn derivatives_of_all_demands_and_legal_pairs_are_differences() {
    let of_block = |block: &Block| {
        let all = all_of(block);
        let mut found = Tried::default();
        for (i, first) in all.iter().enumerate() {
            tried(block, &[first], &mut found);
            for second in &all[i + 1..] {
                tried(block, &[first, second], &mut found);
            }
        }
        assert!(found.1.is_empty(), "{:#?}", found.1);
        found.0
    };
    let [mut distorted, turned, one_layer, tetrahedra] = Block::all().map(|block| of_block(&block));
    assert_eq!(distorted, one_layer);
    assert_eq!(distorted, tetrahedra);
    // Sectors about two axes go together by where the first ones begin, which is free.
    distorted.remove(&vec!["cyclic".to_owned(); 2]);
    assert_eq!(distorted, turned);
    for kind in kinds() {
        assert!(distorted.contains(&vec![kind.clone()]), "{kind} is refused");
    }
}

/// Densities that grow as one stay so: what is gathered, swept and flooded keeps the sum of
/// derivatives.
#[test]
fn demands_keep_the_sum_of_derivatives() {
    for block in Block::all() {
        for demand in all_of(&block) {
            let model = model(&block, &[&demand], &format!("style = \"smooth\"\n{FILTER}"));
            let Ok(model) = model else { continue };
            if !model.space.solid.is_empty() || demand.1.contains("thickness") {
                continue;
            }
            let mut chain = chain(&model);
            let mut noise = Noise(9);
            let [n, n_elements] = [chain.inputs().points, chain.outputs().points];
            let x: Vec<f64> = noise.vector(n).iter().map(|x| 0.5 + 0.45 * x).collect();
            let weights = noise.vector(n_elements);
            chain.forward(&Cpu, &x, &mut vec![0.0; n_elements]).unwrap();
            let mut gradient = vec![0.0; n];
            chain.backward(&Cpu, &weights, &mut gradient).unwrap();
            let [found, given] = [&gradient, &weights].map(|all| all.iter().sum::<f64>());
            assert!((found - given).abs() < 1e-10, "{} {demand:?}: {found}, {given}", block.name);
        }
    }
}
