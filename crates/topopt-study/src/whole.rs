//! The last whole design of a crisp run, to which the run goes back where members break after it or
//! limits are missed.

use serde::{Deserialize, Serialize};
use topopt_case::config::{Config, Quality, Style};
use topopt_design::IterationReport;
use topopt_mesh::numbers::shown;

/// Iterations from one design that may be kept to the next, as keeping it takes it from the device.
const EVERY: usize = 5;

/// Grey level up to which a design shows its members. At a surface of half an element on either
/// side it is below 0.1, and 0.3 where members are one element wide; in the grey stage 0.43 to 0.9.
const GREY: f64 = 0.4;

/// Largest distance of the volume from its limit, over the limit.
const AT_LIMIT: f64 = 1e-3;

/// Compliance of a whole design, over the least so far: as the surface becomes narrow it comes to 1.2
/// times, or twice where members are one element wide, and to 2.2 and more as members break.
const WHOLE: f64 = 2.0;

/// Compliance of a design, over that of the kept one, from which on the kept one may be the better
/// end, which a solve decides. Whole designs ended at up to 1.3 times, those torn in some members at
/// 1.7 to 30, and those without a way from load to support at 1e5 and more.
const TORN: f64 = 1.5;

/// Least compliance of a run at its limit of the volume, and the last design about as stiff; or
/// where states have limits the last design that keeps all limits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Whole {
    /// Limit of the volume as a share; none where states have limits.
    limit: Option<f64>,
    least: Option<f64>,
    kept: Option<Kept>,
}

/// A design that is kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub iteration: usize,
    compliance: f64,
    /// Density in the order of the problem, `[n_elements]`; an array of its own in a checkpoint.
    #[serde(skip)]
    pub density: Vec<f64>,
}

impl Whole {
    /// Prepares to keep designs of a crisp run, if it has limits of states or is for the least
    /// compliance under a limit of the volume: others may become more compliant on purpose.
    pub fn of(config: &Config) -> Option<Self> {
        let volume = config.design.volume_fraction.as_ref().map(|volume| *volume.get_ref());
        let limit = volume.filter(|_| config.only_stiffens());
        let is_judged = limit.is_some() || config.limits_states();
        (config.design.style == Style::Crisp && is_judged)
            .then_some(Self { limit, ..Self::default() })
    }

    /// Takes note of a design, which may keep all limits, and returns whether it is to be kept.
    pub fn wants(&mut self, report: &IterationReport, keeps_limits: bool) -> bool {
        let &IterationReport { iteration, compliance, .. } = report;
        if report.grey_level > GREY {
            return false;
        }
        let Some(limit) = self.limit else {
            let kept = self.kept.as_ref();
            return keeps_limits && kept.is_none_or(|kept| iteration >= kept.iteration + EVERY);
        };
        if (report.volume_fraction - limit).abs() > AT_LIMIT * limit {
            return false;
        }
        let least = self.least.map_or(compliance, |least| least.min(compliance));
        self.least = Some(least);
        iteration.is_multiple_of(EVERY) && compliance <= WHOLE * least
    }

    /// Keeps the `density` of the design of a report.
    pub fn keep(&mut self, report: &IterationReport, density: Vec<f64>) {
        let &IterationReport { iteration, compliance, .. } = report;
        self.kept = Some(Kept { iteration, compliance, density });
    }

    /// The kept design.
    pub fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    /// Takes the density of the kept design from a checkpoint.
    pub fn restore(&mut self, density: Vec<f64>) {
        if let Some(kept) = &mut self.kept {
            kept.density = density;
        }
    }

