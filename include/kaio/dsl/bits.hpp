#pragma once
// The operations on integers besides C++'s operators: counting and finding bits, fields, permutations,
// rotations, whole and upper products, distances, dot products of bytes. Each is a pure expression, named as
// PTX or CUDA names it; small integers are taken at their own width.
//
//   val level = 31 - clz(x);
//   val high = mul_hi(a, b) + popc(mask);

#include <kaio/dsl/integer/count.hpp>
#include <kaio/dsl/integer/field.hpp>
#include <kaio/dsl/integer/product.hpp>
