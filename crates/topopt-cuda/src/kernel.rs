//! Kernels: embedded code, loaded by name, launched on the stream of the device.

use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaFunction, CudaModule, CudaSlice, DevicePtr, DeviceRepr, DriverError, LaunchArgs,
    LaunchConfig,
};
use topopt_linalg::BackendError;

use crate::Device;
use crate::code::Code;
use crate::vector::DeviceVector;

/// Device memory that a kernel reads: `const T*`. Made of a reference where a launch is called.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct In<T>(CUdeviceptr, PhantomData<T>);

/// Device memory that a kernel writes, and nobody else meanwhile: `T*`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Out<T>(CUdeviceptr, PhantomData<T>);

/// Device memory that a kernel writes though others hold it too, such as a scalar among others:
/// `T*`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Shared<T>(CUdeviceptr, PhantomData<T>);

/// A number of nodes, elements or rows, which all are counted by 32 bits: `unsigned`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Count(u32);

/// A number of entries: `long long`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Length(i64);

// SAFETY: each is a pointer or a number as C has it, and has no other member with a size.
unsafe impl<T> DeviceRepr for In<T> {}
// SAFETY: as above.
unsafe impl<T> DeviceRepr for Out<T> {}
// SAFETY: as above.
unsafe impl<T> DeviceRepr for Shared<T> {}
// SAFETY: as above.
unsafe impl DeviceRepr for Count {}
// SAFETY: as above.
unsafe impl DeviceRepr for Length {}

/// Returns the device address of a slice. It is valid while a launch that was given it runs: memory
/// is given back on the stream of the launches, after them.
fn address<T>(slice: &CudaSlice<T>) -> CUdeviceptr {
    slice.device_ptr(slice.stream()).0
}

/// Returns the device address of a vector, for an array of addresses that a kernel reads; valid as
/// [`address`] says.
pub(crate) fn place<T>(vector: &DeviceVector<T>) -> u64 {
    address(&vector.values)
}

impl<T> From<&CudaSlice<T>> for In<T> {
    fn from(slice: &CudaSlice<T>) -> Self {
        Self(address(slice), PhantomData)
    }
}

impl<T> In<T> {
    /// Pointer to entry `first` of `slice`.
    ///
    /// # Panics
    /// If the slice is shorter.
    pub fn from_entry(slice: &CudaSlice<T>, first: usize) -> Self {
        assert!(first <= slice.len());
        Self(address(slice) + (first * size_of::<T>()) as CUdeviceptr, PhantomData)
    }
}

/// Null where there is nothing.
impl<T> From<Option<&CudaSlice<T>>> for In<T> {
    fn from(slice: Option<&CudaSlice<T>>) -> Self {
        Self(slice.map_or(0, address), PhantomData)
    }
}

impl<T> From<&DeviceVector<T>> for In<T> {
    fn from(vector: &DeviceVector<T>) -> Self {
        (&vector.values).into()
    }
}

impl<T> From<&mut CudaSlice<T>> for Out<T> {
    fn from(slice: &mut CudaSlice<T>) -> Self {
        Self(address(slice), PhantomData)
    }
}

impl<T> From<&mut DeviceVector<T>> for Out<T> {
    fn from(vector: &mut DeviceVector<T>) -> Self {
        (&mut vector.values).into()
    }
}

impl<T> From<&CudaSlice<T>> for Shared<T> {
    fn from(slice: &CudaSlice<T>) -> Self {
        Self(address(slice), PhantomData)
    }
}

impl<T> Shared<T> {
    /// Pointer to entry `first` of `slice`.
    ///
    /// # Panics
    /// If the slice is shorter.
    pub fn from_entry(slice: &CudaSlice<T>, first: usize) -> Self {
        assert!(first <= slice.len());
        Self(address(slice) + (first * size_of::<T>()) as CUdeviceptr, PhantomData)
    }

    /// Pointer to as many entries later.
    pub fn after(self, count: usize) -> Self {
        Self(self.0 + (count * size_of::<T>()) as CUdeviceptr, PhantomData)
    }
}

impl From<u32> for Count {
    fn from(count: u32) -> Self {
        Self(count)
    }
}

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Self(u32::try_from(count).expect("nodes, elements and rows are counted by 32 bits"))
    }
}

impl From<usize> for Length {
    fn from(length: usize) -> Self {
        Self(length as i64)
    }
}

/// The kernels of one `.cu` file at one precision.
pub(crate) struct Module {
    device: Arc<Device>,
    module: Arc<CudaModule>,
    file: &'static str,
    code: Code,
}

