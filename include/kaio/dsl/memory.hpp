#pragma once
// Memory: the pointer parameters of a kernel, arrays in shared, local and constant memory, vectors, structs,
// and their loads, stores and atomics. Indexing names a cell; its load or store happens at that point of the kernel.
//
//   y[i] = x[i] * 2.0f;                 // in<f32> x, out<f32> y
//   shared<f32, 16, 17> tile(t);        // rows of 17: no bank conflicts by column
//   tile[row][column] = x[i];
//   atomic_add(sum[0], tile[column][row]);

#include <kaio/dsl/memory/access.hpp>
#include <kaio/dsl/memory/atomic.hpp>
#include <kaio/dsl/memory/index.hpp>
#include <kaio/dsl/memory/local.hpp>
#include <kaio/dsl/memory/pointer.hpp>
#include <kaio/dsl/memory/pointer_at.hpp>
#include <kaio/dsl/memory/shared.hpp>
#include <kaio/dsl/memory/vector_cast.hpp>
