// precision: f64 f32
// eikonal: when a front arrives at the vertices of tetrahedra, by the fast iterative method on patches.
//
// Source:        [FuKirbyWhitaker2013], with windows in time over the patches as
//                crates/topopt-distance/src/arrival.rs has them
// Mapping:       a block a patch, which leaves at once if nothing waits in it before the limit; a thread
//                a vertex of the patch and every 256th of its tetrahedra
// Layout:        a patch has its own copies of its vertices; positions as planes [3][n_copies], from the
//                first vertex of the patch on; values >= 0, whose bits are in their order as integers
// Cost:          a patch that is advanced: 4 bytes a tetrahedron, and 4 more or 6 numbers of its metric;
//                4 numbers, a value back and 6 bytes a copy; about 150 operations an arrival; a patch
//                that is not: 2 numbers and 4 bytes
// Deterministic: yes: in a sweep and in a round nobody reads what others write, and a minimum does not
//                depend on its order
// Requires:      patches of at most CELLS tetrahedra and VERTICES vertices; an advance before each
//                front_exchange (front.cu), with the same round
// Oracle:        crates/topopt-cuda/tests/device/eikonal.rs

#define BLOCK 256
#define VERTICES 256 // a thread each, and their local numbers have 8 bits
#define CELLS 768

#include "common/front.cuh"
#include "common/local_solver.cuh"

