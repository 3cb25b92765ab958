#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "plan/model_entries.hpp"

namespace assay::conformance::compress {
namespace {

using Op = spec::NsaCompressGrad;

/// Elements of input that are kept of each shape, and rows of each head that are judged.
constexpr std::int64_t most_elements = 1'500'000, rows_judged = 64;

CompressCase read_case(const nlohmann::json& entry) {
  CompressCase c{.rows = rows_judged, .note = entry.at("name")};
  Op::Problem& p = c.problem;
  const auto dtype = spec::spellings_of<spec::DType>.parse(entry.at("dtype").get<std::string>());
  if (!dtype) throw std::logic_error("model_shapes.json: unknown dtype of " + c.note);
  p.dtype = *dtype;
  p.heads = entry.at("heads");
  p.head_dim = entry.at("head_dim");
  p.compress_block_size = entry.at("compress_block_size");
  p.compress_stride = entry.at("compress_stride");
  set_lengths(p, entry.at("lengths").get<std::vector<std::int64_t>>());
  if (const auto broken = spec::violations(Op::constraints(), call_of(c)); !broken.empty())
    throw std::logic_error("model_shapes.json: " + c.note + " breaks " +
                           std::string(broken.front()->id));
  return c;
}

}  // namespace

std::vector<CompressCase> model_cases(ModelExtent extent) {
  std::vector<CompressCase> cases;
  for (const auto& entry : model_entries(Op::name)) {
    CompressCase c = read_case(entry);
    Op::Problem& p = c.problem;
    const std::int64_t whole = input_extents(p).tokens();
    const std::int64_t affordable = most_elements / (p.heads * p.head_dim);
    if (extent == ModelExtent::cut && whole > affordable) {
      std::vector<std::int64_t> lengths;
      for (std::int64_t b = 0; b < p.batch; ++b)
        lengths.push_back(p.length(b) * affordable / whole);
      set_lengths(p, std::move(lengths));
      c.note += ": " + std::to_string(input_extents(p).tokens()) + " of " + std::to_string(whole) +
                " tokens";
    }
    c.note += ", " + std::to_string(rows_judged) + " rows of each head judged";
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace assay::conformance::compress
