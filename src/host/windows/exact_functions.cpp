// fma and sqrt of the C library, rounded once. MinGW's compute with 80 bits and round twice, which the emulator may not do. A
// program that links kaio has these in their place. A processor without the instruction (before 2013) has MinGW's way.

#include <immintrin.h>

namespace {

bool has_instruction() {
  static const bool has = __builtin_cpu_supports("fma") != 0;
  return has;
}

[[gnu::target("fma")]] double fused(double a, double b, double c) {
  return _mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(a), _mm_set_sd(b), _mm_set_sd(c)));
}
[[gnu::target("fma")]] float fused(float a, float b, float c) {
  return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
}

template <class T>
T with_80_bits(T a, T b, T c) {
  return static_cast<T>(static_cast<long double>(a) * b + c);
}

}  // namespace

extern "C" {
double fma(double a, double b, double c);
float fmaf(float a, float b, float c);
double sqrt(double a);

double fma(double a, double b, double c) {
  return has_instruction() ? fused(a, b, c) : with_80_bits(a, b, c);
}
float fmaf(float a, float b, float c) { return has_instruction() ? fused(a, b, c) : with_80_bits(a, b, c); }
double sqrt(double a) { return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(a))); }
}