// The products a . A^-1 b in a tetrahedron
struct Mapped {
    __device__ __forceinline__ real operator()(const real a[3], const real b[3]) const {
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
    static __device__ __forceinline__ Mapped load(const real*, unsigned) { return {}; }
};
struct Isotropic {
    real square;
    __device__ __forceinline__ real operator()(const real a[3], const real b[3]) const {
        return square * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
    }
    static __device__ __forceinline__ Isotropic load(const real* squares, unsigned cell) {
        return {squares[cell]};
    }
};
struct Anisotropic {
    real xx, yy, zz, yz, zx, xy;
    __device__ __forceinline__ real operator()(const real a[3], const real b[3]) const {
        return a[0] * (xx * b[0] + xy * b[1] + zx * b[2]) + a[1] * (xy * b[0] + yy * b[1] + yz * b[2])
             + a[2] * (zx * b[0] + yz * b[1] + zz * b[2]);
    }
    static __device__ __forceinline__ Anisotropic load(const real* tensors, unsigned cell) {
        const real* t = tensors + (size_t)6 * cell;
        return {t[0], t[1], t[2], t[3], t[4], t[5]};
    }
};

// A patch in shared memory
struct Patch {
    real position[3][VERTICES], value[VERTICES];
    Bits next[VERTICES]; // lowered in a sweep
    Bits earliest;       // of the values that wait
    unsigned moves[2];   // whether a vertex moves in a sweep, by turns
    unsigned solves, changed;
    unsigned corners[CELLS];
    unsigned char state[VERTICES]; // WAITS: it moves in this sweep
};

// Lowers the corners of a tetrahedron by arrivals from faces with a vertex that moves; counts these.
// One loop over the corners and no unrolling: the body is about 300 instructions.
template <class Metric>
__device__ __forceinline__ unsigned propagate(Patch& patch, unsigned corners, const Metric& metric) {
    unsigned moves = 0, solves = 0;
    for (int a = 0; a < 4; ++a) moves |= (patch.state[corners >> (8 * a) & 255] & WAITS) << a;
    if (moves == 0) return 0;

#pragma unroll 1
    for (int turn = 0; turn < 4; ++turn, corners = corners >> 8 | corners << 24) {
        const unsigned to = corners & 255, v[3] = {corners >> 8 & 255, corners >> 16 & 255, corners >> 24};
        const real old = patch.value[to], phi[3] = {patch.value[v[0]], patch.value[v[1]], patch.value[v[2]]};
        // An arrival is later than the first value of the face.
        const bool may_lower = fmin(phi[0], fmin(phi[1], phi[2])) < old;
        if ((moves & ~(1u << turn)) == 0 || !may_lower || patch.state[to] & GIVEN) continue;

        real e[3][3];
#pragma unroll
        for (int d = 0; d < 3; ++d) {
            const real origin = patch.position[d][to];
#pragma unroll
            for (int a = 0; a < 3; ++a) e[a][d] = patch.position[d][v[a]] - origin;
        }
        const Gram g = {metric(e[0], e[0]), metric(e[1], e[1]), metric(e[2], e[2]),
                        metric(e[1], e[2]), metric(e[0], e[2]), metric(e[0], e[1])};
        const real found = through_face(phi[0], phi[1], phi[2], g);
        if (found < old) atomicMin(&patch.next[to], to_bits(found));
        ++solves;
    }
    return solves;
}

// Propagates what waits in a patch before the limit of the round, in at most `sweeps` sweeps
template <class Metric>
__device__ __forceinline__ void advance(
    Patch& patch, const FrontView& view, const real* __restrict__ positions, const real* __restrict__ metric,
    unsigned round, unsigned sweeps, real window, real end, unsigned* rounds, real* __restrict__ values,
    unsigned char* __restrict__ states, unsigned char* __restrict__ sends, unsigned* __restrict__ changed,
    real* __restrict__ earliest, real* front, unsigned* __restrict__ solves) {
    const unsigned p = blockIdx.x, t = threadIdx.x;
    const real first = front[round % 3], limit = fmin(end, first + window);
    Bits* next_front = (Bits*)front + (round + 1) % 3;
    const bool ended = !(first < end);
    if (p == 0 && t == 0) {
        front[(round + 2) % 3] = NEVER;
        if (!ended) ++*rounds;
    }
    if (ended || !(earliest[p] <= limit)) {
        if (t == 0 && earliest[p] < NEVER) atomicMin(next_front, to_bits(earliest[p]));
        return;
    }

    const unsigned copy = view.first_copies[p] + t, n_copies = view.first_copies[p + 1] - (copy - t);
    const bool exists = t < n_copies;
    const unsigned state = exists ? states[copy] : 0;
    real value = exists ? values[copy] : NEVER;
    bool waits = state & WAITS, lowered = false;
    if (exists) {
        for (int d = 0; d < 3; ++d) patch.position[d][t] = positions[(size_t)d * view.n_copies + copy];
        patch.value[t] = value;
        patch.next[t] = to_bits(value);
    }
    if (t == 0) patch.earliest = to_bits(NEVER), patch.moves[0] = patch.solves = patch.changed = 0;

    const unsigned first_cell = view.first_cells[p], n_cells = view.first_cells[p + 1] - first_cell;
    for (unsigned k = t; k < n_cells; k += BLOCK)
        patch.corners[k] = read_only(view.corners + (first_cell + k));
    unsigned n_solves = 0;
    __syncthreads();

    for (unsigned sweep = 0;; ++sweep) {
        const bool moves = waits && value <= limit && sweep < sweeps;
        if (moves) waits = false, patch.moves[sweep % 2] = 1;
        if (exists) patch.state[t] = (state & GIVEN) | (moves ? WAITS : 0);
        __syncthreads();

        if (!patch.moves[sweep % 2]) break;
        if (t == 0) patch.moves[(sweep + 1) % 2] = 0;
#pragma unroll 1
        for (unsigned k = t; k < n_cells; k += BLOCK)
            n_solves += propagate(patch, patch.corners[k], Metric::load(metric, first_cell + k));
        __syncthreads();

        if (exists) {
            const real next = from_bits(patch.next[t]);
            if (next < value) patch.value[t] = value = next, waits = lowered = true;
        }
    }

    if (exists) {
        if (lowered) values[copy] = value, sends[copy] = 1, patch.changed = 1;
        states[copy] = (state & GIVEN) | (waits ? WAITS : 0);
        if (waits) atomicMin(&patch.earliest, to_bits(value));
    }
    atomicAdd(&patch.solves, n_solves);
    __syncthreads();
    if (t == 0) {
        earliest[p] = from_bits(patch.earliest);
        if (patch.changed) changed[p] = 1;
        solves[p] += patch.solves;
        atomicMin(next_front, patch.earliest);
    }
}

// One speed: positions are mapped
extern "C" __global__ void __launch_bounds__(BLOCK) front_advance(
    VIEW(FrontView) view,
    const real* __restrict__ positions, // [3][n_copies]
    const real* __restrict__ metric,
    unsigned round, unsigned sweeps, double window, double end,
    unsigned* rounds,                    // [1], how many there were
    real* __restrict__ values,           // [n_copies]
    unsigned char* __restrict__ states,  // [n_copies]
    unsigned char* __restrict__ sends,   // [n_copies], whether it was lowered
    unsigned* __restrict__ changed,      // [n_patches], whether any was
    real* __restrict__ earliest,         // [n_patches]
    real* front,                         // [3], the earliest that waits, by round modulo 3
    unsigned* __restrict__ solves) {     // [n_patches]
    __shared__ Patch patch;
    advance<Mapped>(patch, view, positions, metric, round, sweeps, (real)window, (real)end, rounds, values,
                 states, sends, changed, earliest, front, solves);
}

// metric: [n_cells], 1 / v^2
extern "C" __global__ void __launch_bounds__(BLOCK) front_advance_isotropic(
    VIEW(FrontView) view,
    const real* __restrict__ positions, // [3][n_copies]
    const real* __restrict__ metric,
    unsigned round, unsigned sweeps, double window, double end,
    unsigned* rounds,                    // [1], how many there were
    real* __restrict__ values,           // [n_copies]
    unsigned char* __restrict__ states,  // [n_copies]
    unsigned char* __restrict__ sends,   // [n_copies], whether it was lowered
    unsigned* __restrict__ changed,      // [n_patches], whether any was
    real* __restrict__ earliest,         // [n_patches]
    real* front,                         // [3], the earliest that waits, by round modulo 3
    unsigned* __restrict__ solves) {     // [n_patches]
    __shared__ Patch patch;
    advance<Isotropic>(patch, view, positions, metric, round, sweeps, (real)window, (real)end, rounds, values,
                 states, sends, changed, earliest, front, solves);
}

// metric: [n_cells][6], A^-1 as xx, yy, zz, yz, zx, xy
extern "C" __global__ void __launch_bounds__(BLOCK) front_advance_anisotropic(
    VIEW(FrontView) view,
    const real* __restrict__ positions, // [3][n_copies]
    const real* __restrict__ metric,
    unsigned round, unsigned sweeps, double window, double end,
    unsigned* rounds,                    // [1], how many there were
    real* __restrict__ values,           // [n_copies]
    unsigned char* __restrict__ states,  // [n_copies]
    unsigned char* __restrict__ sends,   // [n_copies], whether it was lowered
    unsigned* __restrict__ changed,      // [n_patches], whether any was
    real* __restrict__ earliest,         // [n_patches]
    real* front,                         // [3], the earliest that waits, by round modulo 3
    unsigned* __restrict__ solves) {     // [n_patches]
    __shared__ Patch patch;
    advance<Anisotropic>(patch, view, positions, metric, round, sweeps, (real)window, (real)end, rounds,
                         values, states, sends, changed, earliest, front, solves);
}
