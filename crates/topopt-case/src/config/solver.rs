//! The keys of `[solver]`.

use schemars::JsonSchema;
use serde::de::value::{self, StrDeserializer};
use serde::{Deserialize, Serialize};

/// The linear solver: conjugate gradients, preconditioned.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Relative residual |f - K u| / |f| at which a solution is accepted.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub tolerance: f64,
    /// Relative residual once the design is less than half as grey as a uniform one and while the
    /// compliance changes: a tenth of its last relative change, at most this and at least
    /// `tolerance`; constant if it is no larger than `tolerance`. By default a hundred times
    /// `tolerance` with multigrid, but no more than 1e-3; `tolerance` without.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub early_tolerance: Option<f64>,
    /// Largest number of iterations per solve; by default 20000, with multigrid 500, and 5000 in an
    /// analysis.
    #[schemars(range(min = 1))]
    pub max_iterations: Option<usize>,
    /// Preconditioner.
    pub preconditioner: Preconditioner,
    /// Cycle of multigrid.
    pub cycle: Cycle,
    /// Smoother of multigrid.
    pub smoother: Smoother,
    /// Precision in which solves take their steps.
    pub precision: Precision,
    /// How the stiffness matrix is applied.
    pub strategy: Strategy,
    /// Where to compute: "auto" (a GPU if one works, else the CPU), "cpu", "gpu",
    /// or "gpu:1" for the second GPU.
    #[schemars(with = "String", regex(pattern = r"^(auto|cpu|gpu(:\d+)?)$"))]
    pub device: Device,
    /// Whether runs on a GPU give the same bits every time, on the same GPU and driver: products of
    /// elements are added in a fixed order, which takes longer. It needs one of the strategies
    /// "dbd" (then chosen by "auto"), "mf", "nbn", "ebeSym" and "bsr". On the CPU results are
    /// always the same, and this key changes nothing.
    pub deterministic: bool,
    /// Number of threads; by default all of the machine.
    #[schemars(range(min = 1, max = MOST_THREADS))]
    pub threads: Option<usize>,
}

/// A preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Preconditioner {
    /// Multigrid.
    Auto,
    /// Multigrid by aggregates of nodes and their rigid motions; on a GPU in single precision.
    Multigrid,
    /// The diagonal of the matrix.
    Jacobi,
    /// The 3x3 blocks on the diagonal of the matrix.
    BlockJacobi,
}

/// How multigrid solves on its coarser levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Cycle {
    /// K, and V on a mesh of tetrahedra, whose levels are joined more smoothly and need no more.
    #[serde(rename = "auto")]
    Auto,
    /// One cycle per level: the least work, but more iterations on larger meshes of hexahedra;
    /// where it does not converge, K goes on.
    V,
    /// Two cycles per level; where they do not converge, K goes on.
    W,
    /// Two steps of conjugate gradients, preconditioned by the cycle of the level. The only one
    /// of the three that grows stronger during a slow solve; where it does not converge, V goes on.
    K,
}

/// How multigrid smooths on its levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Smoother {
    /// Polynomials of the matrix and the blocks on its diagonal.
    Chebyshev,
    /// Patches of neighboring nodes that are solved inexactly: on the CPU on all levels, on a GPU
    /// on the finest. It stores the matrix, on the CPU 0.7 kB per node for heat and 2.7 kB for
    /// elasticity, and was slower than "chebyshev" on the CPU.
    Patch,
}

/// Precision of the steps of a solve. Residuals are always in double precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// "mixed" on a GPU that computes in double precision at less than a quarter of its pace in
    /// single, as those of workstations do; else "double".
    Auto,
    /// Double precision.
    Double,
    /// Single precision between residuals in double, which count: with multigrid on one GPU, unless
    /// void has less than 1e-7 of the stiffness. Elsewhere this is "double".
    Mixed,
}

/// How the stiffness matrix is applied. On the CPU: `mf`, `ebe`, `nbn` and `bsr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", value(rename_all = "snake_case"))]
pub enum Strategy {
    /// The fastest strategy for the case.
    Auto,
    /// Matrix-free: nothing stored.
    Mf,
    /// As mf, with a second pass in which each node gathers its products in a fixed order.
    Dbd,
    /// Element by element, with stored element matrices.
    Ebe,
    /// Node by node, with stored element matrices.
    Nbn,
    /// Element by element, 8 threads per element.
    Ebe8,
    /// Element by element, 24 threads per element.
    Ebe24,
    /// Element by element, 64 threads per element.
    Ebe64,
    /// Element by element with the symmetric half of the element matrices, one color after the
    /// other.
    #[serde(rename = "ebeSym")]
    #[cfg_attr(feature = "clap", value(name = "ebeSym"))]
    EbeSym,
    /// As ebeSym, with atomic additions instead of colors.
    #[serde(rename = "ebeSymAtomic")]
    #[cfg_attr(feature = "clap", value(name = "ebeSymAtomic"))]
    EbeSymAtomic,
    /// Assembled matrix (3x3 blocks; scalars for heat).
    Bsr,
}