/// One kernel.
pub(crate) struct Kernel {
    device: Arc<Device>,
    function: CudaFunction,
    name: String,
    block: u32,
}

/// Size of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Grid {
    /// Least number of threads, rounded up to whole blocks.
    Threads(usize),
    /// Number of blocks.
    Blocks(usize),
}

impl Module {
    /// Loads `code`, made from `cuda/FILE.cu`.
    pub fn load(
        device: &Arc<Device>,
        file: &'static str,
        code: Code,
    ) -> Result<Self, BackendError> {
        device.check()?;
        let module = code
            .load(device.capability(), |code| device.context().load_module(code))
            .map_err(|error| device.error(&format!("loading kernels `{file}`"), error))?;
        Ok(Self { device: device.clone(), module, file, code })
    }

    /// The kernel `name`.
    pub fn kernel(&self, name: &str) -> Result<Kernel, BackendError> {
        let full = format!("kernel `{}::{name}`", self.file);
        let function = self
            .module
            .load_function(name)
            .map_err(|error| self.device.error(&format!("loading {full}"), error))?;
        let block = block(self.code, name);
        Ok(Kernel { device: self.device.clone(), function, name: full, block })
    }
}

impl Kernel {
    /// Threads of a block.
    pub fn block(&self) -> usize {
        self.block as usize
    }

    /// Blocks of a launch.
    pub fn blocks(&self, grid: Grid) -> usize {
        match grid {
            Grid::Threads(threads) => threads.div_ceil(self.block()),
            Grid::Blocks(blocks) => blocks,
        }
    }

    /// Arguments of a launch, for [`Kernel::launch`].
    pub fn arguments(&self) -> LaunchArgs<'_> {
        self.device.stream().launch_builder(&self.function)
    }

    /// The shape of a launch.
    pub fn config(&self, blocks: usize) -> LaunchConfig {
        let blocks = u32::try_from(blocks).expect("a launch has 2^31 blocks at most");
        LaunchConfig {
            grid_dim: (blocks, 1, 1),
            block_dim: (self.block, 1, 1),
            shared_mem_bytes: 0,
        }
    }

    /// Keeps a failed launch for the next call that can report it.
    pub fn record<T>(&self, result: Result<T, DriverError>) {
        self.device.record(&self.name, result);
    }
}

/// Threads of a block of the kernel `name`.
///
/// # Panics
/// If there is no such kernel.
pub(crate) fn block(code: Code, name: &str) -> u32 {
    code.block(name).unwrap_or_else(|| panic!("there is no kernel `{name}`"))
}

/// The number that a `.cu` or `.cuh` file gives a name by `#define NAME NUMBER`, at compile time:
/// so that what both sides must agree on stands once.
macro_rules! defined {
    ($file:literal, $name:literal) => {
        $crate::kernel::defined(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/cuda/", $file)),
            concat!("#define ", $name, " "),
        )
    };
}

/// The number after `mark` in `text`; for [`defined!`].
pub(crate) const fn defined(text: &str, mark: &str) -> usize {
    let (text, mark) = (text.as_bytes(), mark.as_bytes());
    let (mut at, mut matched) = (0, 0);
    // No character but the first of `mark` is a '#', so after a mismatch the search begins again at
    // the next character.
    while matched < mark.len() {
        assert!(at < text.len(), "the name is not defined");
        matched = match text[at] {
            character if character == mark[matched] => matched + 1,
            b'#' => 1,
            _ => 0,
        };
        at += 1;
    }
    assert!(text[at].is_ascii_digit(), "the name is not a number");
    let mut value = 0;
    while at < text.len() && text[at].is_ascii_digit() {
        value = 10 * value + (text[at] - b'0') as usize;
        at += 1;
    }
    value
}

