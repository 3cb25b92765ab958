#include "assay/reference/nsa_compress_grad.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "dense.hpp"
#include "rows.hpp"

namespace assay::reference {
namespace {

using Problem = spec::NsaCompressGrad::Problem;
using Inputs = spec::NsaCompressGrad::Inputs;

void check_size(const char* what, std::size_t size, std::int64_t expected) {
  if (static_cast<std::int64_t>(size) != expected)
    throw std::invalid_argument(std::string("nsa_compress_grad: ") + what + " has " +
                                std::to_string(size) + " elements, the problem needs " +
                                std::to_string(expected));
}

void check_window(const Problem& p) {
  if (p.compress_block_size < 1 || p.compress_stride < 1)
    throw std::invalid_argument("nsa_compress_grad: a window of " +
                                std::to_string(p.compress_block_size) + " and a stride of " +
                                std::to_string(p.compress_stride) + ", both must be positive");
}

template <class Real>
std::vector<Real> weights_of(const Problem& p, const spec::Tensor& tensor) {
  if (tensor.shape != weight_shape(p))
    throw std::invalid_argument("nsa_compress_grad: weight has the shape " + text_of(tensor.shape) +
                                ", the problem needs " + text_of(weight_shape(p)));
  std::vector<Real> weights;
  for (const std::int64_t element : spec::viewed_elements(tensor))
    weights.push_back(static_cast<Real>(tensor.load(element)));
  return weights;
}

}  // namespace

template <class Real>
CompressOperands<Real> operands_of(const Problem& p, const Inputs& inputs) {
  return {.output_grad = dense<Real>(inputs.output_grad, spec::Layout::tnd, output_extents(p)),
          .input = dense<Real>(inputs.input, spec::Layout::tnd, input_extents(p)),
          .weight = weights_of<Real>(p, inputs.weight)};
}

template <class Real>
std::vector<Real> forward(const Problem& p, const CompressOperands<Real>& operands) {
  check_window(p);
  const spec::Extents inputs = input_extents(p), outputs = output_extents(p);
  std::vector<Real> result;
  for (std::int64_t b = 0; b < p.batch; ++b)
    for (std::int64_t n = 0; n < p.heads; ++n)
      for (std::int64_t i = 0; i < outputs.length(b); ++i) {
        auto sum = zeros<Real>(p.head_dim);
        for (std::int64_t w = 0; w < p.compress_block_size; ++w)
          add_scaled(
              sum, operands.weight[static_cast<std::size_t>(w * p.heads + n)],
              row<Real>(operands.input, inputs.row(b, n, i * p.compress_stride + w), p.head_dim));
        result.insert(result.end(), sum.begin(), sum.end());
      }
  return result;
}

template <class Real, class Stored>
NsaCompressGrad<Real, Stored>::NsaCompressGrad(const Problem& problem,
                                               CompressOperands<Stored> operands)
    : problem_(problem),
      operands_(std::move(operands)),
      inputs_(input_extents(problem)),
      outputs_(output_extents(problem)) {
  check_window(problem);
  check_size("output_grad", operands_.output_grad.size(), outputs_.rows() * outputs_.dim);
  check_size("input", operands_.input.size(), inputs_.rows() * inputs_.dim);
  check_size("weight", operands_.weight.size(), problem.compress_block_size * problem.heads);
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
template std::vector<double> forward(const Problem&, const CompressOperands<double>&);
template std::vector<Quad> forward(const Problem&, const CompressOperands<Quad>&);
template std::vector<Fifty> forward(const Problem&, const CompressOperands<Fifty>&);
template class NsaCompressGrad<double>;
template class NsaCompressGrad<Quad>;
template class NsaCompressGrad<Fifty>;
template class NsaCompressGrad<Wide, float>;

}  // namespace assay::reference
