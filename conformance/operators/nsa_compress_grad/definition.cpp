#include "operators/nsa_compress_grad/definition.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "assay/reference/nsa_compress_grad.hpp"

namespace assay::conformance::compress {
namespace {

using Op = spec::NsaCompressGrad;
using reference::Wide;

/// Cost of an exact multiplication, relative to one with 50 digits.
constexpr std::int64_t price = 4;

/// Computes exact products and sums. The oracle of a head is created only if the head is requested.
class WithoutError : public Definition {
 public:
  explicit WithoutError(const Dense& dense)
      : dense_(dense),
        made_(static_cast<std::size_t>(dense.problem.heads)),
        oracles_(made_.size()) {}

  DefinedRows row(const std::string& tensor, std::int64_t number) override {
    const bool is_input = tensor == "input_grad";
    const spec::RowPosition at = (is_input ? dense_.inputs : dense_.weights).position(number);
    return {{tensor, defined_row(is_input ? of(at.n).input_grad_row(at.b, 0, at.s)
                                          : std::vector<Wide>{of(at.n).weight_grad(at.s, 0)})}};
  }
  std::int64_t products(const std::string& tensor) const override {
    const Op::Problem& p = dense_.problem;
    const std::int64_t covering = (p.compress_block_size - 1) / p.compress_stride + 1;
    return price * (tensor == "input_grad" ? covering : all_windows(p)) * p.head_dim;
  }

 private:
  using Oracle = reference::NsaCompressGrad<Wide, float>;

  const Oracle& of(std::int64_t n) {
    const auto k = static_cast<std::size_t>(n);
    std::call_once(made_[k], [&] {
      Op::Problem problem = dense_.problem;
      problem.heads = 1;
      oracles_[k].emplace(problem, operands(n));
    });
    return *oracles_[k];
  }
  reference::CompressOperands<float> operands(std::int64_t n) const {
    const Op::Problem& p = dense_.problem;
    reference::CompressOperands<float> own;
    for (std::int64_t b = 0; b < p.batch; ++b) {
      const double *input = dense_.input(b, n, 0), *gradient = dense_.output_grad(b, n, 0);
      own.input.insert(own.input.end(), input, input + dense_.inputs.length(b) * p.head_dim);
      own.output_grad.insert(own.output_grad.end(), gradient,
                             gradient + dense_.outputs.length(b) * p.head_dim);
    }
    for (std::int64_t w = 0; w < p.compress_block_size; ++w)
      own.weight.push_back(static_cast<float>(dense_.weight(w, n)));
    return own;
  }

  const Dense& dense_;
  std::vector<std::once_flag> made_;
  std::vector<std::optional<Oracle>> oracles_;
};

}  // namespace

std::unique_ptr<Definition> definition_of(const Dense& dense) {
  return std::make_unique<WithoutError>(dense);
}

}  // namespace assay::conformance::compress
