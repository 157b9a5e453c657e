//! `[solver]`.

use topopt_case::config::Device;

use crate::{CASE, override_refused, parse};

#[test]
fn devices_by_name_and_number() {
    let device = |text: &str| {
        parse(CASE.to_owned(), &[&format!("solver.device={text}")]).unwrap().solver.device
    };
    assert_eq!([device("auto"), device("cpu")], [Device::Auto, Device::Cpu]);
    assert_eq!([device("gpu"), device("gpu:3")], [Device::Gpu(0), Device::Gpu(3)]);
    insta::assert_snapshot!(override_refused(&["solver.device=tpu"]), @r#"
     x unknown device "tpu"; write "auto", "cpu", "gpu", or "gpu:1" for the second GPU
      ,-[--set:1:15]
    1 | solver.device=tpu
      :               ^|^
      :                `-- here
      `----
    "#);
}
