#include "refusals.hpp"

#include <fmt/format.h>

#include <iostream>
#include <map>

#include "assay/spec/operators.hpp"

/// Prints each distinct refusal of a planned call once: message, status and entry points.
int main() {
  using namespace assay;
  spec::for_each_operator([]<class Op> {
    std::map<std::string, std::string> entry_points;  // by message and status
    test::each_planned_answer<Op>([&](const auto& c, const auto&, const test::Answer& given) {
      if (given.message.empty()) return;
      std::string& named =
          entry_points[fmt::format("{} ({}", given.message, spec::to_string(given.status))];
      const std::string name = fmt::format(" {}", to_string(c.entry_point));
      if (named.find(name) == std::string::npos) named += name;
    });
    for (const auto& [answer, named] : entry_points) std::cout << answer << ';' << named << ")\n";
  });
}
