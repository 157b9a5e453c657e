//! The kernels of `cuda/`, file by file, each with its parameters in order: the one place in Rust
//! that knows them. What they do, and the shapes of arrays, stand in the `.cu` files.

use std::sync::Arc;

use topopt_fem::Formulation;
use topopt_linalg::BackendError;

use crate::Device;
use crate::kernel::{Count, In, Length, Out, Shared};
use crate::vector::Real;

views! {
    /// The place where a launch leaves one number.
    TotalView in "common/reduce.cuh" {
        partial: Shared<f64>,
        ended: Shared<u32>,
        out: Shared<f64>,
    }

    /// A mesh of hexahedra or of tetrahedra.
    MeshView in "common/views.cuh" {
        n_elements: Count,
        n_nodes: Count,
        connectivity: In<u32>,
        coordinates: In<f64>,
    }

    /// Elements of a launch.
    Part in "common/views.cuh" {
        first: u32,
        count: u32,
    }

    /// An isotropic material at Young's modulus 1.
    Lame in "common/views.cuh" {
        lambda: f64,
        mu: f64,
        ratio: f64,
    }

    /// A law of elasticity at Young's modulus 1: D, its inverse and the couplings of components, by
    /// rows from the diagonal on.
    LawView in "common/laws.cuh" {
        stiffness: [f64; 21],
        compliance: [f64; 21],
        coupling: [f64; 21],
    }

    /// Nodes in aggregates.
    AggregatesView in "common/views.cuh" {
        n_aggregates: Count,
        of: In<u32>,
        centers: In<f64>,
    }

    /// The clusters of a mesh.
    ClustersView in "common/clusters.cuh" {
        n_clusters: Count,
        starts: In<u32>,
        nodes: In<u32>,
        spans: In<u16>,
        places: In<u64>,
        corners: In<u64>,
    }

    /// The clusters of a mesh of tetrahedra.
    TetrahedraClustersView in "common/tetrahedra_clusters.cuh" {
        n_clusters: Count,
        starts: In<u32>,
        nodes: In<u32>,
        spans: In<u16>,
        places: In<u32>,
        vertices: In<u32>,
        middles: In<u64>,
    }

    /// Blocks on and above the diagonal of a symmetric matrix.
    UpperView in "common/upper.cuh" {
        n_blocks: Count,
        places: In<u32>,
        mirrors: In<u32>,
        masks: In<u8>,
    }

    /// Whole rows, and the elements of their nodes.
    RowsView in "assemble_local_row.cu" {
        n_rows: Count,
        offsets: In<u32>,
        elements: In<u32>,
        locals: In<u8>,
        held: In<u8>,
        row_offsets: In<u64>,
        columns: In<u32>,
    }

    /// Rows in patches, and the blocks of their matrix.
    PatchRowsView in "patch_relax.cu" {
        n_rows: Count,
        order: In<u32>,
        starts: In<u32>,
        inside_offsets: In<u32>,
        inside: In<u32>,
        outside_offsets: In<u32>,
        outside: In<u32>,
        columns: In<u32>,
    }

    /// Factors of the sweeps within a patch.
    Sweeps in "patch_relax.cu" {
        first: f64,
        second: f64,
        second_beta: f64,
        third: f64,
        third_beta: f64,
    }

    /// Scalars of two power methods.
    Growths in "patch_relax.cu" {
        inner_result: u32,
        inner_start: u32,
        outer_result: u32,
        outer_start: u32,
    }

    /// Points in groups, and the factors of the inverses of their blocks.
    GroupsView in "common/groups.cuh" {
        n_groups: Count,
        n_points: Count,
        unknowns: u32,
        are_planes: u32,
        starts: In<u32>,
        points: In<u32>,
        squares: In<u32>,
        factors: In<f32>,
    }

    /// A matrix of full blocks in compressed rows.
    BlocksView in "common/block_view.cuh" {
        n_rows: Count,
        offsets: In<u32>,
        columns: In<u32>,
        blocks: In<f64>,
    }

    /// Tetrahedra in patches.
    FrontView in "common/front.cuh" {
        n_patches: Count,
        n_copies: Count,
        n_vertices: Count,
        first_cells: In<u32>,
        first_copies: In<u32>,
        corners: In<u32>,
        vertices: In<u32>,
        owners: In<u32>,
        offsets: In<u32>,
        slots: In<u32>,
    }
}

