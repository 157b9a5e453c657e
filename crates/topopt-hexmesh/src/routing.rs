//! Corners and curves on the skin: nodes for the corners, then paths between them that negotiate
//! for nodes [McMurchieEbeling1995].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rstar::RTree;
use rstar::primitives::GeomWithData;

use crate::chain::Chain;
use crate::draft::{Draft, edge};
use crate::fault::Fault;
use crate::features::{Corner, Features};
use crate::grid::Grid;
use crate::skin::{Skin, shortest_path};
use crate::surface::Vec3;

/// Price of an edge of a path, beside the squared distance from its curve in cells.
const EDGE: f64 = 0.03;
/// Price of a node with one neighbor more or fewer than suits its corner.
const VALENCE: f64 = 0.03;
/// Distance from a curve, in cells, beyond which all are equally far.
const FAR: f64 = 4.0;
/// Price of a neighbor of a corner that another curve than its own takes.
const BESIDE_CORNER: f64 = 0.3;
/// Nodes that are tried for a corner.
const CANDIDATES: usize = 40;
/// Rounds of the negotiation.
const ROUNDS: usize = 60;
/// Largest distances, in cells, of a node from its corner and from its curve.
const CORNER_REACH: f64 = 1.8;
const CURVE_REACH: f64 = 1.6;

/// Marks the nodes of corners and the edges of curves in `draft`, whose nodes are those of `grid`;
/// returns the nodes along each curve.
///
/// # Errors
/// [`Fault`]: a corner or curve that could not be mapped.
pub(crate) fn route(
    features: &Features,
    grid: &Grid,
    draft: &mut Draft,
) -> Result<Vec<Vec<u32>>, Fault> {
    let mut skin = Skin::of(draft);
    skin.points.iter_mut().for_each(|x| *x = grid.in_cells(x));
    let kind = |chain: &Chain| skin.kind(chain.sheets.clone());
    let kinds = features.chains.iter().map(kind).collect();
    let chains: Vec<Chain> = features.chains.iter().map(|chain| in_cells(chain, grid)).collect();
    let of_corner =
        |corner: &Corner| Corner { point: grid.in_cells(&corner.point), ..corner.clone() };
    let corners = features.corners.iter().map(of_corner).collect();
    let mut router = Router::new(chains, kinds, corners, &skin);
    let paths = router.routed().map_err(|fault| fault.moved(|x| grid.place(x)))?;

    for (number, path) in paths.iter().enumerate() {
        for ends in path.windows(2) {
            let [a, b] = [ends[0], ends[1]].map(|v| skin.nodes[v as usize]);
            draft.curves.insert(edge(a, b), number as u32);
        }
    }
    for (corner, &v) in (0..).zip(&router.nodes) {
        draft.corners.insert(skin.nodes[v as usize], corner);
    }
    let nodes = |path: &Vec<u32>| path.iter().map(|&v| skin.nodes[v as usize]).collect();
    Ok(paths.iter().map(nodes).collect())
}

/// A curve in coordinates of cells of `grid`. Oblique segments bend there, and are divided.
fn in_cells(curve: &Chain, grid: &Grid) -> Chain {
    let mut points = vec![grid.in_cells(&curve.points[0])];
    for ends in curve.points.windows(2) {
        let along = grid.in_cells(&ends[1]) - points[points.len() - 1];
        let is_oblique = along.iter().filter(|x| x.abs() > 1e-9).count() > 1;
        let n = if is_oblique { along.amax().ceil().max(1.0) as usize } else { 1 };
        let place = |i: usize| ends[0] + (ends[1] - ends[0]) * (i as f64 / n as f64);
        points.extend((1..n).map(|i| grid.in_cells(&place(i))));
        points.push(grid.in_cells(&ends[1]));
    }
    Chain::new(points, curve.ends, curve.wedges.clone(), curve.sheets.clone())
}

