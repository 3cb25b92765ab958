// A kernel with two planted bugs, for the page's tests: under sparse mode 3 dq is too large by an
// eighth in its later half, and in fp16 the last channels of a dv of 32 or more are missing.

#include "../tools/wrapped.hpp"

namespace assay::tests {
namespace {

/// Applies `change` to the elements of the view from the share `from` on.
void change_behind(spec::Tensor& tensor, double from, double factor) {
  const std::vector<std::int64_t> elements = spec::viewed_elements(tensor);
  const auto first = static_cast<std::size_t>(from * static_cast<double>(elements.size()));
  for (std::size_t k = first; k < elements.size(); ++k)
    tensor.store(elements[k], factor * tensor.load(elements[k]));
}

/// Zeros in the last quarter of the channels: heads of a packed layout are not told apart.
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
    if (problem.sparse_mode == 3) change_behind(outputs.dq, 0.5, 1.125);
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
