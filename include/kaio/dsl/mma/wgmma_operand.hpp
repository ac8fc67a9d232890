#pragma once
// The operands of wgmma: a tile in shared memory as A or B, seen through its descriptor, or a part of A in
// registers. A tile is K-major if its rows run along K: A has a row for each row of the product, B one for
// each column. It is MN-major if each of its rows is one k.
//
//   const auto a = wgmma_operand<major::k>(a_tile);               // shared_tile<f16, 128, 64, swizzled<128>>
//   const auto b = wgmma_operand<major::mn>(b_tile);              // shared_tile<f16, 64, 256, swizzled<128>>
//   mma.multiply_add(acc, a.rows(64), b);                         // K = 64: four instructions
//   mma.multiply_add(acc, a.rows(64).slice(2), b.slice(2));       // one

#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/expression/var.hpp>
#include <kaio/dsl/mma/matrix_descriptor.hpp>
#include <kaio/dsl/mma/wgmma_shape.hpp>

#include <cstdint>

namespace kaio::dsl {

// The offsets of the parts of a matrix in shared memory where wgmma may begin.
struct wgmma_geometry {
  matrix_descriptor descriptor;
  std::uint32_t slices = 0;        // along K, of 32 bytes (MN-major: 16 k)
  std::uint32_t outer = 0;         // rows of A, columns of B
  std::uint32_t outer_step = 0;    // they begin at multiples of this
  std::uint32_t outer_bytes = 0;   // from one row (column) to the next, on average
  std::uint32_t panel_slices = 0;  // slices side by side in a panel
  std::uint32_t slice_bytes = 0;   // from one to the next within it
  std::uint32_t panel_bytes = 0;   // from one panel to the next along K

  constexpr std::uint32_t slice_offset(std::uint32_t k) const {
    return k / panel_slices * panel_bytes + k % panel_slices * slice_bytes;
  }
};

// A or B in shared memory, with all of its K or one slice of it.
template <class T, major Major>
class shared_operand {
 public:
  using element_type = T;
  static constexpr dsl::major order = Major;
  static constexpr bool in_registers = false;

  constexpr shared_operand(const wgmma_geometry& geometry, const leaf<u32>& begin)
      : geometry_(geometry), begin_(begin), outer_(geometry.outer), slices_(geometry.slices) {}

  // Slices along K: one instruction of a product each.
  constexpr std::uint32_t slices() const { return slices_; }

  // The k-th slice, which one instruction multiplies, or `count` slices from there on.
  constexpr shared_operand slice(std::uint32_t k, std::uint32_t count = 1) const {
    if (count == 0 || count > slices_ || k > slices_ - count)
      begin_.trace->fail_next(
          "kaio: a slice is outside its operand; slices go from 0 to slices() - 1, of 32 bytes of K each");
    shared_operand result(*this);
    result.first_ = first_ + k;
    result.slices_ = count;
    return result;
  }

  // The operand from this row of A, or column of B, on. `first` is a multiple of 8; if MN-major, of the
  // elements that the swizzle is wide (64 of 16 bits for swizzled<128>). A device value must be equal in the
  // whole warpgroup.
  template <class R>
  constexpr shared_operand rows(const R& first, std::uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) const {
    shared_operand result(*this);
    if constexpr (device<R>) {
      static_assert(
          std::is_same_v<element<R>, u32>,
          "kaio: the first row of an operand of wgmma is a host integer or a u32; write cast<u32>(x)");
      tracer& t = *begin_.trace;
      t.statement(line, file);
      result.outer_is_known_ = false;
      if (t.probing()) {
        result.begin_.id = lower(t, first.node());
        return result;
      }
      const value step = t.constant(ptx::type::u32, geometry_.outer_bytes >> 4);
      const value moved = t.multiply_add(ptx::type::u32, lower(t, first.node()), step, begin_.checked(t));
      result.begin_ = {{}, &t, moved, t.scope()};
    } else {
      const auto number = static_cast<std::uint32_t>(first);
      if (number >= outer_ || number % geometry_.outer_step != 0)
        begin_.trace->fail_next(
            "kaio: the rows of an operand of wgmma begin at a multiple of 8 inside the tile, or of the swizzle's width if it is MN-major: 64 elements for swizzled<128>");
      result.bytes_ += number * geometry_.outer_bytes;
      result.outer_ -= number;
    }
    return result;
  }

