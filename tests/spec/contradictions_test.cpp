#include <gtest/gtest.h>

#include <set>
#include <string>

#include "assay/spec/contradiction.hpp"

namespace assay::spec {
namespace {

TEST(Contradictions, IdsAreUnique) {
  std::set<std::string> ids;
  for (const Contradiction& point : contradictions())
    EXPECT_TRUE(ids.emplace(point.id).second) << point.id;
}

TEST(Contradictions, EachNamesItsSourcesAndAReading) {
  for (const Contradiction& point : contradictions()) {
    EXPECT_FALSE(point.subject.empty()) << point.id;
    EXPECT_FALSE(point.reading.empty()) << point.id;
    EXPECT_FALSE(point.claims.empty()) << point.id;
    std::set<std::string> said;
    for (const Claim& claim : point.claims) {
      EXPECT_FALSE(claim.source.document.empty()) << point.id;
      EXPECT_FALSE(claim.source.section.empty()) << point.id;
      EXPECT_FALSE(claim.says.empty()) << point.id;
      said.insert(std::string(claim.source.document) + std::string(claim.source.section) +
                  std::string(claim.says));
    }
    EXPECT_EQ(said.size(), point.claims.size()) << point.id << ": each source must be named once";
  }
}

}  // namespace
}  // namespace assay::spec
