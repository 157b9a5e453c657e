//! VTK files decoded by hand: header, offsets, blocks, values to the bit.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::block;
use topopt_io::vtk::{Array, Compression, Values, pvd, vti, vtu};
use topopt_mesh::{BoundingBox, UniformGrid};

/// 32768 cells: an array of one double each fills a block of 256 KiB exactly, points need four.
const N: [usize; 3] = [32, 32, 32];

/// A VTK XML file taken apart.
struct Decoded {
    header: String,
    appended: Vec<u8>,
    compressed: bool,
}

impl Decoded {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).unwrap();
        let mark = b"<AppendedData encoding=\"raw\">\n_";
        let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
        let tail = b"\n</AppendedData>\n</VTKFile>\n";
        assert!(bytes.ends_with(tail));
        let header = String::from_utf8(bytes[..at].to_vec()).unwrap();
        let compressed = header.contains("compressor=\"vtkZLibDataCompressor\"");
        let appended = bytes[at + mark.len()..bytes.len() - tail.len()].to_vec();
        Self { header, appended, compressed }
    }

    /// The 64-bit number at byte `at` of the appended section.
    fn number(&self, at: usize) -> usize {
        u64::from_le_bytes(self.appended[at..at + 8].try_into().unwrap()) as usize
    }

    /// Bytes of the array whose element has all the `attributes`, and where the array ends.
    fn bytes(&self, attributes: &[&str]) -> (Vec<u8>, usize) {
        let mut lines = self.header.lines().filter(|line| line.starts_with("<DataArray "));
        let line = lines.find(|line| attributes.iter().all(|a| line.contains(a))).unwrap();
        let (_, offset) = line.split_once("offset=\"").unwrap();
        let text = offset.split_once('"').unwrap().0;
        let offset: usize = text.parse().unwrap();
        assert_eq!(text, offset.to_string(), "digits that readers need not expect");
        if !self.compressed {
            let length = self.number(offset);
            let end = offset + 8 + length;
            return (self.appended[offset + 8..end].to_vec(), end);
        }
        let [count, size, last] = [0, 8, 16].map(|i| self.number(offset + i));
        let mut start = offset + 24 + 8 * count;
        let mut all = Vec::new();
        for block in 0..count {
            let end = start + self.number(offset + 24 + 8 * block);
            let before = all.len();
            let mut decoder = flate2::read::ZlibDecoder::new(&self.appended[start..end]);
            decoder.read_to_end(&mut all).unwrap();
            let whole = block + 1 < count || last == 0;
            assert_eq!(all.len() - before, if whole { size } else { last });
            start = end;
        }
        (all, start)
    }
}

fn le_bytes<const W: usize, T: Copy>(values: &[T], bytes: impl Fn(T) -> [u8; W]) -> Vec<u8> {
    values.iter().flat_map(|&value| bytes(value)).collect()
}

