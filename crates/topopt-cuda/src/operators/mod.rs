//! K(E) u on the device, by strategy.

mod mesh;

pub use mesh::MeshOnDevice;