  // Whether slices k and k + 1 form one matrix with one descriptor.
  constexpr bool are_neighbours(std::uint32_t k) const {
    const std::uint32_t first = (first_ + k) % geometry_.panel_slices;
    return first % 2 == 0 && first + 1 < geometry_.panel_slices;
  }

  // The descriptor of slice k, for an instruction that reads `outer` rows (columns) from here on.
  constexpr value descriptor(tracer& t, std::uint32_t k, std::uint32_t outer) const {
    if (outer > (outer_is_known_ ? outer_ : geometry_.outer))
      t.fail(
          "kaio: wgmma reads beyond the tile: A has fewer than 64 rows from there on, or B fewer columns than the accumulator");
    return geometry_.descriptor.at(t, begin_.checked(t), bytes_ + geometry_.slice_offset(first_ + k));
  }
  constexpr std::uint64_t hash() const {
    return begin_.hash() * hash_factor + (std::uint64_t{bytes_} << 32 | first_ << 16 | slices_);
  }

 private:
  wgmma_geometry geometry_;
  leaf<u32> begin_;  // the low word of the descriptor
  std::uint32_t bytes_ = 0;
  std::uint32_t outer_;
  bool outer_is_known_ = true;
  std::uint32_t first_ = 0;
  std::uint32_t slices_;
};

namespace detail {

// The type that a tile is multiplied as: tf32 for f32, else its own.
template <class T>
using multiplied_as = std::conditional_t<std::is_same_v<T, f32>, tf32, T>;

template <class As, major Major, class Layout>
constexpr wgmma_geometry geometry_of() {
  constexpr std::uint32_t row_bytes = Layout::columns * Layout::element_bytes;
  wgmma_geometry g;
  g.descriptor.swizzle = Layout::swizzle;
  g.descriptor.leading = 0;  // not used
  g.descriptor.stride = 8 * Layout::pitch;
  if constexpr (Major == major::k) {
    g.slices = row_bytes / wgmma_depth_bytes;
    g.outer = Layout::rows;
    g.outer_step = 8;
    g.outer_bytes = Layout::pitch;
    g.panel_slices = Layout::swizzle / wgmma_depth_bytes;
    g.slice_bytes = wgmma_depth_bytes;
    g.panel_bytes = Layout::panel_bytes;
  } else {
    constexpr std::uint32_t depth = wgmma_depth<As>;
    g.descriptor.leading = Layout::panel_bytes;
    g.slices = Layout::rows / depth;
    g.outer = Layout::columns;
    g.outer_step = Layout::panel_columns;
    g.outer_bytes = Layout::panel_bytes / Layout::panel_columns;
    g.panel_slices = g.slices;
    g.slice_bytes = depth * Layout::pitch;
  }
  return g;
}

template <major Major, class As>
constexpr auto operand_at(tracer& t, const wgmma_geometry& g, value address) {
  const value begin = t.probing() ? address : g.descriptor.begin(t, address);
  return shared_operand<As, Major>(g, {{}, &t, begin, t.scope()});
}

}  // namespace detail

// A tile as an operand. Its elements are multiplied as their own type (f32 as tf32), or as the type given:
// wgmma_operand<major::k, e4m3>(tile_of_bytes). Only elements of 16 bits can be MN-major.
template <major Major, class As = void, class Tile>
  requires requires { typename Tile::layout; }
constexpr auto wgmma_operand(const Tile& tile, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) {
  using Layout = typename Tile::layout;
  using T = std::conditional_t<std::is_void_v<As>, detail::multiplied_as<typename Tile::element_type>, As>;
  static_assert(
      Layout::is_swizzled,
      "kaio: wgmma reads swizzled tiles, shared_tile<T, rows, columns, swizzled<128>>; for another layout give the address and a matrix_descriptor");
  static_assert(Major == major::k || matrix_element<T>::bits == 16,
                "kaio: wgmma reads MN-major operands of 16-bit elements only; lay the others out along K");
  static_assert(matrix_element<T>::bits == 8 * Layout::element_bytes || matrix_element<T>::bits == 1,
                "kaio: an operand of wgmma is read as elements of another size than the tile has");
  static_assert(Major == major::k || Layout::rows % 16 == 0,
                "kaio: an MN-major operand of wgmma has a multiple of 16 rows, each of them one k");
  if constexpr (Layout::is_swizzled) {
    const val<u32> address = tile.address(line, file);
    tracer& t = *address.node().trace;
    return detail::operand_at<Major, T>(t, detail::geometry_of<T, Major, Layout>(),
                                        address.node().checked(t));
  }
}

// An operand of one slice at a shared address: 32 bytes (MN-major: 16 k) along K, laid out as the descriptor
// says. Nothing is checked.
template <major Major, class As, device E>
constexpr auto wgmma_operand(const E& address, const matrix_descriptor& descriptor,
                             std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  const val<u32> begin(address, line, file);
  tracer& t = *begin.node().trace;
  const std::uint32_t outer = 256;
  const wgmma_geometry g{descriptor, 1, outer, outer, 0, 1, 0, 0};
  return detail::operand_at<Major, As>(t, g, begin.node().checked(t));
}

// 64 rows of A and one slice of K in registers. Warp w of the warpgroup has rows 16 w to 16 w + 15. Register
// q of lane l holds 4 bytes of row l / 4 + 8 (q mod 2), from byte 4 (l mod 4) + 16 (q / 2) of the slice on.
// That is the fragment of A of mma.sync, and four pairs of an accumulator. Make it before the batch that
// reads it; it has registers of its own.
//
//   const wgmma_register_operand<f16> p(s.pair<f16x2>(0), s.pair<f16x2>(1), s.pair<f16x2>(2), s.pair<f16x2>(3));
template <class T>
class wgmma_register_operand {
  static_assert(matrix_element<T>::type != modifier::none && matrix_element<T>::bits <= 32);

