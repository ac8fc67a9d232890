// The loops of tile_sums.cpp for one instruction set, which includes this file once for each of them:
//
//   KAIO_TARGET    the attribute of the functions
//   KAIO_BYTES     the width of a vector
//
// A function's vectors are lowered to its own instruction set, before it is inlined anywhere. So all that computes
// on vectors is in the bodies of these functions.

struct KAIO_NAME {
  static constexpr u32 lanes = KAIO_BYTES / sizeof(f32);
  using floats [[gnu::vector_size(KAIO_BYTES)]] = f32;
  using ints [[gnu::vector_size(KAIO_BYTES)]] = s32;
  using words [[gnu::vector_size(KAIO_BYTES)]] = u32;

  // d += the products of all rows and lanes, in groups of Count.
  //
  //   e[k] = exponent of a[k] + exponent of b[k]
  //   g    = the greatest of e[k], of d's exponent, and of the least exponent
  //   unit = 2^(g - fraction_bits)
  //   d    = (sum of a[k] * b[k] / unit and of d / unit, each cut toward zero) * unit, cut to f32
  template <u32 Count>
  KAIO_UNCHECKED KAIO_TARGET static void sum(const tile_sums& t) {
    const s32 fraction_bits = t.fraction_bits, least_exponent = t.least_exponent;
    const s32 widened = fraction_bits > 23 ? fraction_bits - 23 : 0;
    const s32 narrowed = fraction_bits < 23 ? 23 - fraction_bits : 0;
    const u32 kept_bits = ~((1u << (23 - t.result_bits)) - 1);
    const ints zero = {};
    for (u32 block = 0; block < t.blocks; ++block)
      for (u32 row = 0; row < t.rows; ++row)
        for (u32 lane = 0; lane < tile_lanes; lane += lanes) {
          const f32* const b = t.value_b + std::size_t{block} * t.wide_depth * tile_lanes + lane;
          const s32* const exponent_b = t.exponent_b + std::size_t{block} * t.wide_depth * tile_lanes + lane;
          u32* const d = t.d + (std::size_t{row} * t.blocks + block) * tile_lanes + lane;
          words c;
          __builtin_memcpy(&c, d, sizeof c);
          const words before = c;
          if (t.restarts) c = words{};
          for (u32 first = 0; first < t.depth; first += Count) {
            const f32* const a = t.value_a + std::size_t{row} * t.depth + first;
            const s32* const exponent_a = t.exponent_a + std::size_t{row} * t.depth + first;
            const u32* const places = t.places + std::size_t{row} * t.places_stride + first;

            const ints c_stored = (ints)(c >> 23 & 0xff);
            const words c_fraction = c & 0x7fffff;
            const words c_significand = c_fraction | ((words)(c_stored != 0) & (1u << 23));
            const ints c_exponent = (c_stored > 1 ? c_stored : zero + 1) - 127;
            const ints from_c = c_significand != 0 ? c_exponent : zero + least_exponent;
            ints greatest = from_c > least_exponent ? from_c : zero + least_exponent;
            KAIO_UNROLLED for (u32 k = 0; k < Count; ++k) {
              ints e;
              __builtin_memcpy(&e, exponent_b + std::size_t{places[k]} * tile_lanes, sizeof e);
              e += exponent_a[k];
              greatest = e > greatest ? e : greatest;
            }

            // 1 / unit for the values; 0 if that cuts all of them off.
            ints stored_scale = 127 + fraction_bits + t.greatest - greatest;
            stored_scale = stored_scale < 0 ? zero : stored_scale;
            stored_scale = stored_scale > 254 ? zero + 254 : stored_scale;
            const floats scale = (floats)(stored_scale << 23);
            words sum = {};
            KAIO_UNROLLED for (u32 k = 0; k < Count; ++k) {
              floats y;
              __builtin_memcpy(&y, b + std::size_t{places[k]} * tile_lanes, sizeof y);
              sum += (words) __builtin_convertvector(y * a[k] * scale, ints);
            }

            ints down = greatest - c_exponent + narrowed;
            down = down < 0 ? zero : down;
            down = down > 31 ? zero + 31 : down;
            const words c_size = c_significand << widened >> (words)down;
            const words c_kept = (ints)c < 0 ? 0 - c_size : c_size;
            // The sum may have 32 bits and a sign. If both terms have one sign, it is the total's.
            const words total = sum + c_kept;
            const words sign = ((sum & c_kept) | ((sum | c_kept) & total)) & 0x80000000u;
            const words size = sign != 0 ? 0 - total : total;

            // Clear what 24 bits do not hold: the conversion is exact.
            words above = size >> 24;
            above |= above >> 1;
            above |= above >> 2;
            above |= above >> 4;
            const words top = size & ~above;
            const floats number = __builtin_convertvector((ints)(top >> 16), floats) * 65536.0f +
                                  __builtin_convertvector((ints)(top & 0xffff), floats);
            const words bits = (words)number;
            const ints last = greatest - fraction_bits;
            const ints stored = (ints)(bits >> 23) + last;
            // In units of the least subnormal number, 2^-149.
            ints left = last + 149, right = -left;
            left = left < 0 ? zero : left;
            left = left > 31 ? zero + 31 : left;
            right = right < 0 ? zero : right;
            right = right > 31 ? zero + 31 : right;
            const words subnormal = size << (words)left >> (words)right;
            words result = (stored >= 1 ? bits + ((words)last << 23) : subnormal) & kept_bits;
            result = stored > 254 ? (words)zero + 0x7f800000u : result;
            result = result != 0 ? result | sign : result;
            result = size != 0 ? result : (words)zero;
            // An infinite c stays, a NaN becomes the canonical one.
            const words special = c_fraction != 0 ? (words)zero + 0x7fffffffu : c;
            c = c_stored == 0xff ? special : result;
          }
          if (t.restarts) {
            const floats added = (floats)before + (floats)c;
            c = added == added ? (words)added : (words)zero + 0x7fffffffu;
          }
          __builtin_memcpy(d, &c, sizeof c);
        }
  }

