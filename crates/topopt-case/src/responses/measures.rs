//! The responses that the measures of a solver's deck are.

use topopt_io::deck_design::DeckMeasure;

/// Returns the name of the response that a measure is.
pub(crate) fn response_of(measure: DeckMeasure) -> &'static str {
    match measure {
        DeckMeasure::Compliance => "compliance",
        DeckMeasure::Volume | DeckMeasure::VolumeShare => "volume",
        DeckMeasure::Mass | DeckMeasure::MassShare => "mass",
        DeckMeasure::Displacement => "displacement",
        DeckMeasure::Temperature => "mean_temperature",
    }
}
