//! Depth in the sets of `design.solid` that are parts of space: rings around bores, layers on
//! faces.

use rayon::prelude::*;
use topopt_case::case::Case;
use topopt_case::config::{Condition, Config, SelectKind};
use topopt_mesh::selection::Shape;
use topopt_mesh::triangles::Triangles;
use topopt_mesh::{HexMesh, Sets, tetrahedra};

/// Returns how deep each node lies in kept parts of the design space, and in the solid sets that
/// `config` selects by regions, or by their distance from faces, `[n_nodes]`: negative outside.
/// None without such a set.
///
/// Elements are chosen as a whole; the depth keeps where the set ends within them.
pub(crate) fn of<const N: usize>(config: &Config, case: &Case<N>) -> Option<Vec<f64>> {
    let x = case.mesh.coordinates();
    let kept = case.bodies.iter().flat_map(|bodies| &bodies.kept).map(|part| part.depths(x));
    let of_sets = in_sets(config, &case.mesh, &case.sets);
    kept.chain(of_sets).reduce(|one, other| {
        one.into_iter().zip(other).map(|(one, other)| one.max(other)).collect()
    })
}

/// How deep each node lies in the sets that are parts of space, if there are any.
fn in_sets(config: &Config, mesh: &HexMesh, sets: &Sets) -> Option<Vec<f64>> {
    let selects = config.select.iter().filter(|select| select.kind == SelectKind::Elements);
    let is_solid = |name: &String| config.design.solid.iter().any(|set| set.get_ref() == name);
    let solid = selects.filter(|select| is_solid(select.name.get_ref()));
    let regions: Vec<Region> =
        solid.filter_map(|select| Region::of(&select.condition, mesh, sets)).collect();
    let deepest = |x: &[f64; 3]| {
        regions.iter().map(|region| region.depth(*x)).fold(f64::NEG_INFINITY, f64::max)
    };
    (!regions.is_empty()).then(|| mesh.coordinates().par_iter().map(deepest).collect())
}

/// A part of space.
enum Region {
    Within(Shape),
    Layer { faces: Triangles, thickness: f64 },
    All(Vec<Region>),
    Any(Vec<Region>),
    Not(Box<Region>),
}

impl Region {
    /// The region of a table of conditions; none if anything else is among them.
    fn of(table: &Condition, mesh: &HexMesh, sets: &Sets) -> Option<Self> {
        // All keys, so that a new one is not taken for nothing.
        let Condition {
            bounds: _,
            plane: _,
            cylinder: _,
            sphere: _,
            nearest: None,
            normal: None,
            nodes: None,
            faces: None,
            form: None,
            same_as: None,
            body: None,
            set: None,
            near,
            all,
            any,
            not,
        } = table
        else {
            return None;
        };
        let mut regions: Vec<Self> =
            table.regions().into_iter().map(|(_, shape)| Self::Within(shape)).collect();
        if let Some(near) = near {
            let faces = sets.faces.get(&near.set).filter(|_| near.kind.is_none_or(is_faces))?;
            let triangles = faces.iter().flat_map(|&face| tetrahedra::of_face(mesh, face));
            let corner = |vertex| tetrahedra::coordinates(mesh, vertex);
            let faces = Triangles::new(triangles.map(|corners| corners.map(corner)));
            regions.push(Self::Layer { faces, thickness: near.distance });
        }

        let each = |tables: &[Condition]| -> Option<Vec<Self>> {
            tables.iter().map(|table| Self::of(table, mesh, sets)).collect()
        };
        regions.extend(each(all.as_deref().unwrap_or_default())?);
        if let Some(any) = any {
            regions.push(Self::Any(each(any)?));
        }
        if let Some(not) = not {
            regions.push(Self::Not(Box::new(Self::of(not, mesh, sets)?)));
        }
        Some(Self::All(regions))
    }

    /// Distance of `x` from the end of the region: exact, or less where several ends meet.
    fn depth(&self, x: [f64; 3]) -> f64 {
        let depths = |regions: &[Self], first: f64, of: fn(f64, f64) -> f64| {
            regions.iter().map(|region| region.depth(x)).fold(first, of)
        };
        match self {
            Self::Within(shape) => shape.depth(&x),
            Self::Layer { faces, thickness } => thickness - faces.distance(x),
            Self::All(regions) => depths(regions, f64::INFINITY, f64::min),
            Self::Any(regions) => depths(regions, f64::NEG_INFINITY, f64::max),
            Self::Not(region) => -region.depth(x),
        }
    }
}

