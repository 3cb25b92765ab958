#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "assay/conformance/plan/case_lines.hpp"
#include "assay/fixtures/record.hpp"
#include "printing/print_pace.hpp"
#include "session.hpp"

/// Tests kernels that cheat. A sweep has three measures against them: fresh inputs, which a kernel
/// cannot predict; repeated problems with other inputs; and a report of calls that take too long.
namespace assay::tests {
namespace {

using Compress = spec::NsaCompressGrad;
using Json = nlohmann::json;

/// Base of the cheating kernels. It computes correctly where a kernel cannot cheat.
class Cheat : public spec::Implementation<Compress> {
 public:
  std::string name() const override { return "cheat"; }
  bool checks_arguments() const override { return false; }
  spec::Numerics numerics(const Compress::Problem& problem) const override {
    return healthy_->numerics(problem);
  }

 protected:
  void compute(const Compress::Problem& problem, const Compress::Inputs& inputs,
               Compress::Outputs& outputs) {
    healthy_->run(problem, inputs, outputs);
  }

 private:
  std::unique_ptr<spec::Implementation<Compress>> healthy_ =
      mutants::mutants<Compress>().front().make();
};

/// Returns the fields of a problem as text, if they have a text form.
std::string fields_of(const Compress::Problem& problem) {
  std::ostringstream text;
  visit_fields(problem, [&](const char* field, const auto& value, const auto&...) {
    if constexpr (requires { text << value; }) text << field << '=' << value << ' ';
  });
  text << static_cast<int>(problem.dtype);
  return text.str();
}

/// A kernel that caches its outputs, but ignores some tensors when it looks for a cached output.
/// The template argument is a bit mask of the tensors in the cache's key: 1 the input, 2 the
/// weight, 4 the output's gradient.
template <unsigned tensors>
class Forgetful final : public Cheat {
 public:
  void run(const Compress::Problem& problem, const Compress::Inputs& inputs,
           Compress::Outputs& outputs) override {
    const spec::Tensor* const all[] = {&inputs.input, &inputs.weight, &inputs.output_grad};
    std::string key = fields_of(problem) + ' ' + std::to_string(inputs.input.bytes.size());
    for (unsigned k = 0; k < 3; ++k)
      if (tensors >> k & 1) key += fixtures::digest(*all[k]);
    const auto known = kept_.find(key);
    if (known == kept_.end()) {
      compute(problem, inputs, outputs);
      kept_.emplace(key, outputs);
    } else {
      outputs = known->second;
    }
  }

