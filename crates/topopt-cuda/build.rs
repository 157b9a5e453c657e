//! Packs the kernels for the library to unpack: their PTX, `cuda/ptx/*.ptx`, and the machine code
//! made of it by `cuda/compile.py --native FOLDER` if the variable `TOPOPT_CUBINS` names the
//! folder. As text the PTX is 10 MB, and the compiler would repeat it in every part of a program
//! that loads some. As xz it takes 0.9 MB of it, and the machine code for one architecture 1.0 to
//! 1.2.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io, path};

use lzma_rust2::{CheckType, XzOptions, XzWriter};

/// Kernels of the feature `lab`.
const LAB: [&str; 4] =
    ["assemble_global_nz", "assemble_local_nz", "assemble_patch", "assemble_shared_nz"];

/// Parts of an archive, each packed on its own: so many threads can unpack it at once. In one part
/// it would be a tenth smaller, and a fourth larger if every file were one.
const GROUPS: usize = 16;

/// Variable that names the folder of machine code.
const CUBINS: &str = "TOPOPT_CUBINS";

/// File in that folder with the first lines of all PTX that its code was made of.
const MADE_OF: &str = "made-of.txt";

/// Name and text of the PTX of a `.cu` file in a variant.
type Source = (String, String);

fn main() {
    if let Err(error) = pack() {
        println!("cargo::error={error}");
    }
}

fn pack() -> io::Result<()> {
    let folder = |name| env::var_os(name).map(PathBuf::from);
    let manifest = folder("CARGO_MANIFEST_DIR").unwrap_or_default();
    let out = folder("OUT_DIR").unwrap_or_default();
    let ptx = manifest.join("cuda/ptx");
    println!("cargo::rerun-if-changed={}", ptx.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={CUBINS}");

    let sources = sources(&ptx)?;
    let texts = sources.iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
    let mut architectures = Vec::new();
    if let Some(folder) = folder(CUBINS) {
        // A relative one would be looked for in this crate, and a message must say so.
        let folder = path::absolute(folder)?;
        println!("cargo::rerun-if-changed={}", folder.display());
        architectures = machine_code(&folder, &sources)?;
    }

    let rows = sources.iter().map(kernels).collect::<io::Result<String>>()?;
    let mut table =
        format!("pub(crate) static KERNELS: &[(&str, &[(&str, u32)])] = &[\n{rows}];\n");
    let archive = archive(texts, &out.join("ptx"))?;
    writeln!(table, "static PTX: Archive = {archive};").map_err(io::Error::other)?;
    table += &packed(architectures, &out)?;
    fs::write(out.join("kernels.rs"), table)
}

/// Returns the PTX of the kernels that the features ask for, by name.
fn sources(folder: &Path) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_of_lab = LAB.iter().any(|kernel| name.starts_with(&format!("{kernel}.")));
        let is_packed = !is_of_lab || env::var_os("CARGO_FEATURE_LAB").is_some();
        if is_packed && path.extension().is_some_and(|extension| extension == "ptx") {
            sources.push((name, fs::read_to_string(path)?));
        }
    }
    sources.sort_unstable();
    Ok(sources)
}

/// Returns the row of a table with the names of the kernels in PTX and the threads of their blocks:
/// their launch bounds, which it has as `.maxntid`.
fn kernels((name, text): &Source) -> io::Result<String> {
    let mut kernels = String::new();
    for entry in text.split(".entry ").skip(1) {
        let (kernel, rest) = entry.split_once('(').unwrap_or((entry, ""));
        let head = rest.split('{').next().unwrap_or_default();
        let bounds = head.split_once(".maxntid ").and_then(|(_, bounds)| bounds.lines().next());
        let sides = bounds.into_iter().flat_map(|bounds| bounds.split(','));
        match sides.map(|side| side.trim().parse::<u32>()).product::<Result<u32, _>>() {
            Ok(threads) if bounds.is_some() => kernels += &format!("({kernel:?}, {threads}), "),
            _ => {
                let message = format!("the kernel `{kernel}` of `{name}` has no launch bounds");
                return Err(io::Error::other(message));
            }
        }
    }
    Ok(format!("    ({name:?}, &[{kernels}]),\n"))
}

