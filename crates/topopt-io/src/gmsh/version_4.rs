//! $Entities, $Nodes and $Elements of version 4.1:
//! <https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format>.

use std::collections::HashMap;

use super::cursor::{Cursor, Least};
use super::element_shape::{Shape, shape_of};
use super::error::Fault;
use super::raw::{RawMesh, Volume};
use crate::import::Nodes;
use crate::read_error::Parsed;

/// A point: `1 0 0 0 0`; an integer, three doubles and the length of a list.
const POINT: Least = Least { text: 9, binary: 36 };

/// A curve, surface or volume: `1 0 0 0 0 0 0 0 0`; an integer, six doubles, the lengths of two
/// lists.
const ENTITY: Least = Least { text: 17, binary: 68 };

/// The header of a block: `0 1 0 1`; three integers and a length.
const BLOCK: Least = Least { text: 8, binary: 20 };

/// A node: `1` and `0 0 0`; a tag and three doubles.
const NODE: Least = Least { text: 8, binary: 32 };

/// An element: `1 1`; its tag and that of a node.
const ELEMENT: Least = Least { text: 4, binary: 16 };

/// An entry of a list: `1`; an integer.
const TAG: Least = Least { text: 2, binary: 4 };

/// Physical groups of the geometric entities, by (dimension, tag).
pub(super) type Entities = HashMap<(i64, i64), Vec<u32>>;

/// Points `tag x y z groups`, then curves, surfaces and volumes `tag box groups boundary`,
/// where a list is its length and its entries.
pub(super) fn entities(cursor: &mut Cursor, mesh: &mut RawMesh) -> Parsed<Entities> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = cursor.size("the number of entities")?;
    }
    cursor.end_record()?;

    let mut entities = Entities::new();

    for (dimension, announced) in counts.into_iter().enumerate() {
        let (least, n_doubles) = if dimension == 0 { (POINT, 3) } else { (ENTITY, 6) };
        for _ in 0..cursor.count(announced, "entities", least)? {
            let tag = cursor.int("the tag of an entity")?;
            for _ in 0..n_doubles {
                cursor.double("a coordinate")?;
            }
            let mut groups: Vec<u32> =
                tags(cursor, "physical groups")?.iter().map(|t| t.unsigned_abs() as u32).collect();
            let bounding =
                if dimension > 0 { tags(cursor, "bounding entities")? } else { Vec::new() };
            cursor.end_record()?;

            groups.sort_unstable();
            groups.dedup();
            if dimension == 3 {
                let surfaces = bounding.into_iter().map(i64::abs).collect();
                mesh.volumes.insert(tag, Volume { groups: groups.clone(), surfaces });
            }
            entities.insert((dimension as i64, tag), groups);
        }
    }
    Ok(entities)
}

/// Blocks with the header `dimension entity parametric n_nodes`: all tags, then all coordinates.
pub(super) fn nodes(cursor: &mut Cursor, mesh: &mut RawMesh) -> Parsed<()> {
    let n_blocks = number_of(cursor, "blocks of nodes", BLOCK)?;
    let n_nodes = number_of(cursor, "nodes", NODE)?;
    tag_range(cursor)?;

    let mut tags = Vec::with_capacity(n_nodes);
    let mut coordinates = Vec::with_capacity(n_nodes);
    for _ in 0..n_blocks {
        let dimension = cursor.int("the dimension of an entity")?;
        cursor.int("the tag of an entity")?;
        let parametric = cursor.int("0 or 1 (parametric coordinates)")? != 0;
        let count = number_of(cursor, "nodes in a block", NODE)?;
        cursor.end_record()?;

        let first = tags.len();
        for _ in 0..count {
            tags.push(cursor.size("the tag of a node")?);
            cursor.end_record()?;
        }
        for i in first..first + count {
            coordinates.push(cursor.coordinates(tags[i])?);
            if parametric {
                for _ in 0..dimension {
                    cursor.double("a parametric coordinate")?;
                }
            }
            cursor.end_record()?;
        }
    }

    check_total(cursor, "as many nodes as announced", n_nodes, tags.len())?;
    mesh.nodes = Nodes::new(tags, coordinates)?;
    Ok(())
}

/// Blocks with the header `dimension entity type n_elements` and elements `tag nodes...`.
pub(super) fn elements(
    cursor: &mut Cursor,
    mesh: &mut RawMesh,
    entities: Option<&Entities>,
) -> Parsed<()> {
    let n_blocks = number_of(cursor, "blocks of elements", BLOCK)?;
    let n_elements = number_of(cursor, "elements", ELEMENT)?;
    tag_range(cursor)?;

    let mut nodes = Vec::new();
    let mut total = 0;
    for _ in 0..n_blocks {
        let dimension = cursor.int("the dimension of an entity")?;
        let entity = cursor.int("the tag of an entity")?;
        let number = cursor.int("the type of an element")?;
        let shape = shape_of(number);
        let count = elements_in_block(cursor, mesh, shape)?;
        cursor.end_record()?;

        let groups = entities.and_then(|all| all.get(&(dimension, entity)));
        let place = mesh.intern(groups.cloned().unwrap_or_default(), entity);

        for _ in 0..count {
            let tag = cursor.size("the tag of an element")?;
            let Some((shape, n_nodes)) = shape else {
                return Err(cursor.fault(Fault::ElementType { element: tag, number }));
            };

            nodes.clear();
            for _ in 0..n_nodes {
                nodes.push(cursor.size("the tag of a node")?);
            }
            cursor.end_record()?;
            mesh.add(shape, tag, &nodes, place).map_err(|fault| cursor.fault(fault))?;
        }

        total += count;
    }
    check_total(cursor, "as many elements as announced", n_elements, total)
}

/// The number of elements in a block; makes room for them if they are solids.
fn elements_in_block(
    cursor: &mut Cursor,
    mesh: &mut RawMesh,
    shape: Option<(Shape, usize)>,
) -> Parsed<usize> {
    // An element is its tag and those of its nodes, so the size of the file bounds the room.
    let solid = match shape {
        Some((Shape::Solid(_), n_nodes)) => Some(n_nodes),
        _ => None,
    };
    let numbers = solid.map_or(2, |n_nodes| n_nodes as u64 + 1);
    let least = Least { text: 2 * numbers, binary: 8 * numbers };

    let count = number_of(cursor, "elements in a block", least)?;
    if let Some(n_nodes) = solid {
        mesh.reserve(count, n_nodes);
    }
    Ok(count)
}

/// A count of things of at least `least` bytes each.
fn number_of(cursor: &mut Cursor, what: &'static str, least: Least) -> Parsed<usize> {
    let announced = cursor.size("a number of entries")?;
    cursor.count(announced, what, least)
}

/// `min_tag max_tag` at the end of the header of a section, which say nothing new.
fn tag_range(cursor: &mut Cursor) -> Parsed<()> {
    cursor.size("the smallest tag")?;
    cursor.size("the largest tag")?;
    cursor.end_record()
}

fn check_total(
    cursor: &Cursor,
    expected: &'static str,
    announced: usize,
    found: usize,
) -> Parsed<()> {
    if announced == found {
        Ok(())
    } else {
        Err(cursor.malformed(expected, format!("{found} instead of {announced}")))
    }
}

fn tags(cursor: &mut Cursor, what: &'static str) -> Parsed<Vec<i64>> {
    let announced = cursor.size("the length of a list of tags")?;
    let count = cursor.count(announced, what, TAG)?;
    (0..count).map(|_| cursor.int("the tag of an entity")).collect()
}
