// Pointer arithmetic, exact 64-bit indices, and the operators of integers on cells.
#include "tests/kernels/memory/pointer_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("a moved pointer names the elements from there on", "[memory]") {
  std::vector<f32> x(400);
  for (u32 i = 0; i < x.size(); ++i) x[i] = static_cast<f32>(i);
  std::vector<i32> y(32);
  for (u32 i = 0; i < 32; ++i) y[i] = static_cast<i32>(i) * 7 - 50;
  auto in = under_test().upload(x);
  auto inout = under_test().upload(y);
  auto out = poisoned<f32>(128);
  const u32 row = 2;
  const i64 back = 9;
  const u64 pitch = 100;
  pointer_sums.launch(under_test().stream(), grid(1), in, inout, out, row, back, pitch);
  const auto got = out.download();
  const auto changed = inout.download();
  for (u32 i = 0; i < 32; ++i) {
    CAPTURE(i);
    REQUIRE(got[i] == x[200 + i]);
    REQUIRE(got[32 + i] == x[204 + i]);
    REQUIRE(got[64 + i] == x[204 + i + 3 - 9 + 1]);
    REQUIRE(changed[i] == y[i] * 3);
    if (i < 8) REQUIRE(got[96 + i] == x[204 - i - 1] + x[204 - i - 1 + 2 - 1]);
  }
}

TEST_CASE("a pointer moves by its elements", "[memory]") {
  const u32 k = 3;
  std::vector<f32x4> v(32 + k + 1);
  std::vector<sample> s(32 + k);
  for (u32 i = 0; i < v.size(); ++i)
    for (u32 e = 0; e < 4; ++e) v[i][e] = static_cast<f32>(4 * i + e);
  for (u32 i = 0; i < s.size(); ++i)
    s[i] = {static_cast<u16>(i), {static_cast<f32>(i), static_cast<f32>(i) + 0.5f}};
  auto vectors = under_test().upload(v);
  auto structs = under_test().upload(s);
  auto y = poisoned<f32>(64);
  pointer_elements.launch(under_test().stream(), grid(1), vectors, structs, y, k);
  const auto got = y.download();
  const auto changed = structs.download();
  for (u32 i = 0; i < 32; ++i) {
    CAPTURE(i);
    REQUIRE(got[i] == v[i + k + 1][2]);
    REQUIRE(got[i + 32] == s[i + k].pair[1]);
    REQUIRE(changed[i + k].tag == s[i + k].tag + 1);
  }
}

TEST_CASE("index() is exact", "[memory]") {
  const std::vector<u32> edge = {0,      1,          2,          12,         65535,     65536,
                                 100003, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  std::vector<u32> p, q, r;
  for (const u32 x : edge)
    for (const u32 y : edge) {
      p.push_back(x);
      q.push_back(y);
      r.push_back(edge[(x ^ y * 5) % edge.size()]);
    }
  const auto n = static_cast<u32>(p.size());
  std::vector<u32> a = p;
  a.insert(a.end(), q.begin(), q.end());
  a.insert(a.end(), r.begin(), r.end());
  std::vector<i32> b(3 * n);
  std::vector<u64> c(n);
  std::vector<u16> d(n);
  for (u32 i = 0; i < 3 * n; ++i) b[i] = static_cast<i32>(a[i]);
  for (u32 i = 0; i < n; ++i) {
    c[i] = u64{p[i]} << 32 | r[n - 1 - i];
    d[i] = static_cast<u16>(q[i]);
  }
  auto a_in = under_test().upload(a);
  auto b_in = under_test().upload(b);
  auto c_in = under_test().upload(c);
  auto d_in = under_test().upload(d);
  auto y = poisoned<u64>(exact_index_rows * n);
  auto z = poisoned<i64>(exact_signed_rows * n);
  exact_indices.launch(under_test().stream(), over(n), a_in, b_in, c_in, d_in, y, z, n);
  const auto got = y.download();
  const auto got_signed = z.download();
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(p[i], q[i], r[i]);
    const u64 P = p[i], Q = q[i], R = r[i];
    const u64 want[exact_index_rows] = {
        P * Q + R,    P * 100000 + R, P * Q + 12,           (P * Q + R) * Q + P,
        c[i] * Q + R, P * Q + c[i],   P * 0x100000001u + R, d[i] * P + d[i]};
    for (u32 k = 0; k < exact_index_rows; ++k) {
      CAPTURE(k);
      REQUIRE(got[i + k * n] == want[k]);
    }
    const i64 u = b[i], v = b[i + n], w = b[i + 2 * n];
    REQUIRE(got_signed[i] == u * v + w);
    REQUIRE(got_signed[i + n] == u * -7 + w);
    REQUIRE(got_signed[i + 2 * n] == -3 * v - 5);
  }
}

