//! The form of a face from points on it, which CAD puts there to the last digits: planes,
//! cylinders, cones, spheres and tori, whatever the file calls them. A form counts if all points
//! lie on it.

use nalgebra::{DMatrix, Matrix3, Matrix6, SymmetricEigen, Vector3, Vector6};
use topopt_mesh::BoundingBox;
use topopt_mesh::vector::{cross, difference, dot, length};

use super::form::Form;
use super::refine::refined;

/// Points of a face with the facets between them.
pub(super) struct Patch<'a> {
    pub vertices: &'a [[f64; 3]],
    /// Facets of this face, by vertices.
    pub triangles: &'a [[u32; 3]],
    /// Distance that rounding in the file may cause.
    pub rounding: f64,
}

/// Largest distance of a point from the form, as a share of the diagonal of the face.
const EXACT: f64 = 2e-5;

/// Least cosine of the angle between a facet and the form at its centroid. A band of one row of
/// facets fits many forms by its points alone. Facets of coarse STL files bend by 30 degrees.
const ALIKE: f64 = 0.95;

/// Share of the area that facets may have that do not look along the form.
const UNLIKE: f64 = 0.02;

/// Points that a form is fitted to; all are compared with it.
const MOST_POINTS: usize = 400;

/// Largest radius, and distance of an apex, in diagonals of the face: what bends less is told from
/// nothing.
const FARTHEST: f64 = 50.0;

impl Patch<'_> {
    /// Finds the form of the face.
    pub fn form(&self) -> Form {
        let Some(sample) = Sample::of(self) else { return Form::Other };
        let starts = [
            Sample::plane(&sample),
            sample.cylinder(),
            sample.cone(),
            sample.sphere(),
            sample.torus(),
        ];
        let mut forms = starts.into_iter().flatten().map(|start| refined(start, &sample.points));
        let found = forms.find(|form| sample.is_exact(form));
        found.map_or(Form::Other, |form| sample.in_space(form))
    }
}

/// A face of diagonal 1 around the origin.
struct Sample {
    /// All of its points.
    all: Vec<[f64; 3]>,
    /// Points that are fitted to.
    points: Vec<[f64; 3]>,
    /// Centroids and area vectors of the facets.
    facets: Vec<([f64; 3], [f64; 3])>,
    tolerance: f64,
    origin: [f64; 3],
    size: f64,
}

