// The gradients of a block of a GPT, by the operations of the library: products, attention of heads that share keys, a
// residual around each half, and a gelu that the language differentiates. They are compared with the block on the host
// in double precision, which finite differences check. An error is at most three times that of plain code in the
// operand type.
#include <kaio/ops/matmul_backward.hpp>

#include "tests/ops/attention_backward/support.hpp"

#include <array>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

// y = x + attention(x * qkv) * projection;  result = y + gelu(y * up) * down
constexpr u32 batches = 2, length = 37, heads = 4, key_heads = 2, size = 16;
constexpr u32 width = 48, hidden = 80, rows = batches * length;
constexpr u32 qkv_heads = heads + 2 * key_heads, qkv_width = qkv_heads * size, o_width = heads * size;

// A matrix of the host, by rows.
struct host_matrix {
  u32 height, breadth;
  std::vector<double> numbers;
  host_matrix(u32 h, u32 b) : height(h), breadth(b), numbers(std::size_t{h} * b) {}
  double& at(u32 r, u32 c) { return numbers[std::size_t{r} * breadth + c]; }
  double at(u32 r, u32 c) const { return numbers[std::size_t{r} * breadth + c]; }
};

// The inputs of the block; in the same places, their gradients.
enum input : std::uint8_t { x, qkv, projection, up, down, inputs };
constexpr const char* names[] = {"dx", "dqkv", "dprojection", "dup", "ddown"};
using matrices_of_block = std::array<host_matrix, inputs>;
matrices_of_block empty_matrices() {
  return {host_matrix(rows, width), host_matrix(width, qkv_width), host_matrix(o_width, width),
          host_matrix(width, hidden), host_matrix(hidden, width)};
}

// Sum: the type of sums, double or float. With float all values that a kernel would store are rounded to T.
template <class T, class Sum>
class host_block {
 public:
  explicit host_block(const matrices_of_block& given) : given_(given) {
    qkv_ = product(given[x], given[qkv]);
    o_ = host_matrix(rows, o_width);
    p_.assign(std::size_t{batches} * heads * length * length, 0);
    for_queries([&](u32 b, u32 h, u32 i) { attend(b, h, i); });
    y_ = product(o_, given[projection], &given[x]);
    z_ = product(y_, given[up]);
    a_ = z_;
    for (double& number : a_.numbers) number = rounded(number * gate(number));
    result_ = product(a_, given[down], &y_);
  }

  // The sum of the result times `by`.
  double objective(const host_matrix& by) const {
    double sum = 0;
    for (std::size_t i = 0; i < by.numbers.size(); ++i) sum += result_.numbers[i] * by.numbers[i];
    return sum;
  }

  // Gradients of the objective.
  matrices_of_block gradients(const host_matrix& by) const {
    matrices_of_block result = empty_matrices();
    result[down] = product(transposed(a_), by);
    host_matrix dz = product(by, transposed(given_[down]));
    for (std::size_t i = 0; i < dz.numbers.size(); ++i)
      dz.numbers[i] = rounded(dz.numbers[i] * gelu_slope(z_.numbers[i]));
    result[up] = product(transposed(y_), dz);
    const host_matrix dy = product(dz, transposed(given_[up]), &by);
    result[projection] = product(transposed(o_), dy);
    const host_matrix d_o = product(dy, transposed(given_[projection]));
    std::vector<Sum> sums(std::size_t{rows} * qkv_width);
    for_queries([&](u32 b, u32 h, u32 i) { attend_backward(b, h, i, d_o, sums); });
    host_matrix dqkv(rows, qkv_width);
    for (std::size_t i = 0; i < sums.size(); ++i) dqkv.numbers[i] = rounded(double(sums[i]));
    result[qkv] = product(transposed(given_[x]), dqkv);
    result[x] = product(dqkv, transposed(given_[qkv]), &dy);
    return result;
  }

