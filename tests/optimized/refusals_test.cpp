#include "refusals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "flash_attention_score/checks.hpp"
#include "flash_attention_score_grad/checks/checks.hpp"
#include "nsa_compress/checks.hpp"
#include "nsa_compress_grad/checks.hpp"
#include "nsa_selected_attention/checks.hpp"
#include "nsa_selected_attention_grad/checks.hpp"
#include "sparse_flash_attention_grad/checks.hpp"

/// Compares two independent implementations of the documentation: the argument checks of our
/// kernels, and the judge's tables of requirements.
namespace assay::test {
namespace {

using Ids = std::set<std::string, std::less<>>;

/// Pairs of overlapping requirements. If a call violates both, the tables name the second one, but
/// the kernel may name the first one.
const std::map<std::string, std::string, std::less<>> says_it_too = {
    {"FAG-C03", "FAG-C32"}, {"FAG-C21", "FAG-C27"}, {"FAG-C33", "FAG-C36"}, {"FAG-C35", "FAG-C36"},
    {"FAG-C37", "FAG-C44"}, {"FAG-C61", "FAG-C60"}, {"TND-2", "TND-5"},     {"FAS-C33", "FAS-C32"},
    {"FAS-C35", "FAS-C37"}, {"FAS-C40", "FAS-C37"}};

/// The requirements that a call violates.
struct Broken {
  Ids binding, others;  ///< `others`: requirements that a kernel may ignore
};

template <class Op>
Broken broken_by(const spec::Call<Op>& call) {
  Broken broken;
  for (const auto* row : spec::violations(Op::requirements(), call))
    (row->binds(call.entry_point, {}) ? broken.binding : broken.others).emplace(row->id);
  return broken;
}

std::string listed(const Ids& ids) {
  std::string text;
  for (const auto& id : ids) text += id + ' ';
  return text;
}

/// Expects that the kernel refuses the call if a binding requirement is violated, and accepts it if
/// no requirement is violated.
void expect_agreement(const Broken& broken, const Answer& given, const std::string& where) {
  if (given.message.empty()) {
    EXPECT_TRUE(broken.binding.empty()) << where << ": accepted, breaks " << listed(broken.binding);
  } else {
    EXPECT_FALSE(broken.binding.empty() && broken.others.empty())
        << where << ": violates nothing, but the answer is " << given.message;
  }
}

/// Returns the id of the requirement to which an id with a letter belongs, for example FAG-C20 for
/// FAG-C20a.
std::string row_of(std::string_view id) {
  return std::string(id.substr(0, id.find_last_of("0123456789") + 1));
}

// Returns values that can replace an argument. The old value may be among them.
std::vector<spec::Parameter> others(const spec::Parameter& tensor) {
  std::vector<spec::Parameter> all;
  const auto add = [&](const auto& change) {
    all.push_back(tensor);
    change(all.back());
    all.back().strides = spec::contiguous_strides(all.back().shape);
  };
  add([](auto& t) { t.present = !t.present; });
  for (const auto& [dtype, name] : spec::spellings_of<spec::DType>.entries)
    add([&](auto& t) { t.dtype = dtype; });
  for (const auto format : {spec::Format::nchw, spec::Format::fractal_nz})
    add([&](auto& t) { t.format = format; });
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    for (const std::int64_t extent : {tensor.shape[axis] - 1, tensor.shape[axis] + 1,
                                      2 * tensor.shape[axis], std::int64_t{0}, std::int64_t{1}})
      if (extent >= 0) add([&](auto& t) { t.shape[axis] = extent; });
  }
  add([](auto& t) { t.shape.push_back(1); });
  if (!tensor.shape.empty()) add([](auto& t) { t.shape.pop_back(); });
  return all;
}
std::vector<std::int64_t> next_to(std::int64_t number) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::vector<std::int64_t> both;
  if (number > Limits::min()) both.push_back(number - 1);
  if (number < Limits::max()) both.push_back(number + 1);
  return both;
}
using HostArray = std::optional<std::vector<std::int64_t>>;
std::vector<HostArray> others(const HostArray& array) {
  std::vector<HostArray> all = {std::nullopt, HostArray{std::in_place}, {{0}}, {{1, 2}}};
  if (!array) return all;
  for (std::size_t k = 0; k < array->size(); ++k)
    for (const std::int64_t number : next_to((*array)[k])) {
      all.push_back(array);
      (*all.back())[k] = number;
    }
  all.push_back(array);
  all.back()->push_back(array->empty() ? 1 : array->back());
  return all;
}
std::vector<bool> others(bool is_given) { return {!is_given}; }
std::vector<double> others(double) {
  return {0, 0.5, 1, 1.5, -1, std::numeric_limits<double>::quiet_NaN()};
}
std::vector<std::int64_t> others(std::int64_t number) {
  std::vector<std::int64_t> all = next_to(number);
  all.push_back(std::numeric_limits<std::int64_t>::min());
  all.push_back(std::numeric_limits<std::int64_t>::max());
  for (std::int64_t small = -40; small <= 40; ++small) all.push_back(small);
  return all;
}
std::vector<std::optional<std::string>> others(const std::optional<std::string>&) {
  return {std::nullopt, "", "x", "BSH", "SBH", "BSND", "BNSD", "TND", "same_as_input"};
}

