//! Cases that are refused, each with its message as the user sees it: the lists are here, the
//! messages in messages/*.snap.

use crate::meshes::{CUBE as HELD_CUBE, FROM_FILE, GENERATED};
use crate::{CASE, Finished, Folder, program};

/// Returns the message of `topopt` with `args`, which must refuse its input.
pub(crate) fn message(folder: &Folder, args: &[&str]) -> String {
    let finished = Finished::from(program(&folder.path("")).args(args).output().unwrap());
    assert_eq!((finished.status, finished.out.as_str()), (1, ""), "{args:?} {}", finished.err);
    finished.err
}

/// Compares `messages` with those in messages/NAME.snap.
pub(crate) fn assert_snapshot(name: &str, messages: &[String]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("messages");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, messages.join("\n")));
}

/// A selection of [`CASE`]: the elements at the loaded end.
const END: &str = "[[select]]\nname = \"end\"\nkind = \"elements\"\n\
                   box = { min = [9, 0, 0], max = [10, 5, 5] }\n[design]";

/// `topopt check` about [`CASE`] with the selection `end` and another problem.
#[test]
fn objectives() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("[design]", END));
    let filtered = "filter.kind=sensitivity";
    let limit = |keys: &str| format!("constraints=[{{response=\"displacement\",{keys}}}]");

    let sets: [&[&str]; 34] = [
        &["objective={}"],
        &["objective={minimize=\"compliance\",maximize=\"volume\"}"],
        &["objective={minimize=\"weight\"}"],
        &["objective={minimize=\"volume\"}"],
        &["objective={minimize=\"mass\",worst_case=true}"],
        &["objective={minimize=\"compliance\",case=\"up\"}"],
        &["objective={minimize=\"compliance\",case=\"default\",worst_case=true}"],
        &["objective={minimize=\"compliance\",set=\"load\"}"],
        &["objective={minimize=\"compliance\",direction=[0, 1, 0]}"],
        &["objective={minimize=\"displacement\"}"],
        &["objective={minimize=\"displacement\",set=\"laod\"}"],
        &["objective={minimize=\"displacement\",set=\"load\",direction=[0, 0, 0]}"],
        &["objective={maximize=\"output_displacement\",set=\"end\"}"],
        &["objective={maximize=\"output_displacement\",set=\"end\",direction=[0, 1, 0]}"],
        &["objective={minimize=\"displacement\",set=\"load\"}", CASE_UP],
        &["objective={minimize=\"displacement\",set=\"load\"}", filtered],
        &["objective={maximize=\"compliance\"}", filtered],
        &["optimizer.method=oc", "objective={minimize=\"compliance\",worst_case=true}"],
        &["optimizer.method=oc", &limit("set=\"load\",at_most=100")],
        &[&limit("set=\"load\"")],
        &[&limit("set=\"load\",at_most=1,at_least=0.5")],
        &[&limit("set=\"load\",at_most=-1")],
        &[&limit("set=\"load\",at_most=inf")],
        &[&limit("set=\"load\",at_most=1,exponent=1")],
        &[&limit("set=\"load\",at_most=1,exponent=8,direction=[1, 0, 0]")],
        &["constraints=[{response=\"compliance\",at_most=0}]"],
        &["constraints=[{response=\"volume\",at_most=0.2}]"],
        &["constraints=[{response=\"volume\",at_most=30,set=\"end\"}]"],
        &["constraints=[{response=\"volume\",at_most=0.001,set=\"end\"}]"],
        &["constraints=[{response=\"volume\",at_least=0.9,case=\"default\"}]"],
        &["constraints=[{response=\"mass\",at_most=50}]"],
        &["constraints=[{response=\"mass\",at_least=1000}]", "material.mass_density=1"],
        &["constraints=[{at_most=1}]"],
        &["constraints=[{response=\"compliance\",at_most=500}]", filtered],
    ];
    let check = |keys: &&[&str]| {
        let set = keys.iter().flat_map(|key| ["--set", *key]);
        let args: Vec<&str> = ["check", "case.toml"].into_iter().chain(set).collect();
        format!("# {}\n{}", keys.join(", "), message(&folder, &args))
    };
    assert_snapshot("objectives", &sets.iter().map(check).collect::<Vec<_>>());

    folder.write("case.toml", &CASE.replace("volume_fraction = 0.3", ""));
    let without = message(&folder, &["check", "case.toml"]);
    folder.write(
        "case.toml",
        &CASE.replace("[design]\nstyle = \"smooth\"\nvolume_fraction = 0.3", ""),
    );
    assert_snapshot("no_volume", &[without, message(&folder, &["check", "case.toml"])]);
}

