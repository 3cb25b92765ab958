#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/cli/command.hpp"
#include "assay/conformance/operators.hpp"

namespace assay::cli {

/// Command line flags for the fields of one case: one flag per field that visit_case_fields visits.
/// A replay line consists of these flags.
class CaseFlags {
 public:
  /// Adds a flag "--name" with description and default for every field of a case of Op. Call this
  /// function only once per parser.
  template <class Op>
  void declare(CLI::App& app) {
    conformance::Case<Op> defaults;
    const auto texts = conformance::field_texts(defaults);
    conformance::visit_case_fields(defaults, [&]<class Member>(std::string_view name, const Member&,
                                                               std::string_view meaning) {
      const std::string& text = texts[fields_.size()].second;
      auto& [field, value] = *fields_.emplace_back(
          std::make_unique<std::pair<std::string, std::string>>(name, std::string()));
      app.add_option("--" + field, value,
                     std::string(meaning) + (text.empty() ? "" : " [" + text + "]"))
          ->type_name(kind_of<Member>());
    });
  }

  /// Returns the case that the flags describe. Errors: UsageError that names the flag, its value
  /// and the accepted values.
  template <class Op>
  conformance::Case<Op> parsed(const CLI::App& app) const {
    std::vector<std::string> words;
    for (const auto& field : fields_)
      if (app.count("--" + field->first) > 0)
        words.push_back("--" + field->first + "=" + field->second);
    try {
      return conformance::parse_case<Op>(words);
    } catch (const std::invalid_argument& error) {
      throw UsageError(error.what());
    }
  }

 private:
  template <class Member>
  static const char* kind_of() {
    if constexpr (std::same_as<Member, std::vector<std::int64_t>>) return "<list>";
    return std::is_arithmetic_v<Member> ? "<number>" : "<word>";
  }

  std::vector<std::unique_ptr<std::pair<std::string, std::string>>> fields_;
};

}  // namespace assay::cli