/// Fault of a curve, in its middle.
fn fault_of(curve: &Chain, text: &str) -> Fault {
    Fault::at(curve.at(0.5 * curve.length()), text)
}

/// Search for the nodes of corners and curves, in coordinates of cells.
struct Router<'a> {
    chains: Vec<Chain>,
    /// Kind of the edges that each chain may run along.
    kinds: Vec<u32>,
    corners: Vec<Corner>,
    skin: &'a Skin,
    tree: RTree<GeomWithData<[f64; 3], u32>>,
    /// Node of each corner.
    nodes: Vec<u32>,
    /// Nodes that each chain passes in this order, of corners or of breaks of loops.
    stations: Vec<Vec<u32>>,
    /// Whether a node is a station of some chain, `[n]`.
    is_fixed: Vec<bool>,
    /// Squared distances in cells from each chain, where they were asked for.
    squares: Vec<HashMap<u32, f64>>,
}

impl<'a> Router<'a> {
    fn new(chains: Vec<Chain>, kinds: Vec<u32>, corners: Vec<Corner>, skin: &'a Skin) -> Self {
        let points = skin.points.iter().zip(0..).map(|(x, v)| GeomWithData::new((*x).into(), v));
        Self {
            tree: RTree::bulk_load(points.collect()),
            nodes: vec![0; corners.len()],
            stations: vec![Vec::new(); chains.len()],
            is_fixed: vec![false; skin.nodes.len()],
            squares: vec![HashMap::new(); chains.len()],
            chains,
            kinds,
            corners,
            skin,
        }
    }

    /// Nodes along each curve.
    fn routed(&mut self) -> Result<Vec<Vec<u32>>, Fault> {
        self.place_corners()?;
        self.break_loops()?;
        let paths = self.negotiate()?;
        for (number, path) in paths.iter().enumerate() {
            let squares = path.iter().map(|&v| self.square(number, v));
            if squares.fold(0.0, f64::max).sqrt() > CURVE_REACH {
                return Err(fault_of(&self.chains[number], "cells follow no curve"));
            }
        }
        self.check_junctions(&paths)?;
        Ok(paths)
    }

    /// Checks that borders of bodies meet along paths alone.
    fn check_junctions(&self, paths: &[Vec<u32>]) -> Result<(), Fault> {
        let ends = paths.iter().flat_map(|path| path.windows(2));
        let taken: BTreeSet<(u32, u32)> = ends.map(|ends| edge(ends[0], ends[1])).collect();
        for (v, kinds) in (0..).zip(&self.skin.edge_kinds) {
            for (&next, &kind) in self.skin.neighbors[v as usize].iter().zip(kinds) {
                if self.skin.is_junction(kind) && !taken.contains(&edge(v, next)) {
                    let text = "cells of bodies meet where the bodies do not";
                    return Err(Fault::at(self.skin.points[v as usize], text));
                }
            }
        }
        Ok(())
    }

    /// Number of edges of each kind that the curves need at each corner.
    fn needs(&self) -> Vec<BTreeMap<u32, usize>> {
        let mut needs = vec![BTreeMap::new(); self.corners.len()];
        for (chain, kind) in self.chains.iter().zip(&self.kinds) {
            for corner in chain.ends.into_iter().flatten() {
                *needs[corner as usize].entry(*kind).or_default() += 1;
            }
        }
        needs
    }

    /// Whether a node may be that of a corner with these `needs`.
    fn suits(&self, v: u32, corner: &Corner, needs: &BTreeMap<u32, usize>) -> bool {
        let skin = self.skin;
        let has_enough = |(&kind, &count): (&u32, &usize)| match skin.is_junction(kind) {
            true => skin.count(v, kind) == count,
            false => skin.count(v, kind) >= count,
        };
        skin.kinds[skin.kind_of[v as usize] as usize] == corner.sheets
            && needs.iter().all(has_enough)
    }

