#include "attention/definition.hpp"

#include <utility>

namespace assay::conformance {
namespace {

bool is_of_query(const std::string& tensor) { return tensor.starts_with("dq"); }

}  // namespace

AttentionDefinition::AttentionDefinition(spec::Extents queries, spec::Extents keys,
                                         std::int64_t query_products, std::int64_t key_products)
    : queries_(std::move(queries)),
      keys_(std::move(keys)),
      query_products_(query_products),
      key_products_(key_products) {}

DefinedRows AttentionDefinition::row(const std::string& tensor, std::int64_t number) {
  return is_of_query(tensor) ? query(queries_.position(number)) : key(keys_.position(number));
}

DefinedRows AttentionDefinition::quick_row(const std::string& tensor, std::int64_t number) {
  return is_of_query(tensor) ? quick_query(queries_.position(number))
                             : quick_key(keys_.position(number));
}

std::int64_t AttentionDefinition::products(const std::string& tensor) const {
  return is_of_query(tensor) ? query_products_ : key_products_;
}

}  // namespace assay::conformance
