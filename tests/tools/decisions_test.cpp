#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "../conformance/operators/nsa_compress_grad/kernel.hpp"
#include "../conformance/printed.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/report/record.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/meaning.hpp"
#include "assay/fixtures/file.hpp"
#include "build_paths.hpp"
#include "compression/plan/calls.hpp"
#include "judge/decide.hpp"
#include "judge/relations/comparison.hpp"
#include "judge/relations/relating.hpp"
#include "judge/tile_sums.hpp"
#include "operators/nsa_compress_grad/traits.hpp"
#include "page_report.hpp"
#include "session.hpp"
#include "wrapped.hpp"

/// Tests that every rule of the judge can be reached, and that it can give each of its verdicts.
namespace assay::tests {
namespace {

using conformance::CaseReport;
using conformance::Decision;
using conformance::Expectation;
using conformance::FactKind;
using conformance::Rule;
using conformance::TensorReport, conformance::Verdict;
using conformance::testing::CompressKernel;
using conformance::testing::CompressOp;
using conformance::testing::CompressPlan;
using conformance::testing::healthy_plan;
using CompressCase = conformance::Case<CompressOp>;
using Json = nlohmann::json;

CompressCase case_of(const std::string& words) {
  return conformance::parse_case<CompressOp>(
      conformance::case_words("nsa_compress_grad " + words, CompressOp::name));
}

constexpr const char* small = "--lengths=0,75 --heads=2 --compress_block_size=48 --dtype=fp16";

CompressCase arguments(const std::string& violate = "") {
  CompressCase c = case_of(small);
  c.track = conformance::Track::arguments;
  c.violate = violate;
  return c;
}

/// Returns the first call that violates a requirement. If `binding`, a kernel must refuse it.
CompressCase violation(bool binding) {
  for (CompressCase c : conformance::compression::violation_cases<CompressOp>()) {
    if (!binding) c.upstream = spec::Upstream::off;
    for (const auto& row : CompressOp::requirements())
      if (c.violate.starts_with(std::string(row.id) + ":") && row.status.any &&
          row.binds(c.entry_point, c.policy()) == binding)
        return c;
  }
  throw std::logic_error("no call breaks such a row");
}

/// Functions and options that change a kernel. With the defaults the kernel behaves correctly.
struct Hooks {
  CompressPlan plan = healthy_plan();
  spec::Numerics numerics = {.order = spec::Order::fixed};
  void (*check)() = [] {};
  void (*before)(CompressOp::Inputs&) = [](CompressOp::Inputs&) {};
  void (*after)(CompressOp::Outputs&) = [](CompressOp::Outputs&) {};
  bool checks_arguments = true;
};

class Hooked final : public spec::Implementation<CompressOp> {
 public:
  explicit Hooked(Hooks hooks) : hooks_(std::move(hooks)), kernel_(hooks_.plan, hooks_.numerics) {}
  std::string name() const override { return "hooked"; }
  bool checks_arguments() const override { return hooks_.checks_arguments; }
  spec::Numerics numerics(const CompressOp::Problem&) const override { return hooks_.numerics; }
  void check(const spec::Call<CompressOp>&) const override { hooks_.check(); }
  void run(const CompressOp::Problem& p, const CompressOp::Inputs& inputs,
           CompressOp::Outputs& outputs) override {
    hooks_.before(const_cast<CompressOp::Inputs&>(inputs));
    kernel_.run(p, inputs, outputs);
    hooks_.after(outputs);
  }