/// A second load case.
const CASE_UP: &str = "loads=[{set=\"load\",force=[0, -1, 0]},\
                       {set=\"load\",force=[0, 1, 0],case=\"up\"}]";

/// `topopt check` about [`CASE`] with the selection `end`, changed by `--set`.
#[test]
fn cases() {
    let folder = Folder::new();
    folder.write("case.toml", &CASE.replace("[design]", END));

    let sets: [&[&str]; 39] = [
        &["supports.0.set=fixd"],
        &["supports.0.fix=[\"x\"]"],
        &["supports.0.set=load", "loads.0.set=fixed"],
        &["supports.0.displacement=[0, 0, 1]", "supports.0.fix=[\"x\"]"],
        &["loads.0.force=[0, 0, 0]"],
        &["loads.0.force=[0, nan, 0]"],
        &["loads.0.set=fixed"],
        &["loads.0.pressure=1"],
        &["loads.0={set=\"load\",pressure=1}"],
        &["loads.0={set=\"end\",traction=[1, 0, 0]}"],
        &["loads.0={gravity=[0, 0, -9.81]}"],
        &["springs=[{set=\"load\",stiffness=[1, -1, 1]}]"],
        &["springs=[{set=\"load\",stiffness=[0, 0, 0]}]"],
        &["design.solid=[\"end\"]", "design.void=[\"end\"]"],
        &["design.void=[\"design\"]"],
        &["design.void=[\"load\"]"],
        &["design.density_min=0"],
        &["filter.radius=0"],
        &["output.vti_spacing=1e-9"],
        &["output.directory=case.toml"],
        &["solver.strategy=assembled_gpu"],
        &["select.0.any=[]"],
        &["select.0.any=[{}]"],
        &["select.0.not={nodes=[7, 1000]}"],
        &["select.0.kind=node"],
        &["select.0.normal={direction=[1, 0, 0]}"],
        &["select.0.plane={normal=[0, 0, 0],point=[0, 0, 0]}"],
        &["select.0.normal.direction=[0, 0, 0]"],
        &["select.0.set=fixd"],
        &["select.0.set=end"],
        &["select.0.near={set=\"lod\",distance=1}"],
        &["select.0.near={set=\"load\",distance=0}"],
        &["select.0.box.min=[12, 0, 0]"],
        &["select.0.box.min=[9.9, 0, 0]"],
        &["select.0.box.min=[0, 0, 0]"],
        &["select.0.cylinder={point=[0, 0, 0],axis=[1, 0, 0],radius=1,inner_radius=1}"],
        &["select.0.any=[{not={sphere={centr=[0, 0, 0],radius=1}}}]"],
        &["select.0.any=[{any=[{sphere={center=[0, 0],radius=0}}]}]"],
        &["select.0.name=fixed"],
    ];

    let of = |set: &&[&str]| {
        let args = set.iter().flat_map(|set| ["--set", *set]);
        let args: Vec<_> = ["check", "case.toml"].into_iter().chain(args).collect();
        format!("# {}\n{}", set.join(" "), message(&folder, &args))
    };
    assert_snapshot("cases", &sets.iter().map(of).collect::<Vec<_>>());
}

/// `topopt check` about a case with a mesh from a file, `topopt info` about none.
#[test]
fn cases_with_a_mesh_file() {
    let folder = Folder::new();
    let missing = format!("# topopt info\n{}", message(&folder, &["info", "none.msh"]));

    let tetrahedron = HELD_CUBE.replace("1 5 2 3 1 1 2 3 4 5 6 7 8", "1 4 2 3 1 1 2 3 5");
    let inverted = HELD_CUBE.replace("1 2 3 4 5 6 7 8", "2 1 3 4 5 6 7 8");

    let cases = [
        ("no file", "none.msh", ""),
        ("a file of another format", "part.obj", "solid part\n"),
        ("an empty file", "part.msh", ""),
        ("a tetrahedron", "part.msh", &tetrahedron),
        ("an inverted hexahedron", "part.msh", &inverted),
        ("other sets", "part.msh", &HELD_CUBE.replace("1 \"fixed\"", "1 \"free\"")),
    ]
    .map(|(title, file, text)| {
        let from_file = FROM_FILE.replace("part.msh", file);
        folder.write("case.toml", &CASE.replace(GENERATED, &from_file));
        if file != "none.msh" {
            folder.write(file, text);
        }
        format!("# {title}\n{}", message(&folder, &["check", "case.toml"]))
    });

    assert_snapshot("mesh_files", &[&[missing], cases.as_slice()].concat());
}
