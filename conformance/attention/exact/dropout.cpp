#include "attention/exact/dropout.hpp"

namespace assay::conformance::exact {

Dropout::Dropout(const ExactPlan& plan)
    : plan_(&plan),
      random_(stream(plan.seed, Stream::exact_case).bits(~std::uint64_t{1}),
              static_cast<std::uint64_t>(Stream::exact_case)) {
  std::int64_t next = 0;
  for (std::int64_t b = 0; b < plan.problem.batch; ++b) {
    first_.push_back(next);
    next += plan.problem.heads_q * plan.problem.length_q(b) * plan.problem.length_kv(b);
  }
}

bool Dropout::keeps(std::int64_t b, std::int64_t n, std::int64_t i, std::int64_t j) const {
  const Op::Problem& p = plan_->problem;
  const auto score = static_cast<std::uint64_t>(first_[static_cast<std::size_t>(b)] +
                                                (n * p.length_q(b) + i) * p.length_kv(b) + j);
  return (word(score / 64) >> score % 64 & 1) != 0;
}

/// Combines drop_shift random words with AND, so that each bit is 1 with probability 2^-drop_shift.
std::uint64_t Dropout::word(std::uint64_t index) const {
  std::uint64_t bits = ~std::uint64_t{0};
  for (int k = 0; k < plan_->drop_shift; ++k)
    bits &= random_.bits(index + (static_cast<std::uint64_t>(k) << 48));
  return bits;
}

void Dropout::write(spec::Tensor& tensor) const {
  const std::int64_t bytes = (spec::score_count(plan_->problem) + 7) / 8;
  for (std::int64_t byte = 0; byte < bytes; ++byte) {
    const std::uint64_t bits = word(static_cast<std::uint64_t>(byte) / 8);
    tensor.bytes[static_cast<std::size_t>(tensor.offset + byte * tensor.strides[0])] =
        static_cast<std::byte>(bits >> 8 * (byte % 8) & 0xff);
  }
}

}  // namespace assay::conformance::exact
