#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/mutants/mutant.hpp"
#include "flash_attention_score_grad/kernel/kernel.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::mutants {
namespace {

using conformance::Case;
using conformance::CaseReport;
using conformance::ExitCode;
using conformance::Rule;
using conformance::Verdict;
using spec::FlashEntryPoint;
using spec::SoftmaxInLayout;
using spec::StatisticsOrder;
using FlashCase = Case<Op>;

/// A form in which a call passes the softmax statistics: entry point, value of softmaxInLayout, and
/// memory order.
struct Way {
  FlashEntryPoint entry_point;
  SoftmaxInLayout layout;
  StatisticsOrder order;
};

/// Returns all entry points for TND with every value of softmaxInLayout that they accept, in both
/// memory orders.
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const auto order : {StatisticsOrder::heads_first, StatisticsOrder::tokens_first}) {
    for (const auto entry_point : {FlashEntryPoint::u1, FlashEntryPoint::u2, FlashEntryPoint::u3})
      all.push_back({entry_point, SoftmaxInLayout::empty, order});
    for (const auto layout : {SoftmaxInLayout::empty, SoftmaxInLayout::same_as_input})
      all.push_back({FlashEntryPoint::u4, layout, order});
  }
  return all;
}

std::string line_of(const Way& way) {
  return "--layout=TND --entry_point=" + std::string(to_string(way.entry_point)) +
         (way.entry_point == FlashEntryPoint::u3
              ? " --dtype=bf16 --head_dim=32 --head_dim_v=32 --head_dim_rope=16 --atten_mask=SS"
              : " --dtype=fp32 --head_dim=16 --head_dim_v=16") +
         " --heads_q=4 --heads_kv=2 --lengths_q=21,0,9 --lengths_kv=26,5,17 --scale_value=0.125" +
         " --softmax_in_layout=" + std::string(to_string(way.layout)) +
         " --statistics_order=" + std::string(to_string(way.order));
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t first = 0; first < line.size();) {
    const std::size_t end = std::min(line.find(' ', first), line.size());
    if (end > first) words.push_back(line.substr(first, end - first));
    first = end + 1;
  }
  return words;
}

FlashCase parsed(const std::string& line) { return conformance::parse_case<Op>(words_of(line)); }
FlashCase case_of(const Way& way, const std::string& more = {}) {
  return parsed(line_of(way) + " " + more);
}

std::unique_ptr<spec::Implementation<Op>> mutant(const std::string& name) {
  for (const auto& one : mutants<Op>())
    if (one.name == name) return one.make();
  throw std::invalid_argument("no mutant " + name);
}

CaseReport report_of(const FlashCase& c, const std::string& name) {
  return conformance::judge_case(c, *mutant(name));
}

bool is_wrong(const CaseReport& report) {
  return contribution(report.verdict) == ExitCode::nonconformant;
}

TEST(StatisticsOrder, IsAFieldOfTheLineOnEveryEntryPointOfTnd) {
  for (const Way& way : ways()) {
    const FlashCase c = case_of(way);
    EXPECT_EQ(c.problem.statistics_order, way.order) << line_of(way);
    EXPECT_EQ(parsed(conformance::command_line(c).substr(Op::name.size())), c) << line_of(way);
  }
}

TEST(StatisticsOrder, DefaultsToTheUpstreamOrder) {
  const std::string call = "--layout=TND --entry_point=u4 --heads_q=2 --heads_kv=2 ";
  EXPECT_EQ(parsed(call).problem.statistics_order, StatisticsOrder::heads_first);
  const FlashCase c = parsed(call + "--softmax_in_layout=same_as_input");
  EXPECT_EQ(c.problem.statistics_order, StatisticsOrder::tokens_first);
  EXPECT_EQ(conformance::command_line(c).find("statistics_order"), std::string::npos);
}

TEST(StatisticsOrder, MovedInputsAreThoseThatTheOtherLineDraws) {
  using Suite = conformance::Suite<Op>;
  for (const Way& way : ways())
    for (const char* inputs : {"contiguous", "padded", "transposed"}) {
      const FlashCase c = case_of(way, "--inputs=" + std::string(inputs));
      FlashCase other = c;
      other.problem.statistics_order = way.order == StatisticsOrder::heads_first
                                           ? StatisticsOrder::tokens_first
                                           : StatisticsOrder::heads_first;
      const auto drawn = Suite::draw(c), expected = Suite::draw(other);
      EXPECT_NE(drawn.softmax_max.bytes, expected.softmax_max.bytes) << line_of(way);
      const auto moved = Suite::moved(c.problem, other.problem, drawn);
      EXPECT_EQ(moved.softmax_max.bytes, expected.softmax_max.bytes) << line_of(way) << inputs;
      EXPECT_EQ(moved.softmax_sum.bytes, expected.softmax_sum.bytes) << line_of(way) << inputs;
      EXPECT_EQ(moved.query.bytes, expected.query.bytes) << line_of(way) << inputs;
    }
}

/// The values of the flag --track that select a comparison of outputs with expected values: with
/// tolerances, or bit by bit in two forms.
constexpr const char* tracks[] = {"--track=bound", "--track=exact", "--track=exact_staged"};

