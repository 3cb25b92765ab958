#pragma once

#include <algorithm>
#include <string>

#include "assay/spec/implementation.hpp"
#include "toy_operator/operator.hpp"

namespace assay::toy {

/// The fault of a kernel.
enum class Bug { none, short_window, forgotten_scale, row_of_the_next_head, unchecked_window };

/// Sums in fp32, and casts once.
class Kernel final : public spec::Implementation<Op> {
 public:
  explicit Kernel(Bug bug = Bug::none) : bug_(bug) {}

  std::string name() const override { return "toy"; }
  void check(const spec::Call<Op>& call) const override {
    for (const auto* broken : spec::violations(Op::requirements(), call))
      if (bug_ != Bug::unchecked_window || broken->id != "TOY-C4")
        throw spec::Rejected(spec::Status::param_invalid, std::string(broken->statement));
  }
  void run(const Op::Problem& p, const Op::Inputs& in, Op::Outputs& out) override {
    const spec::HeadView gradient(in.output_grad, spec::Layout::bnsd, extents(p));
    const spec::HeadIndex at(out.input_grad, spec::Layout::bnsd, extents(p));
    const std::int64_t window = p.window - (bug_ == Bug::short_window ? 1 : 0);
    const auto scale = static_cast<float>(bug_ == Bug::forgotten_scale ? 1 : p.scale);
    for (std::int64_t row = 0; row < extents(p).rows(); ++row)
      for (std::int64_t d = 0; d < p.head_dim; ++d) {
        const auto [b, n, s] = extents(p).position(row);
        const bool lost = bug_ == Bug::row_of_the_next_head && s + 1 == p.seq;
        float sum = 0;
        for (std::int64_t i = s; i < std::min(s + window, p.seq); ++i)
          sum += static_cast<float>(gradient(b, lost ? (n + 1) % p.heads : n, i, d));
        out.input_grad.store(at(b, n, s, d), scale * sum);
      }
  }

 private:
  Bug bug_;
};

}  // namespace assay::toy
