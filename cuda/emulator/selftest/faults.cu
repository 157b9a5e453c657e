// One right kernel, and one for each fault that the emulated driver is there to find. All run with
// one block of 64 threads, x[10] and n = 10.

// x[0] = sum of 1 to 64, by a tree over each warp, dynamic shared memory and an atomic addition
extern "C" __global__ void sum(double* x, int n) {
    extern __shared__ double values[];
    values[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    double value = values[blockDim.x - 1 - threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(&x[0], value);
    if (__ballot_sync(0xffffffffu, n == 10) != 0xffffffffu) x[0] = 0;
}

extern "C" __global__ void missing_barrier(double* x, int n) {
    __shared__ double values[64];
    values[threadIdx.x] = n;
    if (threadIdx.x == 0) x[0] = values[1];
}

extern "C" __global__ void unwritten(double* x, int n) { x[0] = x[n - 1]; }

extern "C" __global__ void write_past_end(double* x, int n) {
    if (threadIdx.x == 3) x[n] = 1;
}

extern "C" __global__ void copy_past_end(double* x, int n) { x[n + 1] = x[-1]; }

extern "C" __global__ void read_far(double* x, int n) {
    if (threadIdx.x == 3) x[0] = x[n + 1000];
}

extern "C" __global__ void outside_array(double* x, int n) {
    __shared__ double values[8];
    values[n] = x[0];
}

extern "C" __global__ void misaligned(double* x, int n) {
    reinterpret_cast<double2*>(x + 1)->x = n;
}

extern "C" __global__ void divergent(double* x, int n) {
    if (threadIdx.x < n)
        __syncthreads();
    else
        __syncthreads();
}

extern "C" __global__ void deadlock(double* x, int n) {
    if (threadIdx.x < n)
        __syncthreads();
    else
        x[0] = __shfl_xor_sync(0xffffffffu, x[0], 1);
}

extern "C" __global__ void left_out(double* x, int n) { __syncwarp(0xffu); }