impl Sample {
    fn of(patch: &Patch) -> Option<Self> {
        let mut used: Vec<u32> = patch.triangles.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        let given: Vec<[f64; 3]> = used.iter().map(|&v| patch.vertices[v as usize]).collect();
        let bounds = BoundingBox::around(&given);
        let size = length(bounds.extent());
        if size <= 0.0 || !size.is_finite() {
            return None;
        }
        let origin: [f64; 3] = std::array::from_fn(|i| 0.5 * (bounds.min[i] + bounds.max[i]));
        let unit = |x: [f64; 3]| difference(x, origin).map(|x| x / size);

        let all: Vec<[f64; 3]> = given.into_iter().map(unit).collect();
        let step = all.len().div_ceil(MOST_POINTS);
        let points = all.iter().step_by(step).copied().collect();
        let facet = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|v| unit(patch.vertices[v as usize]));
            let center = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0);
            (center, cross(difference(b, a), difference(c, a)).map(|x| 0.5 * x))
        };
        let facets = patch.triangles.iter().map(facet).collect();
        Some(Self { all, points, facets, tolerance: EXACT + patch.rounding / size, origin, size })
    }

    /// Whether all points lie on the form, and the facets along it.
    fn is_exact(&self, form: &Form) -> bool {
        let is_on = |x: &[f64; 3]| form.distance(*x).abs() <= self.tolerance;
        let apex = if let Form::Cone { point, .. } = form { length(*point) } else { 0.0 };
        let is_near = form.sizes().into_iter().chain([apex]).all(|size| size.abs() < FARTHEST);
        if !is_near || !self.all.iter().all(is_on) {
            return false;
        }
        let is_unlike = |(center, area): &&([f64; 3], [f64; 3])| {
            dot(form.normal(*center, 1e-6), *area).abs() < ALIKE * length(*area)
        };
        let sum = |areas: &mut dyn Iterator<Item = &([f64; 3], [f64; 3])>| {
            areas.map(|(_, area)| length(*area)).sum::<f64>()
        };
        // Facets at the apex of a cone look anywhere.
        sum(&mut self.facets.iter().filter(is_unlike)) <= UNLIKE * sum(&mut self.facets.iter())
    }

    fn in_space(&self, form: Form) -> Form {
        let place = |x: [f64; 3]| std::array::from_fn(|i| self.origin[i] + self.size * x[i]);
        match form {
            Form::Plane { normal, point } => Form::Plane { normal, point: place(point) },
            Form::Cylinder { axis, point, radius } => Form::Cylinder {
                axis: upward(axis),
                point: place(point),
                radius: self.size * radius,
            },
            Form::Cone { axis, point, half_angle } => {
                Form::Cone { axis, point: place(point), half_angle }
            }
            Form::Sphere { point, radius } => {
                Form::Sphere { point: place(point), radius: self.size * radius }
            }
            Form::Torus { axis, point, ring, radius } => Form::Torus {
                axis: upward(axis),
                point: place(point),
                ring: self.size * ring,
                radius: self.size * radius,
            },
            Form::Other => Form::Other,
        }
    }

    fn plane(&self) -> Option<Form> {
        let point = mean(&self.points);
        let scatter = scatter(self.points.iter().map(|x| (difference(*x, point), 1.0)));
        Some(Form::Plane { normal: least_direction(scatter), point })
    }

    /// Cylinder whose axis all normals are perpendicular to.
    fn cylinder(&self) -> Option<Form> {
        let axis = least_direction(scatter(self.normals()));
        let (point, radius) = self.circle_around(axis)?;
        Some(Form::Cylinder { axis, point, radius })
    }

    /// Circle through the points, seen along an axis, by least squares in the squares of distances.
    fn circle_around(&self, axis: [f64; 3]) -> Option<([f64; 3], f64)> {
        let [u, v] = across(axis);
        let rows: Vec<[f64; 2]> = self.points.iter().map(|x| [dot(*x, u), dot(*x, v)]).collect();
        let [a, b, c] = circle(&rows)?;
        let point = std::array::from_fn(|i| a * u[i] + b * v[i]);
        Some((point, c))
    }

    /// Cone in whose apex the planes of all facets meet.
    fn cone(&self) -> Option<Form> {
        let (mut planes, mut offsets) = (Matrix3::zeros(), Vector3::zeros());
        let (mut sum, mut weight) = (Vector3::zeros(), 0.0);
        for (center, area) in &self.facets {
            let size = length(*area);
            if size > 0.0 {
                let normal = Vector3::from(*area) / size;
                planes += normal * normal.transpose() * size;
                offsets += normal * normal.dot(&Vector3::from(*center)) * size;
                sum += normal * size;
                weight += size;
            }
        }
        let apex: [f64; 3] = (planes.try_inverse()? * offsets).into();
        let middle: [f64; 3] = (sum / weight).into();
        let spread = self.normals().map(|(normal, w)| (difference(normal, middle), w));
        let axis = least_direction(scatter(spread));

        let along = dot(difference(mean(&self.points), apex), axis);
        let axis = axis.map(|x| x * along.signum());
        let angles = self.points.iter().map(|x| {
            let from = difference(*x, apex);
            length(cross(axis, from)).atan2(dot(axis, from))
        });
        let half_angle = angles.sum::<f64>() / self.points.len() as f64;
        Some(Form::Cone { axis, point: apex, half_angle })
    }

    fn sphere(&self) -> Option<Form> {
        // |x|^2 = 2 c.x + (r^2 - |c|^2), linear in c and the term behind it.
        let rows = DMatrix::from_fn(self.points.len(), 4, |i, j| {
            if j < 3 { 2.0 * self.points[i][j] } else { 1.0 }
        });
        let squares =
            DMatrix::from_fn(self.points.len(), 1, |i, _| dot(self.points[i], self.points[i]));
        let solved = rows.svd(true, true).solve(&squares, 1e-12).ok()?;
        let point = [solved[0], solved[1], solved[2]];
        let radius = (solved[3] + dot(point, point)).sqrt();
        radius.is_finite().then_some(Form::Sphere { point, radius })
    }

    /// Torus around the axis that all normals meet: for lines with direction n through p the axis
    /// (a, m) has a . (p x n) + m . n = 0 [PottmannRandrup1998].
    fn torus(&self) -> Option<Form> {
        let mut lines = Matrix6::zeros();
        for ((center, _), (normal, weight)) in self.facets.iter().zip(self.normals()) {
            let moment = cross(*center, normal);
            let line =
                Vector6::new(moment[0], moment[1], moment[2], normal[0], normal[1], normal[2]);
            lines += line * line.transpose() * weight;
        }
        let eigen = SymmetricEigen::new(lines);
        let least = eigen.eigenvectors.column(eigen.eigenvalues.imin()).into_owned();
        let direction = [least[0], least[1], least[2]];
        let size = length(direction);
        if size < 1e-6 {
            return None;
        }
        let axis = direction.map(|x| x / size);
        let moment = [least[3], least[4], least[5]].map(|x| x / size);
        let on_axis = cross(axis, moment);

        let profile: Vec<[f64; 2]> = (self.points.iter())
            .map(|x| {
                let from = difference(*x, on_axis);
                [length(cross(axis, from)), dot(axis, from)]
            })
            .collect();
        let [ring, along, radius] = circle(&profile)?;
        let point = std::array::from_fn(|i| on_axis[i] + along * axis[i]);
        Some(Form::Torus { axis, point, ring, radius })
    }

    /// Normals of the facets, of length 1, with their areas.
    fn normals(&self) -> impl Iterator<Item = ([f64; 3], f64)> {
        self.facets.iter().map(|(_, area)| {
            let size = length(*area);
            (area.map(|x| x / size.max(f64::MIN_POSITIVE)), size)
        })
    }
}

