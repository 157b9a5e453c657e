//! Items of commands that are read; all others are lost.

use super::commands::Command;
use super::reader::Reader;
use crate::quote::excerpt;

/// Key of an item, how often a command may have it, and how many values it may have.
type Known = (&'static str, usize, usize);

/// Any number.
const ANY: usize = usize::MAX;

/// Items that all commands may have: they bear on no result.
const OF_ALL: [&str; 2] = ["ID_NAME", "LIST"];

/// Items by the word of a command, those of DVCON_TOPO by its CHECK_TYPE.
const KNOWN: [(&str, &[Known]); 15] = [
    ("FEM_INPUT", &[("FILE", 1, ANY)]),
    (
        "OPTIMIZE",
        &[
            ("DV", ANY, ANY),
            ("OBJ_FUNC", 1, 1),
            ("DVCON", ANY, ANY),
            ("CONSTRAINT", ANY, ANY),
            ("STRATEGY", 1, 1),
        ],
    ),
    ("OPT_PARAM", &[("OPTIMIZE", 1, 1), ("AUTO_FROZEN", 1, 1), ("TOPO_FILTER_RADIUS", 1, 1)]),
    ("DV_TOPO", &[("EL_GROUP", ANY, ANY)]),
    ("OBJ_FUNC", &[("DRESP", ANY, 3), ("TARGET", 1, 1)]),
    (
        "CONSTRAINT",
        &[
            ("DRESP", 1, 1),
            ("MAGNITUDE", 1, 1),
            ("LE_VALUE", 1, 1),
            ("GE_VALUE", 1, 1),
            ("EQ_VALUE", 1, 1),
        ],
    ),
    (
        "DRESP",
        &[
            ("DEF_TYPE", 1, 1),
            ("TYPE", 1, 1),
            ("EL_GROUP", 1, 1),
            ("ND_GROUP", 1, 1),
            ("NODE", 1, 1),
            ("LC_SET", ANY, 3),
            ("GROUP_OPER", 1, 1),
        ],
    ),
    (
        "LINK_TOPO",
        &[
            ("TYPE", 1, 2),
            ("CS", 1, 1),
            ("ANGLE", 1, 1),
            ("TRANSLATION", 1, 1),
            ("MAIN", 1, 1),
            ("MASTER", 1, 1),
        ],
    ),
    ("FROZEN", &[]),
    ("MIN_MEMBER", &[("THICKNESS", 1, 1)]),
    ("MAX_MEMBER", &[("THICKNESS", 1, 1), ("DISTANCE", 1, 1), ("MIN_THICKNESS", 1, 1)]),
    ("CAST", &[("PULL_DIR", 1, 4), ("MID_PLANE", 1, 1)]),
    ("OVERHANG", &[("PRINT_DIR", 1, 4), ("ANGLE", 1, 1)]),
    ("MILLING", &[("MILLING_DIR", ANY, 4)]),
    ("LINKED", &[("CHECK_LINK", 1, 1)]),
];

/// Items of every DVCON_TOPO.
const OF_DEMANDS: [Known; 2] = [("EL_GROUP", ANY, ANY), ("CHECK_TYPE", 1, 1)];

impl Reader<'_> {
    /// Keeps what a `command` says and nothing reads: other items, second ones, values too many.
    pub fn lose_unread(&mut self, command: &Command) {
        let check = command.keyword("CHECK_TYPE");
        let word = match (command.word.as_str(), check.as_str()) {
            ("DVCON_TOPO", "LINK_TOPO") => "LINKED",
            ("DVCON_TOPO", check) => check,
            (word, _) => word,
        };
        let Some((_, known)) = KNOWN.iter().find(|(known, _)| *known == word) else { return };
        let is_demand = command.word == "DVCON_TOPO";
        let of_demands = OF_DEMANDS.iter().filter(|_| is_demand);
        let known: Vec<&Known> = known.iter().chain(of_demands).collect();

        let mut lost = Vec::new();
        for (place, item) in command.items.iter().enumerate() {
            let before =
                command.items[..place].iter().filter(|other| other.key == item.key).count();
            let is_read = known.iter().any(|(key, often, values)| {
                item.key == *key && before < *often && item.values.len() <= *values
            });
            // Where material is looked for beside the group: everywhere, or there alone.
            let is_around = item.key == "CHECK_GROUP"
                && item.values.iter().all(|group| super::groups::is_all(group));
            if !is_read && !is_around && !OF_ALL.contains(&item.key.as_str()) {
                lost.push(excerpt(&format!("{} = {}", item.key, item.values.join(", "))));
            }
        }
        if !lost.is_empty() {
            self.lose(format!("{} of {command}", lost.join("; ")));
        }
    }
}
