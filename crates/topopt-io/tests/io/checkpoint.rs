//! Checkpoints: what is written is read back to the bit, and damage is found out.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;
use topopt_io::checkpoint::{Checkpoints, read};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn checkpoints(&self) -> Checkpoints {
        Checkpoints::new(self.0.path().join("checkpoints"))
    }

    fn write(&self, iteration: usize) {
        let u = [0.1, -0.0, f64::MIN_POSITIVE / 8.0, f64::NAN, iteration as f64];
        let content = json!({ "x": 0.12345678901234568, "text": "µ\n" });
        let arrays = [("design", &[1.0 / 3.0][..]), ("none", &[]), ("u", &u)];
        self.checkpoints().write(iteration, &content, &arrays).unwrap();
    }

    fn file(&self, iteration: usize) -> PathBuf {
        self.0.path().join(format!("checkpoints/iteration_{iteration:04}.ckpt"))
    }
}

#[test]
fn everything_comes_back_to_the_bit() {
    let folder = Folder::new();
    folder.write(7);
    let checkpoint = read(&folder.file(7)).unwrap();
    assert_eq!(checkpoint.iteration, 7);
    assert_eq!(checkpoint.content["x"].as_f64(), Some(0.12345678901234568));
    assert_eq!(checkpoint.content["text"], "µ\n");
    let names: Vec<_> = checkpoint.arrays.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["design", "none", "u"]);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&checkpoint.arrays[0].1), bits(&[1.0 / 3.0]));
    let expected = [0.1, -0.0, f64::MIN_POSITIVE / 8.0, f64::NAN, 7.0];
    assert_eq!(bits(&checkpoint.arrays[2].1), bits(&expected));
}

#[test]
fn two_are_kept_and_the_newest_whole_one_is_taken() {
    let folder = Folder::new();
    assert!(folder.checkpoints().newest().0.is_none());
    [8, 9, 10, 11].iter().for_each(|&iteration| folder.write(iteration));
    assert_eq!([8, 9, 10, 11].map(|n| folder.file(n).exists()), [false, false, true, true]);
    let newest = || {
        let (checkpoint, skipped) = folder.checkpoints().newest();
        let messages: Vec<String> = skipped.iter().map(ToString::to_string).collect();
        (checkpoint.map(|c| c.iteration), messages)
    };
    assert_eq!(newest(), (Some(11), vec![]));
    let bytes = fs::read(folder.file(11)).unwrap();
    fs::write(folder.file(11), &bytes[..bytes.len() - 1]).unwrap();
    let (iteration, messages) = newest();
    assert_eq!((iteration, messages.len()), (Some(10), 1));
    assert!(messages[0].ends_with("iteration_0011.ckpt: damaged or cut short"), "{messages:?}");
    folder.checkpoints().remove_after(10).unwrap();
    assert_eq!(newest(), (Some(10), vec![]));
}

#[test]
fn every_cut_and_every_changed_bit_is_found_out() {
    let folder = Folder::new();
    folder.write(1);
    let bytes = fs::read(folder.file(1)).unwrap();
    let is_refused = |bytes: &[u8]| {
        fs::write(folder.file(1), bytes).unwrap();
        read(&folder.file(1)).is_err()
    };
    for length in 0..bytes.len() {
        assert!(is_refused(&bytes[..length]), "cut to {length}");
    }
    for bit in 0..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(is_refused(&changed), "bit {bit}");
    }
}

#[test]
fn what_is_whole_but_no_checkpoint_is_refused() {
    let folder = Folder::new();
    folder.write(1);
    let with_sum = |text: &[u8]| [text, &crc32fast::hash(text).to_le_bytes()].concat();
    let huge = [b"topopt checkpoint 1\n".as_slice(), &u64::MAX.to_le_bytes()].concat();
    let header = br#"{"iteration":1,"arrays":[["u",18446744073709551615]],"content":0}"#;
    let length = (header.len() as u64).to_le_bytes();
    let long = [b"topopt checkpoint 1\n".as_slice(), &length, header].concat();
    for text in [b"".as_slice(), b"topopt checkpoint 2\n", &huge, &long] {
        fs::write(folder.file(1), with_sum(text)).unwrap();
        let error = read(&folder.file(1)).unwrap_err().to_string();
        assert!(error.contains("does not know"), "{error}");
    }
}