/// Center and radius of the circle through points of a plane, by least squares in the squares of
/// distances.
fn circle(points: &[[f64; 2]]) -> Option<[f64; 3]> {
    let rows =
        DMatrix::from_fn(points.len(), 3, |i, j| if j < 2 { 2.0 * points[i][j] } else { 1.0 });
    let squares =
        DMatrix::from_fn(points.len(), 1, |i, _| points[i][0].powi(2) + points[i][1].powi(2));
    let solved = rows.svd(true, true).solve(&squares, 1e-12).ok()?;
    let radius = (solved[2] + solved[0].powi(2) + solved[1].powi(2)).sqrt();
    radius.is_finite().then_some([solved[0], solved[1], radius])
}

/// Sum of weighted squares of vectors.
fn scatter(vectors: impl Iterator<Item = ([f64; 3], f64)>) -> Matrix3<f64> {
    vectors.fold(Matrix3::zeros(), |sum, (vector, weight)| {
        let vector = Vector3::from(vector);
        sum + vector * vector.transpose() * weight
    })
}

/// Direction in which vectors of this scatter reach least.
fn least_direction(scatter: Matrix3<f64>) -> [f64; 3] {
    let eigen = SymmetricEigen::new(scatter);
    eigen.eigenvectors.column(eigen.eigenvalues.imin()).into_owned().into()
}

fn mean(points: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|i| points.iter().map(|x| x[i]).sum::<f64>() / points.len() as f64)
}

/// Two directions across an axis and each other.
fn across(axis: [f64; 3]) -> [[f64; 3]; 2] {
    let least = (0..3).min_by(|&i, &j| axis[i].abs().total_cmp(&axis[j].abs())).unwrap_or(0);
    let mut other = [0.0; 3];
    other[least] = 1.0;
    let first = cross(axis, other);
    let first = first.map(|x| x / length(first));
    [first, cross(axis, first)]
}