bool takes_rope(auto entry_point) {
  if constexpr (requires { has_rope(entry_point); }) return has_rope(entry_point);
  return false;
}

/// Takes one argument after the other, and gives it each value of `others`. Calls visit(name, call)
/// for every call that results.
template <class Op, class Visit>
void each_neighbour(spec::Call<Op> call, const Visit& visit) {
  const auto each_value = [&](std::string_view name, auto& argument) {
    if (name.ends_with("_rope") && !takes_rope(call.entry_point)) return;
    const auto kept = argument;
    for (auto other : others(kept)) {
      argument = std::move(other);
      visit(name, call);
    }
    argument = kept;
  };
  visit_fields(call.parameters, each_value);
  visit_fields(call.attributes, each_value);
}

/// Counts how often a kernel accepted or refused a call.
struct Counts {
  std::map<std::string, int, std::less<>> refused;  ///< requirement's id -> number of refusals
  int accepted = 0, accepted_though_broken = 0;
};

template <class Op>
class Refusals : public testing::Test {
 public:
  void count(const Broken& broken, const Answer& given) {
    if (!given.message.empty())
      ++counts.refused[given.id()];
    else
      ++(broken.others.empty() ? counts.accepted : counts.accepted_though_broken);
  }

  Counts counts;
};

TYPED_TEST_SUITE(Refusals, tests::EveryTiledOperator, tests::ByOperator);

auto checks_of(spec::FlashAttentionScoreGrad) { return optimized::argument_checks(); }
auto checks_of(spec::FlashAttentionScore) {
  return optimized::attention_forward::argument_checks();
}
auto checks_of(spec::NsaSelectedAttentionGrad) { return optimized::selected::argument_checks(); }
auto checks_of(spec::NsaSelectedAttention) {
  return optimized::selected_forward::argument_checks();
}
auto checks_of(spec::SparseFlashAttentionGrad) {
  return optimized::sparse_flash::argument_checks();
}
auto checks_of(spec::NsaCompress) { return optimized::forward_compression::argument_checks(); }
auto checks_of(spec::NsaCompressGrad) { return optimized::compress::argument_checks(); }

template <class Op>
Ids ids_of_checks(Op op) {
  Ids ids;
  for (const auto& check : checks_of(op)) ids.emplace(check.id);
  return ids;
}

/// The plan contains legal calls at both ends of the range of each argument.
TYPED_TEST(Refusals, AnswerPlannedCallsAsTheRequirementsSay) {
  const auto kernel = tests::tiled_kernel<TypeParam>();
  each_planned_answer<TypeParam>([&](const auto& c, const auto& call, const Answer& given) {
    EXPECT_EQ(kernel->unsupported(call), std::nullopt);  // every documented feature is there
    const Broken broken = broken_by(call);
    const std::string line = conformance::command_line(c);
    expect_agreement(broken, given, line);
    if (c.violate.empty()) {
      EXPECT_EQ(given.message, "") << line;
    } else if (!given.message.empty()) {
      Ids rows;
      for (const auto& ids : {broken.binding, broken.others})
        for (const auto& id : ids) rows.insert(row_of(id));
      const auto other = says_it_too.find(row_of(given.id()));
      EXPECT_TRUE(rows.contains(row_of(given.id())) ||
                  (other != says_it_too.end() && rows.contains(other->second)))
          << line << ": " << given.message << "; the call breaks " << listed(rows);
    }
    this->count(broken, given);
  });
  for (const auto& id : ids_of_checks(TypeParam{})) EXPECT_GT(this->counts.refused[id], 0) << id;
  EXPECT_GT(this->counts.accepted_though_broken, 0);
}

TYPED_TEST(Refusals, ReturnTheDocumentedStatusAndStateALimit) {
  each_planned_answer<TypeParam>([&](const auto& c, const auto&, const Answer& given) {
    if (given.message.empty()) return;
    const auto& row = conformance::requirement_of_id<TypeParam>(given.id());
    const spec::ExpectedStatus status = row.status_on(c.entry_point);
    if (!status.any) {
      EXPECT_EQ(given.status, status.code) << given.message;
    }
    EXPECT_NE(given.message.find(';'), std::string::npos) << given.message;
  });
}

/// Takes every 24th legal call of the plan, and changes one argument at a time.
TYPED_TEST(Refusals, AnswerNeighboursOfLegalCallsAsTheRequirementsSay) {
  const auto kernel = tests::tiled_kernel<TypeParam>();
  std::size_t place = 0;
  for (const auto& c : conformance::sample<TypeParam>({})) {
    if (!c.violate.empty() || ++place % 24 != 0) continue;
    each_neighbour(conformance::call_of(c), [&](std::string_view name, const auto& call) {
      const Broken broken = broken_by(call);
      const Answer given = answer(*kernel, call);
      expect_agreement(broken, given,
                       conformance::command_line(c) + ", changed " + std::string(name));
      this->count(broken, given);
    });
  }
  EXPECT_GT(this->counts.accepted, 120);
  EXPECT_GT(this->counts.refused.size(), ids_of_checks(TypeParam{}).size() / 2);
}

}  // namespace
}  // namespace assay::test