 public:
  using element_type = T;
  static constexpr major order = major::k;
  static constexpr bool in_registers = true;
  static constexpr std::uint32_t registers = 4;

  template <device A, device B, device C, device D>
  constexpr wgmma_register_operand(const A& a, const B& b, const C& c, const D& d,
                                   std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE()) {
    require_word<A>();
    require_word<B>();
    require_word<C>();
    require_word<D>();
    static_assert(node_of<A>::bound, "kaio: the value knows no kernel yet; bind it with t.let(value)");
    tracer& t = kernel_of(a.node());
    start(t, line, file);
    keep(t, 0, a);
    keep(t, 1, b);
    keep(t, 2, c);
    keep(t, 3, d);
  }

  // From anything with four values: an array, a fragment of mma.
  template <class Fragment>
    requires(!device<Fragment> && requires(const Fragment& f) { f[0].node(); })
  constexpr explicit wgmma_register_operand(const Fragment& f, std::uint32_t line = __builtin_LINE(),
                                            const char* file = __builtin_FILE())
      : wgmma_register_operand(f[0], f[1], f[2], f[3], line, file) {}
  // Takes over the variables of an array or a fragment that is given away.
  template <class Fragment>
    requires(!device<Fragment> && !std::is_const_v<Fragment> && std::is_object_v<Fragment> &&
             requires(const Fragment& f) { f[0].variable(); })
  constexpr explicit wgmma_register_operand(Fragment&& f, std::uint32_t line = __builtin_LINE(),
                                            const char* file = __builtin_FILE()) {
    require_word<std::remove_cvref_t<decltype(f[0])>>();
    start(kernel_of(f[0].node()), line, file);
    for (std::uint32_t q = 0; q < registers; ++q) variables_[q] = f[q].variable();
  }

  wgmma_register_operand(const wgmma_register_operand&) = delete;
  wgmma_register_operand& operator=(const wgmma_register_operand&) = delete;

  constexpr std::uint32_t slices() const { return 1; }
  constexpr std::uint32_t variable(std::uint32_t q) const { return variables_[q]; }
  constexpr std::uint64_t hash() const { return variables_[0]; }

 private:
  template <class E>
  static constexpr auto require_word() {
    static_assert(sizeof(element<E>) == 4,
                  "kaio: the registers of A hold 32 bits each: f16x2, bf16x2, u32, or f32 for tf32");
  }

  constexpr void start(tracer& t, std::uint32_t line, const char* file) {
    t.statement(line, file);
    if (t.wgmma_batch_is_open)
      t.fail("kaio: the registers of A are written inside a wgmma_batch; make the operand before the batch");
  }

  template <class E>
  constexpr void keep(tracer& t, std::uint32_t q, const E& e) {
    const std::uint32_t from = t.position();
    const value v = lower(t, e.node());
    if (t.probing()) {
      variables_[q] = v;
      return;
    }
    variables_[q] = t.new_variable(element_type_of<E>);
    t.assign(variables_[q], v, from);
  }
  template <class E>
  static constexpr ptx::type element_type_of = ptx_type<element<E>>;

  std::uint32_t variables_[registers] = {};
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::wgmma_operand;
using dsl::wgmma_register_operand;
}  // namespace kaio