 private:
  static double rounded(double number) {
    if constexpr (std::is_same_v<Sum, double>)
      return number;
    else
      return to_double(from_float<T>(static_cast<float>(number)));
  }
  static host_matrix transposed(const host_matrix& m) {
    host_matrix result(m.breadth, m.height);
    for (u32 r = 0; r < m.height; ++r)
      for (u32 c = 0; c < m.breadth; ++c) result.at(c, r) = m.at(r, c);
    return result;
  }
  static host_matrix product(const host_matrix& a, const host_matrix& b, const host_matrix* added = nullptr) {
    host_matrix result(a.height, b.breadth);
    for (u32 r = 0; r < a.height; ++r)
      for (u32 c = 0; c < b.breadth; ++c) {
        Sum sum = 0;
        for (u32 k = 0; k < a.breadth; ++k)
          sum += static_cast<Sum>(a.at(r, k)) * static_cast<Sum>(b.at(k, c));
        if (added != nullptr) sum += static_cast<Sum>(added->at(r, c));
        result.at(r, c) = rounded(double(sum));
      }
    return result;
  }
  // gelu(z) = z * gate(z)
  static double gate(double z) {
    return 0.5 * (1 + std::tanh(0.79788456080286535588 * (z + 0.044715 * z * z * z)));
  }
  static double gelu_slope(double z) {
    const double bent = 2 * gate(z) - 1, inner = 0.79788456080286535588 * (1 + 3 * 0.044715 * z * z);
    return 0.5 * (1 + bent) + 0.5 * z * (1 - bent * bent) * inner;
  }

  template <class F>
  static void for_queries(const F& f) {
    for (u32 b = 0; b < batches; ++b)
      for (u32 h = 0; h < heads; ++h)
        for (u32 i = 0; i < length; ++i) f(b, h, i);
  }
  // Columns of the heads in qkv.
  static u32 q_at(u32 h) { return h * size; }
  static u32 k_at(u32 h) { return (heads + h / (heads / key_heads)) * size; }
  static u32 v_at(u32 h) { return k_at(h) + key_heads * size; }
  static double scale() { return 1 / std::sqrt(double(size)); }
  double* probabilities(u32 b, u32 h, u32 i) {
    return &p_[((std::size_t{b} * heads + h) * length + i) * length];
  }
  const double* probabilities(u32 b, u32 h, u32 i) const {
    return &p_[((std::size_t{b} * heads + h) * length + i) * length];
  }
  static Sum dot(const host_matrix& a, u32 row_a, u32 at_a, const host_matrix& b, u32 row_b, u32 at_b) {
    Sum sum = 0;
    for (u32 e = 0; e < size; ++e)
      sum += static_cast<Sum>(a.at(row_a, at_a + e)) * static_cast<Sum>(b.at(row_b, at_b + e));
    return sum;
  }

  void attend(u32 b, u32 h, u32 i) {
    double* const p = probabilities(b, h, i);
    const u32 first = b * length;
    double largest = -1e30;
    Sum total = 0;
    for (u32 j = 0; j <= i; ++j) {
      p[j] = rounded(rounded(double(dot(qkv_, first + i, q_at(h), qkv_, first + j, k_at(h)))) * scale());
      largest = std::max(largest, p[j]);
    }
    for (u32 j = 0; j <= i; ++j) total += static_cast<Sum>(p[j] = std::exp(p[j] - largest));
    for (u32 j = 0; j <= i; ++j) p[j] = rounded(p[j] / double(total));
    for (u32 e = 0; e < size; ++e) {
      Sum sum = 0;
      for (u32 j = 0; j <= i; ++j)
        sum += static_cast<Sum>(p[j]) * static_cast<Sum>(qkv_.at(first + j, v_at(h) + e));
      o_.at(first + i, h * size + e) = rounded(double(sum));
    }
  }
  void attend_backward(u32 b, u32 h, u32 i, const host_matrix& d_o, std::vector<Sum>& sums) const {
    const double* const p = probabilities(b, h, i);
    const u32 first = b * length;
    const Sum delta = dot(d_o, first + i, h * size, o_, first + i, h * size);
    const auto add = [&](u32 row, u32 column, double number) {
      sums[std::size_t{row} * qkv_width + column] += static_cast<Sum>(number);
    };
    for (u32 j = 0; j <= i; ++j) {
      const double dp = rounded(double(dot(d_o, first + i, h * size, qkv_, first + j, v_at(h))));
      const double ds = rounded(p[j] * (dp - double(delta)));
      for (u32 e = 0; e < size; ++e) {
        add(first + i, q_at(h) + e, scale() * ds * qkv_.at(first + j, k_at(h) + e));
        add(first + j, k_at(h) + e, scale() * ds * qkv_.at(first + i, q_at(h) + e));
        add(first + j, v_at(h) + e, p[j] * d_o.at(first + i, h * size + e));
      }
    }
  }

