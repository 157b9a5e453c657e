//! The page: what stands where.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use topopt_mesh::{HexMesh, Places, QualitySummary};
use topopt_surface::TriangleSurface;

use crate::chart;
use crate::illustration::{self, Shown};
use crate::number::number;
use crate::picture::View;
use crate::report::{Fact, Part, Report, States, Table, Target};

const STYLE: &str = include_str!("style.css");
const VIEWER: &str = include_str!("viewer.js");

/// Nothing is loaded from anywhere, whatever the texts say.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

pub(crate) fn page(report: &Report, shown: &Shown, quality: &QualitySummary) -> String {
    let verified = || verification(report, shown);
    let solved = || {
        let found = report.states.as_ref();
        found.map(|found| states(report.mesh, shown.surface, &shown.places, found))
    };
    // What is drawn, and what is compressed.
    let ((design, solved), ((part, verified), viewer)) = rayon::join(
        || rayon::join(|| design(report, shown), solved),
        || {
            let drawn = || rayon::join(|| part(report.mesh, &report.part), verified);
            rayon::join(drawn, || viewer(report.threshold, shown))
        },
    );
    let main = html! {
        (targets(&report.targets, &report.saved))
        (design)
        @if let Some(solved) = solved { (solved) }
        (part)
        (verified)
        (viewer)
        (convergence(report))
        (problem(&report.problem))
        section class="halves" {
            div { h2 { "Mesh quality" } (mesh_quality(quality)) }
            div { h2 { "Time" } (timings(&report.seconds)) }
        }
        (repeat("Repeat the run", &report.repeat, &report.case))
        script { (PreEscaped(VIEWER)) }
    };

    let head = Head {
        title: &report.title,
        subtitle: &report.subtitle,
        warnings: &report.warnings,
        headline: &report.headline,
    };
    document(&head, &main)
}

/// The first that there is to see of a page.
pub(crate) struct Head<'a> {
    pub title: &'a str,
    pub subtitle: &'a str,
    /// Sentences about what may be wrong.
    pub warnings: &'a [String],
    /// The numbers to see first.
    pub headline: &'a [Fact],
}

/// A page with its head and its `main` part.
pub(crate) fn document(head: &Head, main: &Markup) -> String {
    let Head { title, subtitle, .. } = head;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }

            body {
                header {
                    h1 { (title) }
                    p { (subtitle) }
                    (warnings(head.warnings))
                    (tiles(head.headline))
                }

                main { (main) }
            }
        }
    };
    page.into_string()
}

fn tiles(facts: &[Fact]) -> Markup {
    html! {
        dl class="tiles" {
            @for fact in facts {
                div {
                    dt { (fact.name) }
                    dd { (fact.value) @if !fact.note.is_empty() { small { (fact.note) } } }
                }
            }
        }
    }
}

fn list(facts: &[Fact]) -> Markup {
    html! {
        dl class="facts" {
            @for fact in facts { dt { (fact.name) } dd { (fact.value) } }
        }
    }
}