    /// Whether the density of the kept design, if there is one, is that of so many elements.
    pub fn fits(&self, n_elements: usize) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.density.len() == n_elements)
    }

    /// Whether a run can have come to the numbers.
    pub fn is_plausible(&self) -> bool {
        let kept = self.kept.as_ref();
        kept.is_none_or(|kept| kept.density.iter().all(|x| (0.0..=1.0).contains(x)))
    }

    /// The kept design, if it is another than that of the last iteration, and members have broken
    /// since, or limits are missed.
    pub fn before_tear(&self, last: usize, found: (f64, bool), has_failed: bool) -> Option<&Kept> {
        let kept = self.kept.as_ref().filter(|kept| kept.iteration < last);
        kept.filter(|kept| has_failed || self.is_torn(kept, found))
    }

    /// Whether a design of this compliance is far more compliant than the kept one, or does not
    /// keep the limits of states.
    fn is_torn(&self, kept: &Kept, (compliance, keeps_limits): (f64, bool)) -> bool {
        if self.is_for_limits() { !keeps_limits } else { compliance > TORN * kept.compliance }
    }

    /// Whether the kept design, which has the compliance `now` as it is built and may keep its
    /// limits, is a better end than one with the compliance `last`.
    pub fn is_better(&self, (now, keeps_limits): (f64, bool), last: f64) -> bool {
        if self.is_for_limits() { keeps_limits } else { now < last }
    }

    /// Whether designs are kept for their limits of states.
    pub fn is_for_limits(&self) -> bool {
        self.limit.is_none()
    }

    /// The compliance `last` over the least so far, if members have broken in between.
    pub fn torn_by(&self, last: f64) -> Option<f64> {
        self.least.map(|least| last / least).filter(|times| *times > TORN)
    }

    /// Returns a sentence on the return to the kept design, which has the compliance `now` as it is
    /// built; the design that was left had that of `torn`, or the solve after it failed.
    pub fn said(&self, quality: Quality, now: f64, torn: Option<f64>) -> Option<String> {
        let iteration = self.kept.as_ref()?.iteration;
        let why = match torn {
            Some(_) if self.is_for_limits() => {
                return Some(format!(
                    "the last design missed a limit, and the run went back to that of iteration \
                     {iteration}, which keeps all; raise `optimizer.max_iterations` and go on with \
                     `--resume` for a better one"
                ));
            }
            Some(torn) if torn < TORN * now => {
                format!("the last design was {} times as compliant", rounded(torn / now))
            }
            Some(torn) => format!(
                "members broke, and the last design was {} times as compliant",
                rounded(torn / now)
            ),
            None => "the last solve failed".to_owned(),
        };
        let remedy = remedy(quality);
        Some(format!("{why}: the run went back to the design of iteration {iteration}; {remedy}"))
    }
}

/// Returns a sentence on a last design that is so many `times` as compliant as the stiffest one.
pub(crate) fn said_to_be_torn(quality: Quality, times: f64) -> String {
    format!(
        "members broke as their surface became narrow: the last design is {} times as compliant as \
         the stiffest one before; {}",
        rounded(times),
        remedy(quality)
    )
}

/// Compliance of the thinner design, over that of the built one, from which it holds nothing.
const APART: f64 = 100.0;

/// Warns that the thinner design, which gives members their least width, is so many times as
/// compliant as the built one, where it has fallen apart.
pub(crate) fn fallen_apart(times: f64) -> Option<String> {
    (times > APART).then(|| {
        format!(
            "the design with thinner members, which is solved for their least width, is {} times \
             as compliant as the built one: it has fallen apart; give a smaller `minimum`, or a \
             larger `design.volume_fraction`",
            shown(times)
        )
    })
}

fn rounded(times: f64) -> String {
    shown((100.0 * times).round() / 100.0)
}

/// Remedy for members that are hardly thicker than elements: a larger radius makes fewer and
/// thicker ones, which break as well where little may be filled.
fn remedy(quality: Quality) -> &'static str {
    match quality {
        Quality::Usual => {
            "give more iterations by `design.quality = \"best\"`, a finer mesh, or a larger \
             `design.volume_fraction`"
        }
        Quality::Best => "give a finer mesh, or a larger `design.volume_fraction`",
    }
}

#[cfg(test)]
mod tests {
    use topopt_design::StepTimes;

    use super::*;

    fn report(iteration: usize, compliance: f64, volume: f64, grey: f64) -> IterationReport {
        IterationReport {
            iteration,
            stage: 2,
            objective: compliance,
            constraints: vec![volume],
            compliance,
            volume_fraction: volume,
            grey_level: grey,
            change: 0.1,
            kkt_residual: 0.1,
            pcg_iterations: 9,
            pcg_products: 10,
            strengthened: 0,
            short_solves: 0,
            pcg_residual: 1e-6,
            times: StepTimes::default(),
        }
    }

    fn whole() -> Whole {
        Whole { limit: Some(0.3), ..Whole::default() }
    }

