#pragma once
// Operations on integers that C++ has no operator for: counting and finding bits, fields, permutations, rotations,
// whole and upper products, distances, dot products of bytes. Each is a pure expression with its PTX or CUDA name.
// Integers of 8 and 16 bits keep their own width.
//
//   val level = 31 - clz(x);
//   val high = mul_hi(a, b) + popc(mask);

#include <kaio/dsl/integer/count.hpp>
#include <kaio/dsl/integer/field.hpp>
#include <kaio/dsl/integer/product.hpp>