  const matrices_of_block& given_;
  host_matrix qkv_{0, 0}, o_{0, 0}, y_{0, 0}, z_{0, 0}, a_{0, 0}, result_{0, 0};
  std::vector<double> p_;  // [batch][head][query][key]
};

template <class T>
constexpr auto block_gelu =
    kernel<"gpt_block_gelu_" + type_name<T>, 128>([](thread t, in<T> z, out<T> a, val<u32> n) {
      for (auto i : t.grid_stride(n)) a[i] = cast<T>(gelu_tanh(cast<f32>(z[i])));
    });
template <class T>
constexpr auto block_gelu_backward = kernel<"gpt_block_gelu_backward_" + type_name<T>, 128>(
    [](thread t, in<T> z, in<T> da, out<T> dz, val<u32> n) {
      for (auto i : t.grid_stride(n)) {
        const val before = t.let(cast<f32>(z[i]));
        dz[i] = cast<T>(cast<f32>(da[i]) * derivative(gelu_tanh(before), before));
      }
    });

// A matrix of the device, by rows.
template <class T>
struct device_matrix {
  u32 height, breadth;
  buffer<T> memory;
  device_matrix(u32 h, u32 b) : height(h), breadth(b), memory(under_test().allocate<T>(std::size_t{h} * b)) {}
  explicit device_matrix(const host_matrix& from) : height(from.height), breadth(from.breadth) {
    std::vector<T> numbers;
    for (const double number : from.numbers) numbers.push_back(from_float<T>(static_cast<float>(number)));
    memory = upload(numbers);
  }
  tensor_view<const T, 2> in() const { return {memory, extents(height, breadth)}; }
  tensor_view<T, 2> out() { return {memory, extents(height, breadth)}; }
  // Columns as heads of sequences.
  template <class U>
  tensor_view<U, 4> of_heads(u32 first, u32 count) {
    return tensor_view<U, 4>(memory, batches, length, breadth / size, size).slice(2, first, count);
  }
  void copy_from(const device_matrix& other) { memory.copy_from(other.memory, under_test().stream()); }
};

