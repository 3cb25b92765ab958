#include "assay/conformance/sampling.hpp"

#include <set>
#include <stdexcept>

#include "operators/flash_attention_score_grad_relations.hpp"
#include "operators/flash_attention_score_grad_sampling.hpp"

namespace assay::conformance {
namespace {

constexpr std::int64_t full_random_factor = 5;

template <class Op>
void require_legal(const Case<Op>& c) {
  if (!c.violate.empty()) return;
  for (const auto* row : spec::violations(Op::constraints(), call_of(c)))
    if (row->standing != spec::Standing::disputed)
      throw std::logic_error("sampled case breaks " + std::string(row->id) + ": " +
                             command_line(c));
}

/// Appends what is not there yet.
template <class Op>
class Collector {
 public:
  explicit Collector(const SamplingPlan& plan) : plan_(plan) {}

  void add(std::vector<Case<Op>> cases) {
    for (auto& c : cases) {
      if (plan_.product) {
        if (!spec::supports(c.surface, *plan_.product)) continue;
        c.product = *plan_.product;
      }
      require_legal(c);
      if (lines_.insert(command_line(c)).second) cases_.push_back(std::move(c));
    }
  }
  const std::vector<Case<Op>>& cases() const { return cases_; }
  std::vector<Case<Op>> take() { return std::move(cases_); }

 private:
  const SamplingPlan& plan_;
  std::set<std::string> lines_;
  std::vector<Case<Op>> cases_;
};

}  // namespace

template <>
std::vector<Case<spec::FlashAttentionScoreGrad>> sample(const SamplingPlan& plan) {
  const std::int64_t random_cases = plan.random_cases * (plan.full ? full_random_factor : 1);
  Collector<spec::FlashAttentionScoreGrad> cases(plan);
  // Refusals first: they cost next to nothing, and a small budget must not leave them out.
  cases.add(flash::violation_cases());
  cases.add(flash::corner_cases(plan.seed));
  cases.add(flash::cover_cases(plan.seed));
  cases.add(flash::lattice_cases(plan.seed));
  cases.add(flash::relation_cases(plan.seed));
  cases.add(flash::random_cases(plan.seed, random_cases));
  cases.add(flash::completing_cases(plan.seed, cases.cases()));
  if (plan.full) cases.add(flash::largest_cases(plan.seed));
  cases.add(flash::model_cases(plan.full ? flash::ModelExtent::whole : flash::ModelExtent::cut));
  return cases.take();
}

}  // namespace assay::conformance