TEST(StatisticsOrder, UndeclaredOrderIsFoundAndDoesNotFail) {
  for (const Way& way : ways())
    for (const std::string track : tracks) {
      const FlashCase c = case_of(way, track);
      for (const auto& [name, own] : {std::pair{"heads_first", StatisticsOrder::heads_first},
                                      {"tokens_first", StatisticsOrder::tokens_first}}) {
        const CaseReport report = report_of(c, name);
        SCOPED_TRACE(report.command_line + " " + name + ": " + evidence_of(report));
        EXPECT_EQ(report.command_line, conformance::command_line(c));
        if (own == way.order) {
          EXPECT_EQ(report.verdict, Verdict::conforms);
          continue;
        }
        EXPECT_EQ(report.verdict, Verdict::conforms_weak);
        EXPECT_EQ(report.verdict.rule(), Rule::undeclared_order);
        EXPECT_NE(
            evidence_of(report).find(own == StatisticsOrder::tokens_first
                                         ? "conforms if the kernel reads statistics as [T,N,8]"
                                         : "heads first: declare this order"),
            std::string::npos);
        EXPECT_NE(evidence_of(report).find(std::string("=") + std::string(to_string(own))),
                  std::string::npos);
      }
    }
}

TEST(StatisticsOrder, DeclaredOrderOverridesTheLine) {
  for (const Way& way : ways())
    for (const std::string track : tracks)
      for (const char* name : {"tokens_first_declared", "orders_of_pages"}) {
        const CaseReport report = report_of(case_of(way, track), name);
        EXPECT_EQ(report.verdict, Verdict::conforms)
            << report.command_line << ' ' << name << ": " << evidence_of(report);
      }
}

TEST(StatisticsOrder, WronglyDeclaredOrderFails) {
  for (const Way& way : ways())
    for (const std::string track : tracks) {
      const FlashCase c = case_of(way, track);
      EXPECT_TRUE(is_wrong(report_of(c, "heads_first_not_read"))) << line_of(way) << ' ' << track;
      EXPECT_TRUE(is_wrong(report_of(c, "order_by_length"))) << line_of(way) << ' ' << track;
      EXPECT_EQ(is_wrong(report_of(c, "same_as_input_ignored")),
                way.layout == SoftmaxInLayout::same_as_input)
          << line_of(way) << ' ' << track;
    }
}

TEST(StatisticsOrder, KernelThatChangesItsUndeclaredOrderFails) {
  for (const Way& way : ways())
    for (const std::string track : tracks) {
      const CaseReport report = report_of(case_of(way, track), "order_by_length_undeclared");
      EXPECT_EQ(is_wrong(report), way.order == StatisticsOrder::heads_first)
          << report.command_line << ": " << evidence_of(report);
    }
}

TEST(StatisticsOrder, KernelThatIsWrongInBothOrdersFails) {
  for (const Way& way : ways())
    for (const std::string track : tracks) {
      const FlashCase c = case_of(way, track);
      for (const char* name : {"heads_of_all_tokens", "statistics_of_head_zero"})
        EXPECT_TRUE(is_wrong(report_of(c, name))) << line_of(way) << ' ' << track << ' ' << name
                                                  << ": " << evidence_of(report_of(c, name));
    }
}

TEST(StatisticsOrder, IsTheSameWithOneHeadAndWithOneQueryOfEverySequence) {
  for (const std::string shape : {"--heads_q=1 --heads_kv=1 --lengths_q=21,9 --lengths_kv=26,17",
                                  "--heads_q=4 --heads_kv=2 --lengths_q=1,1 --lengths_kv=26,17"})
    for (const std::string order : {"heads_first", "tokens_first"}) {
      const FlashCase c = parsed("--layout=TND --entry_point=u1 --dtype=fp32 " + shape +
                                 " --statistics_order=" + order);
      EXPECT_FALSE(is_order_of_statistics_seen(c.problem));
      for (const char* name : {"heads_first", "tokens_first", "heads_first_not_read"})
        EXPECT_EQ(report_of(c, name).verdict, Verdict::conforms) << shape << order << name;
    }
}

TEST(StatisticsOrder, FailsNoHealthyKernelInAnyRelation) {
  int asked = 0;
  std::set<std::string> relations;
  for (FlashCase c : conformance::hand_made_cases<Op>("relations")) {
    if (!is_order_of_statistics_seen(c.problem)) continue;
    if (!relations.insert(c.relation).second) continue;  // one case per relation
    for (const auto order : {StatisticsOrder::heads_first, StatisticsOrder::tokens_first}) {
      c.problem.statistics_order = order;
      for (const char* name :
           {"heads_first", "tokens_first", "tokens_first_declared", "orders_of_pages"}) {
        const CaseReport report = report_of(c, name);
        EXPECT_EQ(contribution(report.verdict), ExitCode::conformant)
            << report.command_line << ' ' << name << ": " << evidence_of(report);
        asked += report.verdict != Verdict::not_applicable;
      }
    }
  }
  EXPECT_GE(asked, 60);
}

TEST(StatisticsOrder, IsDrawnBothWaysOnEveryEntryPointAndForBothValues) {
  const auto cases = conformance::sample<Op>({});
  for (const Way& way : ways()) {
    const auto count = std::ranges::count_if(cases, [&](const FlashCase& c) {
      return c.entry_point == way.entry_point && c.problem.softmax_in_layout == way.layout &&
             c.problem.statistics_order == way.order && c.violate.empty() &&
             is_order_of_statistics_seen(c.problem);
    });
    EXPECT_GE(count, 5) << line_of(way);
  }
}

TEST(StatisticsOrder, IsADisputedRequirementOfEveryCallOfTnd) {
  for (const auto& requirement : Op::requirements()) {
    if (requirement.id != "FAG-C83a") continue;
    for (const Way& way : ways()) {
      EXPECT_EQ(requirement.standing_on(way.entry_point), spec::Standing::disputed);
      EXPECT_TRUE(requirement.applies(conformance::call_of(case_of(way))));
    }
    return;
  }
  FAIL() << "FAG-C83a is missing";
}

}  // namespace
}  // namespace assay::mutants
