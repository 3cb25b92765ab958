#include "case/limits.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace assay::conformance {
namespace {

std::string gib(double bytes) {
  char characters[64];
  const double value = bytes / (1024.0 * 1024 * 1024);
  return std::string(characters, std::to_chars(characters, characters + sizeof characters, value,
                                               std::chars_format::fixed, 1)
                                     .ptr) +
         " GiB";
}

}  // namespace

std::string number_text(double value) {
  char characters[64];
  return {characters, std::to_chars(characters, characters + sizeof characters, value).ptr};
}

std::string about_text(double value) {
  char characters[64];
  constexpr int digits = 3;
  return {characters, std::to_chars(characters, characters + sizeof characters, value,
                                    std::chars_format::general, digits)
                          .ptr};
}

std::string FieldRange::text() const {
  std::string values = std::to_string(first);
  if (step > 1 && first + step == last)
    values += " or " + std::to_string(last);
  else
    values +=
        " to " + std::to_string(last) + (step > 1 ? " in steps of " + std::to_string(step) : "");
  return values +
         (requirement.empty() ? "" : "; 'assay explain " + std::string(requirement) + "' says why");
}

void require_named(std::string_view field, const std::string& value,
                   std::span<const InputProfile> named) {
  if (std::ranges::find(named, value, &InputProfile::name) != named.end()) return;
  std::string names;
  for (const InputProfile& entry : named)
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  refuse(field, value, names);
}

void require_size(const Demand& demand, std::string_view fields) {
  // Tensors with more elements could overflow a 64-bit byte offset.
  constexpr double most_elements = 0x1p59;
  if (demand.largest_tensor > most_elements)
    throw std::invalid_argument("a tensor of the case has about " +
                                about_text(demand.largest_tensor) +
                                " elements; 64-bit indices allow at most 2^59 (" +
                                about_text(most_elements) + "): reduce " + std::string(fields));
  if (demand.with_numbers) require_memory(demand.bytes, fields);
}

void require_memory(double bytes, std::string_view fields) {
  if (bytes > memory_limit)
    throw std::invalid_argument("the case needs about " + gib(bytes) +
                                " for its tensors and their copies; the limit is " +
                                gib(memory_limit) + ": reduce " + std::string(fields));
}

bool require_track(Track track, const std::string& relation, const std::string& profile,
                   const std::string& names) {
  if (track != Track::relation) {
    if (relation.empty()) return false;
    refuse("relation", relation, "a relation only with --track=relation");
  }
  if (relation.empty())
    refuse("track", std::string(spec::to_string(track)), "with --relation=NAME, one of " + names);
  if (profile != "normal") refuse("profile", profile, "normal with --track=relation");
  return true;
}

void settle_lengths(std::int64_t& batch, const LengthFields& fields,
                    const std::function<bool(std::string_view)>& given) {
  auto& [name, lengths, longest_name, longest] = fields;
  if (lengths.empty()) return;
  const auto imply = [&, list = name](std::string_view field, std::int64_t& value,
                                      std::int64_t implied) {
    if (given(field) && value != implied)
      refuse(field, std::to_string(value),
             std::to_string(implied) + ", which --" + std::string(list) + " implies; leave it out");
    value = implied;
  };
  imply("batch", batch, static_cast<std::int64_t>(lengths.size()));
  imply(longest_name, longest, std::ranges::max(lengths));
  if (std::ranges::min(lengths) == longest) lengths.clear();
}

void require_as_many(const std::vector<std::int64_t>& lengths_q,
                     const std::vector<std::int64_t>& lengths_kv) {
  if (!lengths_q.empty() && !lengths_kv.empty() && lengths_q.size() != lengths_kv.size())
    refuse("lengths_kv", list_text(lengths_kv),
           "the same number of lengths as in lengths_q, which has " +
               std::to_string(lengths_q.size()) + "; lengths_kv has " +
               std::to_string(lengths_kv.size()));
}

}  // namespace assay::conformance
