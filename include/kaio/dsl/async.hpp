#pragma once
// Asynchronous copies and their synchronisation: mbarriers, bulk and tensor copies, cp.async, L2 policies,
// pipelines. The parts can be included alone.
//
//   full[0].arrive_expect_tx(1024);
//   copy_tensor(tile, map, coordinates(k, row), full[0]);
//   full[0].wait(0);

#include <kaio/dsl/async/bulk_copy.hpp>
#include <kaio/dsl/async/bulk_group.hpp>
#include <kaio/dsl/async/bulk_operation.hpp>
#include <kaio/dsl/async/cache_policy.hpp>
#include <kaio/dsl/async/cp_async.hpp>
#include <kaio/dsl/async/fence.hpp>
#include <kaio/dsl/async/mbarrier.hpp>
#include <kaio/dsl/async/pipeline.hpp>
#include <kaio/dsl/async/tensor_copy.hpp>
