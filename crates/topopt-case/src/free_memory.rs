//! The memory that is free, and what is refused before there is a model to count the memory of.

use std::fs;
use std::path::Path;

use crate::finding::Finding;

/// Bytes of a megabyte.
pub const MEGABYTE: f64 = 1048576.0;

/// Bytes of the mesh in the user's order and in that of the problem.
pub fn meshes(nodes: usize, elements: usize) -> usize {
    2 * (24 * nodes + 32 * elements) + 4 * (nodes + elements)
}

/// Refuses a mesh with so many `elements` that even the leanest run would not fit into memory,
/// before it is made. Numbers beyond 32 bits are left to the generator to refuse.
///
/// # Errors
/// A finding with the numbers.
pub fn check_elements(elements: usize) -> Result<(), Finding> {
    // There are about as many nodes. Vectors of a run, Jacobi, no filter.
    check(elements, meshes(1, 1) + 24 * 10 + 8 * 20)
}

/// Most hexahedra that the memory has room for while they are made of a geometry, and most cells of
/// the grid for them.
pub fn of_hexahedra() -> [f64; 2] {
    let free = available().map_or(f64::INFINITY, |free| free as f64);
    [free / HEXAHEDRON, free / CELL]
}

/// Bytes per hexahedron while it is made.
const HEXAHEDRON: f64 = 1500.0;
/// Bytes per cell of its grid.
const CELL: f64 = 8.0;

/// Refuses to make the solid of a design of `elements` that would not fit into memory.
///
/// # Errors
/// A finding with the numbers.
pub fn check_solid(elements: usize) -> Result<(), Finding> {
    check(elements, SOLID)
}

/// Bytes per element of a solid while it is made, and of its surface: 1470 were measured with the mesh.
const SOLID: usize = 1500;

/// Refuses a page whose pictures take more `bytes` of memory than are free.
///
/// # Errors
/// A finding with the numbers.
pub fn check_page(bytes: usize) -> Result<(), Finding> {
    let Some(free) = available().filter(|&free| free < bytes) else { return Ok(()) };
    let [bytes, free] = [bytes, free].map(megabytes);
    let message =
        format!("the pictures of the page need {bytes} of memory, and {free} are available");
    Err(Finding::new(message)
        .remedy("use a larger machine, or raise the limit of the shell: `ulimit -v`"))
}

/// Whether the address space of this process is limited. If so, each arena of the C library would
/// take 64 MB of it, for a thread that may need none.
pub fn is_limited() -> bool {
    of_address_space().is_some()
}

/// Refuses distances on a mesh of `elements` whose tetrahedra would not fit into memory.
///
/// # Errors
/// A finding with the numbers.
pub fn check_distances(elements: usize) -> Result<(), Finding> {
    check(elements, DISTANCES)
}

/// Bytes per element of tetrahedra, their patches and a front: 643 were measured besides the mesh.
const DISTANCES: usize = 650;

fn check(elements: usize, bytes_per_element: usize) -> Result<(), Finding> {
    let least = elements.saturating_mul(bytes_per_element);
    match available() {
        Some(free) if free < least && elements <= i32::MAX as usize => {
            let [least, free] = [least, free].map(megabytes);
            let message = format!(
                "{elements} elements need at least {least} of memory, and {free} are available"
            );
            Err(Finding::new(message).remedy("use a coarser mesh or a larger machine"))
        }
        _ => Ok(()),
    }
}

/// Refuses to begin where `ulimit -v` leaves too little for threads and small things: what needs
/// more is counted, but these are not, and running out of memory cannot be caught.
///
/// # Errors
/// A finding with the numbers.
pub fn check_start() -> Result<(), Finding> {
    let Some(free) = of_address_space().filter(|&free| free < SMALL_THINGS) else { return Ok(()) };
    let [free, least] = [free, SMALL_THINGS].map(megabytes);
    let message = format!("the memory limit leaves {free}, and {least} are needed to start");
    Err(Finding::new(message).remedy("raise the limit of the shell: `ulimit -v`"))
}

/// Bytes of a limited address space that are reserved for what is not counted.
const SMALL_THINGS: usize = 64 << 20;

/// Bytes that this process may still take: of the machine, of the groups of processes that it is
/// in, and of its address space. None where the system does not say.
pub fn available() -> Option<usize> {
    let address_space = of_address_space().map(|left| left.saturating_sub(SMALL_THINGS));
    [of_machine(), of_groups(), address_space].into_iter().flatten().min()
}

fn of_machine() -> Option<usize> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

/// Returns the bytes that the limits of this process' cgroup and of those around it leave.
fn of_groups() -> Option<usize> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let path = Path::new("/sys/fs/cgroup").join(own.trim_start_matches('/'));
    let number = |path: &Path, name: &str| -> Option<usize> {
        fs::read_to_string(path.join(name)).ok()?.trim().parse().ok()
    };
    let left = |path: &Path| -> Option<usize> {
        let limit = number(path, "memory.max")?;
        // The cache of files gives way.
        let stat = fs::read_to_string(path.join("memory.stat")).unwrap_or_default();
        let cache = stat.lines().find_map(|line| line.strip_prefix("inactive_file "));
        let cache = cache.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        Some((limit + cache).saturating_sub(number(path, "memory.current")?).min(limit))
    };
    path.ancestors().filter_map(left).min()
}

/// Returns the bytes that `ulimit -v` leaves.
fn of_address_space() -> Option<usize> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kilobytes("/proc/self/status", "VmSize:")?))
}

/// The number after `name` in the file `path`, in bytes.
fn kilobytes(path: &str, name: &str) -> Option<usize> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<usize>().ok()? << 10)
}

/// `bytes` as people read them.
pub fn megabytes(bytes: usize) -> String {
    format!("{:.0} MB", bytes as f64 / MEGABYTE)
}
