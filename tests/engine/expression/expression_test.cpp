#include <gtest/gtest.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <random>
#include <string>

#include "assay/engine/expression/deviation.hpp"
#include "assay/engine/expression/evaluate.hpp"
#include "assay/engine/expression/graph.hpp"

namespace assay::engine::expression {
namespace {

using Fifty = boost::multiprecision::cpp_bin_float_50;

const Names names = {.parameters = {{"cap", 30}, {"w", 2}, {"c", 0.75}},
                     .arrays = {{"doc", {0, 0, 1, 1}}, {"slopes", {0.5, 0.25}}}};

std::vector<std::vector<double>> arrays() {
  std::vector<std::vector<double>> values;
  for (const auto& array : names.arrays) values.push_back(array.second);
  return values;
}

struct Parsed {
  explicit Parsed(const std::string& text, Kind kind = Kind::number)
      : graph(arrays()), result(parse(text, kind, names, kind == Kind::number, graph)) {}

  template <class V>
  V at(const V& s, int i = 0, int j = 0, int n = 0) const {
    Values<V> values;
    values.evaluate(graph, {s, V(i), V(j), V(0), V(n), V(0)});
    return values[result];
  }
  Graph graph;
  int result;
};

std::string error_of(const std::string& text, Kind kind = Kind::number) {
  try {
    const Parsed parsed(text, kind);
    ranges_of(parsed.graph, {{{-100, 100}, {0, 3}, {0, 3}, {0, 0}, {0, 1}, {0, 0}}});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Expression, HasTheUsualPrecedence) {
  EXPECT_EQ(Parsed("1+2*3-4/2").at(0.0), 5);
  EXPECT_EQ(Parsed("-(1+2)*-s").at(2.0), 6);
  EXPECT_EQ(Parsed("10-4-3").at(0.0), 3);
  EXPECT_EQ(Parsed("where(1<2 and not 2<=1 or 1==2, 7, 8)").at(0.0), 7);
  EXPECT_EQ(Parsed("where(1!=1|2>3&4>=4, 7, 8)").at(0.0), 8);
  EXPECT_EQ(Parsed("min(s, 3) + max(s, 3) * abs(-2)").at(5.0), 13);
}

TEST(Expression, ReadsParametersArraysAndPlaces) {
  EXPECT_EQ(Parsed("cap * s - slopes[n] * abs(i - j)").at(2.0, 3, 1, 1), 59.5);
  const Parsed keep("abs(i - j) <= w and doc[i] == doc[j]", Kind::condition);
  EXPECT_EQ(keep.at(0.0, 0, 1), 1);
  EXPECT_EQ(keep.at(0.0, 1, 2), 0);
  EXPECT_EQ(keep.at(0.0, 0, 3), 0);
}

TEST(Expression, SaysPlaceAndReasonOfAnError) {
  EXPECT_EQ(error_of("1 + sqrt(s)").substr(0, 33), "character 5: unknown name 'sqrt';");
  EXPECT_EQ(error_of("min(s)"), "character 6: min takes 2 arguments; given: 1");
  EXPECT_EQ(error_of("abs(s, 1)"), "character 6: abs takes 1 argument; more are given");
  EXPECT_EQ(error_of("1 + (s < 2)"), "character 3: expected a number, found a condition");
  EXPECT_EQ(error_of("s < 2"), "character 1: the expression is a condition; expected a number");
  EXPECT_EQ(error_of("not s", Kind::condition).substr(0, 12), "character 5:");
  EXPECT_EQ(error_of("s", Kind::condition).substr(0, 30), "character 1: the score s canno");
  EXPECT_EQ(error_of("(s"), "character 3: expected ')'");
  EXPECT_EQ(error_of("s s"), "character 3: unexpected 's' after the expression");
  EXPECT_EQ(error_of(""), "character 1: the expression ends where a number is expected");
  EXPECT_EQ(error_of("doc[s]"),
            "character 1: the index of an array must be an integer that does not depend on s");
  EXPECT_EQ(error_of("1e99"), "character 1: a number that fp32 cannot represent");
}

TEST(Expression, NamesTheUnexpectedCharacterWithinAFunction) {
  EXPECT_EQ(error_of("where(n % 2 == 0, s, 0)"),
            "character 9: unexpected '%' in argument 1 of where; expressions have no remainder "
            "operator: list the values in an array, as in even=1,0,1,0 and even[n] == 1; the "
            "operators are + - * / < <= > >= == != and or not");
  EXPECT_EQ(error_of("min(s, i ^ 2)"),
            "character 10: unexpected '^' in argument 2 of min; for a square write x * x");
  EXPECT_EQ(error_of("(n % 2)").substr(0, 56),
            "character 4: unexpected '%'; expected ')'; expressions h");
  EXPECT_EQ(error_of("min(s; i)"), "character 6: unexpected ';' in argument 1 of min");
  EXPECT_EQ(error_of("where(s < 1, 2").substr(0, 46),
            "character 15: where takes 3 arguments; given: ");
}

TEST(Expression, RefusesWhatTheRangesMayMakeUndefined) {
  EXPECT_EQ(error_of("1 / s"), "character 3: the divisor may be 0; bound it, as in max(x, 1)");
  EXPECT_EQ(error_of("1 / (1 + s * s) + 1 / max(i - j, 1)"), "");
  EXPECT_EQ(error_of("log(s)").substr(0, 12), "character 1:");
  EXPECT_EQ(error_of("log(exp(s) + 1)"), "");
  EXPECT_EQ(error_of("doc[i + 1]"),
            "character 1: the index may be 1 to 4, but the array has 4 elements");
  EXPECT_EQ(error_of("doc[min(i + 1, 3)]"), "");
  EXPECT_EQ(error_of("i * 16777216"), "character 3: an integer may be larger than 2^24");
}

TEST(Expression, RefusesHostileTexts) {
  EXPECT_EQ(error_of(std::string(10'000'000, '(')).substr(0, 15), "character 4097:");
  EXPECT_NE(error_of(std::string(4000, '(')).find("nested deeper than 64"), std::string::npos);
  EXPECT_NE(error_of(std::string(4000, '-')).find("nested deeper than 64"), std::string::npos);
  std::string nots;
  for (int k = 0; k < 1000; ++k) nots += "not ";
  EXPECT_NE(error_of(nots, Kind::condition).find("nested deeper"), std::string::npos);
  EXPECT_EQ(error_of(std::string("s\0s", 3)), "character 2: unexpected '?' after the expression");
  EXPECT_EQ(error_of("\xff\xfe"), "character 1: unexpected '?'");
  std::string many = "s";
  for (int k = 0; k < 400; ++k) many += "+" + std::to_string(k + 2);
  EXPECT_NE(error_of(many).find("more than 256 operations"), std::string::npos);
}

TEST(Expression, RefusesNamesThatItHasItself) {
  for (const char* name : {"s", "kv", "min", "where", "and", "", "1a", "a-b"})
    EXPECT_THROW(require_name(name), std::invalid_argument) << name;
  EXPECT_THROW(require_name(std::string(33, 'a')), std::invalid_argument);
  EXPECT_NO_THROW(require_name("softcap_2"));
}

constexpr const char* formulas[] = {
    "cap * tanh(s / cap)",
    "s - slopes[n] * abs(i - j)",
    "s * s / (1 + abs(s)) - exp(-s * s) * c",
    "where(s < 1.5, s * 0.5, 2 * s - 1)",
    "log(1 + exp(s)) + max(s, c) * min(s, 2)",
    "-(c - s) / (2 - tanh(s))",
};

TEST(Expression, DerivativeIsTheDifferenceQuotient) {
  for (const std::string text : formulas) {
    Parsed parsed(text);
    const int slope = parsed.graph.derivative(parsed.result);
    for (const double s : {-3.25, -0.3, 0.0625, 0.8, 1.2, 4.5}) {
      const Fifty h = Fifty(1e-20);
      const Fifty quotient =
          (parsed.at(Fifty(s + h), 3, 1) - parsed.at(Fifty(s - h), 3, 1)) / (2 * h);
      Values<Fifty> values;
      values.evaluate(parsed.graph, {Fifty(s), 3, 1, 0, 0, 0});
      EXPECT_LT(abs(values[slope] - quotient), Fifty(1e-25)) << text << " at " << s;
    }
  }
}

TEST(Expression, DerivativeOfALinearScoreIsAConstantWithoutOperations) {
  Parsed parsed("s - slopes[n] * abs(i - j)");
  int results[] = {parsed.graph.derivative(parsed.result)};
  parsed.graph.keep_only(results);
  EXPECT_EQ(parsed.graph.nodes().size(), 1);
  EXPECT_EQ(parsed.graph[results[0]].number, 1);
}

TEST(Expression, DerivativeByAnElementIsTheDifferenceQuotient) {
  const std::string text = "cap*tanh(s/cap) - a[n]*a[n]*abs(i-j) + exp(a[where(i>j,1,0)]*s)/cap";
  const auto value = [&](const Fifty& cap, const Fifty& a0) {
    const Fifty s = Fifty(3) / 8, a1 = Fifty(0.5);  // i = 3, j = 1, n = 0
    return Fifty(cap * tanh(s / cap) - a0 * a0 * 2 + exp(a1 * s) / cap);
  };
  const Names own = {{}, {{"a", {0.25, 0.5}}, {"cap", {3}}}, {"cap"}};
  Graph graph({{0.25, 0.5}, {3}});
  const int result = parse(text, Kind::number, own, true, graph);
  Fifty by_cap(0), by_first(0);
  const auto count = static_cast<int>(graph.nodes().size());
  for (int node = 0; node < count; ++node) {
    if (graph[node].operation != Operation::element) continue;
    const int derivative = graph.derivative(result, node);
    Values<Fifty> values;
    values.evaluate(graph, {Fifty(0.375), 3, 1, 0, 0, 0});
    if (graph[node].which == 1) by_cap += values[derivative];
    if (graph[node].which == 0 && values[graph[node].of[0]] == 0) by_first += values[derivative];
  }
  const Fifty h("1e-20"), cap(3), a(0.25);
  EXPECT_LT(abs(by_cap - (value(cap + h, a) - value(cap - h, a)) / (2 * h)), Fifty(1e-25));
  EXPECT_LT(abs(by_first - (value(cap, a + h) - value(cap, a - h)) / (2 * h)), Fifty(1e-25));
}

TEST(Expression, LanesHaveTheBitsOfDoubles) {
  for (const std::string text : formulas) {
    const Parsed parsed(text);
    Lanes s{};
    for (int k = 0; k < lanes_of<Lanes>; ++k) s[k] = -4 + 1.1 * k;
    Values<Lanes> values;
    values.evaluate(parsed.graph, {s, Lanes{} + 3, Lanes{} + 1, Lanes{}, Lanes{}, Lanes{}});
    for (int k = 0; k < lanes_of<Lanes>; ++k)
      EXPECT_EQ(values[parsed.result][k], parsed.at(double(s[k]), 3, 1)) << text;
  }
}

TEST(Expression, TangentIsAccurate) {
  for (double x = -25; x < 25; x += 0.0137) {
    const double exact = std::tanh(x);
    EXPECT_LE(std::abs(tangent(x) - exact), 0x1p-47 * std::abs(exact)) << x;
  }
}

/// Evaluates a formula like a kernel that computes every operation and every function in fp32.
float in_fp32(const Parsed& parsed, int node, float s) {
  std::vector<float> value;
  for (const Node& of : parsed.graph.nodes()) {
    const auto at = [&](int k) { return value[static_cast<std::size_t>(of.of[k])]; };
    switch (of.operation) {
      case Operation::variable:
        value.push_back(of.of_score ? s : of.which == 1 ? 3.0F : of.which == 2 ? 1.0F : 0.0F);
        break;
      case Operation::exponential:
        value.push_back(std::exp(at(0)));
        break;
      case Operation::logarithm:
        value.push_back(std::log(at(0)));
        break;
      case Operation::hyperbolic_tangent:
        value.push_back(std::tanh(at(0)));
        break;
      default: {
        const auto number = [&](int k) {
          return operands(of.operation) > static_cast<std::size_t>(k) ? double(at(k)) : 0.0;
        };
        value.push_back(
            static_cast<float>(applied(parsed.graph, of, number(0), number(1), number(2))));
      }
    }
  }
  return value[static_cast<std::size_t>(node)];
}

TEST(Expression, DeviationsCoverAKernelInFp32AndAreNotFarFromIt) {
  std::mt19937 random(1);
  for (const std::string text : formulas) {
    Parsed parsed(text);
    const int slope = parsed.graph.derivative(parsed.result);
    double most = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      const double s = std::uniform_real_distribution(-5.0, 5.0)(random), radius = 0x1p-22;
      const auto moved = static_cast<float>(s + radius * (trial % 3 - 1) * 0.9);
      Deviations<double> of{Rounding()};
      of.evaluate(parsed.graph, {s, 3, 1, 0, 0, 0}, std::max(radius, std::abs(moved - s)));
      if (of.ties() != 0) continue;
      for (const int node : {parsed.result, slope}) {
        const double exact = of[node].value;
        const double error = std::abs(in_fp32(parsed, node, moved) - exact);
        if (of[node].error == 0) {
          EXPECT_EQ(error, 0) << text;
          continue;
        }
        EXPECT_LE(error, of[node].error) << text << " at " << s;
        most = std::max(most, error / of[node].error);
      }
    }
    EXPECT_GT(most, 0.1) << text;
  }
}

TEST(Expression, ATieIsSeenWithinTheError) {
  const Parsed parsed("where(s < 1, 0, s)");
  Deviations<double> of{Rounding()};
  of.evaluate(parsed.graph, {1 + 0x1p-20, 0, 0, 0, 0, 0}, 0x1p-21);
  EXPECT_EQ(of.ties(), 0);
  of.evaluate(parsed.graph, {1 + 0x1p-20, 0, 0, 0, 0, 0}, 0x1p-19);
  EXPECT_NE(of.ties(), 0);
}

}  // namespace
}  // namespace assay::engine::expression