/// Returns the machine code of all sources by architecture, such as 90 of the folder `sm_90`.
fn machine_code(folder: &Path, sources: &[Source]) -> io::Result<Vec<(u32, Vec<Vec<u8>>)>> {
    let refused = |what: &str| {
        let remedy = "fill the folder by `python3 cuda/compile.py --native FOLDER`";
        io::Error::other(format!("{CUBINS} names {}: {what}; {remedy}", folder.display()))
    };
    let made_of = fs::read_to_string(folder.join(MADE_OF));
    let made_of = made_of.map_err(|error| refused(&format!("{MADE_OF}: {error}")))?;
    let is_made_of = |text: &str| made_of.lines().any(|line| text.lines().next() == Some(line));
    if let Some((name, _)) = sources.iter().find(|(_, text)| !is_made_of(text)) {
        return Err(refused(&format!("its code was not made of this version of {name}.ptx")));
    }

    let mut architectures = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(Ok(architecture)) = name.strip_prefix("sm_").map(str::parse) else { continue };
        let file = |(name, _): &Source| {
            let read = fs::read(path.join(format!("{name}.cubin")));
            read.map_err(|error| refused(&format!("{name}.cubin: {error}")))
        };
        architectures.push((architecture, sources.iter().map(file).collect::<io::Result<_>>()?));
    }
    if architectures.is_empty() {
        return Err(refused("there is no code"));
    }
    architectures.sort_unstable();
    Ok(architectures)
}

/// Packs machine code, and returns its table.
fn packed(architectures: Vec<(u32, Vec<Vec<u8>>)>, out: &Path) -> io::Result<String> {
    let n_architectures = architectures.len();
    let mut rows = String::new();
    for (architecture, files) in architectures {
        let archive = archive(files, &out.join(format!("sm_{architecture}")))?;
        rows += &format!("({architecture}, {archive}),\n");
    }
    Ok(format!("static MACHINE_CODE: [(u32, Archive); {n_architectures}] = [\n{rows}];\n"))
}

/// Packs `files` into groups of about the same size below `folder`, and returns what makes the
/// archive of them.
fn archive(files: Vec<Vec<u8>>, folder: &Path) -> io::Result<String> {
    fs::create_dir_all(folder)?;
    let share = files.iter().map(Vec::len).sum::<usize>().div_ceil(GROUPS);
    let mut before = 0;
    let group_of = |file: &Vec<u8>| {
        before += file.len();
        (before - 1) / share
    };
    let groups: Vec<usize> = files.iter().map(group_of).collect();

    let mut rows = String::new();
    for group in 0..GROUPS {
        let of_group = files.iter().zip(&groups).filter(|(_, of)| **of == group);
        let files: Vec<&[u8]> = of_group.map(|(file, _)| &file[..]).collect();
        let sizes: Vec<usize> = files.iter().map(|file| file.len()).collect();
        let path = folder.join(format!("{group}.xz"));
        fs::write(&path, xz(&files.concat())?)?;
        rows += &format!("    (&{sizes:?}, include_bytes!({:?})),\n", path.display().to_string());
    }
    Ok(format!("Archive::new(&[\n{rows}])"))
}

fn xz(bytes: &[u8]) -> io::Result<Vec<u8>> {
    // Whoever unpacks allocates as much as the options say: by default 8 MB for each group.
    let mut options = XzOptions::with_preset(6);
    options.check_type = CheckType::None;
    options.lzma_options.dict_size = (bytes.len() as u32).next_power_of_two().max(4096);
    let mut encoder = XzWriter::new(Vec::new(), options)?;
    encoder.write_all(bytes)?;
    encoder.finish()
}