kernels! {
    /// `cuda/mf.cu`.
    Mf<R> in "mf" {
        mf(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>, material: Lame,
            moduli: In<R>, x: In<R>, y: Out<R>,
        );
        mf_dot(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>, material: Lame,
            moduli: In<R>, x: In<R>, y: Out<R>, partial: Shared<f64>,
        );
        mf_to_slots(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>, material: Lame,
            moduli: In<R>, x: In<R>, slots: Shared<R>,
        );
        mf_to_slots_dot(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>, material: Lame,
            moduli: In<R>, x: In<R>, slots: Shared<R>, partial: Shared<f64>,
        );
    }

    /// `cuda/dbd.cu`.
    Dbd<R> in "dbd" {
        gather1(
            n_nodes: Count, n_slots: Count, offsets: In<u32>, places: In<u32>, held: In<u8>,
            slots: In<R>, x: In<R>, y: Out<R>,
        ) | gather3;
    }

    /// `cuda/mf_clusters.cu`.
    MfClusters<R> in "mf_clusters" {
        mf_clusters(
            clusters: ClustersView, mesh: MeshView, material: Lame, moduli: In<R>, x: In<R>,
            y: Out<R>,
        );
        mf_clusters_dot(
            clusters: ClustersView, mesh: MeshView, material: Lame, moduli: In<R>, x: In<R>,
            y: Out<R>, partial: Shared<f64>,
        );
    }

    /// `cuda/tetrahedra.cu`.
    Tetrahedra<R> in "tetrahedra" {
        tetrahedra(
            mesh: MeshView, part: Part, curved: In<u32>, held: In<u8>, at_supports: In<u32>,
            material: Lame, moduli: In<R>, x: In<R>, y: Out<R>,
        );
        tetrahedra_dot(
            mesh: MeshView, part: Part, curved: In<u32>, held: In<u8>, at_supports: In<u32>,
            material: Lame, moduli: In<R>, x: In<R>, y: Out<R>, partial: Shared<f64>,
        );
        curved_tetrahedra(
            mesh: MeshView, part: Part, elements: In<u32>, held: In<u8>, at_supports: In<u32>,
            material: Lame, moduli: In<R>, x: In<R>, y: Out<R>,
        );
        curved_tetrahedra_dot(
            mesh: MeshView, part: Part, elements: In<u32>, held: In<u8>, at_supports: In<u32>,
            material: Lame, moduli: In<R>, x: In<R>, y: Out<R>, partial: Shared<f64>,
        );
    }

    /// `cuda/tetrahedra_clusters.cu`.
    TetrahedraInClusters<R> in "tetrahedra_clusters" {
        tetrahedra_clusters(
            clusters: TetrahedraClustersView, mesh: MeshView, curved: In<u32>, material: Lame,
            moduli: In<R>, x: In<R>, y: Out<R>,
        );
        tetrahedra_clusters_dot(
            clusters: TetrahedraClustersView, mesh: MeshView, curved: In<u32>, material: Lame,
            moduli: In<R>, x: In<R>, y: Out<R>, partial: Shared<f64>,
        );
    }

    /// `cuda/tetrahedra_parts.cu`.
    TetrahedraParts<R> in "tetrahedra_parts" {
        tetrahedra_diagonal(
            mesh: MeshView, part: Part, held: In<u8>, material: Lame, moduli: In<R>, out: Out<R>,
        );
        tetrahedra_work(mesh: MeshView, material: Lame, v: In<R>, u: In<R>, work: Out<R>);
    }

    /// `cuda/tetrahedra_blocks.cu`.
    TetrahedraBlocks in "tetrahedra_blocks" {
        tetrahedra_blocks(
            mesh: MeshView, part: Part, material: Lame, moduli: In<f64>, out: Out<f64>,
        );
    }

    /// `cuda/laws.cu`.
    Laws in "laws" {
        laws(
            mesh: MeshView, part: Part, elements: In<u32>, held: In<u8>, at_supports: In<u32>,
            law: LawView, moduli: In<f64>, x: In<f64>, y: Out<f64>,
        );
        laws_work(
            mesh: MeshView, part: Part, elements: In<u32>, law: LawView, v: In<f64>, u: In<f64>,
            work: Out<f64>,
        );
    }

    /// `cuda/laws_clusters.cu`.
    LawsInClusters in "laws_clusters" {
        laws_clusters(
            clusters: ClustersView, mesh: MeshView, law: LawView, moduli: In<f64>, x: In<f64>,
            y: Out<f64>,
        );
    }

    /// `cuda/tetrahedra_clusters_laws.cu`.
    TetrahedraLawsInClusters in "tetrahedra_clusters_laws" {
        tetrahedra_clusters_laws(
            clusters: TetrahedraClustersView, mesh: MeshView, curved: In<u32>, law: LawView,
            moduli: In<f64>, x: In<f64>, y: Out<f64>,
        );
    }

    /// `cuda/tetrahedra_laws.cu`.
    TetrahedraLaws in "tetrahedra_laws" {
        tetrahedra_laws(
            mesh: MeshView, part: Part, elements: In<u32>, held: In<u8>, at_supports: In<u32>,
            law: LawView, moduli: In<f64>, x: In<f64>, y: Out<f64>,
        ) | curved_tetrahedra_laws;
        tetrahedra_laws_work(
            mesh: MeshView, part: Part, elements: In<u32>, law: LawView, v: In<f64>, u: In<f64>,
            work: Out<f64>,
        );
    }

    /// `cuda/nbn.cu`.
    Nbn in "nbn" {
        nbn(
            mesh: MeshView, offsets: In<u32>, elements: In<u32>, locals: In<u8>, held: In<u8>,
            stiffness: In<f64>, moduli: In<f64>, x: In<f64>, y: Out<f64>,
        );
    }

    /// `cuda/ebe.cu`.
    Ebe in "ebe" {
        ebe(
            mesh: MeshView, held: In<u8>, stiffness: In<f64>, moduli: In<f64>, x: In<f64>,
            y: Out<f64>,
        );
    }

    /// `cuda/ebe8.cu`.
    Ebe8 in "ebe8" {
        ebe8(
            mesh: MeshView, held: In<u8>, stiffness: In<f64>, moduli: In<f64>, x: In<f64>,
            y: Out<f64>,
        );
    }

    /// `cuda/ebe24.cu`.
    Ebe24 in "ebe24" {
        ebe24(
            mesh: MeshView, held: In<u8>, stiffness: In<f64>, moduli: In<f64>, x: In<f64>,
            y: Out<f64>,
        );
    }

    /// `cuda/ebe64.cu`.
    Ebe64 in "ebe64" {
        ebe64(
            mesh: MeshView, held: In<u8>, stiffness: In<f64>, moduli: In<f64>, x: In<f64>,
            y: Out<f64>,
        );
    }

    /// `cuda/ebeSym.cu`.
    EbeSym in "ebeSym" {
        ebeSym(
            first: u32, count: u32, n: Count, n_nodes: Count, connectivity: In<u32>,
            firsts: In<u8>, held: In<u8>, kappa_d: In<f64>, kappa_od: In<f64>, moduli: In<f64>,
            x: In<f64>, y: Out<f64>,
        );
        ebeSymAtomic(
            n: Count, n_nodes: Count, connectivity: In<u32>, held: In<u8>, kappa_d: In<f64>,
            kappa_od: In<f64>, moduli: In<f64>, x: In<f64>, y: Out<f64>,
        );
        by_color(n: Count, order: In<u32>, values: In<f64>, out: Out<f64>);
    }

    /// `cuda/bsr.cu`.
    Bsr in "bsr" {
        bsr(
            n_nodes: Count, row_offsets: In<u64>, columns: In<u32>, values: In<f64>, x: In<f64>,
            y: Out<f64>,
        );
    }

    /// `cuda/assemble.cu`.
    Assemble<R> in "assemble" {
        store_tiles1(mesh: MeshView, material: Lame, stored: Out<R>) | store_tiles3;
        finish1(upper: UpperView, values: Out<R>) | finish3;
    }

    /// `cuda/assemble_atomic.cu`.
    AssembleAtomic<R> in "assemble_atomic" {
        atomic1(
            mesh: MeshView, routine: u32, material: Lame, stored: In<R>, moduli: In<R>,
            capacities: In<R>, targets: In<u32>, values: Out<R>,
        ) | atomic3;
    }

    /// `cuda/assemble_elem_color.cu`.
    AssembleElemColor<R> in "assemble_elem_color" {
        elem_color1(
            part: Part, order: In<u32>, mesh: MeshView, routine: u32, material: Lame, stored: In<R>, moduli: In<R>,
            capacities: In<R>, targets: In<u32>, values: Out<R>,
        ) | elem_color3;
    }

    /// `cuda/assemble_local_row.cu`.
    AssembleLocalRow<R> in "assemble_local_row" {
        local_row1(
            rows: RowsView, mesh: MeshView, routine: u32, material: Lame, stored: In<R>,
            moduli: In<R>, capacities: In<R>, values: Out<R>,
        ) | local_row3;
    }

    /// `cuda/stiffness.cu`.
    Stiffness in "stiffness" {
        stiffness_rows(mesh: MeshView, material: Lame, stiffness: Out<f64>);
        stiffness_kappa(mesh: MeshView, material: Lame, kappa_d: Out<f64>, kappa_od: Out<f64>);
    }

    /// `cuda/supports.cu`.
    Supports<R> in "supports" {
        held_part(n_nodes: Count, held: In<u8>, x: In<R>, y: Out<R>) | held_part1;
    }

    /// `cuda/film.cu`.
    Film<R> in "film" {
        film(
            n_rows: Count, nodes: In<u32>, offsets: In<u32>, columns: In<u32>, weights: In<R>,
            held: In<R>, x: In<R>, y: Out<R>,
        );
    }

    /// `cuda/diagonal.cu`.
    Diagonal<R> in "diagonal" {
        diagonal(
            mesh: MeshView, part: Part, held: In<u8>, material: Lame, moduli: In<R>, out: Out<R>,
        );
    }

    /// `cuda/energies.cu`.
    Energies<R> in "energies" {
        energies(mesh: MeshView, material: Lame, u: In<R>, energies: Out<R>);
        work(mesh: MeshView, material: Lame, v: In<R>, u: In<R>, work: Out<R>);
    }

    /// `cuda/diffusion.cu`, and `cuda/diffusion_stretched.cu` with the same of stretched elements.
    Diffusion<R> in "diffusion" {
        diffusion(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>,
            stretches: In<R>, conductivities: In<R>, capacities: In<R>, x: In<R>, y: Out<R>,
        );
        diffusion_dot(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>,
            stretches: In<R>, conductivities: In<R>, capacities: In<R>, x: In<R>, y: Out<R>,
            partial: Shared<f64>,
        );
        diffusion_to_slots(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>,
            stretches: In<R>, conductivities: In<R>, capacities: In<R>, x: In<R>,
            slots: Shared<R>,
        );
        diffusion_to_slots_dot(
            mesh: MeshView, part: Part, held: In<u8>, at_supports: In<u32>,
            stretches: In<R>, conductivities: In<R>, capacities: In<R>, x: In<R>,
            slots: Shared<R>, partial: Shared<f64>,
        );
    }

    /// `cuda/diffusion_stored.cu`.
    DiffusionStored in "diffusion_stored" {
        diffusion_rows(
            mesh: MeshView, stretches: In<f64>, rows: Out<f64>, shares: Out<f64>,
        );
        diffusion_ebe(
            mesh: MeshView, part: Part, held: In<u8>, rows: In<f64>, shares: In<f64>,
            conductivities: In<f64>, capacities: In<f64>, x: In<f64>, y: Out<f64>,
        );
        diffusion_nbn(
            mesh: MeshView, offsets: In<u32>, elements: In<u32>, locals: In<u8>, held: In<u8>,
            rows: In<f64>, shares: In<f64>, conductivities: In<f64>, capacities: In<f64>,
            x: In<f64>, y: Out<f64>,
        );
        diffusion_assemble(
            mesh: MeshView, offsets: In<u32>, elements: In<u32>, locals: In<u8>, held: In<u8>,
            stretches: In<f64>, conductivities: In<f64>, capacities: In<f64>,
            row_offsets: In<u32>, columns: In<u32>, entries: Out<f64>, ground: Out<f64>,
        );
    }

    /// `cuda/diffusion_parts.cu`.
    DiffusionParts<R> in "diffusion_parts" {
        diffusion_diagonal(
            mesh: MeshView, part: Part, held: In<u8>, stretches: In<R>, conductivities: In<R>,
            capacities: In<R>, out: Out<R>,
        );
        lumped_capacities(
            mesh: MeshView, part: Part, held: In<u8>, capacities: In<R>, out: Out<R>,
        );
        conduction_work(mesh: MeshView, stretches: In<R>, v: In<R>, u: In<R>, work: Out<R>);
        capacity_work(mesh: MeshView, v: In<R>, u: In<R>, work: Out<R>);
    }

    /// `cuda/capacity.cu`.
    Capacity<R> in "capacity" {
        consistent_capacity(
            mesh: MeshView, part: Part, held: In<u8>, capacities: In<R>, x: In<R>, y: Out<R>,
        );
        consistent_work(mesh: MeshView, v: In<R>, u: In<R>, work: Out<R>);
    }

    /// `cuda/shape_means.cu`.
    ShapeMeans in "shape_means" {
        spread(mesh: MeshView, part: Part, x: In<f64>, source: Out<f64>);
        average(mesh: MeshView, field: In<f64>, y: Out<f64>);
    }

    /// `cuda/corner_maps.cu`.
    CornerMaps in "corner_maps" {
        corner_sum(mesh: MeshView, part: Part, x: In<f64>, y: Out<f64>);
        corner_sum_transpose(mesh: MeshView, y: In<f64>, x: Out<f64>);
        corner_gradient(
            mesh: MeshView, y: In<f64>, gx: Out<f64>, gy: Out<f64>, gz: Out<f64>,
        );
        corner_gradient_transpose(
            mesh: MeshView, part: Part, gx: In<f64>, gy: In<f64>, gz: In<f64>, y: Out<f64>,
        );
        vertex_sum(mesh: MeshView, part: Part, x: In<f64>, y: Out<f64>);
        vertex_sum_transpose(mesh: MeshView, y: In<f64>, x: Out<f64>);
        vertex_gradient(
            mesh: MeshView, y: In<f64>, gx: Out<f64>, gy: Out<f64>, gz: Out<f64>,
        );
        vertex_gradient_transpose(
            mesh: MeshView, part: Part, gx: In<f64>, gy: In<f64>, gz: In<f64>, y: Out<f64>,
        );
    }

    /// `cuda/element_bounds.cu`.
    ElementBounds in "element_bounds" {
        element_bounds(mesh: MeshView, ratio: f64, margin: f64, out: Out<f64>);
    }

    /// `cuda/block_diagonal.cu`.
    BlockDiagonal<R> in "block_diagonal" {
        block_diagonal(mesh: MeshView, part: Part, material: Lame, moduli: In<R>, out: Out<R>);
        invert_blocks(n_nodes: Count, held: In<u8>, blocks: Out<R>);
        apply_blocks(n_nodes: Count, blocks: In<R>, x: In<R>, y: Out<R>);
        smooth_blocks(
            n_nodes: Count, residual: u32, alpha: f64, beta: f64, scalars: In<f64>,
            result: u32, start: u32, blocks: In<R>, b: In<R>, product: In<R>, r: Out<R>,
            d: Out<R>, x: Out<R>,
        );
    }

    /// `cuda/patch_relax.cu`.
    PatchRelax<R> in "patch_relax" {
        relax_patch1(
            rows: PatchRowsView, values: In<R>, inverse: In<R>, residue: u32, sweeps: Sweeps,
            alpha: f64, beta: f64, scalars: In<f64>, growths: Growths, stays: u32, b: In<R>,
            x: In<R>, r: Shared<R>, d: Out<R>,
        ) | relax_patch3;
        relax_between1(
            rows: PatchRowsView, values: In<R>, from_zero: u32, stays: u32, d: In<R>, x: Out<R>,
            r: Out<R>,
        ) | relax_between3;
        add_to_diagonal1(
            n_rows: Count, places: In<u32>, springs: In<R>, values: Out<R>,
        ) | add_to_diagonal3;
    }

    /// `cuda/galerkin.cu`.
    Galerkin<R> in "galerkin" {
        galerkin_joints(
            mesh: MeshView, material: Lame, aggregates: AggregatesView, held: In<u8>,
            moduli: In<R>, n_joints: Count, rows: In<u32>, places: In<u32>, part_offsets: In<u32>,
            elements: In<u32>, row_offsets: In<u32>, columns: In<u32>, blocks: Out<R>,
        );
        galerkin_aggregates(
            n_parents: Count, n_children: Count, n_joints: Count, of: In<u32>, positions: In<f64>,
            centers: In<f64>, rows: In<u32>, places: In<u32>, part_offsets: In<u32>,
            parts: In<u32>, fine_rows: In<u32>, fine_columns: In<u32>, fine: In<R>,
            row_offsets: In<u32>, columns: In<u32>, blocks: Out<R>,
        );
        ground_aggregates(
            n_parents: Count, n_children: Count, offsets: In<u32>, members: In<u32>,
            positions: In<f64>, centers: In<f64>, fine: In<R>, ground: Out<R>,
        );
    }

    /// `cuda/ground.cu`.
    Ground<R> in "ground" {
        galerkin_supports(
            mesh: MeshView, material: Lame, aggregates: AggregatesView, held: In<u8>,
            moduli: In<R>, n_supported: Count, rows: In<u32>, offsets: In<u32>, elements: In<u32>,
            ground: Out<R>,
        );
        galerkin_springs(
            n_aggregates: Count, n_nodes: Count, offsets: In<u32>, members: In<u32>,
            coordinates: In<f64>, centers: In<f64>, springs: In<f64>, ground: Out<R>,
        );
    }

    /// `cuda/transfer.cu`.
    Transfer<R> in "transfer" {
        restrict_nodes(
            n_aggregates: Count, n_nodes: Count, offsets: In<u32>, members: In<u32>,
            coordinates: In<f64>, centers: In<f64>, held: In<u8>, fine: In<R>, coarse: Out<R>,
        );
        prolong_nodes(
            n_aggregates: Count, n_nodes: Count, of: In<u32>, coordinates: In<f64>,
            centers: In<f64>, held: In<u8>, coarse: In<R>, fine: Out<R>,
        );
    }

    /// `cuda/coarse_transfer.cu`.
    CoarseTransfer<R> in "coarse_transfer" {
        restrict_aggregates(
            n_parents: Count, n_children: Count, offsets: In<u32>, members: In<u32>,
            positions: In<f64>, centers: In<f64>, fine: In<R>, coarse: Out<R>,
        );
        prolong_aggregates(
            n_parents: Count, n_children: Count, of: In<u32>, positions: In<f64>, centers: In<f64>,
            coarse: In<R>, fine: Out<R>,
        );
    }

    /// `cuda/bsr6.cu`.
    Bsr6<R> in "bsr6" {
        bsr6(
            first_row: Count, end_row: Count, row_offsets: In<u32>, columns: In<u32>, blocks: In<R>, arms: In<[R; 4]>,
            ground: In<R>, x: In<R>, y: Out<R>,
        );
        bsr6_upper(
            n_rows: Count, row_offsets: In<u32>, uppers: In<u32>, columns: In<u32>, blocks: In<R>,
            arms: In<[R; 4]>, ground: In<R>, x: In<R>, y: Out<R>,
        );
        diagonal6(
            n_rows: Count, row_offsets: In<u32>, columns: In<u32>, blocks: In<R>, ground: In<R>,
            centers: In<f64>, diagonal: Out<f64>,
        );
        invert_diagonal6(n_rows: Count, diagonal: In<f64>, inverse: Out<R>);
        apply_diagonal6(n_rows: Count, inverse: In<R>, x: In<R>, y: Out<R>);
        smooth_diagonal6(
            n_rows: Count, residual: u32, alpha: f64, beta: f64, scalars: In<f64>, result: u32,
            start: u32, inverse: In<R>, b: In<R>, product: In<R>, r: Out<R>, d: Out<R>,
            x: Out<R>,
        );
    }

    /// `cuda/groups.cu`.
    Groups<R> in "groups" {
        apply_groups(groups: GroupsView, x: In<R>, y: Out<R>);
        smooth_groups(
            n_groups: Count, residual: u32, alpha: f64, beta: f64, scalars: In<f64>, result: u32,
            start: u32, groups: GroupsView, b: In<R>, product: In<R>, r: Out<R>, d: Out<R>,
            x: Out<R>,
        );
    }

    /// `cuda/tetrahedra_groups.cu`.
    TetrahedraGroups in "tetrahedra_groups" {
        tetrahedra_groups(
            groups: GroupsView, mesh: MeshView, material: Lame, held: In<u8>, springs: In<f64>,
            moduli: In<f64>, offsets: In<u32>, elements: In<u32>, factors: Out<f32>,
        );
    }

    /// `cuda/block_groups.cu`.
    BlockGroups in "block_groups" {
        invert_groups3(groups: GroupsView, matrix: BlocksView, factors: Out<f32>) | invert_groups6;
    }

    /// `cuda/vertex_matrix.cu`.
    VertexMatrix in "vertex_matrix" {
        vertex_matrix(
            mesh: MeshView, material: Lame, moduli: In<f64>, held: In<u8>, springs: In<f64>,
            nodes: In<u32>, offsets: In<u32>, elements: In<u32>, matrix: BlocksView, out: Out<f64>,
        );
    }

    /// `cuda/smoothed.cu`.
    Smoothed in "smoothed" {
        invert_diagonals3(matrix: BlocksView, inverses: Out<f64>) | invert_diagonals6;
        apply_inverses3(
            n_rows: Count, inverses: In<f64>, x: In<f64>, y: Out<f64>,
        ) | apply_inverses6;
        smooth3(
            matrix: BlocksView, aggregates: In<u32>, tentative: In<f64>, inverses: In<f64>,
            scalars: In<f64>, result: u32, start: u32, prolongation: BlocksView, out: Out<f64>,
        ) | smooth6;
        multiply_smoothed3(
            matrix: BlocksView, prolongation: BlocksView, product: BlocksView, out: Out<f64>,
        ) | multiply_smoothed6;
        galerkin_smoothed3(
            prolongation: BlocksView, product: BlocksView, offsets: In<u32>, points: In<u32>,
            places: In<u32>, coarse: BlocksView, out: Out<f64>,
        ) | galerkin_smoothed6;
    }

    /// `cuda/dense_blocks.cu`.
    DenseBlocks in "dense_blocks" {
        dense_blocks_scale(n: Count, matrix: BlocksView, scale: Out<f64>);
        dense_blocks(n: Count, matrix: BlocksView, scale: In<f64>, dense: Out<f64>);
    }

    /// `cuda/block_rows.cu`.
    BlockRows<R> in "block_rows" {
        multiply3(
            n_rows: Count, row_offsets: In<u32>, columns: In<u32>, blocks: In<R>, x: In<R>,
            y: Out<R>,
        ) | multiply6 | add_product3 | add_product6;
        multiply_transpose3(
            n_columns: Count, offsets: In<u32>, rows: In<u32>, places: In<u32>, blocks: In<R>,
            x: In<R>, y: Out<R>,
        ) | multiply_transpose6;
    }

    /// `cuda/vertices.cu`.
    Vertices<R> in "vertices" {
        restrict_vertices(
            n_vertices: Count, n_nodes: Count, vertices: In<u32>, offsets: In<u32>,
            moved: In<u32>, held: In<u8>, fine: In<R>, coarse: Out<R>,
        );
        prolong_vertices(
            n_nodes: Count, ends: In<u32>, held: In<u8>, coarse: In<R>, fine: Out<R>,
        );
    }

    /// `cuda/scalar_levels.cu`.
    ScalarLevels<R> in "scalar_levels" {
        csr1(
            first_row: Count, end_row: Count, row_offsets: In<u32>, columns: In<u32>, entries: In<R>, ground: In<R>,
            x: In<R>, y: Out<R>,
        );
        smooth1(
            n: Count, residual: u32, alpha: f64, beta: f64, scalars: In<f64>, result: u32,
            start: u32, inverse: In<R>, b: In<R>, product: In<R>, r: Out<R>, d: Out<R>, x: Out<R>,
        );
        restrict1(
            n_aggregates: Count, offsets: In<u32>, members: In<u32>, fine: In<R>, coarse: Out<R>,
        );
        prolong1(n: Count, of: In<u32>, coarse: In<R>, fine: Out<R>);
    }

    /// `cuda/scalar_galerkin.cu`.
    ScalarGalerkin<R> in "scalar_galerkin" {
        conduction_joints(
            mesh: MeshView, of: In<u32>, stretches: In<R>, conductivities: In<R>,
            n_joints: Count, rows: In<u32>, places: In<u32>, part_offsets: In<u32>,
            elements: In<u32>, row_offsets: In<u32>, columns: In<u32>, entries: Out<R>,
        );
        conduction_ground(
            mesh: MeshView, of: In<u32>, stretches: In<R>, conductivities: In<R>,
            n_supported: Count, rows: In<u32>, offsets: In<u32>, elements: In<u32>, ground: Out<R>,
        );
        scalar_joints(
            n_joints: Count, rows: In<u32>, places: In<u32>, part_offsets: In<u32>,
            parts: In<u32>, fine: In<R>, row_offsets: In<u32>, columns: In<u32>,
            entries: Out<R>,
        );
        complete1(
            n_rows: Count, row_offsets: In<u32>, entries: In<R>, ground: In<R>,
            diagonal: Out<f64>, inverse: Out<R>,
        );
    }

    /// `cuda/dense_fill.cu`.
    DenseFill<R> in "dense_fill" {
        dense_scale(n: Count, diagonal: In<f64>, scale: Out<f64>) | dense_scale1;
        dense_fill(
            n: Count, row_offsets: In<u32>, columns: In<u32>, blocks: In<R>, diagonal: In<f64>,
            scale: In<f64>, dense: Out<f64>,
        );
        dense_fill1(
            n: Count, row_offsets: In<u32>, columns: In<u32>, entries: In<R>, diagonal: In<f64>,
            scale: In<f64>, dense: Out<f64>,
        );
    }

    /// `cuda/dense.cu`.
    Dense in "dense" {
        dense_panel(n: Count, first: u32, matrix: In<f64>, panel: Out<f64>, scaled: Out<f64>);
        dense_eliminate(n: Count, first: u32, panel: In<f64>, scaled: In<f64>, matrix: Out<f64>);
    }

    /// `cuda/dense_solve.cu`.
    DenseSolve<R> in "dense_solve" {
        dense_solve(n: Count, inverse: In<f64>, scale: In<f64>, b: In<R>, x: Out<R>);
    }

    /// `cuda/convert.cu`.
    Convert<R> in "convert" {
        narrow(n: Length, x: In<f64>, y: Out<R>);
        widen(n: Length, x: In<R>, y: Out<f64>);
    }

    /// `cuda/halo.cu`.
    Halo<R> in "halo" {
        copy_rows(n: Length, n_rows: Count, n_x: Count, n_y: Count, x: In<R>, y: Out<R>);
        pack(n: Length, unknowns: u32, n_x: Count, points: In<u32>, x: In<R>, message: Out<R>);
        unpack(n: Length, unknowns: u32, n_x: Count, points: In<u32>, message: In<R>, x: Out<R>);
    }

    /// `cuda/gather.cu`.
    Gather<R> in "gather" {
        gather(
            n: Length, starts: In<u32>, columns: In<u32>, values: In<f64>, x: In<R>, y: Out<R>,
        );
    }

    /// `cuda/cascade.cu`.
    Cascade<R> in "cascade" {
        cascade_level(
            n: Length, first: Length, fills: u32, order: In<u32>, starts: In<u32>,
            elements: In<u32>, weights: In<f64>, x: In<R>, p: Out<R>, chosen: Shared<u32>,
        );
        cascade_level_backward(
            n: Length, first: Length, order: In<u32>, starts: In<u32>, from: In<u32>,
            places: In<u32>, corners: In<u32>, weights: In<f64>, chosen: In<u32>, dp: In<R>,
            total: Shared<f64>, dx: Out<R>,
        );
        cascade_standing_backward(
            n: Length, standing: In<u32>, starts: In<u32>, from: In<u32>, places: In<u32>,
            corners: In<u32>, weights: In<f64>, chosen: In<u32>, total: In<f64>, dp: In<R>,
            dx: Out<R>,
        );
    }

    /// `cuda/flood.cu`.
    Flood<R> in "flood" {
        flood_begin(
            n: Length, neighbors: In<u32>, x: In<R>, ways: Out<u32>, heights: Out<u32>,
            levels: Out<u32>, ends: Out<u32>,
        );
        flood_follow(
            n: Length, levels: In<u32>, ends: In<u32>, new_levels: Shared<u32>,
            new_ends: Shared<u32>, moved: Shared<u32>,
        );
        flood_step(
            n: Length, neighbors: In<u32>, heights: In<u32>, levels: Shared<u32>, ways: Out<u32>,
            moved: Shared<u32>,
        );
        flood_rims(
            n: Length, heights: In<u32>, levels: In<u32>, ways: In<u32>, ends: Out<u32>,
        );
        flood_join(
            n: Length, neighbors: In<u32>, levels: In<u32>, ends: Shared<u32>, moved: Shared<u32>,
        );
        flood_end(n: Length, x: In<R>, ends: In<u32>, p: Out<R>);
        flood_receive(
            n: Length, unit: f64, ends: In<u32>, dp: In<R>, received: Shared<u64>,
        );
        flood_backward(
            n: Length, unit: f64, ends: In<u32>, dp: In<R>, received: In<u64>, dx: Out<R>,
        );
    }

    /// `cuda/cone.cu`.
    Cone in "cone" {
        cone_values(n: Count, elements: In<u32>, x: In<f64>, values: Shared<f64>);
        cone(
            n: Count, cells_x: u32, cells_y: u32, cells_z: u32, cell: f64, origin_x: f64,
            origin_y: f64, origin_z: f64, starts: In<u32>, centers: In<f64>, elements: In<u32>,
            radius: f64, reach: f64, values: In<f64>, y: Out<f64>,
        );
    }

    /// `cuda/eikonal.cu`.
    Eikonal<R> in "eikonal" {
        front_advance(
            view: FrontView, positions: In<R>, metric: In<R>, round: u32, sweeps: u32, window: f64,
            end: f64, rounds: Out<u32>, values: Out<R>, states: Out<u8>, sends: Out<u8>,
            changed: Out<u32>, earliest: Out<R>, front: Out<R>, solves: Out<u32>,
        ) | front_advance_isotropic | front_advance_anisotropic;
    }

    /// `cuda/front.cu`.
    Front<R> in "front" {
        front_exchange(
            view: FrontView, round: u32, values: Out<R>, states: Out<u8>, sends: Out<u8>,
            changed: Out<u32>, earliest: Out<R>, front: Out<R>,
        );
        front_clear(
            view: FrontView, values: Out<R>, states: Out<u8>, earliest: Out<R>, solves: Out<u32>,
            front: Out<R>, rounds: Out<u32>,
        );
        front_give(
            view: FrontView, n: Count, copies: In<u32>, given: In<R>, values: Out<R>,
            states: Out<u8>, earliest: Out<R>, front: Out<R>,
        );
        front_collect(view: FrontView, values: In<R>, times: Out<R>);
    }

    /// `cuda/vector.cu`.
    Vector<R> in "vector" {
        fill(n: Length, value: f64, x: Out<R>);
        axpby(n: Length, a: f64, x: In<R>, b: f64, y: Out<R>);
        multiply(n: Length, x: In<R>, y: In<R>, z: Out<R>);
        divide(n: Length, x: In<R>, y: In<R>, z: Out<R>);
    }

    /// `cuda/pointwise.cu`.
    Pointwise<R> in "pointwise" {
        power(n: Length, a: f64, x: In<R>, p: f64, y: Out<R>);
        positive_part(n: Length, a: f64, x: In<R>, y: Out<R>);
        scale_within(n: Length, a: f64, x: In<R>, lower: In<R>, upper: In<R>, y: Out<R>);
        dot_scaled_within(
            n: Length, a: f64, x: In<R>, lower: In<R>, upper: In<R>, w: In<R>, total: TotalView,
        );
        sigmoid(
            n: Length, shift: f64, largest: f64, x: In<R>, lower: In<R>, upper: In<R>, y: Out<R>,
        );
        logit(n: Length, largest: f64, x: In<R>, lower: In<R>, upper: In<R>, y: Out<R>);
        softplus(n: Length, x: In<R>, y: Out<R>);
        subpixel_step(
            n: Length, base: f64, height: f64, level: f64, half_width: f64, v: In<R>,
            squares: In<R>, y: Out<R>,
        );
        subpixel_slopes(
            n: Length, height: f64, level: f64, half_width: f64, v: In<R>, squares: In<R>,
            y: Out<R>, z: Out<R>,
        );
        smooth_step(
            n: Length, base: f64, height: f64, sharpness: f64, center: f64, x: In<R>, y: Out<R>,
        );
        smooth_step_slope(n: Length, height: f64, sharpness: f64, center: f64, x: In<R>, y: Out<R>);
    }

    /// `cuda/moving_asymptotes.cu`.
    MovingAsymptotes in "moving_asymptotes" {
        move_asymptotes(
            n: Length, initial: f64, shrink: f64, grow: f64, move_limit: f64, has_before: u32,
            design: In<f64>, last: In<f64>, first: In<f64>, floor: In<f64>, ceiling: In<f64>,
            lower: Out<f64>, upper: Out<f64>, smallest: Out<f64>, largest: Out<f64>,
        );
        minimize_approximation(
            n: Length, m: Count, n_workers: Count, is_wanted: u32, design: In<f64>, floor: In<f64>,
            ceiling: In<f64>, asymptote_below: In<f64>, asymptote_above: In<f64>,
            smallest: In<f64>, largest: In<f64>, gradients: In<u64>, numbers: In<f64>,
            minimum: Out<f64>, partial: Out<f64>,
        );
        minimize_weighted(
            n: Length, m: Count, is_wanted: u32, design: In<f64>, floor: In<f64>,
            ceiling: In<f64>, asymptote_below: In<f64>, asymptote_above: In<f64>,
            smallest: In<f64>, largest: In<f64>, gradients: In<u64>, numbers: In<f64>,
            minimum: Out<f64>, factors: Out<f64>, partial: Out<f64>,
        );
        approximate_changes(
            n: Length, m: Count, n_workers: Count, gradients: In<u64>, numbers: In<f64>,
            factors: In<f64>, partial: Out<f64>,
        );
        slope_products(
            n: Length, m: Count, n_workers: Count, gradients: In<u64>, numbers: In<f64>,
            factors: In<f64>, partial: Out<f64>,
        );
        add_partial_sums(
            n_sums: Count, n_workers: Count, partial: In<f64>, sums: Out<f64>,
        );
    }

    /// `cuda/reduce.cu`.
    Reduce<R> in "reduce" {
        dot(n: Length, x: In<R>, y: In<R>, total: TotalView);
        sum(n: Length, x: In<f64>, total: TotalView);
        multiply_dot(n: Length, x: In<R>, y: In<R>, z: Out<R>, total: TotalView);
        max_difference(n: Length, x: In<R>, y: In<R>, total: TotalView);
    }

    /// `cuda/conjugate_gradients.cu`.
    ConjugateGradients<R> in "conjugate_gradients" {
        cg_step(
            n: Length, scalars: In<f64>, a: u32, b: u32, d: In<R>, q: In<R>, u: Out<R>, r: Out<R>,
            total: TotalView,
        );
        cg_direction(n: Length, sign: f64, scalars: In<f64>, a: u32, b: u32, z: In<R>, d: Out<R>);
    }
}

impl<R: Real> Diffusion<R> {
    /// Loads the kernels for elements of a `formulation`, of `stretched` ones those that read
    /// stretches.
    pub fn of(
        device: &Arc<Device>,
        formulation: Formulation,
        stretched: bool,
    ) -> Result<Self, BackendError> {
        match stretched {
            true => Self::load_from("diffusion_stretched", formulation, device),
            false => Self::load_for(formulation, device),
        }
    }
}
