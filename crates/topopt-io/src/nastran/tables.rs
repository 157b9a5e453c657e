//! The entries and lines that have no bearing on a linear static result. All that stand neither
//! here nor among those that are read are lost.

/// Entries: output, methods of solution, properties of what is no solid, tables, plots, and design
/// variables, which are nothing without their relations.
const HARMLESS: [&str; 95] = [
    "ACMODL", "ASET", "ASET1", "BSET", "BSET1", "CSET", "CSET1", "DESVAR", "DLINK", "DOPTPRM",
    "DSCREEN", "ECHOOFF", "ECHOON", "EIGB", "EIGC", "EIGP", "EIGR", "EIGRL", "EPOINT", "FREQ",
    "FREQ1", "FREQ2", "FREQ3", "FREQ4", "FREQ5", "HMMOVE", "INIT", "ITER", "LABEL", "MAT2", "MAT8",
    "MATS8", "MDLPRM", "NASTRAN", "NLADAPT", "NLAUTO", "NLOUT", "NLPARM", "NLPCI", "NLSTEP",
    "OMIT", "OMIT1", "PBAR", "PBARL", "PBARX", "PBCOMP", "PBEAM", "PBEAML", "PBEND", "PBUSH",
    "PBUSH1D", "PBUSHT", "PCOMP", "PCOMPG", "PCOMPP", "PDAMP", "PELAS", "PELAST", "PFAST", "PGAP",
    "PLOTEL", "PLOTEL3", "PLOTEL4", "PLY", "PMASS", "PROD", "PSEAM", "PSHEAR", "PSHELL", "PSTACK",
    "PTUBE", "PVISC", "PWELD", "QSET", "QSET1", "SET1", "SET3", "SPOINT", "STACK", "TABDMP1",
    "TABLED1", "TABLED2", "TABLED3", "TABLED4", "TABLEM1", "TABLEM2", "TABLEM3", "TABLEM4",
    "TABLES1", "TABLEST", "TSTEP", "TSTEPNL", "USET", "USET1", "VIEW",
];

/// PARAM: output, checks, and numbers of methods.
const HARMLESS_PARAMETERS: [&str; 52] = [
    "ALTRED", "ASING", "AUTOMPC", "AUTOSPC", "BAILOUT", "BUSHRLMT", "CHECKEL", "CHECKMAT",
    "CHECKOUT", "COMPMATT", "COUPMASS", "CURVPLOT", "DBALL", "EFFMAS", "EPPRT", "EPSILON",
    "EPZERO", "EXTOUT", "GPECT", "GRDPNT", "HFREQ", "IRES", "K6ROT", "LFREQ", "LMODES", "MAXRATIO",
    "NASPRT", "NEWSEQ", "NOCOMP", "NOCOMPS", "NOELOF", "NOGPF", "OELMSET", "OG", "OGEOM",
    "OMACHPR", "OMID", "OUGCORD", "OUNIT2", "PATVER", "POST", "POSTEXT", "PRGPST", "PRPHIVZ",
    "PRTMAXIM", "PRTRESLT", "RESVEC", "S1", "SNORM", "SRCOMPS", "TINY", "USETPRT",
];

/// Elements that are no solids, besides those whose names begin as [`NO_SOLIDS`] do.
const NO_SOLIDS: [&str; 26] = [
    "CQUAD", "CTRIA", "CSHEAR", "CBAR", "CBEAM", "CBEND", "CROD", "CONROD", "CTUBE", "CELAS",
    "CBUSH", "CDAMP", "CMASS", "CONM", "CVISC", "CWELD", "CFAST", "CSEAM", "PLOTEL", "CHBDY",
    "CAABSF", "CCONEAX", "CGASK", "CHEXCZ", "CPENTCZ", "CIFHEX",
];

/// Case control by its first four letters: titles, output, sets of output, methods of solution.
const HARMLESS_CONTROL: [&str; 67] = [
    "ACCE", "ANAL", "APP", "ASSI", "BEGI", "CEND", "COMP", "CSCA", "DENS", "DIAG", "DISP", "ECHO",
    "EDE", "EKE", "ELFO", "ELST", "ELSU", "ENTH", "ESE", "FLUX", "FORC", "FORM", "FREQ", "GEOM",
    "GPFO", "GPKE", "GPSE", "GPST", "GPRS", "HDOT", "HISO", "ID", "INCL", "LABE", "LINE", "MAXL",
    "METH", "MODE", "MPC", "MPCF", "NLPA", "OFRE", "OLOA", "OUTP", "OUTR", "PAGE", "PARA", "PLOT",
    "POST", "RESP", "RESU", "SCRE", "SDAM", "SET", "SKIP", "SPCF", "STRA", "STRE", "SUBT", "SVEC",
    "THER", "TIME", "TITL", "TSTE", "VECT", "VELO", "XYPL",
];

/// Whether an entry has no bearing on the result.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

/// Whether a parameter has no bearing on the result.
pub(super) fn is_harmless_parameter(name: &str) -> bool {
    HARMLESS_PARAMETERS.contains(&name)
}

/// Whether an entry is an element that is no solid.
pub(super) fn is_other_element(name: &str) -> bool {
    NO_SOLIDS.iter().any(|other| name.starts_with(other))
}

/// Whether an element that is no solid has neither stiffness nor mass.
pub(super) fn is_idle_element(name: &str) -> bool {
    name.starts_with("PLOTEL")
}

/// Whether a line of case control has no bearing on the result, by its first word.
pub(super) fn is_harmless_control(word: &str) -> bool {
    let begin = word.get(..4).unwrap_or(word);
    HARMLESS_CONTROL.contains(&begin)
}