/// Declares what is given to kernels by value, as a `struct` of `cuda/common/views.cuh` or of the
/// kernel's own file has it.
macro_rules! views {
    ($($(#[$doc:meta])* $name:ident in $file:literal { $($(#[$of_member:meta])* $member:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name { $($(#[$of_member])* pub $member: $type,)* }
            // SAFETY: members and their order are those of the C struct: a test compares them.
            unsafe impl cudarc::driver::DeviceRepr for $name {}
        )*
        /// File, name and members of every view.
        #[cfg(test)]
        pub(crate) const VIEWS: &[(&str, &str, &[(&str, &str)])] =
            &[$(($file, stringify!($name), &[$((stringify!($member), stringify!($type))),*])),*];
    };
}

/// Declares the kernels of a `.cu` file with their parameters, in order: a struct with a function
/// for each, which takes the [`Grid`] and what becomes its parameters. A test compares names, types
/// and sizes with source and PTX. Kernels with the same parameters stand together: `one(..) |
/// other`.
macro_rules! kernels {
    ($(
        $(#[$doc:meta])*
        $name:ident $(<$R:ident>)? in $file:literal {
            $($kernel:ident $parameters:tt $(| $other:ident)*;)*
        }
    )*) => {
        $(
            $(#[$doc])*
            #[allow(non_snake_case)] // strategies are named as in the case file
            pub(crate) struct $name $(<$R>)? {
                $(
                    pub $kernel: $crate::kernel::Kernel,
                    $(pub $other: $crate::kernel::Kernel,)*
                )*
                precision: std::marker::PhantomData<($($R,)?)>,
            }

            impl $(<$R: $crate::vector::Real>)? $name $(<$R>)? {
                /// Loads the kernels.
                ///
                /// # Errors
                /// [`BackendError`](topopt_linalg::BackendError) if the driver does not take them.
                #[allow(dead_code)] // kernels that depend on the formulation are loaded for one
                pub fn load(
                    device: &std::sync::Arc<$crate::Device>,
                ) -> Result<Self, topopt_linalg::BackendError> {
                    Self::load_for(topopt_fem::Formulation::Full, device)
                }

                /// Loads the kernels for elements of a `formulation`.
                ///
                /// # Errors
                /// As [`load`](Self::load).
                pub fn load_for(
                    formulation: topopt_fem::Formulation,
                    device: &std::sync::Arc<$crate::Device>,
                ) -> Result<Self, topopt_linalg::BackendError> {
                    Self::load_from($file, formulation, device)
                }

                /// Loads the kernels of a file that has all of them.
                fn load_from(
                    file: &'static str,
                    formulation: topopt_fem::Formulation,
                    device: &std::sync::Arc<$crate::Device>,
                ) -> Result<Self, topopt_linalg::BackendError> {
                    let code = $crate::code::of_formulation(file, formulation, precision!($($R)?));
                    let module = $crate::kernel::Module::load(device, file, code)?;
                    Ok(Self {
                        $(
                            $kernel: module.kernel(stringify!($kernel))?,
                            $($other: module.kernel(stringify!($other))?,)*
                        )*
                        precision: std::marker::PhantomData,
                    })
                }

                $(
                    launched! { $kernel $parameters }
                    $(launched! { $other $parameters })*
                )*

                /// File, and name and parameters of every kernel: name, type, bytes.
                #[cfg(test)]
                pub(crate) const DECLARED: $crate::kernel::contract::Declared = (
                    $file,
                    &[$(
                        (stringify!($kernel), declared!($parameters)),
                        $((stringify!($other), declared!($parameters)),)*
                    )*],
                );
            }
        )*

        /// Declarations of every file.
        #[cfg(test)]
        pub(crate) const DECLARED: &[$crate::kernel::contract::Declared] =
            &[$(<$name $(<double!($R)>)?>::DECLARED),*];
    };
}

/// Defines the function that launches a kernel.
macro_rules! launched {
    ($kernel:ident ($($parameter:ident: $type:ty),* $(,)?)) => {
        #[allow(non_snake_case, clippy::too_many_arguments)]
        pub fn $kernel(&self, grid: $crate::kernel::Grid, $($parameter: impl Into<$type>),*) {
            use cudarc::driver::PushKernelArg as _;
            let (kernel, blocks) = (&self.$kernel, self.$kernel.blocks(grid));
            if blocks == 0 {
                return;
            }
            $(let $parameter: $type = $parameter.into();)*
            let mut arguments = kernel.arguments();
            $(arguments.arg(&$parameter);)*
            // SAFETY: number and types of the arguments are those of the kernel, as a
            // test compares; their shapes stand in the `.cu` file, and the tests run
            // every kernel under bounds checking.
            kernel.record(unsafe { arguments.launch(kernel.config(blocks)) });
        }
    };
}

/// Name, type and bytes of every parameter.
#[cfg(test)]
macro_rules! declared {
    (($($parameter:ident: $type:ty),* $(,)?)) => {
        &[$((stringify!($parameter), stringify!($type), size_of::<$type>())),*]
    };
}

/// Double precision in the place of `R`.
#[cfg(test)]
macro_rules! double {
    ($R:ident) => {
        f64
    };
}

/// Name of the precision `R`; kernels without one are compiled in `f64`.
macro_rules! precision {
    () => {
        "f64"
    };
    ($R:ident) => {
        <$R as $crate::vector::Real>::NAME
    };
}

#[cfg(test)]
pub(crate) mod contract;