 private:
  std::map<std::string, Compress::Outputs> kept_;
};

/// The digests of the inputs that an earlier sweep passed to a kernel.
std::set<std::string>& table() {
  static std::set<std::string> digests;
  return digests;
}

std::string digest_of(const Compress::Inputs& inputs) {
  return fixtures::digest(inputs.input) + fixtures::digest(inputs.weight) +
         fixtures::digest(inputs.output_grad);
}

/// A kernel that records the inputs of its calls.
class Learning final : public Cheat {
 public:
  void run(const Compress::Problem& problem, const Compress::Inputs& inputs,
           Compress::Outputs& outputs) override {
    table().insert(digest_of(inputs));
    compute(problem, inputs, outputs);
  }
};

/// A kernel that computes correctly only for recorded inputs.
class Knowing final : public Cheat {
 public:
  void run(const Compress::Problem& problem, const Compress::Inputs& inputs,
           Compress::Outputs& outputs) override {
    if (table().contains(digest_of(inputs))) compute(problem, inputs, outputs);
  }
};

template <class Kernel>
cli::Registry registry_with() {
  cli::Registry registry;
  registry.add<Compress>({.name = "cheat",
                          .summary = "cheats",
                          .make = [] { return std::make_unique<Kernel>(); },
                          .in_process = true});
  return registry;
}

/// The printed text and the report of a sweep. In sweep(), `drawn` is the random number from which
/// the program makes fresh inputs. If `drawn` is 0, the program gets no random number.
struct Swept {
  Answer printed;
  Json report;
};

template <class Kernel>
Swept sweep(std::vector<std::string> flags, std::uint64_t drawn = 0) {
  const Folder folder;
  const cli::Registry registry = registry_with<Kernel>();
  std::ostringstream out, err;
  cli::Context context{
      .registry = registry, .out = out, .err = err, .stop = never_stop, .command_line = "test"};
  if (drawn != 0) context.entropy = [drawn] { return drawn; };
  flags.insert(flags.begin(),
               {"sweep", "nsa_compress_grad", "--report", folder / "r.json", "--shrink=0"});
  Swept swept;
  swept.printed.code = static_cast<int>(cli::execute(flags, context));
  swept.printed.out = out.str(), swept.printed.err = err.str();
  if (std::filesystem::exists(folder / "r.json"))
    swept.report = Json::parse(text_of(folder / "r.json"));
  return swept;
}

/// Selects a small part of the plan. The selected cases are judged numerically.
const std::string some = "--only=--track=exact & --dtype=bf16";

std::vector<std::string> lines_of(const Json& report) {
  std::vector<std::string> lines;
  for (const Json& one : report["cases"]) lines.push_back(one["command_line"]);
  return lines;
}

std::set<std::string> set_of(const std::vector<std::string>& lines) {
  return {lines.begin(), lines.end()};
}

TEST(FreshData, IsThatOfOneCaseInTen) {
  const Swept fixed = sweep<Learning>({some}), fresh = sweep<Learning>({some}, 41);
  ASSERT_EQ(fixed.printed.code, 0) << fixed.printed.err;
  ASSERT_EQ(fresh.printed.code, 0) << fresh.printed.out;
  EXPECT_EQ(fixed.report["environment"]["fresh_seed"], 0);
  EXPECT_EQ(fresh.report["environment"]["fresh_seed"], 42);
  const auto before = set_of(lines_of(fixed.report));
  const auto now = lines_of(fresh.report);
  ASSERT_EQ(before.size(), now.size());
  const auto others =
      std::ranges::count_if(now, [&](const auto& l) { return !before.contains(l); });
  EXPECT_GE(others, std::ssize(now) / 15) << now.size();
  EXPECT_LE(others, std::ssize(now) / 10 + 1) << now.size();
  EXPECT_PRED2(has, fresh.printed.err, std::string("the fresh seed 42; --fresh=42 repeats them"));
  EXPECT_PRED2(has, fresh.printed.out, std::string("has data of the fresh seed 42"));
  EXPECT_PRED2(has, fixed.printed.out, std::string("data: all cases have fixed seeds"));
}

TEST(FreshData, IsRepeatedByItsSeed) {
  const Swept first = sweep<Learning>({some}, 41), again = sweep<Learning>({some, "--fresh=42"}, 7);
  const Swept other = sweep<Learning>({some}, 7);
  EXPECT_EQ(lines_of(first.report), lines_of(again.report));
  EXPECT_NE(lines_of(first.report), lines_of(other.report));
  const std::string line = first.report["environment"]["command_line"];
  EXPECT_PRED2(has, line, std::string(" --fresh=42"));
}

TEST(FreshData, IsLeftOutWhereDataAreNamed) {
  const Folder folder;
  std::ofstream(folder / "lines.txt") << "nsa_compress_grad --seq=64 --seed=5\n";
  std::ofstream(folder / "known.txt") << "2999-01-01 crash nsa_compress_grad --seq=64 --seed=5\n";
  for (const std::vector<std::string>& flags : {std::vector<std::string>{some, "--seed=1"},
                                                {some, "--fresh=off"},
                                                {"--lines", folder / "lines.txt"},
                                                {some, "--baseline", folder / "known.txt"}})
    EXPECT_EQ(sweep<Learning>(flags, 41).report["environment"]["fresh_seed"], 0) << flags.back();
  const Swept refused = sweep<Learning>({"--lines", folder / "lines.txt", "--fresh=3"});
  EXPECT_EQ(refused.printed.code, 2);
  EXPECT_PRED2(has, refused.printed.err, std::string("so --fresh has no effect"));
}

/// The parts of a sweep can run on any machine at any time. They must use the same fresh inputs, so
/// that they fit together when they are merged. The same holds for a resumed sweep.
TEST(FreshData, IsTheSameInAllPartsAndInResumedSweeps) {
  const Folder folder;
  std::set<int> seeds;
  for (const std::string part : {"1/2", "2/2"})
    seeds.insert(sweep<Learning>({some, "--shard", part}, part == "1/2" ? 41 : 7)
                     .report["environment"]["fresh_seed"]
                     .get<int>());
  for (const std::uint64_t drawn : {41u, 7u})
    seeds.insert(sweep<Learning>({some, "--store", folder / std::to_string(drawn)}, drawn)
                     .report["environment"]["fresh_seed"]
                     .get<int>());
  EXPECT_EQ(seeds.size(), 1u);
  EXPECT_GT(*seeds.begin(), 0);
}

TEST(FreshData, ShowsAKernelThatHasATableOfTheDefaultSweep) {
  table().clear();
  ASSERT_EQ(sweep<Learning>({some}).printed.code, 0);
  EXPECT_EQ(sweep<Knowing>({some}).printed.code, 0) << "the table must contain all inputs";
  const Swept caught = sweep<Knowing>({some}, 41);
  EXPECT_EQ(caught.printed.code, 1);
  for (const Json& one : caught.report["cases"]) {
    const bool is_known = one["verdict"] == "conforms";
    EXPECT_TRUE(is_known || has(one["command_line"], "--seed=")) << one["command_line"];
  }
}

template <unsigned... tensors>
void expect_caught_at_once(std::integer_sequence<unsigned, tensors...>) {
  for (const Swept& caught : {sweep<Forgetful<tensors>>({"--random=0", "--fail-fast"})...}) {
    EXPECT_EQ(caught.printed.code, 1) << caught.printed.err;
    EXPECT_LE(caught.report["cases"].size(), 20u);
  }
}

/// The kernels 0 to 6 omit at least one tensor from the key of their cache and must fail. Kernel 7
/// omits none and conforms.
TEST(Twins, ShowAKernelThatKeepsItsOutputsByAPartOfItsInputs) {
  expect_caught_at_once(std::make_integer_sequence<unsigned, 7>());
  EXPECT_EQ(sweep<Forgetful<7>>({some}).printed.code, 0);
}

TEST(Twins, BeginASweep) {
  const Swept healthy = sweep<Learning>({"--random=0", "--budget=2s"});
  EXPECT_EQ(healthy.printed.code, 0) << healthy.printed.out;
  std::vector<std::string> twins;
  for (const conformance::CaseText& text : conformance::shipped_case_texts())
    if (text.name == "cases/nsa_compress_grad/twins.txt")
      for (const conformance::CaseLine& line : conformance::case_lines(text))
        twins.push_back(conformance::command_line(conformance::case_of<Compress>(line)));
  ASSERT_FALSE(twins.empty());
  std::vector<std::string> lines = lines_of(healthy.report);
  ASSERT_GE(lines.size(), twins.size());
  lines.resize(twins.size());
  EXPECT_EQ(lines, twins);
}

conformance::Results timed(double last_seconds) {
  conformance::Results results;
  for (int k = 0; k < 40; ++k) {
    conformance::CaseReport report;
    report.operator_name = "nsa_compress_grad";
    report.command_line = "nsa_compress_grad --seq=" + std::to_string(64 + k);
    report.implementation = "mine";
    report.value_case = true;
    report.seconds_implementation = k == 39 ? last_seconds : 0.001;
    results.cases.push_back(report);
  }
  return results;
}

TEST(Pace, UnexpectedlySlowCallIsReported) {
  std::ostringstream healthy, slow;
  cli::print_pace(timed(0.002), "assay", healthy);
  cli::print_pace(timed(2), "assay", slow);
  EXPECT_PRED2(has, healthy.str(),
               std::string("median time of a call, transfer to the kernel included (40 calls): "
                           "1 ms for small calls, less than twice this time for large calls\n"));
  EXPECT_FALSE(has(healthy.str(), "times as long"));
  EXPECT_PRED2(has, slow.str(), std::string("1 call took more than 20 times as long as usual"));
  EXPECT_PRED2(has, slow.str(), std::string("assay run nsa_compress_grad --seq=103"));
}

TEST(Pace, FewCallsReportNoPace) {
  conformance::Results few = timed(0.001);
  few.cases.resize(19);
  std::ostringstream out;
  cli::print_pace(few, "assay", out);
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace assay::tests