// The gradients, [input].
template <class T>
std::vector<std::vector<T>> block_on_device(const matrices_of_block& given, const host_matrix& by) {
  const stream& s = under_test().stream();
  std::vector<device_matrix<T>> of, d;
  for (const host_matrix& one : given) {
    of.emplace_back(one);
    d.emplace_back(one.height, one.breadth);
    d.back().memory.fill_zero(s);
  }
  const device_matrix<T> dresult(by);
  device_matrix<T> heads_of(rows, qkv_width), o(rows, o_width), y(rows, width), z(rows, hidden),
      a(rows, hidden), result(rows, width);
  auto lse_memory = under_test().allocate<f32>(std::size_t{heads} * rows);
  const tensor_view<f32, 3> lse(lse_memory, batches, heads, length);
  const auto q = heads_of.template of_heads<const T>(0, heads),
             k = heads_of.template of_heads<const T>(heads, key_heads),
             v = heads_of.template of_heads<const T>(heads + key_heads, key_heads);
  attention_options options{.causal = causal_alignment::bottom_right, .lse = lse};

  matmul(s, of[x].in(), of[qkv].in(), heads_of.out());
  attention(s, q, k, v, o.template of_heads<T>(0, heads), options);
  matmul(s, o.in(), of[projection].in(), y.out(), {.residual = of[x].in()});
  matmul(s, y.in(), of[up].in(), z.out());
  block_gelu<T>.launch(s, grid(4), z.memory, a.memory, rows * hidden);
  matmul(s, a.in(), of[down].in(), result.out(), {.residual = y.in()});

  device_matrix<T> da(rows, hidden), dz(rows, hidden), dy(rows, width), d_o(rows, o_width),
      dheads(rows, qkv_width);
  matmul_backward(s, dresult.in(), a.in(), of[down].in(), da.out(), d[down].out());
  block_gelu_backward<T>.launch(s, grid(4), z.memory, da.memory, dz.memory, rows * hidden);
  dy.copy_from(dresult);  // around the second half
  matmul_backward(s, dz.in(), y.in(), of[up].in(), dy.out(), d[up].out(), {.accumulate = true});
  matmul_backward(s, dy.in(), o.in(), of[projection].in(), d_o.out(), d[projection].out());
  auto workspace = under_test().allocate<u8>(attention_backward_workspace_bytes(s, q, k, v));
  attention_backward(s, d_o.template of_heads<const T>(0, heads), q, k, v,
                     o.template of_heads<const T>(0, heads), lse, dheads.template of_heads<T>(0, heads),
                     dheads.template of_heads<T>(heads, key_heads),
                     dheads.template of_heads<T>(heads + key_heads, key_heads),
                     {.forward = options, .workspace = workspace});
  d[x].copy_from(dy);  // around the first half
  matmul_backward(s, dheads.in(), of[x].in(), of[qkv].in(), d[x].out(), d[qkv].out(), {.accumulate = true});
  std::vector<std::vector<T>> downloaded;
  for (const device_matrix<T>& one : d) downloaded.push_back(one.memory.download());
  return downloaded;
}

// Numbers of T. Weights are such that activations are of the size of 1.
template <class T>
host_matrix random_matrix(host_matrix m, float range, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> any(-range, range);
  for (double& number : m.numbers) number = to_double(from_float<T>(any(engine)));
  return m;
}
template <class T>
matrices_of_block random_block() {
  matrices_of_block m = empty_matrices();
  m[x] = random_matrix<T>(m[x], 1.5f, 1);
  for (const u8 weight : {qkv, projection, up, down})
    m[weight] = random_matrix<T>(m[weight], 2 / std::sqrt(static_cast<f32>(m[weight].height)), 1 + weight);
  return m;
}

template <class T>
void check_block() {
  const matrices_of_block given = random_block<T>();
  const host_matrix by = random_matrix<T>(host_matrix(rows, width), 1, 9);
  const matrices_of_block exact = host_block<T, double>(given).gradients(by),
                          plain = host_block<T, float>(given).gradients(by);
  const auto got = block_on_device<T>(given, by);
  for (u32 i = 0; i < inputs; ++i) {
    compared_numbers want(0);
    want.exact = exact[i].numbers;
    want.plain = plain[i].numbers;
    REQUIRE(got[i].size() == want.exact.size());
    compare_numbers(names[i], got[i], want);
  }
}

}  // namespace

TEST_CASE("attention_backward: the gradients of a block of a GPT", "[ops][attention_backward]") {
  check_block<f32>();
  check_block<f16>();
  if (has_attention<bf16>()) check_block<bf16>();
}

TEST_CASE("attention_backward: the block of a GPT on the host by finite differences",
          "[ops][attention_backward]") {
  matrices_of_block given = random_block<f32>();
  const host_matrix by = random_matrix<f32>(host_matrix(rows, width), 1, 9);
  const auto objective = [&] { return host_block<f32, double>(given).objective(by); };
  const matrices_of_block gradients = host_block<f32, double>(given).gradients(by);
  for (u32 n = 0; n < inputs; ++n)
    for (std::size_t i = n; i < given[n].numbers.size(); i += given[n].numbers.size() / 7) {
      constexpr double step = 0x1p-13;
      double& number = given[n].numbers[i];
      const double before = number;
      number = before + step;
      const double above = objective();
      number = before - step;
      const double below = objective();
      number = before;
      const double difference = (above - below) / (2 * step), gradient = gradients[n].numbers[i];
      CAPTURE(names[n], i, difference, gradient);
      REQUIRE(std::abs(difference - gradient) < 1e-5);
    }
}
