#include "assay/reference/nsa_compress_grad.hpp"

#include <string_view>
#include <utility>

#include "dense.hpp"
#include "rows.hpp"
#include "windows.hpp"

namespace assay::reference {
namespace {

using Problem = spec::NsaCompressGrad::Problem;
using Inputs = spec::NsaCompressGrad::Inputs;

constexpr std::string_view name = spec::NsaCompressGrad::name;

}  // namespace

template <class Real>
CompressOperands<Real> operands_of(const Problem& p, const Inputs& inputs) {
  return {.output_grad = dense<Real>(inputs.output_grad, spec::Layout::tnd, output_extents(p)),
          .input = dense<Real>(inputs.input, spec::Layout::tnd, input_extents(p)),
          .weight = weights_of<Real>(name, p, inputs.weight)};
}

template <class Real, class Stored>
NsaCompressGrad<Real, Stored>::NsaCompressGrad(const Problem& problem,
                                               CompressOperands<Stored> operands)
    : problem_(problem),
      operands_(std::move(operands)),
      inputs_(input_extents(problem)),
      outputs_(output_extents(problem)) {
  check_window(name, problem);
  check_size(name, "output_grad", operands_.output_grad.size(), outputs_.rows() * outputs_.dim);
  check_size(name, "input", operands_.input.size(), inputs_.rows() * inputs_.dim);
  check_size(name, "weight", operands_.weight.size(), problem.compress_block_size * problem.heads);
}

template <class Real, class Stored>
NsaCompressGrad<Real, Stored> NsaCompressGrad<Real, Stored>::from(const Problem& problem,
                                                                  const Inputs& inputs) {
  return {problem, operands_of<Stored>(problem, inputs)};
}

template <class Real, class Stored>
std::vector<Real> NsaCompressGrad<Real, Stored>::input_grad_row(std::int64_t b, std::int64_t n,
                                                                std::int64_t p) const {
  auto gradient = zeros<Real>(problem_.head_dim);
  for (std::int64_t i = 0; i < outputs_.length(b); ++i) {
    const std::int64_t w = p - i * problem_.compress_stride;
    if (w < 0 || w >= problem_.compress_block_size) continue;
    add_scaled(gradient, Real(operands_.weight[static_cast<std::size_t>(w * problem_.heads + n)]),
               row<Real>(operands_.output_grad, outputs_.row(b, n, i), problem_.head_dim));
  }
  return gradient;
}

template <class Real, class Stored>
Real NsaCompressGrad<Real, Stored>::weight_grad(std::int64_t w, std::int64_t n) const {
  Real sum(0);
  for (std::int64_t b = 0; b < problem_.batch; ++b)
    for (std::int64_t i = 0; i < outputs_.length(b); ++i) {
      const std::int64_t p = i * problem_.compress_stride + w;
      sum += dot(row<Real>(operands_.output_grad, outputs_.row(b, n, i), problem_.head_dim),
                 row<Real>(operands_.input, inputs_.row(b, n, p), problem_.head_dim));
    }
  return sum;
}

template CompressOperands<double> operands_of(const Problem&, const Inputs&);
template CompressOperands<Quad> operands_of(const Problem&, const Inputs&);
template CompressOperands<Fifty> operands_of(const Problem&, const Inputs&);
template class NsaCompressGrad<double>;
template class NsaCompressGrad<Quad>;
template class NsaCompressGrad<Fifty>;
template class NsaCompressGrad<Wide, float>;

}  // namespace assay::reference
