#include "commands/tried_fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "printing/print_case.hpp"

namespace assay::tests {
namespace {

using Names = std::vector<std::string>;

TEST(TriedFields, AreThoseThatSomeCandidateHasOtherwise) {
  const cli::TriedFields::Fields defaults = {{"dtype", "bf16"}, {"batch", "1"}, {"seq_q", "16"},
                                             {"mask", ""},      {"seed", "0"},  {"heads", "1"}};
  cli::TriedFields tried({{"dtype", "bf16"},
                          {"batch", "7"},
                          {"seq_q", "99"},
                          {"mask", ""},
                          {"seed", "5"},
                          {"heads", "4"}});
  EXPECT_EQ(tried.untried(defaults), (Names{"batch", "seq_q", "heads"}));
  tried.add({{"dtype", "bf16"},
             {"batch", "1"},
             {"seq_q", "99"},
             {"mask", ""},
             {"seed", "5"},
             {"heads", "4"}});
  EXPECT_EQ(tried.untried(defaults), (Names{"seq_q", "heads"}));
}

TEST(ShrunkText, NamesTheFieldsThatWereNotTriedInTime) {
  conformance::ShrunkCase shrunk;
  shrunk.runs = 12;
  shrunk.end = conformance::ShrinkEnd::seconds;
  EXPECT_EQ(cli::end_text(shrunk),
            "after 12 runs the time limit ended the search: a smaller case may fail, too");
  shrunk.untried = {"seq_q", "heads"};
  EXPECT_EQ(cli::end_text(shrunk),
            "after 12 runs the time limit ended the search: a smaller case may fail, too; these "
            "fields were "
            "not tried: seq_q, heads");
}

TEST(ShrunkText, CountsTheCasesThatOtherNumericsExplain) {
  conformance::ShrunkCase shrunk;
  shrunk.declared = "stage=fp16";
  shrunk.of_cause = shrunk.run_declared = 40, shrunk.conform_declared = 39;
  EXPECT_TRUE(
      cli::declared_text(shrunk).starts_with("if the numerics were declared as stage=fp16, 39 of "
                                             "the 40 failing cases of this cause would conform"))
      << cli::declared_text(shrunk);
  shrunk.of_cause = 90;
  EXPECT_NE(cli::declared_text(shrunk).find("(the time limit allowed to run 40 of them again)"),
            std::string::npos)
      << cli::declared_text(shrunk);
}

}  // namespace
}  // namespace assay::tests
