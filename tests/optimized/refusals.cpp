#include "refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string_view>
#include <vector>

#include "assay/spec/operators.hpp"

/// Prints the refusals of the planned calls of the named operators. Each different refusal is
/// printed once, with message, status and the entry points that give it.
int main(int count, char** arguments) {
  using namespace assay;
  const std::vector<std::string_view> named(arguments + 1, arguments + count);
  const auto print = [&]<class Op> {
    std::map<std::string, std::string> entry_points;  // message and status -> entry points
    test::each_planned_answer<Op>([&](const auto& c, const auto&, const test::Answer& given) {
      if (given.message.empty()) return;
      std::string& own =
          entry_points[fmt::format("{} ({}", given.message, spec::to_string(given.status))];
      const std::string name = fmt::format(" {}", to_string(c.entry_point));
      if (own.find(name) == std::string::npos) own += name;
    });
    for (const auto& [answer, own] : entry_points) std::cout << answer << ';' << own << ")\n";
  };
  spec::for_each_operator([&]<class Op> {
    if constexpr (optimized::IsTiled<Op>)
      if (std::ranges::find(named, Op::name) != named.end()) print.template operator()<Op>();
  });
}