#[test]
fn every_value_of_a_vtu_stands_where_its_offset_says() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("design.vtu");
    let (points, hexes) = (block::coordinates(N), block::hexes(N));
    let displacement: Vec<f64> = (0..3 * points.len()).map(|i| (i as f64).sin()).collect();
    let mut density: Vec<f64> = (0..hexes.len()).map(|i| (i as f64).cos()).collect();
    density[7] = f64::NAN;
    let single: Vec<f32> = density.iter().map(|&v| v as f32).collect();
    let (number, part): (Vec<i64>, Vec<u32>) =
        (0..hexes.len() as u32).map(|i| (-i64::from(i), i)).unzip();
    let flag: Vec<u8> = part.iter().map(|i| (i % 3) as u8).collect();
    let scalar = |name, values| Array { name, components: 1, values };
    let point_data =
        [Array { name: "displacement", components: 3, values: Values::F64(&displacement) }];
    let cell_data = [
        scalar("density", Values::F64(&density)),
        scalar("a<b & \"c\" ρ", Values::F32(&single)),
        scalar("number", Values::I64(&number)),
        scalar("part", Values::U32(&part)),
        scalar("flag", Values::U8(&flag)),
    ];
    let connectivity: Vec<i64> = hexes.as_flattened().iter().map(|&n| n.into()).collect();
    let offsets: Vec<i64> = (1..=hexes.len() as i64).map(|i| 8 * i).collect();
    for compression in [Compression::None, Compression::Zlib] {
        vtu::write(&path, &points, &hexes, &point_data, &cell_data, compression).unwrap();
        let file = Decoded::read(&path);
        assert_eq!(file.compressed, compression == Compression::Zlib);
        assert!(file.header.starts_with("<?xml version=\"1.0\"?>\n<VTKFile type=\"Unstr"));
        assert!(file.header.contains("NumberOfPoints=\"35937\" NumberOfCells=\"32768\""));
        let check = |attributes: &[&str], expected: Vec<u8>| {
            assert!(file.bytes(attributes).0 == expected, "{attributes:?} {compression:?}");
        };
        check(
            &["Name=\"displacement\"", "NumberOfComponents=\"3\"", "\"Float64\""],
            le_bytes(&displacement, f64::to_le_bytes),
        );
        check(&["Name=\"density\"", "\"Float64\""], le_bytes(&density, f64::to_le_bytes));
        check(
            &["Name=\"a&lt;b &amp; &quot;c&quot; ρ\"", "\"Float32\""],
            le_bytes(&single, f32::to_le_bytes),
        );
        check(&["Name=\"number\"", "\"Int64\""], le_bytes(&number, i64::to_le_bytes));
        check(&["Name=\"part\"", "\"UInt32\""], le_bytes(&part, u32::to_le_bytes));
        check(&["Name=\"flag\"", "\"UInt8\""], flag.clone());
        check(&["Name=\"Points\""], le_bytes(points.as_flattened(), f64::to_le_bytes));
        check(&["Name=\"connectivity\""], le_bytes(&connectivity, i64::to_le_bytes));
        check(&["Name=\"offsets\""], le_bytes(&offsets, i64::to_le_bytes));
        check(&["Name=\"types\""], vec![12; hexes.len()]);
        let (_, end) = file.bytes(&["Name=\"types\""]);
        assert_eq!(end, file.appended.len(), "nothing behind the last array");
    }
}

#[test]
fn a_vti_describes_its_grid() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("design.vti");
    let bounds = BoundingBox { min: [-1.0, 0.0, 0.1], max: [1.0, 1.5, 0.6] };
    let grid = UniformGrid::covering(&bounds, 0.5).unwrap();
    let density: Vec<f32> = (0..grid.n_cells()).map(|i| i as f32).collect();
    let data = [Array { name: "density", components: 1, values: Values::F32(&density) }];
    for compression in [Compression::None, Compression::Zlib] {
        vti::write(&path, &grid, &data, compression).unwrap();
        let file = Decoded::read(&path);
        assert!(file.header.contains(
            "<ImageData WholeExtent=\"0 4 0 3 0 1\" Origin=\"-1.0 0.0 0.1\" \
             Spacing=\"0.5 0.5 0.5\">\n<Piece Extent=\"0 4 0 3 0 1\">\n<CellData>"
        ));
        let (bytes, _) = file.bytes(&["Name=\"density\""]);
        assert_eq!(bytes, le_bytes(&density, f32::to_le_bytes));
    }
}

#[test]
fn a_pvd_lists_times_and_files() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("design.pvd");
    pvd::write(&path, &[(0.0, "a&b_0.vtu".into()), (1.5, "a&b_1.vtu".into())]).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let entries: Vec<_> = text.lines().filter(|line| line.starts_with("<DataSet ")).collect();
    assert_eq!(
        entries,
        [
            "<DataSet timestep=\"0.0\" part=\"0\" file=\"a&amp;b_0.vtu\"/>",
            "<DataSet timestep=\"1.5\" part=\"0\" file=\"a&amp;b_1.vtu\"/>",
        ]
    );
}

#[test]
fn an_array_of_the_wrong_length_is_refused_and_the_old_file_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("design.vtu");
    fs::write(&path, "old").unwrap();
    let (points, hexes) = (block::coordinates([1; 3]), block::hexes([1; 3]));
    let data = [Array { name: "density", components: 1, values: Values::F64(&[0.5, 0.5]) }];
    let error = vtu::write(&path, &points, &hexes, &[], &data, Compression::Zlib).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("design.vtu: array `density` has 2 values, but 1 "), "{message}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
