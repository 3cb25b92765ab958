#include "aclnn/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace assay::adapters {
namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& text,
                         const std::string& accepted) {
  throw std::invalid_argument("aclnn: " + name + " is '" + text + "'; accepted: " + accepted);
}

template <class Enum>
void read(const std::string& name, const std::string& text, Enum& value) {
  const auto parsed = spec::spellings_of<Enum>.parse(text);
  if (!parsed) refuse(name, text, spec::spellings_of<Enum>.choices());
  value = *parsed;
}

void read(const std::string& name, const std::string& text, bool& value) {
  if (text != "true" && text != "false") refuse(name, text, "true, false");
  value = text == "true";
}

void read(const std::string& name, const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0 && value < 1))
    refuse(name, text, "a number from 0 to below 1, e.g. 0x1p-23");
}

void set_field(spec::Numerics& numerics, const std::string& name, const std::string& text) {
  bool known = false;
  std::string names;
  visit_fields(numerics, [&](const char* field, auto& value) {
    names += std::string(", ") + field;
    if (name != field) return;
    read(name, text, value);
    known = true;
  });
  if (!known)
    throw std::invalid_argument("aclnn: unknown setting '" + name +
                                "'; accepted: device, numerics" + names);
}

std::int32_t device_number(const std::string& text) {
  std::int32_t number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) refuse("device", text, "0, 1, ...");
  return number;
}

}  // namespace

spec::Numerics AclnnSettings::numerics(spec::DType io, std::string_view operator_name) const {
  spec::Numerics numerics = spec::numerics_preset(preset, io, operator_name);
  for (const auto& [name, text] : fields) set_field(numerics, name, text);
  return numerics;
}

bool AclnnSettings::asks_for_order() const {
  for (const auto& [name, text] : fields)
    if (name == "order") return text == "fixed";
  return true;
}

AclnnSettings parse_aclnn_settings(const std::string& rest) {
  AclnnSettings settings;
  std::istringstream words(rest);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      if (!word.empty()) settings.paths.push_back(word);
      continue;
    }
    const std::string name = word.substr(0, equals), text = word.substr(equals + 1);
    if (name == "device")
      settings.device = device_number(text);
    else if (name == "numerics")
      settings.preset = text;
    else
      settings.fields.emplace_back(name, text);
  }
  if (settings.paths.empty())
    throw std::invalid_argument(
        "aclnn: '" + rest + "' contains no shared object; expected for example aclnn:libopapi.so");
  settings.numerics(spec::DType::bf16, {});  // throws for an unknown preset or value
  return settings;
}

}  // namespace assay::adapters
