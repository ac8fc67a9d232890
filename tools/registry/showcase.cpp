// The kernels of the showcases.
#include "showcase/attention/attention.hpp"
#include "showcase/fused_silu_gate/fused_silu_gate.hpp"
#include "showcase/generation/kernels.hpp"
#include "showcase/row_attention/row_attention.hpp"
#include "showcase/saxpy/saxpy.hpp"
#include "showcase/softmax/softmax.hpp"
#include "showcase/statistics/statistics.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("showcase", [] {
  using namespace showcase;
  return images(saxpy, fused_silu_gate, softmax, row_attention<64, causal>, row_statistics<f32>,
                row_statistics<bf16>, visit_order, generation::embed, generation::rms_norm,
                generation::advance, generation::choose);
});

}  // namespace
}  // namespace kaio::tools