/// Device of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Device {
    /// The first GPU, or the processor where none works.
    Auto,
    /// The processor.
    Cpu,
    /// The GPU of this number.
    Gpu(usize),
}

/// Most threads of a run: more would take all memory of a machine.
pub const MOST_THREADS: usize = 1024;

/// How much looser early solves are with multigrid.
const EARLY: f64 = 100.0;
/// Loosest tolerance of early solves, however loose `tolerance` is.
const LOOSEST: f64 = 1e-3;

impl Strategy {
    /// Name as in the case file.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Auto => "auto",
            Strategy::Mf => "mf",
            Strategy::Dbd => "dbd",
            Strategy::Ebe => "ebe",
            Strategy::Nbn => "nbn",
            Strategy::Ebe8 => "ebe8",
            Strategy::Ebe24 => "ebe24",
            Strategy::Ebe64 => "ebe64",
            Strategy::EbeSym => "ebeSym",
            Strategy::EbeSymAtomic => "ebeSymAtomic",
            Strategy::Bsr => "bsr",
        }
    }

    /// The strategy of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::deserialize(StrDeserializer::<value::Error>::new(name)).ok()
    }
}

impl Solver {
    /// Whether multigrid is the preconditioner.
    pub fn is_multigrid(&self) -> bool {
        matches!(self.preconditioner, Preconditioner::Auto | Preconditioner::Multigrid)
    }

    /// The cycle that might converge where this one does not, if there are cycles.
    pub fn other_cycle(&self) -> Option<Cycle> {
        let is_strongest = matches!(self.cycle, Cycle::K | Cycle::Auto);
        let other = if is_strongest { Cycle::V } else { Cycle::K };
        self.is_multigrid().then_some(other)
    }

    /// Relative residual while the compliance changes, by `tolerance` and the preconditioner
    /// when left out: without multigrid the same residual leaves a larger error.
    pub fn early_tolerance(&self) -> f64 {
        let by_tolerance = if self.is_multigrid() {
            (EARLY * self.tolerance).min(LOOSEST)
        } else {
            self.tolerance
        };
        self.early_tolerance.unwrap_or(by_tolerance)
    }

    /// Largest number of iterations of one solution, by the preconditioner when left out.
    pub fn max_iterations(&self) -> usize {
        self.max_iterations.unwrap_or(if self.is_multigrid() { 500 } else { 20_000 })
    }

    /// These settings for an analysis, which may iterate longer: one solve of flat elements that
    /// takes a thousand iterations is an answer all the same, a hundred of them are not.
    #[must_use]
    pub fn for_analysis(&self) -> Self {
        let by_default = if self.is_multigrid() { 5000 } else { 20_000 };
        Self { max_iterations: self.max_iterations.or(Some(by_default)), ..self.clone() }
    }
}

impl TryFrom<String> for Device {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text.strip_prefix("gpu:").map(str::parse);
        match (text.as_str(), number) {
            ("auto", _) => Ok(Device::Auto),
            ("cpu", _) => Ok(Device::Cpu),
            ("gpu", _) => Ok(Device::Gpu(0)),
            (_, Some(Ok(number))) => Ok(Device::Gpu(number)),
            _ => Err(format!(
                "unknown device \"{text}\"; write \"auto\", \"cpu\", \"gpu\", or \"gpu:1\" for the \
                 second GPU"
            )),
        }
    }
}

impl From<Device> for String {
    fn from(device: Device) -> Self {
        match device {
            Device::Auto => "auto".into(),
            Device::Cpu => "cpu".into(),
            Device::Gpu(number) => format!("gpu:{number}"),
        }
    }
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            tolerance: 1e-5,
            early_tolerance: None,
            max_iterations: None,
            preconditioner: Preconditioner::Auto,
            cycle: Cycle::Auto,
            smoother: Smoother::Chebyshev,
            precision: Precision::Auto,
            strategy: Strategy::Auto,
            device: Device::Auto,
            deterministic: false,
            threads: None,
        }
    }
}
