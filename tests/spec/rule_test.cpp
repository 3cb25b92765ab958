#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "problems.hpp"
#include "table_checks.hpp"

/// Tests the rule that decides which sources (documentation or vendor's code) a kernel must obey,
/// and the results of this rule for each entry point.
namespace assay::spec {
namespace {

using Op = FlashAttentionScoreGrad;

/// Tests, for each type of source ("standing"), whether a kernel must refuse a call that violates a
/// requirement from this source.
TEST(RuleOfDocuments, SaysWhatMustBeRefused) {
  const Policy usual, without_upstream{.upstream = Upstream::off},
      strict{.documents = Documents::strict};
  for (const Policy& policy : {usual, without_upstream, strict}) {
    for (const Standing standing : {Standing::documented, Standing::page, Standing::derived})
      EXPECT_TRUE(must_refuse(standing, policy)) << to_string(standing);
    for (const Standing standing : {Standing::disputed, Standing::advice})
      EXPECT_FALSE(must_refuse(standing, policy)) << to_string(standing);
    EXPECT_EQ(must_refuse(Standing::upstream, policy), policy != without_upstream);
    EXPECT_EQ(must_refuse(Standing::open, policy), policy == strict);
  }
}

TEST(RuleOfDocuments, HasASentenceForEveryStanding) {
  std::set<std::string_view> sentences;
  for (const auto& [standing, name] : spellings_of<Standing>.entries)
    EXPECT_TRUE(sentences.insert(sentence_of(standing)).second) << name;
}

TEST(RuleOfDocuments, UpstreamRequirementBindsUnlessSwitchedOff) {
  const Policy without{.upstream = Upstream::off};
  const auto& heads = requirement_of<Op>("FAG-C38");
  EXPECT_TRUE(heads.binds(FlashEntryPoint::g1, {}));
  EXPECT_FALSE(heads.binds(FlashEntryPoint::g1, without));
  EXPECT_TRUE(heads.binds(FlashEntryPoint::u1, without));
  EXPECT_TRUE(requirement_of<Op>("FAG-C48").binds(FlashEntryPoint::g1, without));  // derived
}

/// The documentation forbids these calls, but the vendor's own code accepts them. A kernel may
/// accept or refuse such a call ("open").
TEST(RuleOfDocuments, CallForbiddenByThePageAndAcceptedByTheVendorIsOpen) {
  const Policy strict{.documents = Documents::strict};
  const std::pair<std::string_view, FlashEntryPoint> open[] = {
      {"FAG-C43", FlashEntryPoint::u1},  {"FAG-C43", FlashEntryPoint::u2},
      {"FAG-C43a", FlashEntryPoint::u1}, {"FAG-C73", FlashEntryPoint::g1},
      {"FAG-C73", FlashEntryPoint::u4},  {"FAG-C44a", FlashEntryPoint::g2},
      {"FAG-C35a", FlashEntryPoint::u4}, {"TND-2a", FlashEntryPoint::u3}};
  for (const auto& [id, entry_point] : open) {
    const auto& requirement = requirement_of<Op>(id);
    EXPECT_EQ(requirement.standing_on(entry_point), Standing::open) << id;
    EXPECT_FALSE(requirement.binds(entry_point, {})) << id;
    EXPECT_TRUE(requirement.binds(entry_point, strict)) << id;
  }
}

/// The first set of documentation pages does not describe u2, u4, g3 and u5. Their public pages
/// apply instead, even if the vendor's code is ignored. The page of g3 repeats the requirements of
/// g2, and the page of u5 those of u2, u3 and u4.
TEST(RuleOfDocuments, ThePublicPagesOfU2AndU4AndOfSinksBind) {
  const Policy without{.upstream = Upstream::off};
  const std::pair<std::string_view, std::string_view> stated[] = {
      {"FAG-C20", "u2 u4 g3 u5"}, {"FAG-C31", "u2 u4 u5"},  {"FAG-C39", "u2 u4 g3 u5"},
      {"FAG-C42", "u2 u4 u5"},    {"FAG-C44", "u2 u4 u5"},  {"FAG-C46", "u2 u4 u5"},
      {"FAG-C63", "u2 u4 u5"},    {"FAG-C66a", "u2 u4 u5"}, {"FAG-C67", "u2 u4 u5"},
      {"FAG-C79c", "u2 u4 u5"},   {"FAG-C74", "u2 u5"},     {"FAG-C75", "u2 u5"},
      {"FAG-C76", "u2 u5"},       {"FAG-C78", "u2 u5"},     {"FAG-C23c", "u2 u5"},
      {"FAG-C83", "u4 u5"},       {"FAG-C41a", "u4 u5"},    {"FAG-C38", "u5"},
      {"FAG-P08", "u2"},          {"FAG-P12", "u4"},        {"FAG-C30", "g3"},
      {"FAG-C06", "u5"},          {"FAG-C21a", ""},         {"SNK-C03", "g3 u5"},
      {"SNK-P01", "g3"},          {"SNK-P04", "u5"}};
  for (const auto& [id, on] : stated) {
    std::string names;
    for (const auto& [entry_point, name] : spellings_of<FlashEntryPoint>.entries) {
      const auto& requirement = requirement_of<Op>(id);
      if (requirement.standing_on(entry_point) != Standing::page) continue;
      names.append(names.empty() ? "" : " ").append(name);
      EXPECT_TRUE(requirement.binds(entry_point, without)) << id;
    }
    EXPECT_EQ(names, on) << id;
  }
}

TEST(RuleOfDocuments, OnU5AttentionInMayBeFloat32) {
  for (const FlashEntryPoint entry_point : {FlashEntryPoint::u4, FlashEntryPoint::u5})
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      const Asked asked{.problem = {.input_layout = Layout::tnd, .dtype = dtype},
                        .entry_point = entry_point};
      Call<Op> call = asked.call();
      EXPECT_EQ(broken_by(call), Ids{});
      call.parameters.attention_in.dtype = DType::fp32;
      EXPECT_EQ(broken_by(call), has_sink(entry_point) ? Ids{} : Ids{"FAG-C21a"});
    }
}

TEST(RuleOfDocuments, HeadSizesFrom513To768AreOpenWhereThePageSays512) {
  Asked asked{.problem = {.head_dim = 513}};
  EXPECT_EQ(broken_by(asked.call()), Ids{"FAG-C44a"});
  asked.problem.head_dim = 768;
  EXPECT_EQ(broken_by(asked.call()), Ids{"FAG-C44a"});
  asked.problem.head_dim = 769;
  EXPECT_EQ(broken_by(asked.call()), Ids{"FAG-C44b"});
  EXPECT_EQ(requirement_of<Op>("FAG-C44a").standing, Standing::open);
  // The documentation of u2, u3 and u4 states the limit 768.
  for (const FlashEntryPoint entry_point : {FlashEntryPoint::u2, FlashEntryPoint::u4}) {
    Asked packed{.problem = {.input_layout = Layout::tnd, .head_dim = 768, .head_dim_v = 768},
                 .entry_point = entry_point};
    EXPECT_EQ(broken_by(packed.call()), Ids{});
    packed.problem.head_dim = packed.problem.head_dim_v = 769;
    EXPECT_EQ(broken_by(packed.call()), Ids{"FAG-C44"});
  }
}

/// The documentation of u1 and u3 has a table of status codes. The page of g1 and g2 has none, and
/// the pages of u2 and u4 do not belong to the first set of documentation.
TEST(RuleOfDocuments, ExactCodesAreClaimedWhereASeedNamesThemOnly) {
  int named = 0;
  for (const auto& requirement : Op::requirements())
    for (const auto& [entry_point, name] : spellings_of<FlashEntryPoint>.entries) {
      const ExpectedStatus status = requirement.status_on(entry_point);
      if (status.any) continue;
      ++named;
      EXPECT_TRUE(entry_point == FlashEntryPoint::u1 || entry_point == FlashEntryPoint::u3 ||
                  has_sink(entry_point))
          << requirement.id << ' ' << name;
      EXPECT_EQ(requirement.standing_on(entry_point),
                has_sink(entry_point) ? Standing::page : Standing::documented)
          << requirement.id;
      EXPECT_NE(status.code, Status::success) << requirement.id;
    }
  EXPECT_GE(named, 20);
  EXPECT_FALSE(requirement_of<Op>("FAG-C20").status_on(FlashEntryPoint::u1).any);
  EXPECT_TRUE(requirement_of<Op>("FAG-C20").status_on(FlashEntryPoint::g1).any);
  EXPECT_TRUE(requirement_of<Op>("FAG-C01").status_on(FlashEntryPoint::g2).any);
}

}  // namespace
}  // namespace assay::spec