namespace {

template <class T>
void test_cell_operators() {
  const std::vector<T> x = {T(1), T(2), T(3), T(7), T(100), T(85)};
  const std::vector<u32> amount = {0, 1, 5, 7, 3, 2};
  const auto n = static_cast<u32>(x.size());
  std::vector<T> y(8 * n);
  for (u32 i = 0; i < y.size(); ++i) y[i] = static_cast<T>(i * 2654435761u >> 3);
  auto x_in = under_test().upload(x);
  auto amounts = under_test().upload(amount);
  auto inout = under_test().upload(y);
  auto z = poisoned<T>(n);
  cell_operators<T>.launch(under_test().stream(), over(n), x_in, amounts, inout, z, n);
  const auto got = inout.download();
  const auto own = z.download();
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(i);
    REQUIRE(got[i] == static_cast<T>(y[i] % x[i]));
    REQUIRE(got[i + n] == static_cast<T>(y[i + n] & x[i]));
    REQUIRE(got[i + 2 * n] == static_cast<T>(y[i + 2 * n] | x[i]));
    REQUIRE(got[i + 3 * n] == static_cast<T>(y[i + 3 * n] ^ x[i]));
    REQUIRE(got[i + 4 * n] == static_cast<T>(static_cast<u64>(y[i + 4 * n]) << amount[i]));
    REQUIRE(got[i + 5 * n] == static_cast<T>(y[i + 5 * n] >> amount[i]));
    REQUIRE(got[i + 6 * n] == static_cast<T>(y[i + 6 * n] ^ 5));
    REQUIRE(got[i + 7 * n] == static_cast<T>(static_cast<u64>(y[i + 7 * n]) << 3));
    REQUIRE(own[i] == static_cast<T>((x[i] | 1) << 1));
  }
}

}  // namespace

TEST_CASE("cells have the operators of integers", "[memory]") {
  test_cell_operators<u32>();
  test_cell_operators<i32>();
  test_cell_operators<u8>();
  test_cell_operators<i16>();
  test_cell_operators<u64>();
}

TEST_CASE("members of structs and conditions have them too", "[memory]") {
  std::vector<flags> f(32);
  std::vector<u32> x(32), y(32);
  for (u32 i = 0; i < 32; ++i) {
    f[i] = {static_cast<u8>(i * 3), {i, i * 1000003}, i % 3 != 0, i % 5 == 0};
    x[i] = i * i;
    y[i] = i * 40503;
  }
  x[5] = 7;
  auto structs = under_test().upload(f);
  auto in = under_test().upload(x);
  auto inout = under_test().upload(y);
  member_operators.launch(under_test().stream(), grid(1), structs, in, inout);
  const auto got = structs.download();
  const auto words = inout.download();
  for (u32 i = 0; i < 32; ++i) {
    CAPTURE(i);
    REQUIRE(got[i].few == (f[i].few | 0x81) >> 1);
    REQUIRE(got[i].many[0] == f[i].many[0]);
    REQUIRE(got[i].many[1] == (f[i].many[1] ^ x[i]));
    REQUIRE(got[i].set == (f[i].set && x[i] > 100));
    REQUIRE(got[i].odd == (f[i].odd != (x[i] % 2 == 0) || x[i] == 7));
    u32 want = (((y[i] + i) * 3) ^ (i << 2)) << 3;
    want |= (10 - i % 8) % 3;
    REQUIRE(words[i] == want + i);
  }
}
