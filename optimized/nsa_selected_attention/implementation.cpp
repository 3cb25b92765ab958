#include "assay/optimized/nsa_selected_attention.hpp"
#include "host/threads.hpp"
#include "model/selection.hpp"
#include "nsa_selected_attention/checks.hpp"
#include "operands/numerics.hpp"
#include "selection/forward.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::NsaSelectedAttention;

class NsaSelectedAttention final : public spec::Implementation<Op> {
 public:
  NsaSelectedAttention(const device::Spec& device, const Options& options)
      : name_("optimized-" + device.name),
        threads_(options.threads),
        kernels_(tile::kernels_of_any_cpu(options)) {}

  std::string name() const override { return name_; }

  spec::Numerics numerics(const Op::Problem& problem) const override {
    return numerics_of_tiles(problem.dtype);
  }

  void check(const spec::Call<Op>& call) const override {
    selected_forward::refuse_unless_legal(call);
  }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    const std::int64_t units = topk_extents(problem).rows();
    const std::int64_t scores =
        query_extents(problem).rows() * problem.selected_block_count * problem.selected_block_size;
    const double flop = 4.0 * static_cast<double>(scores) * static_cast<double>(problem.head_dim);
    selected::compute_forward(problem,
                              {.query = inputs.query,
                               .key = inputs.key,
                               .value = inputs.value,
                               .topk_indices = inputs.topk_indices,
                               .softmax_max = outputs.softmax_max,
                               .softmax_sum = outputs.softmax_sum,
                               .attention_out = outputs.attention_out},
                              "NSSF-C13", kernels_, threads_for(threads_, flop, units));
  }

 private:
  std::string name_;
  int threads_;
  const tile::Kernels& kernels_;
};

}  // namespace

std::unique_ptr<spec::Implementation<Op>> nsa_selected_attention(const device::Spec& device,
                                                                 Options options) {
  return std::make_unique<NsaSelectedAttention>(device, options);
}

std::string Tiled<Op>::plan(const Op::Problem& problem, const device::Spec& device) {
  return schedules::report(selection_of(problem, schedules::Direction::forward), device);
}

std::string Tiled<Op>::trace(const Op::Problem& problem, const device::Spec& device) {
  return schedules::trace(selection_of(problem, schedules::Direction::forward), device);
}

}  // namespace assay::optimized
