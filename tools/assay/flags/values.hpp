#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

/// These functions parse the values of flags. All of them throw UsageError that names the flag, its
/// value and the accepted values.
std::int64_t integer_value(std::string_view flag, const std::string& text, std::int64_t least,
                           std::int64_t most);
/// `or_word` is a word that the flag accepts instead of a number; the error message mentions it.
/// The caller must handle this word before calling the function.
std::uint64_t seed_value(std::string_view flag, const std::string& text,
                         std::string_view or_word = {});
/// Parses a duration such as "90", "90s", "5min" or "1h". Returns seconds.
double seconds_value(std::string_view flag, const std::string& text);
/// Parses a memory size such as "4GiB" or "512MiB". Returns bytes.
std::int64_t bytes_value(std::string_view flag, const std::string& text);

/// Declares a flag. The parser converts its value with `read` at once, so `to` always contains a
/// valid value.
template <class To, class Read>
CLI::Option* add_value(CLI::App& app, const std::string& flag, To& to, const Read& read,
                       const std::string& help) {
  const auto take = [&to, read](const std::string& text) { to = read(text); };
  return app.add_option_function<std::string>(flag, take, help);
}
template <class To>
CLI::Option* add_integer(CLI::App& app, const std::string& flag, To& to, std::int64_t least,
                         std::int64_t most, const std::string& help) {
  const auto read = [=](const std::string& text) { return integer_value(flag, text, least, most); };
  return add_value(app, flag, to, read, help);
}
template <class To>
CLI::Option* add_seconds(CLI::App& app, const std::string& flag, To& to, const std::string& help) {
  return add_value(
      app, flag, to, [=](const auto& text) { return seconds_value(flag, text); }, help);
}

/// Joins the words with commas: "a, b, c".
std::string joined(const std::vector<std::string>& words);

}  // namespace assay::cli