/// An axis turned so that its largest component is positive.
fn upward(axis: [f64; 3]) -> [f64; 3] {
    let largest =
        axis.into_iter().max_by(|a, b| (a.abs() + 1e-9).total_cmp(&b.abs())).unwrap_or(1.0);
    axis.map(|x| x * largest.signum())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, TAU};

    use super::*;
    use topopt_mesh::vector::length;

    /// A patch over `n` by `m` cells of two parameters from 0 to 1, as triangles.
    fn form(n: u32, m: u32, at: impl Fn(f64, f64) -> [f64; 3]) -> Form {
        let grid = |i: u32, j: u32| i * (m + 1) + j;
        let vertices: Vec<[f64; 3]> = (0..=n)
            .flat_map(|i| (0..=m).map(move |j| (i, j)))
            .map(|(i, j)| turned(at(f64::from(i) / f64::from(n), f64::from(j) / f64::from(m))))
            .collect();
        let triangles: Vec<[u32; 3]> = (0..n)
            .flat_map(|i| (0..m).map(move |j| (i, j)))
            .flat_map(|(i, j)| {
                let [a, b] = [grid(i, j), grid(i + 1, j)];
                [[a, b, b + 1], [a, b + 1, a + 1]]
            })
            .collect();
        Patch { vertices: &vertices, triangles: &triangles, rounding: 1e-9 }.form()
    }

    /// A point moved to where no axis is one of the coordinates'.
    fn turned([x, y, z]: [f64; 3]) -> [f64; 3] {
        let (c, s) = (0.6, 0.8);
        let [x, y] = [c * x - s * y, s * x + c * y];
        let [y, z] = [c * y - s * z, s * y + c * z];
        [x + 200.0, y - 30.0, z + 7.0]
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6 * expected.abs(), "{found} for {expected}");
    }

    fn along(axis: [f64; 3], expected: [f64; 3]) {
        let expected = difference(turned(expected), turned([0.0; 3]));
        assert!(length(cross(axis, expected)) < 1e-6, "{axis:?} for {expected:?}");
    }

    #[test]
    fn whole_and_partial_surfaces_of_every_kind() {
        for turn in [TAU, PI, 0.5, 0.1] {
            let plane = form(6, 4, |u, v| [turn * u, 3.0 * v, 0.0]);
            let Form::Plane { normal, .. } = plane else { panic!("{plane:?}") };
            along(normal, [0.0, 0.0, 1.0]);

            let cylinder = form(24, 3, |u, v| {
                let angle = turn * u;
                [5.0 * angle.cos(), 5.0 * angle.sin(), 8.0 * v]
            });
            let Form::Cylinder { axis, radius, .. } = cylinder else { panic!("{cylinder:?}") };
            close(radius, 5.0);
            along(axis, [0.0, 0.0, 1.0]);

            let cone = form(24, 3, |u, v| {
                let (angle, r) = (turn * u, 2.0 + v);
                [r * angle.cos(), r * angle.sin(), 2.0 * r]
            });
            let Form::Cone { axis, half_angle, point } = cone else { panic!("{cone:?}") };
            close(half_angle, 0.5_f64.atan());
            along(axis, [0.0, 0.0, 1.0]);
            assert!(length(difference(point, turned([0.0; 3]))) < 1e-5, "{point:?}");

            let sphere = form(24, 6, |u, v| {
                let (angle, height) = (turn * u, 1.2 * (v - 0.3));
                let r = 4.0 * height.cos();
                [r * angle.cos(), r * angle.sin(), 4.0 * height.sin()]
            });
            let Form::Sphere { radius, .. } = sphere else { panic!("{sphere:?}") };
            close(radius, 4.0);

            let torus = form(24, 6, |u, v| {
                let (angle, around) = (turn * u, 1.6 * v);
                let r = 6.0 + 1.5 * around.cos();
                [r * angle.cos(), r * angle.sin(), 1.5 * around.sin()]
            });
            let Form::Torus { axis, ring, radius, .. } = torus else { panic!("{torus:?}") };
            close(radius, 1.5);
            close(ring, 6.0);
            along(axis, [0.0, 0.0, 1.0]);
        }
    }

    #[test]
    fn surfaces_that_are_nearly_of_a_kind_are_other() {
        let bent = form(24, 6, |u, v| {
            let angle = PI * u;
            [5.0 * angle.cos(), 5.01 * angle.sin(), 8.0 * v]
        });
        let saddle = form(8, 8, |u, v| [u, v, 0.01 * u * v]);
        assert_eq!([bent, saddle].map(|form| form.kind()), ["other", "other"]);
    }

    #[test]
    fn a_full_cone_and_a_face_without_extent() {
        let cone = form(36, 5, |u, v| {
            let angle = TAU * u;
            [v * angle.cos(), v * angle.sin(), 0.7 * v]
        });
        assert_eq!(cone.kind(), "cone");
        assert_eq!(form(2, 2, |_, _| [1.0; 3]), Form::Other);
    }
}
