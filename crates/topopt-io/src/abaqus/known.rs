//! Keywords and parameters that the reader knows. All others might change the result, and are
//! reported as lost.

use super::deck::Reader;
use super::lines::Keyword;
use crate::quote::printable;

/// Keywords without a bearing on the result: requests for output, controls of the solver, and
/// definitions that only count where another keyword, which is carried over or lost, uses them.
const WITHOUT_BEARING: &str = "\
    CONTACTFILE CONTACTOUTPUT CONTACTPRINT CONTROLS DISTRIBUTION ELEMENTOUTPUT ELFILE ELPRINT \
    ENDMATERIAL ENDSTEP ENERGYFILE ENERGYOUTPUT ENERGYPRINT FACEPRINT FILEFORMAT FILTER \
    FILEOUTPUT FRICTION HEADING HOURGLASSSTIFFNESS INTEGRATEDOUTPUT MODALFILE MONITOR NODEFILE \
    NODEOUTPUT NODEPRINT OUTPUT PREPRINT PRINT RADIATIONFILE RADIATIONOUTPUT \
    RADIATIONPRINT SECTIONCONTROLS SECTIONFILE SECTIONPRINT SOLUTIONTECHNIQUE SOLVERCONTROLS \
    SURFACEBEHAVIOR SURFACEINTERACTION SURFACESECTION TIMEPOINTS USEROUTPUTVARIABLES";

/// Keywords that are read, with the parameters of each that are looked at or have no bearing: loads
/// that follow large displacements only do so with NLGEOM, which is lost.
const KNOWN: [(&str, &str); 32] = [
    ("NODE", "NSET INPUT SYSTEM"),
    ("ELEMENT", "TYPE ELSET INPUT"),
    ("NSET", "NSET GENERATE INTERNAL INSTANCE UNSORTED ELSET"),
    ("ELSET", "ELSET GENERATE INTERNAL INSTANCE UNSORTED"),
    ("SURFACE", "NAME TYPE INTERNAL COMBINE"),
    ("PART ASSEMBLY", "NAME"),
    ("ENDPART ENDASSEMBLY ENDINSTANCE KINEMATIC DENSITY SPECIFICHEAT", ""),
    ("NGEN NFILL NCOPY NMAP ELGEN ELCOPY SYSTEM SUBSTRUCTURE", ""),
    ("INSTANCE", "NAME PART"),
    ("INCLUDE", "INPUT"),
    ("STEP", "NAME INC NLGEOM UNSYMM INCF AMPLITUDE CONVERTSDI EXTRAPOLATION"),
    ("STATIC", "DIRECT SOLVER FULLYPLASTIC"),
    ("HEATTRANSFER", "STEADYSTATE DIRECT DELTMX SOLVER END MXDEM"),
    ("AMPLITUDE", "NAME TIME VALUE DEFINITION"),
    ("TRANSFORM", "NSET TYPE"),
    ("BOUNDARY", "OP TYPE AMPLITUDE"),
    ("CLOAD DLOAD", "OP AMPLITUDE FOLLOWER"),
    ("DSLOAD", "OP AMPLITUDE FOLLOWER CONSTANTRESULTANT"),
    ("CFLUX DFLUX DSFLUX FILM SFILM", "OP AMPLITUDE"),
    ("COUPLING", "CONSTRAINTNAME REFNODE SURFACE"),
    ("DISTRIBUTING", "WEIGHTINGMETHOD COUPLING"),
    ("RIGIDBODY", "NSET ELSET REFNODE ROTNODE TIENSET PINNSET"),
    ("MATERIAL", "NAME DESCRIPTION"),
    ("SOLIDSECTION", "ELSET MATERIAL CONTROLS ORIENTATION"),
    ("ORIENTATION", "NAME SYSTEM DEFINITION"),
    ("INERTIARELIEF", ""),
    ("ELASTIC CONDUCTIVITY INITIALCONDITIONS", "TYPE"),
    ("EXPANSION", "TYPE ZERO"),
    ("TEMPERATURE", "OP AMPLITUDE"),
    ("SPRING", "ELSET LINEAR NONLINEAR"),
    ("PHYSICALCONSTANTS", "ABSOLUTEZERO STEFANBOLTZMANN"),
    ("RESTART", "WRITE FREQUENCY OVERLAY NUMBERINTERVAL TIMEMARKS"),
];

/// Whether `word` is one of `words`, which blanks separate.
fn is_among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

impl Reader<'_> {
    /// Whether a keyword is read; parameters and data that are not read are reported as lost.
    pub fn is_read(&mut self, keyword: &Keyword) -> bool {
        if is_among(WITHOUT_BEARING, &keyword.name) {
            return false;
        }
        let Some((_, known)) = KNOWN.iter().find(|(names, _)| is_among(names, &keyword.name))
        else {
            self.pass_over(keyword);
            return false;
        };
        let strange: Vec<String> = keyword
            .parameters()
            .filter(|name| !is_among(known, name))
            .map(|name| match keyword.get(name) {
                Some(value) => format!(", {name}={}", printable(value)),
                None => format!(", {name}"),
            })
            .collect();
        strange.iter().for_each(|parameter| self.lose_keyword(keyword, parameter));
        true
    }

    /// Reports the part `rest` of a keyword as lost.
    pub fn lose_keyword(&mut self, keyword: &Keyword, rest: &str) {
        let (name, at) = (printable(&keyword.written), self.at(keyword.line));
        // The place stands behind the parameter.
        let (parameter, reason) = rest.split_once(": ").unwrap_or((rest, ""));
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        self.lose(format!("*{name}{parameter} ({at}){reason}"));
    }

    /// Reports a keyword with its data as lost.
    pub fn pass_over(&mut self, keyword: &Keyword) {
        let mut data = 0;
        while self.lines.data().is_some() {
            data += 1;
        }
        let name = printable(&keyword.written);
        let entry = self.passed_over.entry(name).or_insert((keyword.line, 0, 0));
        entry.1 += 1;
        entry.2 += data;
    }

    /// Reports all passed-over data as lost, by keyword.
    pub fn lose_passed_over(&mut self) {
        for (name, (line, times, data)) in std::mem::take(&mut self.passed_over) {
            let times = if times > 1 { format!(", {times} times") } else { String::new() };
            let data = match data {
                0 => String::new(),
                1 => ": 1 line of data".into(),
                data => format!(": {data} lines of data"),
            };
            self.lose(format!("*{name} ({}{times}){data}", self.at(line)));
        }
    }
}
