//! DVCON_TOPO: what stays solid, and demands of the way in which the part is made.

use super::commands::Command;
use super::groups::Of;
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
        self.lose_unread(demand);
        let groups: Vec<&String> = demand.all("EL_GROUP").flat_map(|item| &item.values).collect();
        if kind == "FROZEN" {
            demand.needed("EL_GROUP", "the elements that stay")?;
            for group in groups {
                let members = self.members(Of::Elements, demand, group)?;
                let set = self.named_set(Of::Elements, group, members);
                self.design.solid.push(set);
            }
            return Ok(());
        }
        let mut within = Vec::new();
        for group in &groups {
            within.extend(self.members(Of::Elements, demand, group)?);
        }
        within.sort_unstable();
        let is_beside = |element: &u32| within.binary_search(element).is_err();
        if !groups.is_empty() && self.designed.iter().any(is_beside) {
            let names: Vec<&str> = groups.iter().map(|group| group.as_str()).collect();
            let names = excerpt(&names.join(", "));
            self.lose(format!("{demand}, which holds for the elements {names} alone"));
            return Ok(());
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
        demand.needed("THICKNESS", "a width of members")?;
        let thickness = demand.positive("THICKNESS")?;
        let (least, distance, most) = match kind {
            "MIN_MEMBER" => (thickness, None, None),
            _ => (demand.positive("MIN_THICKNESS")?, demand.positive("DISTANCE")?, thickness),
        };
        let is_width = |demand: &&mut DeckManufacturing| {
            matches!(demand, DeckManufacturing::MemberSize { .. })
        };
        let found = self.design.manufacturing.iter_mut().find(is_width);
        if let Some(DeckManufacturing::MemberSize { minimum, gap, maximum }) = found {
            // The stricter one of two holds.
            let largest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
            let smallest = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::min);
            (*minimum, *gap) = (largest(least, *minimum), largest(distance, *gap));
            *maximum = smallest(most, *maximum);
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
        let sides = match plane.as_str() {
            "NONE" => 1,
            "AUTO" => 2,
            "AUTO_TIGHT" => {
                let remedy = "give a `parting` and `through_holes = false`";
                self.lose(format!(
                    "no hole goes through by MID_PLANE = AUTO_TIGHT of {demand}: {remedy}"
                ));
                2
            }
            _ => return Ok(Err(format!("{demand} with MID_PLANE = {}", excerpt(&plane)))),
        };
        Ok(Ok(DeckManufacturing::Casting { draw, sides, is_closed: false, thickness: None }))
    }

    fn overhang(&mut self, demand: &Command) -> Parsed<Result<DeckManufacturing, String>> {
        let item = demand.needed("PRINT_DIR", "the direction of build")?;
        let build = self.direction(demand, item)?;
        let degrees = demand.positive("ANGLE")?.unwrap_or(OVERHANG);
        if degrees >= 90.0 {
            return Ok(Err(format!("{demand} with ANGLE = {degrees}")));
        }
        Ok(Ok(DeckManufacturing::Overhang { build, degrees }))
    }

    fn milling(&mut self, demand: &Command) -> Parsed<Result<DeckManufacturing, String>> {
        demand.needed("MILLING_DIR", "a direction of a tool")?;
        let items = demand.all("MILLING_DIR");
        let tools = items.map(|item| self.direction(demand, item)).collect::<Parsed<_>>()?;
        Ok(Ok(DeckManufacturing::Milling { tools }))
    }

    /// The LINK_TOPO of a demand: a plane of symmetry, sectors or a pattern.
    fn link(&mut self, demand: &Command) -> Parsed<Result<DeckManufacturing, String>> {
        let name = &demand.needed("CHECK_LINK", "the name of a LINK_TOPO")?.values[0];
        let link = self.named(demand, "LINK_TOPO", name)?;
        self.lose_unread(link);
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
            _ => {
                let kind = excerpt(&given.values.join(", "));
                let angle = angle.map(|it| format!(", ANGLE = {it}")).unwrap_or_default();
                let along =
                    translation.map(|it| format!(", TRANSLATION = {it}")).unwrap_or_default();
                Err(format!("{link} with TYPE = {kind}{angle}{along}"))
            }
        })
    }
}
