// Code that needs calls: recursion, functions by their address, virtual functions, structs by value, a
// switch.

__device__ __noinline__ unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursive(unsigned* y) { y[threadIdx.x] = fibonacci(threadIdx.x % 12); }

__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float negate(float x) { return -x; }
typedef float (*function)(float);
__device__ function table[3] = {twice, square, negate};

extern "C" __global__ void by_address(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[i % 3](x[i]);
}

struct shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~shape() {}
};
struct rectangle : shape {
  float a, b;
  __device__ rectangle(float a_, float b_) : a(a_), b(b_) {}
  __device__ float area() const override { return a * b; }
};
struct square_shape : shape {
  float a;
  __device__ explicit square_shape(float a_) : a(a_) {}
  __device__ float area() const override { return a * a; }
};
__device__ __noinline__ float area_of(const shape* s) { return s->area(); }

extern "C" __global__ void virtual_calls(const float* x, float* y) {
  const rectangle r(x[threadIdx.x], 3);
  const square_shape s(x[threadIdx.x]);
  y[threadIdx.x] = area_of(threadIdx.x % 2 ? static_cast<const shape*>(&r) : &s);
}

struct triple {
  double a;
  int b;
  short c;
};
__device__ __noinline__ triple shuffled(triple t, int k) {
  triple result = {t.a * k, t.b + t.c, static_cast<short>(t.b)};
  return result;
}
extern "C" __global__ void by_value(triple t, triple* y) { y[threadIdx.x] = shuffled(t, threadIdx.x); }

extern "C" __global__ void many_ways(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = x[i];
  switch (value & 7) {
    case 0: value += 10; break;
    case 1: value *= 3; break;
    case 2: value = -value; break;
    case 3: value ^= 0x55; break;
    case 4: value <<= 2; break;
    case 5: value = value / 7; break;
    case 6: value = value % 7; break;
    default: value = __popc(value);
  }
  y[i] = value;
}