 private:
  Hooks hooks_;
  CompressKernel kernel_;
};

/// Returns the verdict of a report, with the sentence that gives the reason.
Decision explained(CaseReport report) {
  return conformance::with_sentences(std::move(report)).verdict;
}

Decision judged(const CompressCase& c, Hooks hooks = {}) {
  Hooked kernel(std::move(hooks));
  return explained(conformance::judge_case(c, kernel));
}

template <std::int32_t code>
void refuse() {
  throw spec::Rejected(static_cast<spec::Status>(code), "no");
}

CompressPlan with_factor(double factor) {
  CompressPlan plan = healthy_plan();
  plan.weight_factor = factor;
  return plan;
}

void spoil_weight(CompressOp::Outputs& outputs) {
  outputs.weight_grad.store(spec::viewed_elements(outputs.weight_grad)[0], std::nan(""));
}

/// Changes the outputs of every second run, so that two runs differ.
void be_moody(CompressOp::Outputs& outputs) {
  static int runs = 0;
  if (++runs % 2 != 0) return;
  const std::int64_t first = spec::viewed_elements(outputs.input_grad).front();
  outputs.input_grad.store(first, outputs.input_grad.load(first) * (1 + 0x1p-10));
}

/// Compares one head of 40 rows and 4 channels. Every expected value is 8, tau (tolerance) 4, the
/// rigorous bound 6, the standard deviation 1. `error` returns the error of each element.
Decision compared(double (*error)(std::size_t), double radius = 0) {
  Expectation e{.name = "dk", .extents = {.batch = 1, .heads = 1, .seq = 40, .dim = 4}};
  e.rows.resize(40);
  std::iota(e.rows.begin(), e.rows.end(), 0);
  e.resize(40);
  std::ranges::fill(e.value, 8);
  std::ranges::fill(e.tau, 4);
  std::ranges::fill(e.tau_det, 6);
  std::ranges::fill(e.sigma, 1);
  std::ranges::fill(e.share, 0.25);
  std::ranges::fill(e.radius, radius);
  std::vector<double> actual(e.value.begin(), e.value.end());
  for (std::size_t k = 0; k < actual.size(); ++k) actual[k] += error(k);
  const conformance::Arithmetic arithmetic({.fused = false}, spec::DType::fp32);
  TensorReport report;
  std::vector<conformance::Finding> findings;
  return conformance::compare(e, actual, arithmetic, report, findings);
}

double none(std::size_t) { return 0; }

/// Judges a tile sum (signed sum) of two rows. `error` is the error of the sum.
Decision tile(double error) {
  conformance::TileSums sums{.name = "dq",
                             .extents = {.batch = 1, .heads = 1, .seq = 1, .dim = 1},
                             .tiles = {{0, 0, 0, 1}}};
  sums.resize(1);
  sums.tolerance = {0.25}, sums.tolerance_det = {0.5};
  TensorReport report;
  std::vector<conformance::Finding> findings;
  return conformance::compare_tiles(
      sums, [&](auto) { return std::vector<double>{error}; },
      conformance::Arithmetic({}, spec::DType::fp32), report, findings);
}

Decision related(double actual) {
  const std::vector<double> one = {actual}, other = {8}, tau = {1}, tau_det = {2};
  CaseReport report;
  return conformance::compare_numbers({.tensor = "dk",
                                       .actual = one,
                                       .predicted = other,
                                       .tau = tau,
                                       .tau_det = tau_det,
                                       .extents = {.batch = 1, .heads = 1, .seq = 1, .dim = 1}},
                                      "they agree", report);
}

/// Two related runs differ too much. Repeated with fresh inputs, they differ by `actual`.
Decision on_fresh_seeds(double actual) {
  CaseReport report;
  return conformance::confirmed(case_of(small), related(9.5), report,
                                [&](const CompressCase&, CaseReport&) { return related(actual); });
}

/// Judges a relation between runs on a small problem to which the relation does not apply.
Decision outside() {
  for (const auto* relation : conformance::RelationParts<CompressOp>::relations()) {
    CompressCase c = case_of("--seq=48 --batch=1 --heads=1");
    if (relation->applies(c.problem)) continue;
    c.track = conformance::Track::relation;
    c.relation = relation->name;
    return judged(c);
  }
  throw std::logic_error("every relation holds for one head of one sequence");
}

Decision controlled(const conformance::ControlResult& control) {
  CaseReport report;
  report.tensors = {{.name = "dq"}};
  report.verdict = conformance::control_decision({control}, report);
  return explained(report);
}

Decision exempted() {
  CaseReport report;
  report.tensors = {{.elements_judged = 9, .exempt = 1}};
  return conformance::exemption_decision(report);
}

Decision nothing_compared() {
  CaseReport report;
  conformance::judge_exact({}, {}, report);
  return report.verdict;
}

/// The kernel computes its own statistics. The given statistics do not belong to the data.
Decision foreign_statistics() {
  const auto c = conformance::parse_case<Op>(
      conformance::case_words("flash_attention_score_grad --dtype=fp32 --seq_q=3", Op::name));
  Op::Inputs inputs = make_inputs(c);
  for (const std::int64_t element : spec::viewed_elements(inputs.softmax_sum))
    inputs.softmax_sum.store(element, 1000);
  conformance::PreparedCase<Op> prepared(c, std::move(inputs));
  return prepared.judge(make_outputs(c), {.stats = spec::Origin::own}).verdict;
}

/// Judges a file that contains only some of the outputs.
Decision incomplete_file() {
  const Folder folder;
  const std::string file = folder / "cases.h5", report = folder / "r.json";
  const cli::Registry registry = registry_of({"fixed_order"});
  answer(registry, {"export", file, "--implementation=fixed_order", "flash_attention_score_grad",
                    "--seq_q=3"});
  fixtures::CaseRecord record = [&] {
    const fixtures::Reader reader(file);
    return reader.read(reader.ids().front());
  }();
  record.actual.at("fixed_order").outputs.pop_back();
  fixtures::Writer writer(file);
  writer.write(record);
  writer.close();
  answer(registry, {"check", file, "--report", report});
  return conformance::results_from_json(text_of(report)).cases.at(0).verdict;
}

struct Reached {
  Rule rule;
  Verdict verdict;
  Decision (*decide)();
};

constexpr auto with_bf16_partials = [] {
  CompressPlan plan = healthy_plan(conformance::testing::SumOrder::windows);
  plan.contribution = plan.add_to = conformance::testing::to_bf16;
  return judged(case_of("--dtype=bf16 --lengths=130,20 --track=exact_staged"),
                {.plan = plan, .numerics = {.partials = spec::DType::bf16}});
};

/// The kernel reads statistics as [T,N,8] without declaring this. The case has the other order.
constexpr auto in_another_order = [] {
  using Op = spec::FlashAttentionScoreGrad;
  const auto all = mutants::mutants<Op>();
  const auto kernel = std::ranges::find(all, "tokens_first", &mutants::Mutant::name)->make();
  const auto c = conformance::parse_case<Op>(conformance::case_words(
      "flash_attention_score_grad --layout=TND --entry_point=u1 --lengths_q=5,3 --lengths_kv=4,6 "
      "--heads_q=2 --heads_kv=2 --head_dim=16 --head_dim_v=16 --statistics_order=heads_first",
      Op::name));
  return conformance::judge_case(c, *kernel).verdict;
};

const Reached table[] = {
    {Rule::agreement, Verdict::conforms, [] { return judged(case_of(small)); }},
    {Rule::agreement, Verdict::conforms,
     [] { return judged(case_of(std::string(small) + " --track=exact")); }},
    {Rule::legal_call, Verdict::conforms, [] { return judged(arguments()); }},
    {Rule::legal_call, Verdict::rejected_wrongly,
     [] { return judged(case_of(small), {.check = refuse<161002>}); }},
    {Rule::forbidden_call, Verdict::rejected_as_specified,
     [] { return judged(violation(true), {.check = refuse<161002>}); }},
    {Rule::forbidden_call, Verdict::rejected_other_code,
     [] { return judged(violation(true), {.check = refuse<361001>}); }},
    {Rule::forbidden_call, Verdict::rejected_wrongly,
     [] { return judged(violation(true), {.check = refuse<0>}); }},
    {Rule::forbidden_call, Verdict::accepted_wrongly, [] { return judged(violation(true)); }},
    {Rule::open_question, Verdict::not_applicable, [] { return judged(violation(false)); }},
    {Rule::not_offered, Verdict::not_applicable,
     [] { return judged(arguments(), {.checks_arguments = false}); }},
    {Rule::conduct, Verdict::crash,
     [] { return judged(case_of(small), {.check = [] { throw 1; }}); }},
    {Rule::conduct, Verdict::timeout,
     [] {
       return judged(case_of(small), {.after = [](CompressOp::Outputs&) {
                       throw spec::ImplementationFault(spec::ImplementationFault::Kind::timeout,
                                                       "too slow");
                     }});
     }},
    {Rule::conduct, Verdict::nonconformant_structural,
     [] {
       return judged(case_of(small),
                     {.before = [](CompressOp::Inputs& inputs) { inputs.weight.store(0, 1); }});
     }},
    {Rule::structure, Verdict::nonconformant_structural,
     [] { return judged(case_of(small), {.after = spoil_weight}); }},
    {Rule::exact_bits, Verdict::nonconformant_structural,
     [] {
       return judged(case_of(std::string(small) + " --track=exact"), {.plan = with_factor(1.25)});
     }},
    {Rule::bound, Verdict::nonconformant_proven,
     [] { return judged(case_of(small), {.plan = with_factor(1.25)}); }},
    {Rule::bound, Verdict::statistical_unconfirmed,
     [] { return compared([](std::size_t k) { return k == 7 ? 5.0 : 0.0; }); }},
    {Rule::tile_sum, Verdict::statistical_unconfirmed, [] { return tile(0.375); }},
    {Rule::tile_sum, Verdict::nonconformant_proven, [] { return tile(0.75); }},
    {Rule::rms, Verdict::statistical_unconfirmed,
     [] { return compared([](std::size_t k) { return k % 2 == 0 ? 2.0 : -2.0; }); }},
    {Rule::bias, Verdict::statistical_unconfirmed,
     [] { return compared([](std::size_t k) { return k / 4 % 2 == 0 ? 0.4 : 0.6; }); }},
    {Rule::fresh_seeds, Verdict::conforms, [] { return on_fresh_seeds(8); }},
    {Rule::relation, Verdict::nonconformant_statistical, [] { return on_fresh_seeds(9.5); }},
    {Rule::relation, Verdict::nonconformant_proven, [] { return related(11); }},
    {Rule::determinism, Verdict::nondeterministic,
     [] { return judged(case_of(small), {.after = be_moody}); }},
    {Rule::domain, Verdict::not_applicable, outside},
    {Rule::vacuity, Verdict::vacuous, nothing_compared},
    {Rule::control, Verdict::inconclusive,
     [] { return controlled({.blind = true, .applicable = true, .letters = "Z-N-L-S-W-"}); }},
    {Rule::control, Verdict::conforms_weak,
     [] { return controlled({.weak = true, .applicable = true, .letters = "Z+N+L-S+W+"}); }},
    {Rule::values_below_tolerance, Verdict::conforms_weak,
     [] { return controlled({.letters = "Z.N.L.S.W."}); }},
    {Rule::exemption, Verdict::inconclusive, exempted},
    {Rule::certificate, Verdict::inconclusive, [] { return compared(none, 0.5); }},
    {Rule::undeclared_order, Verdict::conforms_weak, in_another_order},
    {Rule::weak_numerics, Verdict::conforms_weak,
     [] { return judged(case_of(small), {.numerics = {.weak = true}}); }},
    {Rule::inconsistent_inputs, Verdict::not_applicable, foreign_statistics},
    {Rule::no_exact_inputs, Verdict::not_applicable, with_bf16_partials},
    {Rule::stored_case, Verdict::usage_error, incomplete_file},
    {Rule::judge_failure, Verdict::tool_failure, [] { return judged(arguments("NSAC-C99:none")); }},
};

std::string text_of(const Decision& decision) {
  return std::string(spec::to_string(decision.value())) + " by " +
         std::string(spec::to_string(decision.rule())) + ": " + decision.evidence;
}

TEST(Decisions, EveryRuleDecidesWhatItIsFor) {
  for (const Reached& reached : table) {
    const Decision decision = reached.decide();
    const std::string expected_value = std::string(spec::to_string(reached.verdict)) + " by " +
                                       std::string(spec::to_string(reached.rule));
    EXPECT_EQ(decision.value(), reached.verdict) << expected_value << ", not " << text_of(decision);
    EXPECT_EQ(decision.rule(), reached.rule) << expected_value << ", not " << text_of(decision);
    EXPECT_FALSE(decision.evidence.empty() && decision.fact.empty()) << expected_value;
  }
}

TEST(Decisions, EveryRuleAndEveryVerdictIsReached) {
  std::set<Rule> reached_rules;
  std::set<Verdict> verdicts;
  for (const Reached& reached : table) {
    reached_rules.insert(reached.rule);
    verdicts.insert(reached.verdict);
  }
  for (std::size_t k = 0; k < conformance::rules.size(); ++k) {
    EXPECT_EQ(conformance::rules[k].rule, static_cast<Rule>(k)) << conformance::rules[k].word;
    EXPECT_TRUE(reached_rules.contains(static_cast<Rule>(k))) << conformance::rules[k].word;
  }
  for (const auto& [verdict, word] : spec::spellings_of<Verdict>.entries)
    EXPECT_TRUE(verdicts.contains(verdict)) << word;
}

/// The table cannot give the verdicts listed first: they need a file or another seed.
TEST(Decisions, EveryVerdictOfEveryRuleIsReached) {
  std::set<std::pair<Rule, Verdict>> reached_or_known = {
      {Rule::bound, Verdict::nonconformant_statistical},
      {Rule::tile_sum, Verdict::nonconformant_statistical},
      {Rule::rms, Verdict::nonconformant_statistical},
      {Rule::bias, Verdict::nonconformant_statistical},
      {Rule::relation, Verdict::statistical_unconfirmed},
      {Rule::undeclared_order, Verdict::not_applicable},
      {Rule::undeclared_order, Verdict::inconclusive},
  };
  for (const Reached& reached : table) reached_or_known.emplace(reached.rule, reached.verdict);
  for (const conformance::RuleText& rule : conformance::rules)
    for (const auto& [verdict, word] : spec::spellings_of<Verdict>.entries)
      EXPECT_EQ(rule.verdicts.contains(verdict), reached_or_known.contains({rule.rule, verdict}))
          << rule.word << ' ' << word;
}

TEST(Decisions, EveryRuleIsExplained) {
  const std::string page = tests::text_of(tests::source_folder() + "/conformance/README.md");
  for (const conformance::RuleText& rule : conformance::rules) {
    EXPECT_PRED2(has, page,
                 "| `" + std::string(rule.word) + "` | " + std::string(rule.sentence) + " |");
  }
}

/// Returns the row for the verdict in the table of docs/verdicts.md.
std::string row_of(Verdict verdict, const std::string& page) {
  const std::string name = "`" + std::string(spec::to_string(verdict)) + "`";
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| `") && has(line.substr(0, line.find(" | ")), name)) return line;
  return {};
}

/// Returns the rules that can give the verdict, as a text such as "`rms`, `bias`".
std::string rules_of(Verdict verdict) {
  std::string words;
  for (const conformance::RuleText& rule : conformance::rules)
    if (rule.verdicts.contains(verdict))
      words += (words.empty() ? "`" : ", `") + std::string(rule.word) + "`";
  return words;
}

TEST(Decisions, TheHandbookRepeatsTheRulesAndTheMeaningOfEveryVerdict) {
  const std::string handbook = tests::text_of(tests::source_folder() + "/docs/verdicts.md");
  for (const auto& [verdict, word] : spec::spellings_of<Verdict>.entries) {
    const auto& [known, meaning] = conformance::meanings.at(static_cast<std::size_t>(verdict));
    EXPECT_EQ(known, verdict) << word;
    EXPECT_PRED2(has, row_of(verdict, handbook), " | " + rules_of(verdict) + " | ");
    EXPECT_PRED2(has, row_of(verdict, handbook), " | " + std::string(meaning) + " | ");
  }
}

TEST(Decisions, RuleThatCannotGiveTheVerdictIsRefused) {
  EXPECT_EQ(Decision(Rule::determinism, {}).value(), Verdict::nondeterministic);
  EXPECT_THROW(Decision(Rule::bound, {}), std::invalid_argument);
  EXPECT_THROW(Decision(Rule::bound, conformance::Ground::died, {}), std::invalid_argument);
  EXPECT_THROW(Decision::recorded(Verdict::crash, Rule::bound, "seen"), std::invalid_argument);
  CaseReport report;
  report.verdict = {Rule::conduct, conformance::Ground::died, {FactKind::quoted, "gone"}};
  std::string json = conformance::to_json(report);
  json.replace(json.find("conduct"), 7, "bound");
  try {
    conformance::report_from_json(json);
    FAIL() << "the report must be refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_PRED2(
        has, std::string(error.what()),
        std::string(".decided_by is \"bound\"; expected one of conduct, which can give crash"));
  }
}

/// Returns the cases of a report that have no evidence (sentence with the reason).
std::string without_reason(const Json& report) {
  std::string cases;
  for (const Json& one : report["cases"])
    if (one["evidence"].get<std::string>().empty())
      cases +=
          one["verdict"].get<std::string>() + " " + one["command_line"].get<std::string>() + '\n';
  return cases;
}

TEST(Decisions, EveryReportOfASweepSaysItsRule) {
  for (const std::string kernel : {"flash_like", "all_zeros", "no_checks"}) {
    const Folder folder;
    const Answer said =
        answer(registry_of({kernel}), {"sweep", "--random=0", "--only=seq_q=1 ", "--budget=5s",
                                       "--report", folder / "r.json", "--junit", folder / "j.xml"});
    const Json report = Json::parse(tests::text_of(folder / "r.json"));
    EXPECT_FALSE(report["cases"].empty()) << kernel;
    EXPECT_EQ(without_reason(report), "") << kernel;
    EXPECT_EQ(has(said.out, "decided by "), said.code != 0) << kernel << said.out;
    const std::string junit = tests::text_of(folder / "j.xml");
    EXPECT_EQ(has(junit, "decided by "), has(junit, "<failure")) << kernel;
  }
}

TEST(Decisions, RunAndExplainPrintTheReason) {
  const Folder folder;
  const cli::Registry registry = registry_of({"all_zeros"});
  const Answer run = answer(registry, words("run flash_attention_score_grad --seq_q=3"));
  EXPECT_PRED2(has, run.out, std::string("\n  decided by bound: d"));
  answer(registry, {"sweep", "--random=0", "--only=seq_q=1 ", "--budget=2s", "--store",
                    folder / "s.h5", "--report", folder / "r.json", "--html", folder / "r.html"});
  const std::string id = fixtures::Reader(folder / "s.h5").ids().front();
  const Answer explained = answer(registry, {"explain", id, "--store", folder / "s.h5"});
  EXPECT_PRED2(has, explained.out, std::string("\n  decided by "));
  EXPECT_PRED2(has, report_of_page(tests::text_of(folder / "r.html")),
               std::string("\"decided_by\":"));
}

TEST(Decisions, AHostileReasonIsPrintable) {
  CaseReport report;
  report.verdict = {Rule::conduct, conformance::Ground::died, {FactKind::quoted, "\x1b[2J gone"}};
  const std::string json = conformance::to_json(report);
  EXPECT_EQ(conformance::report_from_json(json).verdict.evidence, "\\x1b[2J gone");
}

}  // namespace
}  // namespace assay::tests