    fn square(&mut self, chain: usize, v: u32) -> f64 {
        let (curve, x) = (&self.chains[chain], self.skin.points[v as usize]);
        *self.squares[chain].entry(v).or_insert_with(|| square(curve, x))
    }

    /// Gives each corner the nearest free node, rather one with as many neighbors as suit its
    /// angles, and not fewer than it has curves; those with most curves first.
    fn place_corners(&mut self) -> Result<(), Fault> {
        let mut order: Vec<usize> = (0..self.corners.len()).collect();
        order.sort_by_key(|&c| std::cmp::Reverse(self.corners[c].degree));
        let needs = self.needs();
        for c in order {
            let Corner { point: x, degree, valence: wanted, .. } = self.corners[c];
            let near = self.tree.nearest_neighbor_iter_with_distance_2(x.into());
            let suits = |v: u32| self.suits(v, &self.corners[c], &needs[c]);
            let near = near.filter(|(node, _)| suits(node.data)).take(CANDIDATES);
            let priced = near.filter_map(|(node, square)| {
                let valence = self.skin.neighbors[node.data as usize].len();
                let off = valence.abs_diff(wanted) as f64;
                let is_free = !self.is_fixed[node.data as usize] && valence >= degree;
                is_free.then_some((square + VALENCE * off, square, node.data))
            });
            let best = priced.min_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
            match best {
                Some((_, square, node)) if square.sqrt() <= CORNER_REACH => {
                    self.nodes[c] = node;
                    self.is_fixed[node as usize] = true;
                }
                _ => return Err(Fault::at(x, "cells have no node near the corner")),
            }
        }
        for (stations, chain) in self.stations.iter_mut().zip(&self.chains) {
            if let Some(ends) = chain.ends {
                *stations = ends.map(|c| self.nodes[c as usize]).to_vec();
            }
        }
        Ok(())
    }

