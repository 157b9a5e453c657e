// Launches one kernel of the PTX in a file, as selftest/run.sh asks, and prints x[0].
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const char*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(double**, size_t);
int cuMemsetD8_v2(double*, unsigned char, size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                   void**, void**);
int cuMemcpyDtoH_v2(void*, double*, size_t);
int cuMemFree_v2(double*);
}

static void check(const char* call, int result) {
    if (!result) return;
    std::printf("%s gives %d\n", call, result);
    std::exit(1);
}
#define CHECK(call) check(#call, call)

int main(int, char** arguments) {
    std::stringstream ptx;
    ptx << std::ifstream(arguments[1]).rdbuf();
    void *context, *module, *kernel;
    double *x, first;
    int n = 10;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx.str().c_str()));
    CHECK(cuModuleGetFunction(&kernel, module, arguments[2]));
    CHECK(cuMemAlloc_v2(&x, n * sizeof *x));
    CHECK(cuMemsetD8_v2(x, 0, sizeof *x));
    void* parameters[] = {&x, &n};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 64 * sizeof *x, nullptr, parameters, nullptr));
    CHECK(cuMemcpyDtoH_v2(&first, x, sizeof first));
    CHECK(cuMemFree_v2(x));
    std::printf("x[0] = %g\n", first);
}
