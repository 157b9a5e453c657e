//! Abaqus decks with reference points, names written in several ways, and amplitudes over steps.

use topopt_io::deck::{Deck, DeckMaterial, SetLoad};

use super::abaqus::{read, two_cubes};

/// Surfaces at both ends of two cubes in x, and two points that are no nodes of solids.
const ENDS: &str = "*NODE\n91, 3, .5, .5\n92, -1, .5, .5\n*SURFACE, NAME=right\n2, S4\n\
    *SURFACE, NAME=left\n1, S6\n*NSET, NSET=points\n91, 92\n";

/// A cube, its lower side in the part and its upper side in the assembly by the name of `s`.
const ASSEMBLY: &str = "*PART, NAME=p\n*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n\
    5, 0, 0, 1\n6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n*ELEMENT, TYPE=C3D8\n1, 1, 2, 3, 4, 5, 6, 7, 8\n\
    *SURFACE, NAME=s\n1, S1\n*END PART\n*ASSEMBLY, NAME=a\n*INSTANCE, NAME=p-1, PART=p\n\
    *END INSTANCE\n*ELSET, ELSET=one, INSTANCE=p-1\n1\n*SURFACE, NAME=s\none, S2\n*END ASSEMBLY\n";

/// Couplings of the surfaces, each with a reference of its own.
fn coupled(right: &str, left: &str) -> String {
    let one = |name: &str, point: &str| {
        format!("*COUPLING, CONSTRAINT NAME={name}, REF NODE={point}, SURFACE={name}\n*KINEMATIC\n")
    };
    format!("{ENDS}{}{}", one("right", right), one("left", left))
}

fn deck(more: &str) -> Deck {
    two_cubes(more).deck
}

/// Sets of the supports with the directions that they hold.
fn held(deck: &Deck) -> Vec<(&str, [bool; 3])> {
    deck.supports.iter().map(|support| (support.set.as_str(), support.fixed)).collect()
}

/// Sets and forces of the loads, all of them at points.
fn remote(deck: &Deck) -> Vec<(&str, [f64; 3])> {
    let loads = deck.loads.iter().map(|load| &load.load);
    loads.map(set_and_force).collect()
}

fn set_and_force(load: &SetLoad) -> (&str, [f64; 3]) {
    match load {
        SetLoad::Remote { set, force, .. } => (set.as_str(), *force),
        other => panic!("{other:?} acts at no point"),
    }
}

#[test]
fn every_reference_point_of_a_set_is_held_and_loaded() {
    let all = coupled("91", "92");
    let supported = deck(&format!("{all}*BOUNDARY\npoints, 1, 6\n"));
    assert_eq!(held(&supported), [("right", [true; 3]), ("left", [true; 3])]);
    let loaded = deck(&format!("{all}*STEP\n*CLOAD\npoints, 2, 4.\n*END STEP\n"));
    let force = [0.0, 4.0, 0.0];
    assert_eq!(remote(&loaded), [("right", force), ("left", force)]);
}

#[test]
fn a_set_of_solid_nodes_and_a_reference_point_holds_both() {
    let mixed = deck(&format!(
        "{}*NSET, NSET=mixed\n1, 4, 91\n*BOUNDARY\nmixed, 1, 3\n",
        coupled("91", "92")
    ));
    assert_eq!(held(&mixed), [("boundary_1_3", [true; 3]), ("right", [true; 3])]);
}

#[test]
fn couplings_of_one_point_are_all_held_and_share_a_load() {
    let all = coupled("91", "91");
    let supported = deck(&format!("{all}*BOUNDARY\n91, 1, 6\n"));
    assert_eq!(held(&supported), [("right", [true; 3]), ("left", [true; 3])]);
    let loaded = deck(&format!("{all}*STEP\n*CLOAD\n91, 2, 4.\n*END STEP\n"));
    let half = [0.0, 2.0, 0.0];
    assert_eq!(remote(&loaded), [("right", half), ("left", half)]);
    let said = "at a node that several couplings follow: each gets an equal part";
    assert!(loaded.lost.iter().any(|lost| lost.ends_with(said)), "{:?}", loaded.lost);
}