    /// Gives each closed curve four nodes that it passes, off the first paths of the others.
    fn break_loops(&mut self) -> Result<(), Fault> {
        let closed: Vec<usize> =
            (0..self.stations.len()).filter(|&c| self.chains[c].is_closed()).collect();
        if closed.is_empty() {
            return Ok(());
        }
        let mut is_taken = self.is_fixed.clone();
        for chain in 0..self.stations.len() {
            if !self.chains[chain].is_closed() {
                let free = vec![0.0; self.skin.nodes.len()];
                let path = self.path(chain, &free, &self.is_fixed.clone())?;
                path.into_iter().for_each(|v| is_taken[v as usize] = true);
            }
        }
        for chain in closed {
            let curve = &self.chains[chain];
            let shifts = (0..5).map(|i| 0.05 * f64::from(i) * curve.length());
            let kind = self.kinds[chain];
            let found = shifts.filter_map(|shift| self.breaks(curve, kind, shift, &is_taken));
            let best = found.min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, nodes)) = best else {
                return Err(fault_of(curve, "cells are too large for the closed curve"));
            };
            for &v in &nodes {
                (is_taken[v as usize], self.is_fixed[v as usize]) = (true, true);
            }
            self.stations[chain] = [&nodes[..], &nodes[..1]].concat();
        }
        Ok(())
    }

    fn breaks(
        &self,
        curve: &Chain,
        kind: u32,
        shift: f64,
        is_taken: &[bool],
    ) -> Option<(f64, Vec<u32>)> {
        let is_own = |v: u32| self.skin.kind_of[v as usize] == kind;
        let (mut nodes, mut sum) = (Vec::new(), 0.0);
        for quarter in 0..4 {
            let x = curve.at(shift + 0.25 * f64::from(quarter) * curve.length());
            let near = self.tree.nearest_neighbor_iter_with_distance_2(x.into());
            let mut near = near.filter(|(node, _)| is_own(node.data)).take(6);
            let (node, square) = near
                .find(|(node, _)| !is_taken[node.data as usize] && !nodes.contains(&node.data))?;
            nodes.push(node.data);
            sum += square;
        }
        Some((sum, nodes))
    }

    /// Routes all curves, shortest first, at prices that rise where several want a node.
    fn negotiate(&mut self) -> Result<Vec<Vec<u32>>, Fault> {
        let n = self.skin.nodes.len();
        let (mut history, mut users) = (vec![0.0; n], vec![0_u32; n]);
        let mut order: Vec<usize> = (0..self.stations.len()).collect();
        let length = |c: &usize| self.chains[*c].length();
        order.sort_by(|a, b| length(a).total_cmp(&length(b)));
        let fixed = self.is_fixed.clone();
        let mut paths: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); order.len()];
        let mut routes = vec![Vec::new(); order.len()];
        for round in 0..ROUNDS {
            let present = 0.2 * 1.4_f64.powi(round.min(20) as i32);
            for &chain in &order {
                if round > 0 && paths[chain].iter().all(|&v| users[v as usize] <= 1) {
                    continue;
                }
                paths[chain].iter().for_each(|&v| users[v as usize] -= 1);
                let price = |v: usize| history[v] + present * f64::from(users[v]);
                let prices = self.beside_others(chain, (0..n).map(price).collect());
                routes[chain] = self.path(chain, &prices, &fixed)?;
                let own = routes[chain].iter().copied().filter(|&v| !fixed[v as usize]);
                paths[chain] = own.collect();
                paths[chain].iter().for_each(|&v| users[v as usize] += 1);
            }
            if users.iter().all(|&count| count <= 1) {
                return Ok(routes);
            }
            for (history, &count) in history.iter_mut().zip(&users).filter(|(_, count)| **count > 1)
            {
                *history += 0.3 * f64::from(count - 1);
            }
        }
        let shared = users.iter().position(|&count| count > 1).unwrap_or_default();
        Err(Fault::at(self.skin.points[shared], "cells are too large for curves close together"))
    }

    /// Adds to `prices` those of nodes beside corners, but not beside stations of `chain`.
    fn beside_others(&self, chain: usize, mut prices: Vec<f64>) -> Vec<f64> {
        let around = |nodes: &[u32]| -> BTreeSet<u32> {
            nodes.iter().flat_map(|&v| &self.skin.neighbors[v as usize]).copied().collect()
        };
        let own = around(&self.stations[chain]);
        for v in around(&self.nodes).difference(&own) {
            prices[*v as usize] += BESIDE_CORNER;
        }
        prices
    }

    /// Path of a chain through its stations.
    fn path(&mut self, chain: usize, prices: &[f64], fixed: &[bool]) -> Result<Vec<u32>, Fault> {
        let stations = self.stations[chain].clone();
        let (curve, kind, skin) = (&self.chains[chain], self.kinds[chain], self.skin);
        let squares = &mut self.squares[chain];
        let mut along = |v: u32| {
            EDGE + *squares.entry(v).or_insert_with(|| square(curve, skin.points[v as usize]))
        };
        let mut path = vec![stations[0]];
        let mut own: BTreeSet<u32> = BTreeSet::new();
        for ends in stations.windows(2) {
            let entry = |v: u32| {
                let is_own = skin.kind_of[v as usize] == kind;
                let is_open = is_own && !fixed[v as usize] && !own.contains(&v);
                is_open.then_some(prices[v as usize].max(0.0))
            };
            let Some(piece) = shortest_path(skin, [ends[0], ends[1]], kind, &mut along, entry)
            else {
                return Err(fault_of(curve, "cells leave no way for the curve"));
            };
            own.extend(piece.iter().copied());
            path.extend(&piece[1..]);
        }
        Ok(path)
    }
}

/// Squared distance of `x` from `curve`.
fn square(curve: &Chain, x: Vec3) -> f64 {
    (curve.foot(&x).point - x).norm().min(FAR).powi(2)
}
