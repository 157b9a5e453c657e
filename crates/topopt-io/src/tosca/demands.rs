//! DVCON_TOPO: what stays solid, and demands of the way in which the part is made.

use super::commands::Command;
use super::groups::{Of, unknown};
use super::reader::Reader;
use crate::deck_design::DeckManufacturing;
use crate::quote::excerpt;
use crate::read_error::Parsed;

/// Angle of an OVERHANG that gives none.
const OVERHANG: f64 = 45.0;

impl Reader<'_> {
    /// Adds a DVCON_TOPO to the design.
    pub fn demand(&mut self, demand: &Command) -> Parsed<()> {
        let kind = demand.keyword("CHECK_TYPE");
        let group = demand.first("EL_GROUP").and_then(|item| item.values.first());
        if kind == "FROZEN" {
            let group = demand.needed("EL_GROUP", "the elements that stay")?.values[0].clone();
            let members = self.members(Of::Elements, demand, &group)?;
            let set = self.named_set(Of::Elements, &group, members);
            self.design.solid.push(set);
            return Ok(());
        }
        if let Some(group) = group {
            let members = self.members(Of::Elements, demand, group)?;
            if self.designed.iter().any(|element| members.binary_search(element).is_err()) {
                self.lose(format!(
                    "{demand}, which holds for the elements {} alone",
                    excerpt(group)
                ));
                return Ok(());
            }
        }

        let all = match kind.as_str() {
            "MIN_MEMBER" | "MAX_MEMBER" => return self.members_of_width(demand, &kind),
            "CAST" => self.cast(demand)?,
            "OVERHANG" => self.overhang(demand)?,
            "MILLING" => self.milling(demand)?,
            "LINK_TOPO" => self.link(demand)?,
            _ => Err(format!("{demand} with CHECK_TYPE = {}", excerpt(&kind))),
        };
        match all {
            Ok(demand) => self.design.manufacturing.push(demand),
            Err(what) => self.lose(what),
        }
        Ok(())
    }

    /// Least and largest width of members, in one demand.
    fn members_of_width(&mut self, demand: &Command, kind: &str) -> Parsed<()> {
        let thickness = demand.number("THICKNESS")?;
        let (least, most) = match kind {
            "MIN_MEMBER" => (thickness, None),
            _ => (demand.number("MIN_THICKNESS")?, thickness),
        };
        let distance = demand.number("DISTANCE")?;
        let is_width = |demand: &&mut DeckManufacturing| {
            matches!(demand, DeckManufacturing::MemberSize { .. })
        };
        let found = self.design.manufacturing.iter_mut().find(is_width);
        if let Some(DeckManufacturing::MemberSize { minimum, gap, maximum }) = found {
            (*minimum, *gap, *maximum) = (least.or(*minimum), distance.or(*gap), most.or(*maximum));
            return Ok(());
        }
        let demand = DeckManufacturing::MemberSize { minimum: least, gap: distance, maximum: most };
        self.design.manufacturing.push(demand);
        Ok(())
    }

    fn cast(&mut self, demand: &Command) -> Parsed<Result<DeckManufacturing, String>> {
        let item = demand.needed("PULL_DIR", "the direction of draw")?;
        let draw = self.direction(demand, item)?;
        let plane = demand.keyword("MID_PLANE");
        let (sides, is_closed) = match plane.as_str() {
            "NONE" => (1, false),
            "AUTO" => (2, false),
            "AUTO_TIGHT" => (2, true),
            _ => return Ok(Err(format!("{demand} with MID_PLANE = {}", excerpt(&plane)))),
        };
        self.lose_items(demand, &["PULL_DIR", "MID_PLANE"]);
        Ok(Ok(DeckManufacturing::Casting { draw, sides, is_closed, thickness: None }))
    }

    fn overhang(&mut self, demand: &Command) -> Parsed<Result<DeckManufacturing, String>> {
        let item = demand.needed("PRINT_DIR", "the direction of build")?;
        let build = self.direction(demand, item)?;
        let degrees = demand.number("ANGLE")?.unwrap_or(OVERHANG);
        self.lose_items(demand, &["PRINT_DIR", "ANGLE"]);
        Ok(Ok(DeckManufacturing::Overhang { build, degrees }))
    }

    fn milling(&mut self, demand: &Command) -> Parsed<Result<DeckManufacturing, String>> {
        demand.needed("MILLING_DIR", "a direction of a tool")?;
        let items = demand.all("MILLING_DIR");
        let tools = items.map(|item| self.direction(demand, item)).collect::<Parsed<_>>()?;
        self.lose_items(demand, &["MILLING_DIR"]);
        Ok(Ok(DeckManufacturing::Milling { tools }))
    }

    /// The LINK_TOPO of a demand: a plane of symmetry, sectors or a pattern.
    fn link(&mut self, demand: &Command) -> Parsed<Result<DeckManufacturing, String>> {
        let name = &demand.needed("CHECK_LINK", "the name of a LINK_TOPO")?.values[0];
        let named = self.commands.iter().find(|command| command.is("LINK_TOPO", name));
        let link = named.ok_or_else(|| unknown(demand, "LINK_TOPO", name))?;
        let given = link.needed("TYPE", "the kind of link")?;
        let kind = given.values[0].to_ascii_uppercase();
        let axis = given.values.get(1).map_or(String::new(), |axis| axis.to_ascii_uppercase());
        let axis = ["AXIS_1", "AXIS_2", "AXIS_3"].iter().position(|word| *word == axis);
        let frame = self.frame(link, &link.keyword("CS"))?;
        let (point, axis) = (frame.origin, axis.map(|axis| frame.axes[axis]));
        let (angle, translation) = (link.number("ANGLE")?, link.number("TRANSLATION")?);

        let sectors = angle.map(|angle| 360.0 / angle);
        let sectors = sectors.filter(|n| (n - n.round()).abs() < 1e-6 && n.round() >= 2.0);
        Ok(match (kind.as_str(), axis) {
            ("PLANE_SYM", Some(normal)) => Ok(DeckManufacturing::Symmetry { point, normal }),
            ("CYCLIC_SYM", Some(axis))
                if angle.is_none() && translation.is_some_and(|t| t != 0.0) =>
            {
                let pitch = axis.map(|x| x * translation.unwrap_or_default());
                Ok(DeckManufacturing::Pattern { pitch })
            }
            ("ROTATION_SYM" | "CYCLIC_SYM", Some(axis))
                if sectors.is_some() && translation.unwrap_or_default() == 0.0 =>
            {
                let sectors = sectors.unwrap_or_default().round() as u64;
                Ok(DeckManufacturing::Cyclic { point, axis, sectors, mirrored: None })
            }
            _ => Err(format!("{link} with TYPE = {}", excerpt(&given.values.join(", ")))),
        })
    }

    /// Keeps what a command says besides the items `known`.
    fn lose_items(&mut self, demand: &Command, known: &[&str]) {
        const OF_ALL: [&str; 5] = ["ID_NAME", "EL_GROUP", "CHECK_TYPE", "CHECK_GROUP", "LIST"];
        let others = demand.items.iter().map(|item| item.key.as_str());
        let others: Vec<&str> =
            others.filter(|key| !known.contains(key) && !OF_ALL.contains(key)).collect();
        if !others.is_empty() {
            self.lose(format!("{} of {demand}", others.join(", ")));
        }
    }
}
