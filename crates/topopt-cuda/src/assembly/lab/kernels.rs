//! Kernels of the strategies that only papers need, and their parameters.

use crate::kernel::{Count, In, Out};
use crate::kernels::{Lame, MeshView, UpperView};

views! {
    /// Upper blocks in patches with their elements.
    PatchesView in "assemble_shared_nz.cu" {
        n_patches: Count,
        first_blocks: In<u32>,
        first_elements: In<u32>,
        blocks: In<u32>,
        elements: In<u32>,
        offsets: In<u32>,
        sources: In<u16>,
    }

    /// Rows in patches with their elements.
    RowPatchesView in "assemble_patch.cu" {
        n_patches: Count,
        first_blocks: In<u32>,
        first_elements: In<u32>,
        blocks: In<u32>,
        elements: In<u32>,
        targets: In<u32>,
    }
}

kernels! {
    /// `cuda/assemble_global_nz.cu`.
    AssembleGlobalNz<R> in "assemble_global_nz" {
        element_tiles1(
            mesh: MeshView, routine: u32, material: Lame, stored: In<R>, moduli: In<R>,
            capacities: In<R>, tiles: Out<R>,
        ) | element_tiles3;
        global_nz1(
            upper: UpperView, routine: u32, material: Lame, stored: In<R>, moduli: In<R>,
            capacities: In<R>, offsets: In<u32>, sources: In<u32>, tiles: In<R>, values: Out<R>,
        ) | global_nz3;
    }

    /// `cuda/assemble_local_nz.cu`.
    AssembleLocalNz<R> in "assemble_local_nz" {
        local_nz1(
            upper: UpperView, mesh: MeshView, routine: u32, material: Lame, stored: In<R>, moduli: In<R>,
            capacities: In<R>, offsets: In<u32>, sources: In<u32>, values: Out<R>,
        ) | local_nz3;
    }

    /// `cuda/assemble_shared_nz.cu`.
    AssembleSharedNz<R> in "assemble_shared_nz" {
        shared_nz1(
            patches: PatchesView, upper: UpperView, mesh: MeshView, routine: u32, material: Lame, stored: In<R>, moduli: In<R>,
            capacities: In<R>, values: Out<R>,
        ) | shared_nz3;
    }

    /// `cuda/assemble_patch.cu`.
    AssemblePatch<R> in "assemble_patch" {
        patch1(
            patches: RowPatchesView, upper: UpperView, mesh: MeshView, routine: u32, material: Lame, stored: In<R>, moduli: In<R>,
            capacities: In<R>, values: Out<R>, boundary: Out<R>,
        ) | patch3;
        patch_boundary1(
            upper: UpperView, n_boundary: u32, blocks: In<u32>, boundary: In<R>, values: Out<R>,
        ) | patch_boundary3;
    }
}
