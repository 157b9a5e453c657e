//! Keywords of heat.

use super::{Becomes, HEAT, HEAT_BARE, PULL, Row, row};
use crate::carried::{By, at};

const FLUX: &str = "*CFLUX\nEND, 11, 0.25\n";

pub fn rows() -> Vec<Row> {
    carried().into_iter().chain(lost()).collect()
}

fn heat(keyword: &'static str, step: &'static str, becomes: Becomes) -> Row {
    Row { base: HEAT, ..row(keyword, "", step, becomes) }
}

/// A temperature of node 12.
fn hot(keys: &'static str, value: f64, by: By) -> Becomes {
    at(keys, "temperature", (12, 0), value, by)
}

fn carried() -> Vec<Row> {
    let film = "`[[convection]]`";
    // Both cubes have a section of 1: a heat of 1 rises by 2/3 over them.
    let rise = 2.0 / 3.0;
    vec![
        heat("*HEAT TRANSFER, STEADY STATE", FLUX, hot("`kind = \"heat\"`", rise, By::Hand)),
        heat("*CFLUX", "*CFLUX\n12, 11, 1.\n", hot("`total_heat`", 1.427771, By::CalculiX)),
        heat("*DFLUX, S1 to S6", "*DFLUX\n2, S4, 1.\n", hot("`heat_flux`", rise, By::Hand)),
        heat("*DFLUX, BF", "*DFLUX\nPART, BF, 1.\n", hot("`heat_source`", rise, By::CalculiX)),
        heat("*DSFLUX", "*DSFLUX\nFACE, S, 1.\n", hot("`heat_flux`", rise, By::Hand)),
        heat("*FILM", "*FILM\n2, F4, 10., 2.\n", hot(film, 40.0 / 7.0, By::Hand)),
        heat("*SFILM", "*SFILM\nFACE, F, 10., 2.\n", hot(film, 40.0 / 7.0, By::Hand)),
        heat(
            "*BOUNDARY of 11",
            "*BOUNDARY\nEND, 11, 11, 5.\n",
            at("`temperature`", "temperature", (2, 0), 2.5, By::Hand),
        ),
        Row {
            base: HEAT_BARE,
            model: "*CONDUCTIVITY, TYPE=ORTHO\n6., 1., 1.\n\
                    *SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            ..heat(
                "*CONDUCTIVITY, TYPE=ORTHO",
                FLUX,
                hot("three of `conductivity`", rise / 2.0, By::Hand),
            )
        },
    ]
}

fn lost() -> Vec<Row> {
    let said = Becomes::Said;
    let radiate = "*RADIATE\n2, R4, 10., 0.5\n*CFLUX\n12, 11, 1.\n";
    let force = "*CLOAD\n12, 1, 1.\n*CFLUX\n12, 11, 1.\n";
    let cflux = "*CFLUX\n12, 11, 1.\n*CLOAD\n12, 2, 1.\n";
    let dflux = "*DFLUX\n2, S4, 1.\n*CLOAD\n12, 2, 1.\n";
    let held = "*BOUNDARY\nEND, 11, 11, 5.\n";
    vec![
        heat("*RADIATE", radiate, said("*RADIATE (line")),
        heat("*CLOAD in heat", force, said("*CLOAD (line")),
        Row {
            base: HEAT_BARE,
            model: "*CONDUCTIVITY\n3., 0.\n4., 100.\n*SOLID SECTION, ELSET=PART, MATERIAL=M\n",
            ..heat(
                "*CONDUCTIVITY of several temperatures",
                FLUX,
                Becomes::Refused("has no `conductivity`"),
            )
        },
        row("*CFLUX in elasticity", "", cflux, said("*CFLUX (line")),
        row("*DFLUX in elasticity", "", dflux, said("*DFLUX (line")),
        row("*BOUNDARY of 11 in elasticity", held, PULL, said("*BOUNDARY (line")),
    ]
}
