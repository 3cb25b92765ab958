#include "plan/forbidden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "assay/conformance/operators/nsa_compress_grad.hpp"

namespace assay::conformance {
namespace {

using Ids = std::vector<std::string_view>;

/// Returns the violated requirements among four invented ones. The first three exclude a single
/// value, a pair of values and a triple of values. Calls with an even random number violate the
/// fourth.
Ids broken(const Choice& choice, std::uint64_t lot, std::span<const std::string_view> among) {
  Ids ids;
  if (choice[0] == 2) ids.emplace_back("single");
  if (choice[0] == 1 && choice[1] == 0) ids.emplace_back("pair");
  if (choice[0] == 0 && choice[1] == 1 && choice[2] == 1) ids.emplace_back("triple");
  if (lot % 2 == 0) ids.emplace_back("sometimes");
  std::erase_if(ids, [&](std::string_view id) {
    return !among.empty() && std::ranges::find(among, id) == among.end();
  });
  return ids;
}

Ids blamed(const ChoiceSpace& space, Choice choice) {
  Ids ids;
  for (const Reason& reason : space.blamed(choice)) ids.push_back(reason.text);
  return ids;
}

TEST(Forbidden, IsWhatEveryRepresentativeBreaks) {
  const ChoiceSpace space = with_forbidden({{3, 2, 2}, {}}, {{0, 1, 2}}, broken);
  EXPECT_EQ(blamed(space, {2, undecided, undecided}), Ids{"single"});
  EXPECT_EQ(blamed(space, {1, 0, undecided}), Ids{"pair"});
  EXPECT_EQ(blamed(space, {0, 1, 1}), Ids{"triple"});
  for (const Choice& free : {Choice{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {1, 1, 0}, {1, 1, 1}})
    EXPECT_TRUE(space.feasible(free));
}

// Several threads look for these combinations.
TEST(Forbidden, EachOfManyCombinationsIsFound) {
  const auto is_forbidden = [](std::size_t a, std::size_t b) { return (a + b) % 2 == 0; };
  const ChoiceSpace space =
      with_forbidden({{12, 12}, {}}, {}, [&](const Choice& choice, std::uint64_t, auto) {
        return is_forbidden(choice[0], choice[1]) ? Ids{"pair"} : Ids{};
      });
  for (std::size_t a = 0; a < 12; ++a)
    for (std::size_t b = 0; b < 12; ++b)
      EXPECT_EQ(space.feasible({a, b}), !is_forbidden(a, b)) << a << ' ' << b;
}

TEST(Forbidden, TriplesAreCheckedOnlyIfNamed) {
  const ChoiceSpace space = with_forbidden({{3, 2, 2}, {}}, {}, broken);
  EXPECT_TRUE(space.feasible({0, 1, 1}));
  EXPECT_FALSE(space.feasible({1, 0, undecided}));
}

TEST(Forbidden, ChecksOnlySensibleChoices) {
  const ChoiceSpace sensible({3, 2, 2},
                             {{{Why::senseless, "It means nothing."}, {1, 2}, [](const Choice& c) {
                                 return c[1] == 1 && c[2] == 1;
                               }}});
  const ChoiceSpace space = with_forbidden(ChoiceSpace(sensible, {}), {{0, 1, 2}},
                                           [](const Choice& choice, std::uint64_t lot, auto among) {
                                             EXPECT_FALSE(choice[1] == 1 && choice[2] == 1);
                                             return broken(choice, lot, among);
                                           });
  EXPECT_EQ(blamed(space, {0, 1, 1}), Ids{"It means nothing."});
}

TEST(Forbidden, ForbiddenByListsBrokenBindingRequirements) {
  using Compress = spec::NsaCompressGrad;
  Case<Compress> c;
  EXPECT_EQ(forbidden_by(c), Ids{});
  c.problem.compress_stride = c.problem.compress_block_size;  // an open question
  const auto ids = forbidden_by(c);
  for (const auto& requirement : Compress::requirements())
    EXPECT_EQ(std::ranges::count(ids, requirement.id) == 1,
              !requirement.holds(call_of(c)) && requirement.binds(c.entry_point, {}))
        << requirement.id;
}

TEST(Forbidden, IsDrawnAgain) {
  Case<spec::NsaCompressGrad> c;
  int draws = 0;
  const auto legal = drawn_legally([&] {
    c.problem.compress_stride = ++draws < 3 ? 15 : 16;
    return c;
  });
  EXPECT_EQ(legal.problem.compress_stride, 16);
  EXPECT_EQ(draws, 3);
}

}  // namespace
}  // namespace assay::conformance
