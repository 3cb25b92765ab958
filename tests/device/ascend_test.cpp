#include "assay/device/ascend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "assay/device/cost.hpp"

namespace {

using namespace assay;

static_assert(std::is_invocable_v<std::plus<>, device::Bytes, device::Bytes>);
static_assert(!std::is_invocable_v<std::plus<>, device::Bytes, device::Cycles>);
static_assert(!std::is_invocable_v<std::less<>, device::Bytes, device::Cycles>);
static_assert(!std::is_convertible_v<std::int64_t, device::Bytes>);

TEST(Spec, GivesEveryNumberANameAUnitAndASource) {
  for (const device::Spec& spec : device::devices()) {
    std::set<std::pair<std::string_view, std::string_view>> names;
    for (const auto& quantity : device::quantities(spec)) {
      EXPECT_FALSE(quantity.name.empty());
      EXPECT_FALSE(quantity.unit.empty()) << quantity.name;
      EXPECT_FALSE(quantity.source.empty()) << quantity.name;
      EXPECT_TRUE(names.emplace(quantity.name, quantity.unit).second) << quantity.name;
    }
  }
}

/// Returns the abbreviations in the text of a source: words with at least two capital letters and
/// no small letters.
std::vector<std::string> abbreviations(std::string_view source) {
  std::vector<std::string> found;
  std::string word;
  for (const char c : std::string(source) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      word += c;
      continue;
    }
    if (std::ranges::count_if(word, [](char l) { return l >= 'A' && l <= 'Z'; }) >= 2 &&
        std::ranges::none_of(word, [](char l) { return l >= 'a' && l <= 'z'; }))
      found.push_back(word);
    word.clear();
  }
  return found;
}

TEST(Spec, ExplainsEveryAbbreviationOfASource) {
  std::set<std::string> used;
  for (const device::Spec& spec : device::devices())
    for (const auto& quantity : device::quantities(spec))
      for (const std::string& word : abbreviations(quantity.source)) used.insert(word);
  for (const device::Source& source : device::sources())
    if (source.word != "row") {
      EXPECT_EQ(used.erase(std::string(source.word)), 1) << source.word;
    }
  EXPECT_EQ(used, std::set<std::string>{});
}

TEST(Spec, GivesEveryAssumedNumberARangeThatHoldsIt) {
  for (const device::Spec& spec : device::devices())
    for (const auto& quantity : device::quantities(spec)) {
      EXPECT_LE(quantity.low, quantity.value) << quantity.name;
      EXPECT_GE(quantity.high, quantity.value) << quantity.name;
      EXPECT_EQ(quantity.assumed, quantity.low < quantity.high) << quantity.name;
    }
}

TEST(Spec, A2Is910B2With24CoresAt1800MHz) {
  const device::Spec spec = device::a2();
  EXPECT_EQ(spec.sku, "910B2");
  EXPECT_EQ(spec.cores.cube.value, 24);
  EXPECT_EQ(spec.cores.vector.value, 48);
  EXPECT_EQ(spec.cores.clock.value, 1.8e9);
  EXPECT_EQ(bytes_of(spec.memories.l1).count, 524288);
  EXPECT_EQ(bytes_of(spec.memories.ub).count, 196608);
}

TEST(Spec, ListsTheSmaller910B4WithItsOwnMemories) {
  const device::Spec spec = device::ascend_910b4();
  EXPECT_EQ(spec.cores.cube.value, 20);
  EXPECT_EQ(spec.rates.hbm_bandwidth.value, 0.8e12);
  EXPECT_EQ(bytes_of(spec.memories.l2).count, 96 * 1024 * 1024);
  EXPECT_LT(spec.rates.l2_bandwidth.value, device::a2().rates.l2_bandwidth.value);
}

/// The number of cores, the clock rate, and the rates of 16-bit and fp32 products have a published
/// source for every chip.
TEST(Spec, EveryDieHasThePublishedRates) {
  struct Published {
    const char* name;
    double cores, half, single;
  };
  for (const Published& of : {Published{"b1", 24, 363.7, 90.9}, Published{"a2", 24, 353.9, 88.5},
                              Published{"b3", 20, 294.9, 73.7}, Published{"b4", 20, 245.8, 61.4},
                              Published{"a3", 24, 353.9, 88.5}}) {
    const auto all = device::devices();
    const auto spec = std::find_if(all.begin(), all.end(),
                                   [&](const device::Spec& s) { return s.name == of.name; });
    ASSERT_NE(spec, all.end()) << of.name;
    const double cores = spec->cores.cube.value;
    EXPECT_EQ(cores, of.cores) << of.name;
    EXPECT_EQ(spec->cores.vector.value, 2 * cores) << of.name;
    const double tera = 2e-12 * cores * spec->cores.clock.value;
    EXPECT_NEAR(tera * device::peak_rate(*spec, {2}), of.half, 0.1) << of.name;
    EXPECT_NEAR(tera * device::peak_rate(*spec, {4}), of.single, 0.1) << of.name;
  }
}

}  // namespace
