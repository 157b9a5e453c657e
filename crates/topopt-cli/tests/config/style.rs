//! `design.style`.

use topopt_case::config::{Config, FilterKind, Method, Projection, Style};

use crate::{CASE, override_refused, parse, refused};

/// End of the line of `CASE` with its style, up to the filter.
const SMOOTH: &str = "\"smooth\"\nvolume_fraction = 0.3\n\n[filter]";

/// `CASE` in the style `crisp`, with `tables` behind it.
fn crisp(tables: &str) -> Config {
    let case = CASE.replace("\"smooth\"", "\"crisp\"");
    parse(format!("{case}{tables}"), &[]).unwrap()
}

/// Iteration and sharpness of every stage.
fn stages(config: &Config) -> Vec<(usize, Option<f64>)> {
    config.continuation.iter().map(|stage| (stage.from, stage.sharpness)).collect()
}

#[test]
fn crisp_is_the_default() {
    let config = parse(CASE.replace("style = \"smooth\"\n", ""), &[]).unwrap();
    assert_eq!(config.to_toml().unwrap(), crisp("").to_toml().unwrap());
}

#[test]
fn a_case_that_says_how_its_density_comes_about_is_smooth() {
    let case = CASE.replace("style = \"smooth\"\n", "");
    let style_of = |set: &[&str]| parse(case.clone(), set).unwrap().design.style;
    let density = "filter.kind=density";
    assert_eq!(style_of(&[density]), Style::Crisp);
    assert_eq!(style_of(&["optimizer.method=mma", "design.penalty=4"]), Style::Crisp);
    assert_eq!(style_of(&["filter.kind=sensitivity"]), Style::Smooth);
    assert_eq!(style_of(&["filter.kind=none"]), Style::Smooth);
    assert_eq!(style_of(&[density, "projection={ sharpness = 1 }"]), Style::Smooth);
    assert_eq!(style_of(&["continuation=[{ from = 5, penalty = 4 }]"]), Style::Smooth);
}

#[test]
fn crisp_sets_what_is_left_out() {
    for config in [crisp(""), parse(CASE.to_owned(), &["design.style=crisp"]).unwrap()] {
        assert_eq!(config.filter.get_ref().kind, FilterKind::Density);
        assert_eq!((config.design.density_min, config.optimizer.move_limit), (1e-3, 0.2));
        assert_eq!(config.methods(), [Method::Oc, Method::Mma, Method::OcAdaptive]);
        assert_eq!(config.optimizer.max_iterations, 60);
        assert_eq!(config.projection, Some(Projection { sharpness: 1.0, threshold: 0.5 }));
        assert_eq!(stages(&config), [(1, None), (26, None), (51, None)]);
        // 3.88 times the limit of 0.3, but not all.
        assert_eq!(config.design.initial_volume_fraction, Some(0.97));
    }
    let best = parse(CASE.to_owned(), &["design.style=crisp", "design.quality=best"]).unwrap();
    assert_eq!(best.optimizer.max_iterations, 240);
    assert_eq!(stages(&best), [(1, None), (101, None), (201, None)]);
    let little = ["design.style=crisp", "design.volume_fraction=0.1"];
    let little = parse(CASE.to_owned(), &little).unwrap();
    assert_eq!(little.design.initial_volume_fraction, Some(3.88 * 0.1));
}

/// Weight, several limits, or an optimizer of the user's.
#[test]
fn what_does_not_suit_a_falling_volume_grows_sharp() {
    let several = "[[constraints]]\nresponse = \"compliance\"\nat_most = 9\n";
    let weight = "[[loads]]\ngravity = [0, 0, -9.81]\n[[materials]]\nset = \"all\"\nmass_density = 1\n\
                  youngs_modulus = 1\n";
    let given = "[optimizer]\nmethod = \"mma\"\n";
    for tables in [several, weight, given] {
        let config = crisp(tables);
        assert_eq!((config.optimizer.method, config.optimizer.max_iterations), (Method::Mma, 120));
        assert_eq!(config.optimizer.move_limit, 0.05);
        let expected = [(21, 2.0), (33, 4.0), (45, 8.0), (57, 16.0), (69, 32.0), (81, 64.0)];
        assert_eq!(stages(&config), expected.map(|(from, sharpness)| (from, Some(sharpness))));
    }
}

