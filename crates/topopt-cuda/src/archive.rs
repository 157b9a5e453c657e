//! Files that the build script has packed, in groups that threads unpack at once.

use std::io::Read as _;
use std::sync::OnceLock;
use std::thread;

use lzma_rust2::XzReader;

/// Sizes of some files, and the xz of these, one behind the other.
type Group = (&'static [usize], &'static [u8]);

/// Files by their number. All are unpacked by the first use of one: one after the other, as a run
/// loads them, they took 0.3 s of its start.
pub(crate) struct Archive {
    groups: &'static [Group],
    files: OnceLock<Vec<Vec<u8>>>,
}

impl Archive {
    /// An archive of the files of all `groups`.
    pub const fn new(groups: &'static [Group]) -> Self {
        Self { groups, files: OnceLock::new() }
    }

    /// Returns a file.
    ///
    /// # Panics
    /// If there is none of this `number`.
    pub fn file(&self, number: usize) -> &[u8] {
        &self.files.get_or_init(|| all_unpacked(self.groups))[number]
    }
}

fn all_unpacked(groups: &'static [Group]) -> Vec<Vec<u8>> {
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    let chunks = groups.chunks(groups.len().div_ceil(n_threads));
    thread::scope(|scope| {
        // Threads of their own, as those of rayon may be waiting for a file; where there are no
        // more, this one does their work.
        let spawn =
            |groups| thread::Builder::new().spawn_scoped(scope, move || unpacked(groups)).ok();
        let threads: Vec<_> = chunks.map(|groups| (groups, spawn(groups))).collect();
        let files =
            threads.into_iter().flat_map(|(groups, thread)| match thread.map(|it| it.join()) {
                Some(Ok(files)) => files,
                _ => unpacked(groups),
            });
        files.collect()
    })
}

fn unpacked(groups: &[Group]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for (sizes, packed) in groups {
        let mut reader = XzReader::new(*packed, false);
        for &size in *sizes {
            let mut file = vec![0; size];
            let read = reader.read_exact(&mut file);
            read.unwrap_or_else(|error| panic!("kernels cannot be unpacked: {error}"));
            files.push(file);
        }
    }
    files
}
