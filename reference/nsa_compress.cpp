#include "assay/reference/nsa_compress.hpp"

#include <utility>

#include "rows.hpp"
#include "windows.hpp"

namespace assay::reference {

template <class Real>
NsaCompressOperands<Real> operands_of(const spec::CompressionProblem& problem,
                                      const spec::NsaCompress::Inputs& inputs) {
  return {dense<Real>(inputs.input, spec::Layout::tnd, input_extents(problem)),
          weights_of<Real>(spec::NsaCompress::name, problem, inputs.weight)};
}
template NsaCompressOperands<double> operands_of(const spec::CompressionProblem&,
                                                 const spec::NsaCompress::Inputs&);

template <class Real, class Stored>
NsaCompress<Real, Stored>::NsaCompress(const Problem& problem, NsaCompressOperands<Stored> operands)
    : problem_(problem), operands_(std::move(operands)), inputs_(input_extents(problem)) {
  constexpr auto name = spec::NsaCompress::name;
  check_window(name, problem);
  check_size(name, "input", operands_.input.size(), inputs_.rows() * inputs_.dim);
  check_size(name, "weight", operands_.weight.size(), problem.compress_block_size * problem.heads);
}

template <class Real, class Stored>
NsaCompress<Real, Stored> NsaCompress<Real, Stored>::from(const Problem& problem,
                                                          const Inputs& inputs) {
  return {problem, operands_of<Stored>(problem, inputs)};
}

template <class Real, class Stored>
std::vector<Real> NsaCompress<Real, Stored>::output_row(std::int64_t b, std::int64_t n,
                                                        std::int64_t i) const {
  auto sum = zeros<Real>(problem_.head_dim);
  for (std::int64_t w = 0; w < problem_.compress_block_size; ++w)
    add_scaled(sum, Real(operands_.weight[static_cast<std::size_t>(w * problem_.heads + n)]),
               row<Real>(operands_.input, inputs_.row(b, n, i * problem_.compress_stride + w),
                         problem_.head_dim));
  return sum;
}

template class NsaCompress<double>;
template class NsaCompress<Quad>;
template class NsaCompress<Fifty>;
template class NsaCompress<Wide, float>;

}  // namespace assay::reference