  // Splits elements that are above `Unused` bits. Without infinities only the greatest code is special: NaN.
  template <u32 Unused, u32 ExponentBits, u32 FractionBits, bool Infinity>
  KAIO_UNCHECKED KAIO_TARGET static exponent_range split(const u32* codes, std::size_t count, s32* exponents,
                                                         f32* significands) {
    constexpr u32 top = (1u << ExponentBits) - 1;
    constexpr s32 bias = static_cast<s32>(top >> 1);
    const ints zero = {};
    ints greatest = zero + exponent_of_zero, least = zero - exponent_of_zero, special = zero;
    for (std::size_t i = 0; i < count; i += lanes) {
      words code;
      __builtin_memcpy(&code, codes + i, sizeof code);
      code >>= Unused;
      const ints fraction = (ints)(code & ((1u << FractionBits) - 1));
      const ints stored = (ints)(code >> FractionBits & top);
      const ints size = fraction | ((stored != 0) & (1 << FractionBits));
      const ints exponent = (stored > 1 ? stored : zero + 1) - bias;
      const ints known = size != 0 ? exponent : zero + exponent_of_zero;
      const ints low = size != 0 ? exponent : zero - exponent_of_zero;
      const floats value =
          __builtin_convertvector((code >> (ExponentBits + FractionBits) & 1) != 0 ? -size : size, floats);
      __builtin_memcpy(exponents + i, &known, sizeof known);
      __builtin_memcpy(significands + i, &value, sizeof value);
      greatest = known > greatest ? known : greatest;
      least = low < least ? low : least;
      special |= Infinity ? stored == static_cast<s32>(top)
                          : (stored == static_cast<s32>(top)) & (fraction == (1 << FractionBits) - 1);
    }
    exponent_range result;
    for (u32 lane = 0; lane < lanes; ++lane) {
      result.greatest = greatest[lane] > result.greatest ? greatest[lane] : result.greatest;
      result.least = least[lane] < result.least ? least[lane] : result.least;
      result.special |= static_cast<u32>(special[lane]);
    }
    return result;
  }

  KAIO_UNCHECKED KAIO_TARGET static void scale(f32* values, const s32* exponents, std::size_t count,
                                               s32 one) {
    const ints zero = {};
    for (std::size_t i = 0; i < count; i += lanes) {
      floats value;
      ints stored;
      __builtin_memcpy(&value, values + i, sizeof value);
      __builtin_memcpy(&stored, exponents + i, sizeof stored);
      stored += 127 - one;
      stored = stored < 0 ? zero : stored;
      value *= (floats)(stored << 23);
      __builtin_memcpy(values + i, &value, sizeof value);
    }
  }
};