#[test]
fn what_acts_on_no_node_is_said() {
    let lone = deck(&format!("{ENDS}*BOUNDARY\n1, 1, 3\n*STEP\n*CLOAD\n91, 2, 4.\n*END STEP\n"));
    assert!(lone.loads.is_empty(), "{:?}", lone.loads);
    assert_eq!(lone.lost, ["a force at node 91, which no solid element has"]);

    let of_assembly =
        ASSEMBLY.replace("*END ASSEMBLY", "*NODE, NSET=tip\n91, 3, 0, 0\n*END ASSEMBLY");
    let lone = read(&format!("{of_assembly}*STEP\n*CLOAD\ntip, 2, 4.\n*END STEP\n")).deck;
    assert!(lone.loads.is_empty(), "{:?}", lone.loads);
    assert_eq!(lone.lost, ["*CLOAD (line 28), which acts on no node of the part"]);
}

#[test]
fn an_amplitude_over_the_time_of_a_step_keeps_its_last_value() {
    // Its own step is half as long as the table; the next one is longer and does not change it.
    let kept = deck(&format!(
        "{}*AMPLITUDE, NAME=ramp\n0., 0., 2., 1.\n*STEP\n*STATIC\n1., 1.\n\
         *CLOAD, AMPLITUDE=ramp\n91, 2, 4.\n*END STEP\n*STEP\n*STATIC\n1., 2.\n*END STEP\n",
        coupled("91", "92")
    ));
    let half = [0.0, 2.0, 0.0];
    assert_eq!(remote(&kept), [("right", half), ("right", half)]);
}

#[test]
fn names_of_sections_and_couplings_are_found_in_any_case() {
    let named = deck(
        "*NODE\n91, 3, .5, .5\n*SURFACE, NAME=Right\n2, S4\n*ELSET, ELSET=Half\n1\n*ELSET, ELSET=Other\n2\n\
         *MATERIAL, NAME=A\n*ELASTIC\n1., 0.3\n*MATERIAL, NAME=B\n*ELASTIC\n2., 0.3\n\
         *SOLID SECTION, ELSET=HALF, MATERIAL=a\n*SOLID SECTION, ELSET=other, MATERIAL=b\n\
         *COUPLING, CONSTRAINT NAME=c, REF NODE=91, SURFACE=RIGHT\n*DISTRIBUTING\n\
         *STEP\n*CLOAD\n91, 2, 4.\n*DSLOAD\nrIGHT, P, 3.\n*END STEP\n",
    );
    let sets: Vec<_> =
        named.materials.iter().map(|DeckMaterial { set, .. }| set.as_deref()).collect();
    assert_eq!(sets, [Some("Half"), Some("Other")]);
    let loads: Vec<_> = named.loads.iter().map(|load| &load.load).collect();
    assert!(matches!(loads[0], SetLoad::Pressure { set, .. } if set == "Right"), "{loads:?}");
    assert!(matches!(loads[1], SetLoad::Remote { set, .. } if set == "Right"), "{loads:?}");
}

#[test]
fn gravity_on_both_halves_is_one_load_on_the_part() {
    let halves = |second: &str| {
        deck(&format!(
            "*STEP\n*DLOAD\n1, GRAV, 9810., 0, 0, -1.\n2, GRAV, {second}, 0, 0, -1.\n*END STEP\n"
        ))
    };
    let equal = halves("9810.");
    let [only] = &equal.loads[..] else { panic!("{:?}", equal.loads) };
    assert_eq!(only.load, SetLoad::Gravity { acceleration: [0.0, 0.0, -9810.0] });
    assert!(equal.lost.is_empty(), "{:?}", equal.lost);
    assert!(!halves("1.").lost.is_empty());
}

#[test]
fn surfaces_of_a_part_and_of_its_assembly_with_one_name_stay_apart() {
    let file = read(&format!("{ASSEMBLY}*STEP\n*DSLOAD\ns, P, 1.\np-1.s, P, 2.\n*END STEP\n"));
    let pressures: Vec<_> = file
        .deck
        .loads
        .iter()
        .map(|load| match &load.load {
            SetLoad::Pressure { set, pressure } => (set.as_str(), *pressure),
            other => panic!("{other:?} is no pressure"),
        })
        .collect();
    assert_eq!(pressures, [("s", 1.0), ("p-1.s", 2.0)]);
    let faces = &file.mesh.sets().faces;
    assert_eq!(faces["s"].len(), 1);
    assert_ne!(faces["s"], faces["p-1.s"]);
}