/// A sentence, in which words between backquotes are code.
fn prose(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Lists the warnings in a box of their own; nothing if there are none.
fn warnings(warnings: &[String]) -> Markup {
    html! {
        @if !warnings.is_empty() {
            div class="warnings" {
                h2 { @if warnings.len() == 1 { "Warning" } @else { "Warnings" } }
                ul { @for warning in warnings { li { (prose(warning)) } } }
            }
        }
    }
}

/// The objective and the limits, and what the design saves.
fn targets(targets: &[Target], saved: &Table) -> Markup {
    let is_verified = targets.iter().any(|target| target.verified.is_some());

    html! {
        section class="halves" {
            div {
                h2 { "Objective and limits" }
                div class="wide" {
                    table {
                        thead {
                            tr {
                                th {} th { "Optimized" }
                                @if is_verified { th { "Verified" } }
                                th { "Limit" } th {}
                            }
                        }
                        tbody { @for target in targets { (row(target, is_verified)) } }
                    }
                }
            }
            div { h2 { "Full part and design" } div class="wide" { (table(saved)) } }
        }
    }
}

fn row(target: &Target, is_verified: bool) -> Markup {
    html! {
        tr {
            td { (target.name) }
            td { (target.optimized) }
            @if is_verified { td { (target.verified.as_deref().unwrap_or("\u{2013}")) } }
            td { (target.limit) }
            @match target.is_met {
                Some(true) => td class="met" { "\u{2713} met" },
                Some(false) => td class="missed" { "\u{2717} missed" },
                None => td {},
            }
        }
    }
}

fn design(report: &Report, shown: &Shown) -> Markup {
    html! {
        section {
            h2 { "Design" }
            (illustration::design(shown))
            p class="note" {
                "Exported and verified shape (iso-surface at density "
                (number(report.threshold, 3)) ")."
            }
            (list(&report.measures))
        }
    }
}

/// Shows the fields of the states on the surface of the solid, with a table and curves.
pub(crate) fn states(
    mesh: &HexMesh,
    surface: &TriangleSurface,
    places: &Places,
    states: &States,
) -> Markup {
    html! {
        section {
            h2 { (states.title) }
            (illustration::fields(mesh, surface, places, &states.fields))
            div class="cases" { (table(&states.cases)) }
            @if !states.curves.is_empty() {
                h3 { "Over time" }
                div class="charts" { @for curve in &states.curves { (chart::curve(curve)) } }
            }
            @for note in &states.notes { p class="note" { (prose(note)) } }
        }
    }
}

pub(crate) fn part(mesh: &HexMesh, part: &Part) -> Markup {
    html! {
        section {
            h2 { "Supports and loads" }
            (illustration::part(mesh, part))
        }
    }
}

pub(crate) fn problem(groups: &[(String, Vec<Fact>)]) -> Markup {
    html! {
        section {
            h2 { "Problem" }
            div class="groups" {
                @for (title, facts) in groups {
                    div { h3 { (title) } (list(facts)) }
                }
            }
        }
    }
}

pub(crate) fn repeat(title: &str, facts: &[Fact], case: &str) -> Markup {
    html! {
        section {
            h2 { (title) }
            (list(facts))
            details { summary { "Case file" } pre { (case) } }
        }
    }
}

fn viewer(threshold: f64, shown: &Shown) -> Markup {
    let grid = &shown.grid.grid;
    let extent = grid.cells.map(|n| n as f64 * grid.spacing);
    let center: [f64; 3] = std::array::from_fn(|i| grid.origin[i] + 0.5 * extent[i]);
    let radius = 0.5 * extent.iter().map(|x| x * x).sum::<f64>().sqrt();

    let data = serde_json::json!({
        "cells": grid.cells, "origin": grid.origin, "spacing": grid.spacing,
        "center": center, "radius": radius,
    });

    let [right, up, eye] = View::Isometric.axes();
    let turn: Vec<String> =
        (0..3).flat_map(|i| [right[i], up[i], eye[i]]).map(|x| x.to_string()).collect();

    // The slider of the threshold goes from 1 to 99 percent.
    let percent = (100.0 * threshold).round().clamp(1.0, 99.0);

    html! {
        section id="viewer" {
            h2 { "Interactive view" }
            canvas id="view" tabindex="0" aria-label="Interactive view of the design"
                data-grid=(data) data-turn=(turn.join(" ")) {}
            p class="fallback" {
                "WebGL 2 is not available in this browser; the pictures above show the design."
            }

            div class="controls" {
                label for="threshold" { "Threshold" }
                input id="threshold" type="range" min="1" max="99" step="1" value=(percent);
                output id="told" for="threshold" {}
            }
            p class="note" {
                "z points up at first. Drag to rotate, scroll to zoom, double-click to reset. This surface lies on a uniform "
                "grid; the pictures above show the exported surface."
            }
            script id="volume" type="application/octet-stream" { (PreEscaped(shown.grid.encoded())) }
        }
    }
}

fn convergence(report: &Report) -> Markup {
    html! {
        section {
            h2 { "Convergence" }
            div class="charts" { @for curve in &report.curves { (chart::curve(curve)) } }
            details {
                summary { "Table of iterations" }
                div class="wide long" { (table(&report.iterations)) }
            }
        }
    }
}

pub(crate) fn table(table: &Table) -> Markup {
    html! {
        table {
            thead { tr { @for column in &table.columns { th { (column) } } } }
            tbody {
                @for row in &table.rows { tr { @for field in row { td { (field) } } } }
            }
        }
    }
}

fn verification(report: &Report, shown: &Shown) -> Markup {
    html! {
        section {
            h2 { "Verification" }
            @match &report.verification {
                Ok(found) => {
                    div class="wide" { (table(&found.compared)) }
                    div class="cases" { (table(&found.cases)) }
                    (illustration::fields(report.mesh, shown.surface, &shown.places, &found.fields))
                    (list(&found.facts))
                    @for note in &found.notes { p class="note" { (prose(note)) } }
                }
                Err(remedy) => p { (prose(remedy)) },
            }
        }
    }
}

pub(crate) fn mesh_quality(quality: &QualitySummary) -> Markup {
    let [jacobian, ratio] = [quality.scaled_jacobian, quality.aspect_ratio];
    html! {
        (chart::histogram("Elements by scaled Jacobian (1 is best)", &quality.histogram))
        (list(&[
            Fact::new(
                "Scaled Jacobian",
                format!("smallest {}, mean {}", number(jacobian.min, 3), number(jacobian.mean, 3)),
            ),
            Fact::new(
                "Aspect ratio",
                format!("mean {}, largest {}", number(ratio.mean, 3), number(ratio.max, 3)),
            ),
        ]))
    }
}

/// Bars whose lengths are the shares of the longest step.
fn timings(seconds: &[(String, f64)]) -> Markup {
    let longest = seconds.iter().map(|(_, seconds)| *seconds).fold(f64::MIN_POSITIVE, f64::max);
    let total: f64 = seconds.iter().map(|(_, seconds)| seconds).sum();
    html! {
        table class="bars" {
            tbody {
                @for (name, seconds) in seconds {
                    tr {
                        th { (name) }
                        td class="bar" {
                            div style=(format!("width:{:.2}%", 100.0 * seconds / longest)) {}
                        }
                        td { (number(*seconds, 3)) " s" }
                        td { (format!("{:.1} %", 100.0 * seconds / total.max(f64::MIN_POSITIVE))) }
                    }
                }
            }
        }
    }
}