    #[test]
    fn designs_are_kept_that_are_crisp_at_the_limit_and_about_as_stiff_as_any() {
        let mut whole = whole();
        let mut wants = |it, compliance, volume, grey| {
            whole.wants(&report(it, compliance, volume, grey), false)
        };
        // Heavier ones are stiffer, and grey ones are not what is built: neither counts as the least.
        assert!(!wants(5, 10.0, 0.97, 0.1));
        assert!(!wants(25, 20.0, 0.3, 0.6));
        assert!(!wants(29, 100.0, 0.3, 0.1));
        assert!(wants(30, 190.0, 0.3001, 0.1));
        assert!(!wants(35, 210.0, 0.3, 0.1));
        assert!(!wants(40, 90.0, 0.29, 0.1));
        assert!(wants(45, 90.0, 0.3, 0.05));
        assert!(!wants(50, 190.0, 0.3, 0.05));
        assert_eq!(whole.torn_by(130.0), None);
        let times = whole.torn_by(152.1).unwrap();
        assert!(said_to_be_torn(Quality::Best, times).contains("is 1.69 times as compliant"));
    }

    #[test]
    fn a_run_goes_back_from_a_torn_design_only() {
        let mut whole = whole();
        assert_eq!(whole.before_tear(60, (1e9, false), true), None);
        whole.keep(&report(50, 100.0, 0.3, 0.05), vec![0.5; 8]);
        assert_eq!(whole.before_tear(60, (130.0, false), false), None);
        assert_eq!(whole.before_tear(50, (130.0, false), true), None);
        assert!(whole.before_tear(60, (130.0, true), true).is_some());
        let kept = whole.before_tear(60, (1e9, true), false).unwrap();
        assert_eq!((kept.iteration, kept.density.len()), (50, 8));

        let said = |torn| whole.said(Quality::Usual, 125.0, torn).unwrap();
        let broken = said(Some(1e9));
        assert!(
            broken.contains("of iteration 50; ") && broken.contains(" 8000000 times"),
            "{broken}"
        );
        assert!(said(Some(150.0)).starts_with("the last design was 1.2 times"));
        assert!(said(None).contains("the last solve failed") && said(None).contains("\"best\""));
    }

    /// Keeps a design if it is wanted.
    fn kept(whole: &mut Whole, iteration: usize, grey: f64, keeps_limits: bool) -> bool {
        let report = report(iteration, 100.0, 0.3, grey);
        let is_wanted = whole.wants(&report, keeps_limits);
        if is_wanted {
            whole.keep(&report, vec![0.5; 8]);
        }
        is_wanted
    }

    #[test]
    fn a_run_with_limits_of_states_goes_back_to_a_design_that_keeps_them() {
        let mut whole = Whole::default();
        let wanted = [
            (20, 0.5, true),
            (21, 0.3, false),
            (22, 0.3, true),
            (26, 0.2, true),
            (28, 0.2, true),
            (34, 0.2, false),
        ]
        .map(|(iteration, grey, keeps)| kept(&mut whole, iteration, grey, keeps));
        assert_eq!(wanted, [false, false, true, false, true, false]);

        // Volume and stiffness may be any.
        assert_eq!(whole.before_tear(60, (1e9, true), false), None);
        assert_eq!(whole.before_tear(60, (50.0, false), false).unwrap().iteration, 28);
        assert!(whole.before_tear(60, (50.0, true), true).is_some());
        assert!(whole.is_better((90.0, true), 50.0) && !whole.is_better((10.0, false), 50.0));
        let said = whole.said(Quality::Usual, 90.0, Some(50.0)).unwrap();
        assert!(said.contains("iteration 28, which keeps all"), "{said}");
    }

    #[test]
    fn a_checkpoint_brings_the_kept_design_back() {
        let mut kept = whole();
        kept.keep(&report(50, 100.0, 0.3, 0.05), vec![0.25, 1.0]);
        let written = serde_json::to_value(&kept).unwrap();
        let mut read = serde_json::from_value::<Whole>(written).unwrap();
        assert!(!read.fits(2));
        read.restore(vec![0.25, 1.0]);
        assert_eq!(read, kept);
        assert!(read.fits(2) && !read.fits(3) && read.is_plausible());
        read.restore(vec![0.25, f64::NAN]);
        assert!(!read.is_plausible());
        assert!(whole().fits(2) && whole().is_plausible());
    }
}
