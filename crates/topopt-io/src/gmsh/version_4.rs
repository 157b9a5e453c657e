//! $Entities, $Nodes and $Elements of version 4.1.

use std::collections::HashMap;

use super::cursor::Cursor;
use super::element_shape::shape_of;
use super::error::Problem;
use super::raw::RawMesh;
use crate::read_error::Parsed;

/// Physical groups of the geometric entities, by (dimension, tag).
pub(super) type Entities = HashMap<(i64, i64), Vec<u32>>;

/// Points `tag x y z groups`, then curves, surfaces and volumes `tag box groups boundary`,
/// where a list is its length and its entries.
pub(super) fn entities(cursor: &mut Cursor) -> Parsed<Entities> {
    let mut counts = [0; 4];
    for count in &mut counts {
        *count = cursor.size("the number of entities")?;
    }
    cursor.end_record()?;
    let mut entities = Entities::new();
    for (dimension, announced) in counts.into_iter().enumerate() {
        let (text, binary, n_doubles) = if dimension == 0 { (9, 36, 3) } else { (17, 68, 6) };
        for _ in 0..cursor.count(announced, "entities", text, binary)? {
            let tag = cursor.int("the tag of an entity")?;
            for _ in 0..n_doubles {
                cursor.double("a coordinate")?;
            }
            let mut groups: Vec<u32> =
                tags(cursor, "physical groups")?.iter().map(|t| t.unsigned_abs() as u32).collect();
            if dimension > 0 {
                tags(cursor, "bounding entities")?;
            }
            cursor.end_record()?;
            groups.sort_unstable();
            groups.dedup();
            entities.insert((dimension as i64, tag), groups);
        }
    }
    Ok(entities)
}

/// Blocks with the header `dimension entity parametric n_nodes`: all tags, then all coordinates.
pub(super) fn nodes(cursor: &mut Cursor, mesh: &mut RawMesh) -> Parsed<()> {
    let [n_blocks, n_nodes] = header(cursor)?;
    let n_blocks = cursor.count(n_blocks, "blocks of nodes", 8, 20)?;
    let n_nodes = cursor.count(n_nodes, "nodes", 8, 32)?;
    mesh.node_tags.reserve_exact(n_nodes);
    mesh.coordinates.reserve_exact(n_nodes);
    for _ in 0..n_blocks {
        let dimension = cursor.int("the dimension of an entity")?;
        cursor.int("the tag of an entity")?;
        let parametric = cursor.int("0 or 1 (parametric coordinates)")? != 0;
        let announced = cursor.size("the number of nodes in a block")?;
        cursor.end_record()?;
        let count = cursor.count(announced, "nodes in a block", 8, 32)?;
        let first = mesh.node_tags.len();
        for _ in 0..count {
            mesh.node_tags.push(cursor.size("the tag of a node")?);
            cursor.end_record()?;
        }
        for i in first..first + count {
            mesh.coordinates.push(cursor.coordinates(mesh.node_tags[i])?);
            if parametric {
                for _ in 0..dimension {
                    cursor.double("a parametric coordinate")?;
                }
            }
            cursor.end_record()?;
        }
    }
    check_total(cursor, "as many nodes as announced", n_nodes, mesh.node_tags.len())
}

/// Blocks with the header `dimension entity type n_elements` and elements `tag nodes...`.
pub(super) fn elements(
    cursor: &mut Cursor,
    mesh: &mut RawMesh,
    entities: Option<&Entities>,
) -> Parsed<()> {
    let [n_blocks, n_elements] = header(cursor)?;
    let n_blocks = cursor.count(n_blocks, "blocks of elements", 8, 20)?;
    let n_elements = cursor.count(n_elements, "elements", 4, 16)?;
    let (mut nodes, mut total) = (Vec::new(), 0);
    for _ in 0..n_blocks {
        let dimension = cursor.int("the dimension of an entity")?;
        let entity = cursor.int("the tag of an entity")?;
        let number = cursor.int("the type of an element")?;
        let announced = cursor.size("the number of elements in a block")?;
        cursor.end_record()?;
        let count = cursor.count(announced, "elements in a block", 4, 16)?;
        let groups = entities.and_then(|all| all.get(&(dimension, entity)));
        let place = mesh.intern(groups.cloned().unwrap_or_default(), entity);
        for _ in 0..count {
            let tag = cursor.size("the tag of an element")?;
            let Some((shape, n_nodes)) = shape_of(number) else {
                return Err(cursor.fault(Problem::ElementType { element: tag, number }));
            };
            nodes.clear();
            for _ in 0..n_nodes {
                nodes.push(cursor.size("the tag of a node")?);
            }
            cursor.end_record()?;
            mesh.add(shape, tag, &nodes, place);
        }
        total += count;
    }
    check_total(cursor, "as many elements as announced", n_elements, total)
}

/// `n_blocks n min_tag max_tag`, of which the tags say nothing new.
fn header(cursor: &mut Cursor) -> Parsed<[u64; 2]> {
    let n_blocks = cursor.size("the number of blocks")?;
    let count = cursor.size("the number of entries")?;
    cursor.size("the smallest tag")?;
    cursor.size("the largest tag")?;
    cursor.end_record()?;
    Ok([n_blocks, count])
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
    let count = cursor.count(announced, what, 2, 4)?;
    (0..count).map(|_| cursor.int("the tag of an entity")).collect()
}
