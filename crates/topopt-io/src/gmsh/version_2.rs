//! $Nodes and $Elements of version 2.2:
//! <https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format-version-2-_0028Legacy_0029>.

use super::cursor::{Cursor, Least};
use super::element_shape::{Shape, shape_of};
use super::error::Fault;
use super::raw::RawMesh;
use crate::import::Nodes;
use crate::read_error::Parsed;

/// `1 0 0 0`; an integer and three doubles.
const NODE: Least = Least { text: 8, binary: 28 };

/// `1 15 0 1`; three integers: the tag, and a tag of a group or a node more.
const ELEMENT: Least = Least { text: 8, binary: 12 };

/// `tag x y z` a node. The count is text even in a binary file.
pub(super) fn nodes(cursor: &mut Cursor, mesh: &mut RawMesh) -> Parsed<()> {
    let announced = cursor.as_text(|cursor| cursor.size("the number of nodes"))?;
    let count = cursor.count(announced, "nodes", NODE)?;
    cursor.end_line()?;
    let (mut tags, mut coordinates) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let tag = tag(cursor, "the tag of a node")?;
        coordinates.push(cursor.coordinates(tag)?);
        tags.push(tag);
        cursor.end_record()?;
    }
    mesh.nodes = Nodes::new(tags, coordinates)?;
    Ok(())
}

/// Text: `tag type n_tags tags... nodes...` an element. Binary: blocks with the header
/// `type n_elements n_tags` and elements `tag tags... nodes...`.
pub(super) fn elements(cursor: &mut Cursor, mesh: &mut RawMesh) -> Parsed<()> {
    let announced = cursor.as_text(|cursor| cursor.size("the number of elements"))?;
    let count = cursor.count(announced, "elements", ELEMENT)?;
    cursor.end_line()?;

    let mut reader = ElementReader { mesh, place: None, nodes: Vec::new() };
    let mut done = 0;
    while done < count {
        if !cursor.binary {
            let tag = tag(cursor, "the tag of an element")?;

            let number = cursor.int("the type of an element")?;
            let n_tags = cursor.int("the number of tags")?;
            let (shape, n_nodes) = known(cursor, number, tag)?;
            reader.element(cursor, tag, shape, n_nodes, n_tags)?;
            cursor.end_record()?;
            done += 1;
            continue;
        }

        let number = cursor.int("the type of an element")?;
        let in_block = cursor.int("the number of elements in a block")?;
        let n_tags = cursor.int("the number of tags")?;
        let (shape, n_nodes) = known(cursor, number, done as u64 + 1)?;

        let in_block = usize::try_from(in_block).unwrap_or(0);
        if in_block == 0 || in_block > count - done {
            let expected = "a number of elements that fits the announced total";
            return Err(cursor.malformed(expected, in_block.to_string()));
        }

        for _ in 0..in_block {
            let tag = tag(cursor, "the tag of an element")?;
            reader.element(cursor, tag, shape, n_nodes, n_tags)?;
        }
        done += in_block;
    }
    Ok(())
}

struct ElementReader<'a> {
    mesh: &'a mut RawMesh,
    /// The last physical and elementary tags, and the number of their place.
    place: Option<([i64; 2], u32)>,
    nodes: Vec<u64>,
}

impl ElementReader<'_> {
    fn element(
        &mut self,
        cursor: &mut Cursor,
        element: u64,
        shape: Shape,
        n_nodes: usize,
        n_tags: i64,
    ) -> Parsed<()> {
        let mut place = [0; 2];
        for i in 0..n_tags {
            let value = cursor.int("a tag of an element")?;
            match i {
                0 | 1 => place[i as usize] = value,
                2 if value > 0 => return Err(cursor.fault(Fault::Partitioned)),
                _ => {}
            }
        }
        self.nodes.clear();
        for _ in 0..n_nodes {
            self.nodes.push(tag(cursor, "the tag of a node")?);
        }
        let place = self.place(place);
        self.mesh.add(shape, element, &self.nodes, place).map_err(|fault| cursor.fault(fault))
    }

    /// Physical tag 0 is no group; the sign is an orientation.
    fn place(&mut self, tags: [i64; 2]) -> u32 {
        let [physical, entity] = tags;
        match self.place {
            Some((known, place)) if known == tags => place,
            _ => {
                let list =
                    if physical == 0 { vec![] } else { vec![physical.unsigned_abs() as u32] };
                let place = self.mesh.intern(list, entity);
                self.place = Some((tags, place));
                place
            }
        }
    }
}

fn known(cursor: &Cursor, number: i64, element: u64) -> Parsed<(Shape, usize)> {
    shape_of(number).ok_or_else(|| cursor.fault(Fault::ElementType { element, number }))
}

fn tag(cursor: &mut Cursor, expected: &'static str) -> Parsed<u64> {
    let value = cursor.int(expected)?;
    u64::try_from(value).map_err(|_| cursor.malformed(expected, format!("`{value}`")))
}