fn is_faces(kind: SelectKind) -> bool {
    kind == SelectKind::Faces
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use topopt_case::design_space::KeptBody;
    use topopt_mesh::generate::{Benchmark, Resolution};
    use topopt_mesh::vector::{difference, length};
    use topopt_surface::TriangleSurface;

    use super::*;

    const CASE: &str = "[mesh]\ngenerator = \"cantilever\"\nelements = 250\n[material]\n\
        youngs_modulus = 1\npoissons_ratio = 0.3\n[[supports]]\nset = \"fixed\"\n[[loads]]\nset = \
        \"load\"\nforce = [0, -1, 0]\n[design]\nvolume_fraction = 0.5\nsolid = [\"kept\"]\n[filter]\n\
        radius_in_elements = 2\n[[select]]\nname = \"kept\"\nkind = \"elements\"\n";

    /// Depths of the nodes of 10 x 5 x 5 unit cubes where `condition` selects what stays solid.
    fn depths(condition: &str) -> Option<(HexMesh, Vec<f64>)> {
        let mesh = Benchmark::Cantilever.generate(Resolution::Elements(250)).unwrap();
        let config = Config::parse(Path::new("case.toml"), format!("{CASE}{condition}"), &[]);
        let depths = in_sets(&config.unwrap(), &mesh, mesh.sets())?;
        Some((mesh, depths))
    }

    fn assert_depths(condition: &str, expected: impl Fn([f64; 3]) -> f64) {
        let (mesh, depths) = depths(condition).unwrap();
        for (x, depth) in mesh.coordinates().iter().zip(depths) {
            assert!((depth - expected(*x)).abs() < 1e-12, "{condition} {x:?} {depth}");
        }
    }

    #[test]
    fn regions_and_layers_have_a_depth() {
        assert_depths("near = { set = \"fixed\", distance = 1.5 }", |x| 1.5 - x[0]);
        let cylinder =
            "cylinder = { point = [5, 0, 0], axis = [0, 2, 0], radius = 2, inner_radius = 1 }";
        let off = |x: [f64; 3]| (x[0] - 5.0).hypot(x[2]);
        assert_depths(cylinder, |x| (2.0 - off(x)).min(off(x) - 1.0));
        assert_depths("sphere = { center = [1, 2, 3], radius = 2 }", |x| {
            2.0 - length(difference(x, [1.0, 2.0, 3.0]))
        });
        assert_depths(
            "not = { plane = { point = [4, 0, 0], normal = [3, 0, 0], tolerance = 1 } }",
            |x| (x[0] - 4.0).abs() - 1.0,
        );
        let either = "any = [{ near = { set = \"fixed\", distance = 1 } }, { box = { min = [8, -9, -9], \
                      max = [11, 9, 9] } }]";
        assert_depths(either, |x| (1.0 - x[0]).max((x[0] - 8.0).min(11.0 - x[0])));
    }

    #[test]
    fn kept_parts_have_a_depth() {
        // A corner of a cube, cut off across its diagonal.
        let vertices = vec![[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let points = [[1.0, 0.5, 1.0], [-2.0, 1.0, 1.0], [1.0, 1.0, 0.25], [1.0, 1.0, -3.0]];
        let surface = TriangleSurface::new(vertices, triangles);
        let depths = KeptBody { surface, layer: None }.depths(&points);
        for (depth, expected) in depths.iter().zip([0.5, -2.0, 0.25, -3.0]) {
            assert!((depth - expected).abs() < 1e-12, "{depths:?}");
        }
    }

    #[test]
    fn elements_by_number_or_set_have_none() {
        assert!(depths("set = \"design\"").is_none());
        assert!(depths("nodes = [1, 2, 3, 4, 12, 13, 14, 15]").is_none());
        assert!(depths("near = { set = \"load\", distance = 2 }").is_none());
        let sphere = "sphere = { center = [1, 2, 3], radius = 2 }";
        for face in ["faces = [7]", "form = { kind = \"plane\" }", "same_as = 7"] {
            assert!(depths(face).is_none() && depths(&format!("{face}\n{sphere}")).is_none());
        }
    }
}
