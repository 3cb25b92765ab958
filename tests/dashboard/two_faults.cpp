// A kernel with two injected faults, for the tests of the report page. In sparse mode 3 the second
// half of dq is too large by an eighth. In fp16 the last channels of dv are missing if dv has 32
// channels or more.

#include "../tools/wrapped.hpp"

namespace assay::tests {
namespace {

/// Multiplies the last elements of the view by `factor`. `from` is the fraction of the elements
/// that stay unchanged.
void change_after(spec::Tensor& tensor, double from, double factor) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  const auto first = static_cast<std::size_t>(from * static_cast<double>(elements.size()));
  for (std::size_t k = first; k < elements.size(); ++k)
    tensor.store(elements[k], factor * tensor.load(elements[k]));
}

/// Writes zeros to the last quarter of the channels. In a packed layout, the channels of all heads
/// count as one range.
void forget_channels(spec::Tensor& tensor) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  const auto channels = static_cast<std::size_t>(tensor.shape.back());
  for (std::size_t k = 0; k < elements.size(); ++k)
    if (k % channels >= channels - channels / 4) tensor.store(elements[k], 0);
}

class TwoFaults : public Wrapped {
 public:
  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    Wrapped::run(problem, inputs, outputs);
    if (problem.sparse_mode == 3) change_after(outputs.dq, 0.5, 1.125);
    if (problem.dtype == spec::DType::fp16 && problem.head_dim_v >= 32) forget_channels(outputs.dv);
  }
};

}  // namespace
}  // namespace assay::tests

int main(int argc, char** argv) {
  assay::cli::Registry registry;
  registry.add<assay::tests::Op>(
      {.name = "two_faults",
       .summary = "dq under sparse mode 3, dv in fp16",
       .make = [] { return std::make_unique<assay::tests::TwoFaults>(); },
       .in_process = true});
  return assay::cli::main(argc, argv, registry);
}
