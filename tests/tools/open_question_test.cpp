#include <gtest/gtest.h>

#include <memory>

#include "session.hpp"

/// Tests calls about which the documentation leaves a question open. A kernel may accept or refuse
/// such a call. The report says what the kernel did, and the kernel does not fail.
namespace assay::tests {
namespace {

/// A kernel that refuses every call, either in its argument check or in its run.
class Refusing final : public spec::Implementation<Op> {
 public:
  explicit Refusing(int phase) : phase_(phase) {}
  std::string name() const override { return "refusing"; }
  bool checks_arguments() const override { return phase_ == 1; }
  void check(const spec::Call<Op>&) const override {
    if (phase_ == 1) refuse();
  }
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw spec::Rejected(spec::Status::param_invalid, "too much");
  }
  int phase_;
};

/// A kernel with an argument check that accepts every call.
class Accepting final : public spec::Implementation<Op> {
 public:
  std::string name() const override { return "accepting"; }
  void run(const Op::Problem&, const Op::Inputs&, Op::Outputs&) override {}
};

Answer refused(const std::string& line, int phase) {
  cli::Registry registry;
  registry.add<Op>({.name = "refusing",
                    .summary = "refuses every call",
                    .make = [phase] { return std::make_unique<Refusing>(phase); },
                    .in_process = true});
  return answer(registry, words("run flash_attention_score_grad --seq_q=3 --seq_kv=3 " + line));
}

const std::string wide = "--head_dim=520 --head_dim_v=8";
const std::string untyped =
    "--entry_point=g2 --pse_type=0";  // FAG-C78, which only the upstream code states

TEST(OpenQuestion, RefusalOfAnOpenCallDoesNotFailInAnyPhase) {
  for (const int phase : {1, 2})
    for (const std::string track : {"bound", "relation --relation=linear_dy"}) {
      const Answer open = refused(wide + " --track=" + track, phase);
      EXPECT_TRUE(open.out.starts_with("not_applicable")) << phase << track << open.out << open.err;
      EXPECT_EQ(open.code, 0) << phase << track;
      EXPECT_PRED2(has, open.out, std::string("open: FAG-C44a"));
      EXPECT_PRED2(has, open.out, std::string("161002"));
      const Answer settled = refused("--track=" + track, phase);
      EXPECT_TRUE(settled.out.starts_with("rejected_wrongly")) << phase << track << settled.out;
      EXPECT_EQ(settled.code, 1) << phase << track;
    }
}

/// The documentation allows this call, so a kernel must accept it, even though the vendor's own
/// code refuses it.
TEST(OpenQuestion, RefusingWhatThePagesAllowIsAVerdict) {
  const std::string packed =
      "--layout=TND --entry_point=u1 --lengths_q=3,2 --lengths_kv=3,2 --seq_q=3 --seq_kv=3 ";
  for (const std::string& line :
       {packed + "--atten_mask=BNSS --sparse_mode=1", packed + "--pse_shift=BNSS",
        packed + "--atten_mask=SS --pre_tokens=0 --next_tokens=0",
        std::string("--pre_tokens=-9")}) {
    cli::Registry registry;
    registry.add<Op>({.name = "refusing",
                      .summary = "refuses every call",
                      .make = [] { return std::make_unique<Refusing>(1); },
                      .in_process = true});
    const std::string own = line.starts_with("--layout") ? line : "--seq_q=3 --seq_kv=3 " + line;
    const Answer refused = answer(registry, words("run flash_attention_score_grad " + own));
    EXPECT_TRUE(refused.out.starts_with("rejected_wrongly")) << own << refused.out << refused.err;
  }
}

/// With --documents=strict the kernel must refuse calls about which the documentation leaves a
/// question open.
TEST(OpenQuestion, OpenCallMustBeRefusedIfTheDocumentsAreStrict) {
  cli::Registry registry;
  registry.add<Op>({.name = "accepting",
                    .summary = "accepts every call",
                    .make = [] { return std::make_unique<Accepting>(); },
                    .in_process = true});
  const std::string line =
      "run flash_attention_score_grad --track=arguments --violate=FAG-C44a:head_dim_513";
  const Answer lenient = answer(registry, words(line));
  EXPECT_TRUE(lenient.out.starts_with("not_applicable")) << lenient.out << lenient.err;
  EXPECT_PRED2(has, lenient.out, std::string("FAG-C44a is open: reported, no verdict"));
  const Answer strict = answer(registry, words(line + " --documents=strict"));
  EXPECT_TRUE(strict.out.starts_with("accepted_wrongly")) << strict.out << strict.err;
  EXPECT_EQ(strict.code, 1);
  const Answer no_case = refused(wide + " --documents=strict", 1);
  EXPECT_EQ(no_case.code, 2) << no_case.out;
  EXPECT_PRED2(has, no_case.err, std::string("FAG-C44a"));
  const Answer wrong = answer({}, words("list requirements --documents=maybe"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_PRED2(has, wrong.err,
               std::string("--documents is 'maybe'; expected one of lenient, strict"));
}

TEST(OpenQuestion, CoverageCountsTheLegalCallsThatMayBeRefused) {
  const std::string out = answer({}, words("list --coverage nsa_compress_grad --random=0")).out;
  EXPECT_PRED2(has, out, std::string("legal calls that a kernel may refuse without failing: "));
  EXPECT_PRED2(has, out, std::string("NSAC-C12a"));
  const std::string strict =
      answer({}, words("list --coverage nsa_compress_grad --random=0 --documents=strict")).out;
  EXPECT_PRED2(has, strict,
               std::string("legal calls that a kernel may refuse without failing: 0 of "));
}

/// The documentation of g1 and g2 has no table of status codes; the page of u1 has one.
TEST(OpenQuestion, StatusIsExpectedOnlyIfTheDocumentsNameIt) {
  const std::string broken = "--track=arguments --violate=FAG-C01:query --entry_point=";
  for (const std::string entry_point : {"g1", "g2"}) {
    const Answer open = refused(broken + entry_point, 1);
    EXPECT_TRUE(open.out.starts_with("rejected_as_specified")) << open.out << open.err;
  }
  const Answer named = refused("--layout=TND " + broken + "u1", 1);
  EXPECT_TRUE(named.out.starts_with("rejected_wrongly")) << named.out << named.err;
}

TEST(OpenQuestion, UpstreamRestrictionCanBeSwitchedOff) {
  for (const int phase : {1, 2}) {
    const Answer bound = refused(untyped, phase);
    EXPECT_EQ(bound.code, 2) << bound.out;
    EXPECT_PRED2(has, bound.err, std::string("FAG-C78"));
    const Answer open = refused(untyped + " --upstream=off", phase);
    EXPECT_TRUE(open.out.starts_with("not_applicable")) << open.out << open.err;
    EXPECT_PRED2(has, open.out, std::string("stated only by the vendor's code: FAG-C78"));
  }
  const Answer accepted = answer(
      registry_of({"flash_like"}),
      words("run flash_attention_score_grad --seq_q=3 --seq_kv=3 " + untyped + " --upstream=off"));
  EXPECT_TRUE(accepted.out.starts_with("conforms")) << accepted.out << accepted.err;
  EXPECT_PRED2(has, accepted.out,
               std::string("accepted; stated only by the vendor's code: FAG-C78"));
}

TEST(OpenQuestion, AViolationOfWhatIsSwitchedOffIsReportedAndNoMore) {
  cli::Registry registry;
  registry.add<Op>({.name = "accepting",
                    .summary = "accepts every call",
                    .make = [] { return std::make_unique<Accepting>(); },
                    .in_process = true});
  const std::string line =
      "run flash_attention_score_grad --entry_point=g2 --track=arguments --violate=FAG-C78:two";
  const Answer bound = answer(registry, words(line));
  EXPECT_TRUE(bound.out.starts_with("accepted_wrongly")) << bound.out << bound.err;
  const Answer open = answer(registry, words(line + " --upstream=off"));
  EXPECT_TRUE(open.out.starts_with("not_applicable")) << open.out << open.err;
  EXPECT_PRED2(has, open.out,
               std::string("decided by open_question: FAG-C78 is stated only by the vendor's code, "
                           "which --upstream=off ignores: reported, no verdict; FAG-C78 is broken "
                           "(FAG-C78:two) and phase 1 accepted the call"));
}

TEST(OpenQuestion, APlanLeavesOutWhatUpstreamAloneStates) {
  const auto coverage = [](const std::string& flags) {
    return answer({}, words("list flash_attention_score_grad --coverage --random=0 "
                            "--only=--track=arguments" +
                            flags))
        .out;
  };
  const std::string whole = coverage("");
  EXPECT_PRED2(has, whole, std::string("FAG-C78"));
  EXPECT_FALSE(has(coverage(" --upstream=off"), "\nFAG-C04 "));
  EXPECT_PRED2(has, whole, std::string("requirement that no case can exercise"));
  EXPECT_PRED2(has, whole, std::string("disputed: the suite tries its calls"));
  EXPECT_PRED2(has, whole, std::string("open: the suite tries its calls"));
  const std::string rows = answer({}, words("list requirements --upstream=off")).out;
  EXPECT_FALSE(has(rows, "\nFAG-C12 "));
  EXPECT_PRED2(has, rows, std::string("FAG-C44a"));
  const Answer wrong = answer({}, words("list requirements --upstream=maybe"));
  EXPECT_EQ(wrong.code, 2);
  EXPECT_PRED2(has, wrong.err, std::string("--upstream is 'maybe'; expected one of on, off"));
}

}  // namespace
}  // namespace assay::tests
