//! Packs the PTX of the kernels, `cuda/ptx/*.ptx`, into one table that the library decompresses
//! from: as text they are 10 MB, and the compiler would repeat them in every part of a program
//! that loads one. As xz they take 1.1 MB of it, as zlib 1.8.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use lzma_rust2::{CheckType, XzOptions, XzWriter};

/// Kernels of the feature `lab`.
const LAB: [&str; 4] =
    ["assemble_global_nz", "assemble_local_nz", "assemble_patch", "assemble_shared_nz"];

fn main() -> io::Result<()> {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let ptx = manifest.join("cuda/ptx");
    println!("cargo::rerun-if-changed={}", ptx.display());
    println!("cargo::rerun-if-changed=build.rs");

    let paths =
        fs::read_dir(&ptx)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let packed = paths.iter().filter(|path| is_packed(path));
    let mut rows = packed.map(|path| row(path, &out)).collect::<io::Result<Vec<_>>>()?;
    rows.sort_unstable();
    let table = format!("pub(crate) static PACKED: &[(&str, &[u8])] = &[\n{}];\n", rows.concat());
    fs::write(out.join("ptx.rs"), table)
}

/// Whether the file at `path` is PTX of a kernel that the features ask for.
fn is_packed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_of_lab = LAB.iter().any(|kernel| name.starts_with(&format!("{kernel}.")));
    name.ends_with(".ptx") && (!is_of_lab || env::var_os("CARGO_FEATURE_LAB").is_some())
}

/// Packs the file at `path` into the folder `out`, and returns its row of the table.
fn row(path: &Path, out: &Path) -> io::Result<String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let packed = out.join(format!("{name}.xz"));
    let text = fs::read(path)?;
    // Whoever unpacks allocates as much as the options say: by default 8 MB for each kernel.
    let mut options = XzOptions::with_preset(6);
    options.check_type = CheckType::None;
    options.lzma_options.dict_size = (text.len() as u32).next_power_of_two();
    let mut encoder = XzWriter::new(Vec::new(), options)?;
    encoder.write_all(&text)?;
    fs::write(&packed, encoder.finish()?)?;
    Ok(format!("    ({name:?}, include_bytes!({:?})),\n", packed.display().to_string()))
}