#[test]
fn what_the_user_writes_wins_key_by_key() {
    let config = crisp("[optimizer]\nmove_limit = 0.1\n");
    assert_eq!((config.design.density_min, config.optimizer.move_limit), (1e-3, 0.1));
    assert_eq!(config.continuation.len(), 3);

    let set = ["design.style=crisp", "design.density_min=0.01", "filter.kind=density"];
    let config = parse(CASE.to_owned(), &set).unwrap();
    assert_eq!((config.design.density_min, config.optimizer.move_limit), (0.01, 0.2));
    assert_eq!(config.continuation.len(), 3);
}

#[test]
fn projection_and_stages_of_the_user_replace_those_of_the_style() {
    let config = crisp("[projection]\nsharpness = 8\nthreshold = 0.4\n");
    assert_eq!(config.projection, Some(Projection { sharpness: 8.0, threshold: 0.4 }));
    assert_eq!(stages(&config), []);
    assert_eq!(config.design.density_min, 1e-3);

    let config = crisp("[[continuation]]\nfrom = 9\nsharpness = 32\n");
    assert_eq!(config.projection, Some(Projection { sharpness: 1.0, threshold: 0.5 }));
    assert_eq!(stages(&config), [(9, Some(32.0))]);
    assert_eq!(config.optimizer.max_iterations, 150);
}

#[test]
fn a_crisp_case_written_with_all_settings_is_the_same_case() {
    let tables =
        ["", "[projection]\nsharpness = 8\n", "[[continuation]]\nfrom = 9\nsharpness = 4\n"];
    for tables in tables {
        let written = crisp(tables).to_toml().unwrap();
        assert!(
            written.contains("style = \"crisp\"") && written.contains("sharpness = "),
            "{written}"
        );
        let again = parse(written.clone(), &[]).unwrap();
        assert_eq!(again.to_toml().unwrap(), written);

        // The style adds nothing to what is written out.
        let smooth = parse(written.clone(), &["design.style=smooth"]).unwrap();
        assert_eq!(smooth.to_toml().unwrap(), written.replace("\"crisp\"", "\"smooth\""));
    }
}

#[test]
fn crisp_needs_the_density_filter() {
    let text = "\"crisp\"\nvolume_fraction = 0.3\n[filter]\nkind = \"sensitivity\"";
    insta::assert_snapshot!(refused(SMOOTH, text), @r#"
     x `design.style = "crisp"` without the density filter
       ,-[cases/case.toml:16:8]
    15 | [filter]
    16 | kind = "sensitivity"
       :        ^^^^^^|^^^^^^
       :              `-- another filter
    17 | radius = 3
       `----
     help: remove `kind` from [filter], or write `kind = "density"`; or remove `style`
    "#);
    let without = override_refused(&["design.style=crisp", "filter.kind=none"]);
    assert!(without.contains("without the density filter"), "{without}");
}

#[test]
fn crisp_needs_a_projection_that_grows_sharp() {
    let text =
        "\"crisp\"\nvolume_fraction = 0.3\n[[continuation]]\nfrom = 30\npenalty = 4\n\n[filter]";
    insta::assert_snapshot!(refused(SMOOTH, text), @r#"
     x `design.style = "crisp"` with a projection that stays nearly linear
       ,-[cases/case.toml:13:9]
    12 | [design]
    13 | style = "crisp"
       :         ^^^|^^^
       :            `-- needs a sharpness above 1
    14 | volume_fraction = 0.3
       `----
     help: raise `sharpness` in stages of [[continuation]], up to 32 or 64; or remove [projection]
           and [[continuation]], and the style has its own
    "#);
    let set = ["design.style=crisp", "projection.sharpness=1"];
    assert!(override_refused(&set).contains("stays nearly linear"));
}
