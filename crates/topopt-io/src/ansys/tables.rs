//! The commands that have no bearing on a linear static result, by their first four characters. All
//! that stand neither here nor among those that are read are lost.

/// Steps of the program, selections, real constants and sections of what is no solid, coordinate
/// systems, parameters, output, controls of solvers and of time steps.
const HARMLESS: [&str; 140] = [
    "ALPH", "ARCL", "ASEL", "AUTO", "BATC", "BCSO", "BETA", "C***", "CDWR", "CECM", "CHEC", "CLOC",
    "CMDE", "CMED", "CMGR", "CMLI", "CNCH", "CNVT", "CRPL", "CS", "CSCI", "CSDE", "CSKP", "CSLI",
    "CUTC", "CWZT", "DELT", "DLIS", "DMPR", "DMPS", "DOF", "DSPO", "DSYS", "DUMP", "ELIS", "ELOG",
    "EQSL", "ERAS", "ERES", "ETCO", "ETLI", "EXPA", "EXTO", "FINI", "FLIS", "GPDE", "HROU", "IMME",
    "KBC", "KEYW", "KLIS", "KSEL", "KUSE", "LGWR", "LNSR", "LOCA", "LSDE", "LSEL", "LUMP", "MDAM",
    "MODO", "MONI", "MPDR", "MPLI", "MPPL", "MSAV", "MSG", "MXPA", "NCNV", "NEQI", "NLDI", "NLHI",
    "NLIS", "NLOG", "NLOP", "NROP", "NSUB", "NUMO", "NUMS", "NUMV", "OPNC", "OUTG", "OUTP", "OUTR",
    "PARS", "PCGO", "PIVC", "PLOT", "PRED", "PSCO", "RATE", "RESC", "RLIS", "RMOD", "RMOR", "SAVE",
    "SECB", "SECC", "SECD", "SECF", "SECJ", "SECM", "SECN", "SECO", "SECP", "SECR", "SECS", "SECT",
    "SECW", "SHPP", "SHSD", "SOLO", "SPAR", "STAO", "STAT", "STEF", "SUMT", "TBEO", "TBFI", "TBLI",
    "TBPL", "TBPT", "TIME", "TIMI", "TINT", "TOFF", "TRNO", "TRPO", "TSHA", "UIMP", "VSEL", "VTOP",
    "WPAV", "WPCS", "WPLA", "WPOF", "WPRO", "WPST", "WRFU", "WRIT",
];

/// Lines that are programs: what they do is not followed.
const PROGRAMS: [&str; 12] =
    ["*DO", "*DOW", "*REP", "*USE", "*ULI", "*CRE", "*VRE", "*VFI", "*TRE", "*CYC", "*GO", "/INP"];

/// Commands that make or change a mesh: a file that has them is not the whole mesh.
const OF_MESHES: [&str; 42] = [
    "NGEN", "EGEN", "FILL", "NSYM", "ESYM", "ENGE", "ENSY", "NSCA", "NMOD", "NDEL", "EDEL", "EMOD",
    "ETCH", "NUMM", "VMES", "AMES", "VSWE", "VDRA", "VEXT", "EXTR", "EINT", "ESUR", "MOVE", "CENT",
    "QUAD", "NMOV", "TRAN", "EMID", "EMTG", "VIMP", "FVME", "ERNO", "EREI", "MSHM", "RESU", "CDRE",
    "NREA", "EREA", "NRRA", "ERRA", "UPGE", "MORP",
];

/// Whether a command has no bearing on the result.
pub(super) fn is_harmless(name: &str) -> bool {
    // `/` begins what the program itself does, `*` what its language does.
    name.is_empty() || name.starts_with(['/', '*', '!']) || HARMLESS.contains(&name)
}

/// Whether a command runs others that are not followed.
pub(super) fn is_program(name: &str) -> bool {
    PROGRAMS.contains(&name)
}

/// Whether a command makes or changes a mesh.
pub(super) fn is_of_mesh(name: &str) -> bool {
    OF_MESHES.contains(&name)
}

/// Material properties without a bearing on the result where temperatures are not carried over.
const HARMLESS_PROPERTIES: [&str; 26] = [
    "ALPX", "ALPY", "ALPZ", "CTEX", "CTEY", "CTEZ", "THSX", "THSY", "THSZ", "REFT", "MU", "DAMP",
    "DMPR", "ALPD", "BETD", "COLR", "UVID", "UMID", "RSVX", "RSVY", "RSVZ", "PERX", "PERY", "PERZ",
    "EMIS", "VISC",
];

/// Whether a material property has no bearing on the result.
pub(super) fn is_harmless_property(label: &str) -> bool {
    HARMLESS_PROPERTIES.contains(&label)
}

/// Whether a material expands with temperature by a property.
pub(super) fn is_expansion(label: &str) -> bool {
    matches!(label.get(..3), Some("ALP" | "CTE" | "THS")) && label != "ALPD"
}
