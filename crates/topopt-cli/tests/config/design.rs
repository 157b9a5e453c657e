//! `[design]`.

use crate::refused;

#[test]
fn less_volume_than_void() {
    insta::assert_snapshot!(refused("0.3", "0.05\ndensity_min = 0.1"), @r#"
     x `design.volume_fraction` is less than `design.density_min`
       ,-[cases/case.toml:14:19]
    13 | style = "smooth"
    14 | volume_fraction = 0.05
       :                   ^^|^
       :                     `-- too little material
    15 | density_min = 0.1
       `----
     help: even void has density 0.1: raise `volume_fraction` or lower `density_min`
    "#);
}
