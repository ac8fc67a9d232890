#pragma once
// The tracer with all its functions.

#include <kaio/dsl/trace/arithmetic.hpp>
#include <kaio/dsl/trace/conversion.hpp>
#include <kaio/dsl/trace/finish.hpp>
#include <kaio/dsl/trace/float8.hpp>
#include <kaio/dsl/trace/history.hpp>
#include <kaio/dsl/trace/memory.hpp>
#include <kaio/dsl/trace/numbering.hpp>
#include <kaio/dsl/trace/recording.hpp>
#include <kaio/dsl/trace/scratch.hpp>
